//! Lamps: the storage version, a version with declared changes, and one that is converted by code.
use kindsmith::{ApiType, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

/// A lamp.
#[derive(Resource, Clone, Debug)]
#[resource(group = "wire.example.com", version = "v1", shortname = "lp", status, selectable(spec.owner))]
#[resource(scale(replicas = spec.count, status = status.count), column("Watts", path = spec.size.watts))]
pub(crate) struct Lamp {
    pub metadata: ObjectMeta,
    pub spec: LampSpec,
    pub status: Option<LampStatus>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LampSpec {
    pub owner: String,
    pub size: Size,
    #[api(default = 1, minimum = 0)]
    pub count: i32,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Size {
    #[api(minimum = 1, maximum = 9999)]
    pub watts: i32,
    #[api(minimum = 0)]
    pub wide: Option<i32>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LampStatus {
    pub count: Option<i32>,
    pub lit: Option<bool>,
}

pub(crate) mod v1beta1 {
    //! Renamed and moved fields, one field more and one less.
    use super::{ApiType, Deserialize, LampStatus, ObjectMeta, Resource, Serialize};

    #[derive(Resource, Clone, Debug)]
    #[resource(version = "v1beta1", storage = super::Lamp, deprecated, status, selectable(spec.holder))]
    #[resource(scale(replicas = spec.count, status = status.count), column("Holder", path = spec.holder))]
    #[resource(convert(
        renamed(spec.holder = spec.owner),
        moved(spec.watts = spec.size.watts),
        added(spec.size.wide),
        removed(spec.note, spec.hours),
    ))]
    pub(crate) struct Lamp {
        pub metadata: ObjectMeta,
        pub spec: LampSpec,
        pub status: Option<LampStatus>,
    }

    #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
    pub(crate) struct LampSpec {
        pub holder: String,
        #[api(minimum = 1, maximum = 500)]
        pub watts: i32,
        #[api(default = 1, minimum = 0)]
        pub count: i32,
        #[api(max_length = 10)]
        pub note: Option<String>,
        #[api(default = 1000)]
        pub hours: i32,
    }
}

pub(crate) mod v1alpha1 {
    //! Watts are text, and lamps of the owner "no one" cannot be converted.
    use super::{ApiType, Deserialize, LampStatus, ObjectMeta, Resource, Serialize, Size};

    #[derive(Resource, Clone, Debug)]
    #[resource(version = "v1alpha1", storage = super::Lamp, convert = from, status)]
    pub(crate) struct Lamp {
        pub metadata: ObjectMeta,
        pub spec: LampSpec,
        pub status: Option<LampStatus>,
    }

    #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
    pub(crate) struct LampSpec {
        pub owner: String,
        #[api(pattern = "^[1-9][0-9]{0,3}W$")]
        pub watts: String,
        pub wide: Option<i32>,
        #[api(default = 1)]
        pub count: i32,
    }

    impl TryFrom<Lamp> for super::Lamp {
        type Error = String;

        fn try_from(lamp: Lamp) -> Result<Self, String> {
            let LampSpec { owner, watts, wide, count } = lamp.spec;
            if owner.is_empty() {
                return Err("somebody owns a lamp".to_owned());
            }
            let watts = watts.trim_end_matches('W').parse().map_err(|error| format!("{watts}: {error}"))?;
            let spec = super::LampSpec { owner, size: Size { watts, wide }, count };
            Ok(Self { metadata: lamp.metadata, spec, status: lamp.status })
        }
    }

    impl TryFrom<super::Lamp> for Lamp {
        type Error = String;

        fn try_from(lamp: super::Lamp) -> Result<Self, String> {
            let super::LampSpec { owner, size: Size { watts, wide }, count } = lamp.spec;
            if owner == "no one" {
                return Err("it has no owner".to_owned());
            }
            let spec = LampSpec { owner, watts: format!("{watts}W"), wide, count };
            Ok(Self { metadata: lamp.metadata, spec, status: lamp.status })
        }
    }
}
