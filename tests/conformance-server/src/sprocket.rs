//! Sprocket, as the kit's `sprocket.yaml` declares it: one kind in three versions, of which v1 is stored and v1alpha1 is not
//! served.

pub(super) mod v1 {
    use kindsmith::{ApiType, ObjectMeta, Resource};
    use serde::{Deserialize, Serialize};

    #[derive(Resource, Clone, Debug)]
    #[resource(group = "versions.example.com", version = "v1", shortname = "spk", category = "parts", status)]
    #[resource(scale(replicas = spec.replicas, status = status.replicas, selector = status.selector))]
    #[resource(selectable(spec.material))]
    #[resource(column("Size", path = spec.size, description = "How large it is"))]
    #[resource(column("Teeth", path = spec.teeth))]
    #[resource(column("Material", path = spec.material))]
    #[resource(column("Phase", path = status.phase, priority = 1))]
    #[resource(column("Age", path = metadata.creation_timestamp))]
    pub(crate) struct Sprocket {
        pub metadata: ObjectMeta,
        pub spec: SprocketSpec,
        pub status: Option<SprocketStatus>,
    }

    #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
    pub(crate) struct SprocketSpec {
        #[api(minimum = 1, maximum = 100000)]
        pub size: i32,
        #[api(default = 12, minimum = 3)]
        pub teeth: i32,
        pub material: Option<Material>,
        #[api(max_length = 2000)]
        pub note: Option<String>,
        #[api(default = 1, minimum = 0)]
        pub replicas: i32,
        #[api(list = map(key = name))]
        #[serde(default)]
        pub parts: Vec<Part>,
        pub coating: Option<Coating>,
    }

    #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
    pub(crate) enum Material {
        Steel,
        Brass,
        Nylon,
    }

    #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
    pub(crate) struct Part {
        pub name: String,
        #[api(default = 1, minimum = 1)]
        pub count: i32,
        pub grade: Option<Grade>,
    }

    #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
    pub(crate) enum Grade {
        A,
        B,
        C,
    }

    #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
    pub(crate) struct Coating {
        #[api(minimum = 0)]
        pub microns: Option<i32>,
        #[api(default = "Zinc")]
        pub metal: String,
    }

    #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
    pub(crate) struct SprocketStatus {
        pub phase: Option<String>,
        pub replicas: Option<i32>,
        pub selector: Option<String>,
        pub worn: Option<i32>,
    }
}

pub(super) mod v1beta1 {
    use kindsmith::{ApiType, ObjectMeta, Resource};
    use serde::{Deserialize, Serialize};

    #[derive(Resource, Clone, Debug)]
    #[resource(version = "v1beta1", storage = super::v1::Sprocket, status, convert = none)]
    #[resource(deprecated = "conformance.example.com/v1beta1 Sprocket is deprecated, write conformance.example.com/v1")]
    #[resource(column("Teeth", path = spec.teeth, description = "Around the rim"))]
    #[resource(column("Finish", path = spec.finish))]
    pub(crate) struct Sprocket {
        pub metadata: ObjectMeta,
        pub spec: SprocketSpec,
        pub status: Option<SprocketStatus>,
    }

    #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
    pub(crate) struct SprocketSpec {
        #[api(minimum = 1, maximum = 50000)]
        pub size: i32,
        #[api(default = 10, minimum = 3)]
        pub teeth: i32,
        pub finish: Option<String>,
        pub note: Option<String>,
        #[api(default = 1, minimum = 0)]
        pub replicas: i32,
        #[api(list = map(key = name))]
        #[serde(default)]
        pub parts: Vec<Part>,
        pub coating: Option<Coating>,
    }

    #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
    pub(crate) struct Part {
        pub name: String,
        #[api(default = 2, minimum = 1)]
        pub count: i32,
    }

    #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
    pub(crate) struct Coating {
        #[api(minimum = 0)]
        pub microns: Option<i32>,
        #[api(default = "Matt")]
        pub tone: String,
    }

    #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
    pub(crate) struct SprocketStatus {
        pub phase: Option<String>,
        pub replicas: Option<i32>,
        pub selector: Option<String>,
    }
}

pub(super) mod v1alpha1 {
    use kindsmith::{ApiType, ObjectMeta, Resource};
    use serde::{Deserialize, Serialize};

    #[derive(Resource, Clone, Debug)]
    #[resource(version = "v1alpha1", storage = super::v1::Sprocket, unserved, convert = none)]
    pub(crate) struct Sprocket {
        pub metadata: ObjectMeta,
        pub spec: Option<SprocketSpec>,
    }

    #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
    pub(crate) struct SprocketSpec {
        pub size: Option<i32>,
    }
}
