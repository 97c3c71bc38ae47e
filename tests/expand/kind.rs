/// A book.
#[derive(Resource, Clone, Debug)]
#[resource(group = "library.example.com", version = "v1", shortname = "bk", status)]
#[resource(scale(replicas = spec.copies, status = status.copies))]
#[resource(column("Author", path = spec.author), column("Lent", with = Book::lent, priority = 1))]
#[resource(selectable(spec.author), default = Book::fill_in)]
pub struct Book {
    pub metadata: ObjectMeta,
    pub spec: BookSpec,
    pub status: Option<BookStatus>,
}
