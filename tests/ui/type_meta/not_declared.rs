use kindsmith::Resource;

struct Book;

fn serve<T: Resource>() {}

fn main() {
    serve::<Book>();
}
