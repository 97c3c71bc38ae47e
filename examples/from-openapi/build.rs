//! Generates the kinds of the marina from its OpenAPI document, and from the overlay that says what such documents cannot.
fn main() -> Result<(), kindsmith_codegen::Error> {
    kindsmith_codegen::Builder::new()
        .file("../../schemas/marina.example.com/openapi.yaml")
        .file("../../schemas/marina.example.com/overlay.yaml")
        .compile()
}
