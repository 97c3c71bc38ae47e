// @generated from the file beside it; `BLESS=1 cargo test -p kindsmith-macros` writes it.

// BookV1Beta1
#[doc(hidden)]
#[allow(dead_code, unused_imports, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use ::kindsmith::__private::{declare as __decl, resource as __kind, serde};
    #[diagnostic::do_not_recommend]
    impl __decl::ApiType for BookV1Beta1 {
        type Inner = Self;
        const DECLARATION: &'static __decl::TypeDecl = {
            &__decl::TypeDecl {
                name: "BookV1Beta1",
                module: ::core::module_path!(),
                doc: "A book, as it was declared before.",
                shape: __decl::Shape::Struct(
                    &[
                        __decl::FieldDecl {
                            rust: "metadata",
                            wire: "metadata",
                            doc: "",
                            ty: <ObjectMeta as __decl::ApiType>::declaration,
                            defaulted: false,
                            rules: &__decl::Rules::NONE,
                        },
                        __decl::FieldDecl {
                            rust: "spec",
                            wire: "spec",
                            doc: "",
                            ty: <BookV1Beta1Spec as __decl::ApiType>::declaration,
                            defaulted: false,
                            rules: &__decl::Rules::NONE,
                        },
                    ],
                ),
                proto_zeros: false,
                keywords: &[],
                published: false,
            }
        };
        const NESTING: usize = {
            let deepest = 0;
            let deepest = __decl::deeper(
                deepest,
                <ObjectMeta as __decl::ApiType>::NESTING,
            );
            let deepest = __decl::deeper(
                deepest,
                <BookV1Beta1Spec as __decl::ApiType>::NESTING,
            );
            deepest + 1
        };
    }
    const _: usize = <BookV1Beta1 as __decl::ApiType>::NESTING;
    #[diagnostic::do_not_recommend]
    impl __kind::Resource for BookV1Beta1 {
        type Scope = <Book as __kind::Resource>::Scope;
        const RESOURCE: &'static __kind::ResourceDecl = &__kind::ResourceDecl {
            version: "v1beta1",
            served: false,
            deprecated: ::core::option::Option::Some(""),
            verbs: ::core::option::Option::None,
            storage: ::core::option::Option::Some(__kind::StorageDecl {
                resource: <Book as __kind::Resource>::RESOURCE,
                root: <Book as __decl::ApiType>::DECLARATION,
                conversion: __kind::ConversionDecl::Changes(
                    &[
                        __kind::ChangeDecl::Renamed(
                            &["spec", "writer"],
                            &["spec", "author"],
                        ),
                        __kind::ChangeDecl::Added(&["spec", "copies"]),
                        __kind::ChangeDecl::Removed(&["spec", "note"]),
                    ],
                ),
            }),
            status: false,
            scale: ::core::option::Option::None,
            columns: &[],
            no_age: false,
            selectable: &[],
            hooks: || ::std::sync::Arc::new(__kind::NoHooks),
            ..*<Book as __kind::Resource>::RESOURCE
        };
    }
    #[diagnostic::do_not_recommend]
    impl __kind::Stored for BookV1Beta1 {}
    const _: () = ::core::assert!(
        < Book as __kind::Resource > ::RESOURCE.storage.is_none() && < Book as
        __kind::Resource > ::RESOURCE.stored,
        "`Book` is not a storage version: it declares `storage` itself, or is `unstored`"
    );
    const _: () = ::core::assert!(
        ! __decl::checks::same(< Book as __kind::Resource > ::RESOURCE.version
        .as_bytes(), "v1beta1".as_bytes()), "`Book` is also version v1beta1"
    );
    const _: fn(&BookV1Beta1) = |root| {
        let value = &__decl::checks::inner(&root.spec).writer;
        __decl::checks::declared(value)
    };
    const _: fn(&Book) = |root| {
        let value = &__decl::checks::inner(&root.spec).author;
        __decl::checks::declared(value)
    };
    const _: fn(&Book) = |root| {
        let value = &__decl::checks::inner(&root.spec).copies;
        __decl::checks::declared(value)
    };
    const _: fn(&BookV1Beta1) = |root| {
        let value = &__decl::checks::inner(&root.spec).note;
        __decl::checks::declared(value)
    };
    impl serde::Serialize for BookV1Beta1 {
        fn serialize<__S: serde::Serializer>(
            &self,
            to: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error> {
            use serde::ser::SerializeStruct;
            let mut out = serde::Serializer::serialize_struct(
                to,
                "BookV1Beta1",
                4usize,
            )?;
            let declaration = <Self as __kind::Resource>::RESOURCE;
            SerializeStruct::serialize_field(
                &mut out,
                "apiVersion",
                &__kind::ApiVersion(declaration),
            )?;
            SerializeStruct::serialize_field(&mut out, "kind", declaration.kind)?;
            SerializeStruct::serialize_field(&mut out, "metadata", &self.metadata)?;
            SerializeStruct::serialize_field(&mut out, "spec", &self.spec)?;
            SerializeStruct::end(out)
        }
    }
    impl<'de> serde::Deserialize<'de> for BookV1Beta1 {
        fn deserialize<__D: serde::Deserializer<'de>>(
            from: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            #[derive(serde::Deserialize)]
            #[serde(crate = "::kindsmith::__private::serde")]
            struct __Read {
                #[serde(rename = "apiVersion", default)]
                __api_version: ::core::option::Option<::std::string::String>,
                #[serde(rename = "kind", default)]
                __kind: ::core::option::Option<::std::string::String>,
                #[serde(rename = "metadata")]
                metadata: ObjectMeta,
                #[serde(rename = "spec")]
                spec: BookV1Beta1Spec,
            }
            let read = <__Read as serde::Deserialize>::deserialize(from)?;
            let declaration = <Self as __kind::Resource>::RESOURCE;
            declaration
                .check_type_meta(read.__api_version.as_deref(), read.__kind.as_deref())
                .map_err(serde::de::Error::custom)?;
            ::core::result::Result::Ok(Self {
                metadata: read.metadata,
                spec: read.spec,
            })
        }
    }
};
#[cfg(test)]
#[allow(unnameable_test_items)]
#[test]
fn book_v1_beta1_schema_and_type_agree() {
    ::kindsmith::testing::schema_and_type_agree::<BookV1Beta1>();
}
#[cfg(test)]
#[allow(unnameable_test_items)]
#[test]
fn book_v1_beta1_conversion_loses_nothing() {
    ::kindsmith::testing::conversion_loses_nothing::<BookV1Beta1>();
}
