//! The macro `section!`, by which [`super::sections`] declares settings.

/// The type of a settled value: optional if there is no default.
macro_rules! settled {
    ($type:ty) => { Option<$type> };
    ($type:ty, $default:expr) => { $type };
}

/// The given value, else the default.
macro_rules! settle {
    ($given:expr) => {
        $given
    };
    ($given:expr, $default:expr) => {
        match $given {
            Some(value) => value,
            None => $default,
        }
    };
}

/// A settled value as one that was given.
macro_rules! as_given {
    ($settled:expr) => {
        $settled
    };
    ($settled:expr, $default:expr) => {
        Some($settled)
    };
}

/// The doc comment among the attributes of a setting, as one text.
macro_rules! about {
    () => { "" };
    (#[doc = $line:literal] $($rest:tt)*) => { concat!($line, about!($($rest)*)) };
    (#[$($other:tt)*] $($rest:tt)*) => { about!($($rest)*) };
}

/// Makes the two structs of a section, see [`super::sections`]. `=> "…"` says how a default follows from other settings.
macro_rules! section {
    (
        $(#[$about:meta])*
        $given:ident, $settled:ident {
            $($(#[$($attribute:tt)*])* $key:ident: $type:ty $(= $default:expr $(=> $derived:literal)?)?,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $given {
            $(
                $(#[$($attribute)*])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $key: Option<$type>,
            )*
        }

        $(#[$about])*
        #[derive(Clone, Debug)]
        pub(crate) struct $settled {
            $(pub $key: settled!($type $(, $default)?),)*
        }

        impl $given {
            /// The keys, in the order of the declaration.
            pub(crate) const KEYS: &[&str] = &[$(stringify!($key)),*];
            /// The meaning of each key, in the same order.
            pub(crate) const MEANINGS: &[&str] = &[$(about!($(#[$($attribute)*])*)),*];
            /// Keys whose default follows from other settings, and how.
            pub(crate) const DERIVED: &[(&str, &str)] = &[$($($((stringify!($key), $derived),)?)?)*];

            /// These values, and those of `under` where there is none.
            pub(crate) fn or(self, under: Self) -> Self {
                Self { $($key: self.$key.or(under.$key),)* }
            }

            /// These values, and the defaults where there is none.
            pub(crate) fn settle(self) -> $settled {
                $(let $key = settle!(self.$key $(, $default)?);)*
                $settled { $($key,)* }
            }
        }

        impl From<$settled> for $given {
            fn from(settled: $settled) -> Self {
                Self { $($key: as_given!(settled.$key $(, $default)?),)* }
            }
        }
    };
}
