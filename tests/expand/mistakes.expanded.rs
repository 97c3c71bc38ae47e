// @generated from the file beside it; `BLESS=1 cargo test -p kindsmith-macros` writes it.

// Books
#[doc(hidden)]
#[allow(dead_code, unused_imports, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use ::kindsmith::__private::{declare as __decl, resource as __kind, serde};
    impl __decl::ApiType for Books {
        type Inner = Self;
        const DECLARATION: &'static __decl::TypeDecl = &__decl::TypeDecl::unnamed(
            __decl::Shape::Any,
        );
        const NESTING: usize = 1;
    }
    impl __decl::checks::Scalar for Books {}
    impl __decl::checks::ListKey for Books {}
    impl __kind::Resource for Books {
        type Scope = __kind::Namespaced;
        const RESOURCE: &'static __kind::ResourceDecl = ::core::panic!();
    }
    impl __kind::Stored for Books {}
    impl __kind::Unstored for Books {}
    impl serde::Serialize for Books {
        fn serialize<S: serde::Serializer>(
            &self,
            _: S,
        ) -> ::core::result::Result<S::Ok, S::Error> {
            ::core::unimplemented!()
        }
    }
    impl<'de> serde::Deserialize<'de> for Books {
        fn deserialize<D: serde::Deserializer<'de>>(
            _: D,
        ) -> ::core::result::Result<Self, D::Error> {
            ::core::unimplemented!()
        }
    }
};
::core::compile_error! {
    "#[resource] has no argument `plurl`; did you mean `plural`?"
}
::core::compile_error! {
    "a version must look like `v1`, `v1beta2` or `v1alpha1`, not `1`; did you mean `v1`?"
}
::core::compile_error! {
    "a kind must be in the singular, but `Books` looks plural; did you mean `Book`? If the name is right, add `singular = \"books\"`"
}

// Page
#[doc(hidden)]
#[allow(dead_code, unused_imports, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use ::kindsmith::__private::{declare as __decl, resource as __kind, serde};
    impl<T> __decl::ApiType for Page<T> {
        type Inner = Self;
        const DECLARATION: &'static __decl::TypeDecl = &__decl::TypeDecl::unnamed(
            __decl::Shape::Any,
        );
        const NESTING: usize = 1;
    }
    impl<T> __decl::checks::Scalar for Page<T> {}
    impl<T> __decl::checks::ListKey for Page<T> {}
};
::core::compile_error! {
    "`Page` has a type parameter, which API types cannot have; declare it with a concrete type"
}
