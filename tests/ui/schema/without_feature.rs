use kindsmith::ApiType;

#[derive(serde::Serialize, serde::Deserialize)]
struct Backend;

#[derive(ApiType, serde::Serialize, serde::Deserialize)]
struct GatewaySpec {
    #[api(schema = schemars)]
    backend: Option<Vec<Backend>>,
}

fn main() {}
