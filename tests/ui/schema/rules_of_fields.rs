use kindsmith::ApiType;

#[derive(ApiType, serde::Serialize, serde::Deserialize)]
#[api(schema = schemars, title = "Retries")]
struct Retries {
    #[api(maximum = 10)]
    most: u8,
}

fn main() {}
