use kindsmith::ApiType;

#[derive(ApiType)]
#[api(proto = "lock/v2.proto")]
struct BookSpec {
    author: String,
}

#[derive(ApiType)]
#[api(proto = "lock/broken.proto")]
struct OldBookSpec {
    author: String,
}

#[derive(ApiType)]
#[api(proto = "lock/v1.proto")]
enum Genre {
    Fiction,
    Science,
}

fn main() {}
