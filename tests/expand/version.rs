/// A book, as it was declared before.
#[derive(Resource, Clone, Debug)]
#[resource(version = "v1beta1", storage = Book, deprecated, unserved)]
#[resource(convert(renamed(spec.writer = spec.author), added(spec.copies), removed(spec.note)))]
pub struct BookV1Beta1 {
    pub metadata: ObjectMeta,
    pub spec: BookV1Beta1Spec,
}
