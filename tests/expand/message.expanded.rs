// @generated from the file beside it; `BLESS=1 cargo test -p kindsmith-macros` writes it.

// Book
#[doc(hidden)]
#[allow(dead_code, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use ::kindsmith::__private::{message as __message, prost as __prost};
    impl Book {
        #[doc(hidden)]
        fn __empty_message() -> Self {
            Self {
                metadata: <ObjectMeta as __message::Field>::empty(),
                authors: <Vec<String> as __message::Field>::empty(),
                pages: <Option<i32> as __message::Field>::empty(),
            }
        }
    }
    #[diagnostic::do_not_recommend]
    impl __prost::Message for Book {
        fn encode_raw(&self, out: &mut impl __prost::bytes::BufMut) {
            <ObjectMeta as __message::Field>::write(&self.metadata, 1u32, out);
            <Option<i32> as __message::Field>::write_always(&self.pages, 2u32, out);
            if !Vec::is_empty(&self.authors) {
                <Vec<String> as __message::Field>::write(&self.authors, 3u32, out);
            }
        }
        fn merge_field(
            &mut self,
            number: u32,
            wire: __prost::encoding::WireType,
            from: &mut impl __prost::bytes::Buf,
            context: __prost::encoding::DecodeContext,
        ) -> ::core::result::Result<(), __prost::DecodeError> {
            match number {
                1u32 => {
                    __message::merge_named(
                        <ObjectMeta as __message::Field>::merge(
                            &mut self.metadata,
                            wire,
                            from,
                            context,
                        ),
                        "Book",
                        "metadata",
                    )
                }
                2u32 => {
                    __message::merge_named(
                        <Option<
                            i32,
                        > as __message::Field>::merge(
                            &mut self.pages,
                            wire,
                            from,
                            context,
                        ),
                        "Book",
                        "pages",
                    )
                }
                3u32 => {
                    __message::merge_named(
                        <Vec<
                            String,
                        > as __message::Field>::merge(
                            &mut self.authors,
                            wire,
                            from,
                            context,
                        ),
                        "Book",
                        "authors",
                    )
                }
                _ => __prost::encoding::skip_field(wire, number, from, context),
            }
        }
        fn encoded_len(&self) -> usize {
            0 + <ObjectMeta as __message::Field>::length(&self.metadata, 1u32)
                + <Option<i32> as __message::Field>::always_length(&self.pages, 2u32)
                + if Vec::is_empty(&self.authors) {
                    0
                } else {
                    <Vec<String> as __message::Field>::length(&self.authors, 3u32)
                }
        }
        fn clear(&mut self) {
            *self = Self::__empty_message();
        }
    }
    __message::message_field!(impl [] for Book[], Self::__empty_message());
};

// Genre
#[doc(hidden)]
#[allow(dead_code, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use ::kindsmith::__private::{message as __message, prost as __prost};
    #[diagnostic::do_not_recommend]
    impl __message::Field for Genre {
        fn empty() -> Self {
            Self::Fiction
        }
        fn write(&self, number: u32, out: &mut impl __prost::bytes::BufMut) {
            __message::write_text(
                number,
                match self {
                    Self::Fiction => "Fiction",
                    Self::Science => "true",
                },
                out,
            );
        }
        fn length(&self, number: u32) -> usize {
            __message::text_length(
                number,
                match self {
                    Self::Fiction => "Fiction",
                    Self::Science => "true",
                },
            )
        }
        fn merge(
            &mut self,
            wire: __prost::encoding::WireType,
            from: &mut impl __prost::bytes::Buf,
            context: __prost::encoding::DecodeContext,
        ) -> ::core::result::Result<(), __prost::DecodeError> {
            *self = match __message::read_text(wire, from, context)?.as_str() {
                "Fiction" => Self::Fiction,
                "true" => Self::Science,
                other => return __message::no_value("Genre", other),
            };
            ::core::result::Result::Ok(())
        }
    }
};

// Place
#[doc(hidden)]
#[allow(dead_code, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use ::kindsmith::__private::{message as __message, prost as __prost};
    impl Place {
        #[doc(hidden)]
        fn __empty_message() -> Self {
            Self::Shelf(__message::Field::empty())
        }
    }
    #[diagnostic::do_not_recommend]
    impl __prost::Message for Place {
        fn encode_raw(&self, out: &mut impl __prost::bytes::BufMut) {
            match self {
                Self::Shelf(value) => __message::Field::write_item(value, 1u32, out),
                Self::Lent { to: __to } => {
                    __message::write_nested(
                        2u32,
                        0 + <String as __message::Field>::length(__to, 1u32),
                        out,
                        |out| {
                            <String as __message::Field>::write(__to, 1u32, out);
                        },
                    )
                }
            }
        }
        fn merge_field(
            &mut self,
            number: u32,
            wire: __prost::encoding::WireType,
            from: &mut impl __prost::bytes::Buf,
            context: __prost::encoding::DecodeContext,
        ) -> ::core::result::Result<(), __prost::DecodeError> {
            match number {
                1u32 => {
                    if !::core::matches!(self, Self::Shelf(..)) {
                        *self = Self::Shelf(__message::Field::empty());
                    }
                    let Self::Shelf(value) = self else {
                        return ::core::result::Result::Ok(())
                    };
                    __message::merge_named(
                        __message::Field::merge(value, wire, from, context),
                        "Place",
                        "Shelf",
                    )
                }
                2u32 => {
                    if !::core::matches!(self, Self::Lent { .. }) {
                        *self = Self::Lent {
                            to: <String as __message::Field>::empty(),
                        };
                    }
                    __message::merge_named(
                        __message::merge_nested(
                            self,
                            wire,
                            from,
                            context,
                            |value, number, wire, from, context| {
                                let Self::Lent { to: __to } = value else {
                                    return ::core::result::Result::Ok(false)
                                };
                                match number {
                                    1u32 => {
                                        __message::merge_named(
                                            <String as __message::Field>::merge(
                                                __to,
                                                wire,
                                                from,
                                                context,
                                            ),
                                            "Lent",
                                            "to",
                                        )
                                    }
                                    _ => return ::core::result::Result::Ok(false),
                                }?;
                                ::core::result::Result::Ok(true)
                            },
                        ),
                        "Place",
                        "Lent",
                    )
                }
                _ => __prost::encoding::skip_field(wire, number, from, context),
            }
        }
        fn encoded_len(&self) -> usize {
            match self {
                Self::Shelf(value) => __message::Field::item_length(value, 1u32),
                Self::Lent { to: __to } => {
                    __message::nested_length(
                        2u32,
                        0 + <String as __message::Field>::length(__to, 1u32),
                    )
                }
            }
        }
        fn clear(&mut self) {
            *self = Self::__empty_message();
        }
    }
    __message::message_field!(impl [] for Place[], Self::__empty_message());
};
