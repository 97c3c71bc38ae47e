// @generated from the file beside it; `BLESS=1 cargo test -p kindsmith-macros` writes it.

// Book
#[doc(hidden)]
#[allow(dead_code, unused_imports, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use ::kindsmith::__private::{declare as __decl, resource as __kind, serde};
    #[diagnostic::do_not_recommend]
    impl __decl::ApiType for Book {
        type Inner = Self;
        const DECLARATION: &'static __decl::TypeDecl = {
            &__decl::TypeDecl {
                name: "Book",
                module: ::core::module_path!(),
                doc: "A book.",
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
                            ty: <BookSpec as __decl::ApiType>::declaration,
                            defaulted: false,
                            rules: &__decl::Rules::NONE,
                        },
                        __decl::FieldDecl {
                            rust: "status",
                            wire: "status",
                            doc: "",
                            ty: <Option<BookStatus> as __decl::ApiType>::declaration,
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
                <BookSpec as __decl::ApiType>::NESTING,
            );
            let deepest = __decl::deeper(
                deepest,
                <Option<BookStatus> as __decl::ApiType>::NESTING,
            );
            deepest + 1
        };
    }
    const _: usize = <Book as __decl::ApiType>::NESTING;
    #[diagnostic::do_not_recommend]
    impl __kind::Resource for Book {
        type Scope = __kind::Namespaced;
        const RESOURCE: &'static __kind::ResourceDecl = &__kind::ResourceDecl {
            version: "v1",
            served: true,
            deprecated: ::core::option::Option::None,
            verbs: ::core::option::Option::None,
            storage: ::core::option::Option::None,
            status: true,
            scale: ::core::option::Option::Some(__kind::ScaleDecl {
                replicas: &["spec", "copies"],
                status: &["status", "copies"],
                selector: ::core::option::Option::None,
            }),
            columns: &[
                __kind::ColumnDecl {
                    name: "Author",
                    priority: 0i32,
                    description: "",
                    format: "",
                    cell: __kind::CellDecl::Path(&["spec", "author"]),
                },
                __kind::ColumnDecl {
                    name: "Lent",
                    priority: 1i32,
                    description: "",
                    format: "",
                    cell: __kind::CellDecl::Computed(
                        |document| __kind::hook::cell::<Book, _>(document, Book::lent),
                        __decl::checks::column_of::<
                            Book,
                            _,
                        >(&(Book::lent as fn(&Book) -> _)),
                    ),
                },
            ],
            no_age: false,
            selectable: &[&["spec", "author"]],
            hooks: || __kind::hook::on_documents(__kind::hook::Functions::<Book> {
                default: ::core::option::Option::Some(Book::fill_in),
                ..__kind::hook::Functions::<Book>::NONE
            }),
            group: "library.example.com",
            kind: "Book",
            list_kind: "BookList",
            plural: "books",
            singular: "book",
            short_names: &["bk"],
            categories: &[],
            scope: __kind::Scope::Namespaced,
            policy: &__kind::Custom,
            names: __kind::NameRule::Subdomain,
            generation: true,
            stored: true,
            update_without_version: false,
            create_on_update: false,
            returns_deleted: false,
            grace: ::core::option::Option::None,
            lifetime_seconds: ::core::option::Option::None,
            roles: __kind::UserRoles {
                read: ::core::option::Option::Some(__kind::UserRole::View),
                write: ::core::option::Option::Some(__kind::UserRole::Edit),
            },
        };
    }
    #[diagnostic::do_not_recommend]
    impl __kind::Stored for Book {}
    const _: fn(&Book) = |root| {
        let value = &__decl::checks::inner(&root.spec).author;
        __decl::checks::column(value)
    };
    const _: fn(&Book) = |root| {
        let value = &__decl::checks::inner(&root.spec).author;
        __decl::checks::selectable(value)
    };
    const _: fn(&Book) = |root| {
        let value = &__decl::checks::inner(&root.spec).copies;
        __decl::checks::replicas(value)
    };
    const _: fn(&Book) = |root| {
        let value = &__decl::checks::inner(&root.status).copies;
        __decl::checks::replicas(value)
    };
    impl serde::Serialize for Book {
        fn serialize<__S: serde::Serializer>(
            &self,
            to: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error> {
            use serde::ser::SerializeStruct;
            let mut out = serde::Serializer::serialize_struct(to, "Book", 5usize)?;
            let declaration = <Self as __kind::Resource>::RESOURCE;
            SerializeStruct::serialize_field(
                &mut out,
                "apiVersion",
                &__kind::ApiVersion(declaration),
            )?;
            SerializeStruct::serialize_field(&mut out, "kind", declaration.kind)?;
            SerializeStruct::serialize_field(&mut out, "metadata", &self.metadata)?;
            SerializeStruct::serialize_field(&mut out, "spec", &self.spec)?;
            if self.status.is_none() {
                SerializeStruct::skip_field(&mut out, "status")?;
            } else {
                SerializeStruct::serialize_field(&mut out, "status", &self.status)?;
            }
            SerializeStruct::end(out)
        }
    }
    impl<'de> serde::Deserialize<'de> for Book {
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
                spec: BookSpec,
                #[serde(rename = "status")]
                status: Option<BookStatus>,
            }
            let read = <__Read as serde::Deserialize>::deserialize(from)?;
            let declaration = <Self as __kind::Resource>::RESOURCE;
            declaration
                .check_type_meta(read.__api_version.as_deref(), read.__kind.as_deref())
                .map_err(serde::de::Error::custom)?;
            ::core::result::Result::Ok(Self {
                metadata: read.metadata,
                spec: read.spec,
                status: read.status,
            })
        }
    }
};
#[cfg(test)]
#[allow(unnameable_test_items)]
#[test]
fn book_schema_and_type_agree() {
    ::kindsmith::testing::schema_and_type_agree::<Book>();
}
