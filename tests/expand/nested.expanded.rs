// @generated from the file beside it; `BLESS=1 cargo test -p kindsmith-macros` writes it.

// BookSpec
#[doc(hidden)]
#[allow(dead_code, unused_imports, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use ::kindsmith::__private::{declare as __decl, resource as __kind, serde};
    #[diagnostic::do_not_recommend]
    impl __decl::ApiType for BookSpec {
        type Inner = Self;
        const DECLARATION: &'static __decl::TypeDecl = {
            &__decl::TypeDecl {
                name: "BookSpec",
                module: ::core::module_path!(),
                doc: "What is wanted.",
                shape: __decl::Shape::Struct(
                    &[
                        __decl::FieldDecl {
                            rust: "author",
                            wire: "author",
                            doc: "Who wrote it.",
                            ty: <String as __decl::ApiType>::declaration,
                            defaulted: false,
                            rules: &__decl::Rules {
                                min_length: ::core::option::Option::Some(1u64),
                                pattern: "^[A-Z]",
                                ..__decl::Rules::NONE
                            },
                        },
                        __decl::FieldDecl {
                            rust: "copies",
                            wire: "copies",
                            doc: "",
                            ty: <i32 as __decl::ApiType>::declaration,
                            defaulted: false,
                            rules: &__decl::Rules {
                                default: ::core::option::Option::Some(
                                    __decl::Literal::Int(1i64),
                                ),
                                minimum: ::core::option::Option::Some(0f64),
                                ..__decl::Rules::NONE
                            },
                        },
                        __decl::FieldDecl {
                            rust: "genre",
                            wire: "genre",
                            doc: "",
                            ty: <Genre as __decl::ApiType>::declaration,
                            defaulted: false,
                            rules: &__decl::Rules {
                                default: ::core::option::Option::Some(
                                    __decl::Literal::Variant("Novel"),
                                ),
                                ..__decl::Rules::NONE
                            },
                        },
                        __decl::FieldDecl {
                            rust: "chapters",
                            wire: "chapters",
                            doc: "",
                            ty: <Vec<Chapter> as __decl::ApiType>::declaration,
                            defaulted: true,
                            rules: &__decl::Rules {
                                list: __decl::ListDecl::Map(&["name"]),
                                merge: __decl::MergeDecl {
                                    merge: true,
                                    retain_keys: false,
                                    key: ::core::option::Option::Some("name"),
                                },
                                ..__decl::Rules::NONE
                            },
                        },
                        __decl::FieldDecl {
                            rust: "tags",
                            wire: "tags",
                            doc: "",
                            ty: <Vec<String> as __decl::ApiType>::declaration,
                            defaulted: true,
                            rules: &__decl::Rules {
                                list: __decl::ListDecl::Set,
                                items: ::core::option::Option::Some(
                                    &__decl::Rules {
                                        max_length: ::core::option::Option::Some(16u64),
                                        ..__decl::Rules::NONE
                                    },
                                ),
                                ..__decl::Rules::NONE
                            },
                        },
                        __decl::FieldDecl {
                            rust: "page_count",
                            wire: "pageCount",
                            doc: "",
                            ty: <Option<Count> as __decl::ApiType>::declaration,
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
            let deepest = __decl::deeper(deepest, <String as __decl::ApiType>::NESTING);
            let deepest = __decl::deeper(deepest, <i32 as __decl::ApiType>::NESTING);
            let deepest = __decl::deeper(deepest, <Genre as __decl::ApiType>::NESTING);
            let deepest = __decl::deeper(
                deepest,
                <Vec<Chapter> as __decl::ApiType>::NESTING,
            );
            let deepest = __decl::deeper(
                deepest,
                <Vec<String> as __decl::ApiType>::NESTING,
            );
            let deepest = __decl::deeper(
                deepest,
                <Option<Count> as __decl::ApiType>::NESTING,
            );
            deepest + 1
        };
    }
    const _: usize = <BookSpec as __decl::ApiType>::NESTING;
    const _: fn() -> <Genre as __decl::ApiType>::Inner = || Genre::Novel;
    const _: fn(&__decl::checks::Item<Vec<Chapter>>) = |item| {
        let value = &item.name;
        __decl::checks::key(value)
    };
    const _: () = ::core::assert!(
        __decl::checks::required:: < __decl::checks::Item < Vec < Chapter > >> ("name"),
        "the key `name` of a list map must be required: remove `#[serde(default)]` from its field"
    );
    const _: fn() = __decl::checks::set_items::<Vec<String>>;
    const _: fn() = __decl::checks::on_the_wire::<BookSpec>;
};

// Genre
#[doc(hidden)]
#[allow(dead_code, unused_imports, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use ::kindsmith::__private::{declare as __decl, resource as __kind, serde};
    #[diagnostic::do_not_recommend]
    impl __decl::ApiType for Genre {
        type Inner = Self;
        const DECLARATION: &'static __decl::TypeDecl = {
            &__decl::TypeDecl {
                name: "Genre",
                module: ::core::module_path!(),
                doc: "A genre.",
                shape: __decl::Shape::Enum(
                    &[
                        __decl::VariantDecl {
                            rust: "Novel",
                            wire: "Novel",
                            doc: "",
                        },
                        __decl::VariantDecl {
                            rust: "NonFiction",
                            wire: "Non-fiction",
                            doc: "",
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
            deepest + 1
        };
    }
    const _: usize = <Genre as __decl::ApiType>::NESTING;
    const _: fn() = __decl::checks::on_the_wire::<Genre>;
    #[diagnostic::do_not_recommend]
    impl __decl::checks::Scalar for Genre {}
    #[diagnostic::do_not_recommend]
    impl __decl::checks::ListKey for Genre {}
    #[diagnostic::do_not_recommend]
    impl __decl::checks::Cell for Genre {
        const COLUMN: &'static str = "string";
    }
};

// Place
#[doc(hidden)]
#[allow(dead_code, unused_imports, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use ::kindsmith::__private::{declare as __decl, resource as __kind, serde};
    #[diagnostic::do_not_recommend]
    impl __decl::ApiType for Place {
        type Inner = Self;
        const DECLARATION: &'static __decl::TypeDecl = {
            #[allow(non_snake_case)]
            fn member_Home() -> &'static __decl::TypeDecl {
                const DECLARATION: &__decl::TypeDecl = &__decl::TypeDecl {
                    name: "PlaceHome",
                    module: ::core::module_path!(),
                    doc: "At home.",
                    shape: __decl::Shape::Struct(
                        &[
                            __decl::FieldDecl {
                                rust: "street",
                                wire: "street",
                                doc: "",
                                ty: <String as __decl::ApiType>::declaration,
                                defaulted: false,
                                rules: &__decl::Rules::NONE,
                            },
                        ],
                    ),
                    proto_zeros: false,
                    keywords: &[],
                    published: false,
                };
                DECLARATION
            }
            &__decl::TypeDecl {
                name: "Place",
                module: ::core::module_path!(),
                doc: "Where to read.",
                shape: __decl::Shape::Union(
                    &[
                        __decl::FieldDecl {
                            rust: "Shelf",
                            wire: "shelf",
                            doc: "",
                            ty: <Shelf as __decl::ApiType>::declaration,
                            defaulted: false,
                            rules: &__decl::Rules::NONE,
                        },
                        __decl::FieldDecl {
                            rust: "Home",
                            wire: "home",
                            doc: "At home.",
                            ty: member_Home,
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
            let deepest = __decl::deeper(deepest, <Shelf as __decl::ApiType>::NESTING);
            let deepest = __decl::deeper(deepest, <String as __decl::ApiType>::NESTING);
            deepest + 1
        };
    }
    const _: usize = <Place as __decl::ApiType>::NESTING;
    const _: fn() = __decl::checks::on_the_wire::<Place>;
};
