use kindsmith::{ApiType, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

#[derive(Resource)]
#[resource(group = "library.example.com", version = "v1", status)]
#[resource(default = Book::fil_in)]
struct Book {
    metadata: ObjectMeta,
    spec: BookSpec,
    status: Option<BookStatus>,
}

#[derive(ApiType, Serialize, Deserialize)]
struct BookSpec {
    author: String,
    tags: Vec<String>,
    copies: Option<i32>,
}

#[derive(ApiType, Serialize, Deserialize)]
struct BookStatus {
    phase: Option<String>,
    copies: i32,
}

impl Book {
    fn fill_in(&mut self, _: &kindsmith::Context<'_, Self>) {}
}

fn main() {}
