use kindsmith::ApiType;

#[derive(ApiType, serde::Serialize, serde::Deserialize)]
struct GatewaySpec {
    #[api(schema = schemars, minimum = 1, default = Protocol::Http)]
    protocol: Protocol,
    #[api(schema = schemars, list = set)]
    zones: Zones,
}

fn main() {}
