//! Values of labels as enums: their number is known, and a series is found by number.

/// An enum whose variants have a label each.
macro_rules! labels {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $label:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$each])* $variant),* }

        impl $name {
            const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The label's value.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $label),* }
            }
        }
    };
}

pub(super) use labels;
