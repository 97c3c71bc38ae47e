//! Kinds in a crate that has no dependency called `kindsmith`, as in one that gets it through another crate's re-export. The derives
//! name it by the argument `crate`. The derived tests run here, too, without the server.
use framework::{ApiType, Message, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

/// The re-export.
pub mod platform {
    pub use framework as kinds;
}

/// A lamp.
#[derive(Resource, Message, Clone, Debug)]
#[resource(crate = crate::platform::kinds, group = "lamps.example.com", version = "v1", status)]
#[resource(column("Bright", with = Lamp::bright), default = Lamp::fill_in)]
pub struct Lamp {
    /// The metadata.
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// The desired state.
    #[api(proto = 2)]
    pub spec: LampSpec,
    /// The observed state.
    #[api(proto = 3)]
    pub status: Option<LampStatus>,
}

impl Lamp {
    fn bright(&self) -> bool {
        self.spec.watts > 60
    }

    fn fill_in(&mut self, _: &framework::Context<'_, Self>) {
        self.spec.watts = self.spec.watts.max(1);
    }
}

/// The desired state of a lamp.
#[derive(ApiType, Message, Clone, Debug, Serialize, Deserialize)]
#[api(crate = platform::kinds)]
pub struct LampSpec {
    /// Its power.
    #[api(proto = 1, default = 40)]
    pub watts: i32,
    /// Its color.
    #[api(proto = 2)]
    pub color: Color,
}

/// A color.
#[derive(ApiType, Message, Clone, Debug, Serialize, Deserialize)]
#[api(crate = ::framework)]
pub enum Color {
    /// Warm white.
    Warm,
    /// Cold white.
    Cold,
}

/// The observed state of a lamp.
#[derive(ApiType, Message, Clone, Debug, Serialize, Deserialize)]
#[api(crate = framework)]
pub struct LampStatus {
    /// True if it is on.
    #[api(proto = 1)]
    pub lit: bool,
}

/// A lamp with a dimmer, in its first version.
#[derive(Resource, Clone, Debug)]
#[resource(crate = framework, version = "v1alpha1", storage = Lamp, status)]
#[resource(convert(removed(spec.dimmed)))]
pub struct OldLamp {
    /// The metadata.
    pub metadata: ObjectMeta,
    /// The desired state.
    pub spec: OldLampSpec,
    /// The observed state.
    pub status: Option<LampStatus>,
}

/// The desired state of an old lamp.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(crate = framework)]
pub struct OldLampSpec {
    /// Its power.
    #[api(default = 40)]
    pub watts: i32,
    /// Its color.
    pub color: Color,
    /// How far it is dimmed, in percent.
    pub dimmed: Option<i32>,
}
