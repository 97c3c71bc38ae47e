use kindsmith::ApiType;

#[derive(ApiType, serde::Serialize, serde::Deserialize)]
struct GatewaySpec {
    #[api(schema = schemar)]
    host: String,
}

fn main() {}
