//! Codecs and filters that chunks require but this process does not have.
//!
//! A chunk with a missing codec or filter is not damaged: it can be read once the plugin is
//! installed or the program registers it. Missing plugins are therefore reported by separate errors
//! ([`Error::CodecSupport`], [`Error::FilterPipeline`]) with a description, and by a trace line.
//!
//! ```
//! use ferroblosc::plugin::{Kind, Plugin};
//!
//! let name = Some("openzl".to_owned());
//! let plugin = Plugin::new(Kind::Codec, 38, name);
//! assert_eq!(plugin.to_string(), "the codec plugin \"openzl\" (id 38)");
//! assert!(plugin.advice().contains("FERROBLOSC_PLUGIN_SEARCH"));
//! ```

use std::fmt;

use crate::codec::{format, id};
use crate::filter;
use crate::{Error, ErrorKind, trace_error};

/// The environment variable that makes the C library query Python packages for their plugin
/// libraries.
pub const SEARCH_VARIABLE: &str = "FERROBLOSC_PLUGIN_SEARCH";

/// The features of this crate that add codecs and filters: the name of the feature, whether this
/// build has it, and the kind and the number of the codec or filter.
const FEATURES: [(&str, bool, Kind, u8); 16] = [
    ("plugins", cfg!(feature = "plugins"), Kind::Codec, id::NDLZ),
    ("plugins", cfg!(feature = "plugins"), Kind::Filter, filter::id::NDCELL),
    ("plugins", cfg!(feature = "plugins"), Kind::Filter, filter::id::NDMEAN),
    ("plugins", cfg!(feature = "plugins"), Kind::Filter, filter::id::BYTEDELTA_BUGGY),
    ("plugins", cfg!(feature = "plugins"), Kind::Filter, filter::id::BYTEDELTA),
    ("plugins", cfg!(feature = "plugins"), Kind::Filter, filter::id::INT_TRUNC),
    ("lz4", cfg!(feature = "lz4"), Kind::Codec, id::LZ4HC),
    ("snappy", cfg!(feature = "snappy"), Kind::Codec, id::SNAPPY),
    ("snappy", cfg!(feature = "snappy"), Kind::Format, format::SNAPPY),
    ("zlib", cfg!(feature = "pure-zlib"), Kind::Codec, id::ZLIB),
    ("zlib", cfg!(feature = "pure-zlib"), Kind::Format, format::ZLIB),
    ("zstd", cfg!(feature = "zstd"), Kind::Codec, id::ZSTD),
    ("zstd", HAS_ZSTD, Kind::Format, format::ZSTD),
    ("zfp", cfg!(feature = "zfp"), Kind::Codec, id::ZFP_ACCURACY),
    ("zfp", cfg!(feature = "zfp"), Kind::Codec, id::ZFP_PRECISION),
    ("zfp", cfg!(feature = "zfp"), Kind::Codec, id::ZFP_RATE),
];

/// Whether this build decodes Zstandard.
const HAS_ZSTD: bool = cfg!(any(feature = "zstd", feature = "pure-zstd"));

/// The kind of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A codec, identified by its compcode.
    Codec,
    /// A codec of an unknown stream format, identified by the format number.
    Format,
    /// A filter.
    Filter,
    /// A tuner.
    Tuner,
}

/// A plugin, identified by the number that chunks contain.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plugin {
    /// The kind.
    pub kind: Kind,
    /// The number.
    pub id: u8,
    /// The name, if registered globally or by the user.
    pub name: Option<String>,
}

impl Plugin {
    /// Returns the plugin of a kind and a number, with its name if it is known.
    pub fn new(kind: Kind, id: u8, name: Option<String>) -> Plugin {
        Plugin { kind, id, name }
    }

    /// Returns the codec of an unknown stream format.
    #[doc(hidden)]
    pub fn of_format(format: u8) -> Plugin {
        Plugin { kind: Kind::Format, id: format, name: None }
    }

    /// Returns the name of the kind: `codec`, `filter` or `tuner`.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Codec | Kind::Format => "codec",
            Kind::Filter => "filter",
            Kind::Tuner => "tuner",
        }
    }

    /// Whether the number is in the user range, where its meaning depends on the program.
    fn is_user_defined(&self) -> bool {
        self.kind != Kind::Format && self.id >= id::FIRST_USER
    }

    /// Returns the feature of this crate that would add the codec, filter or format, if this build
    /// lacks it.
    fn missing_feature(&self) -> Option<&'static str> {
        let mut missing = FEATURES.iter().filter(|(_, is_built_in, ..)| !is_built_in);
        let feature = missing.find(|(.., kind, id)| (*kind, *id) == (self.kind, self.id));
        feature.map(|(name, ..)| *name)
    }

    /// Returns the file name of the plugin's library, if its name is known.
    pub fn library(&self) -> Option<String> {
        use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
        let name = self.name.as_ref()?;
        Some(format!("{DLL_PREFIX}blosc2_{name}{DLL_SUFFIX}"))
    }

    /// Returns instructions for obtaining the plugin, as one sentence.
    pub fn advice(&self) -> String {
        if let Some(feature) = self.missing_feature() {
            return format!("build ferroblosc with its feature {feature:?}");
        }
        match (&self.name, self.library()) {
            (Some(name), Some(library)) if !self.is_user_defined() => format!(
                "install {library} where the dynamic linker finds it (LD_LIBRARY_PATH), or 'pip install blosc2-{name}' and set {SEARCH_VARIABLE}=1"
            ),
            (_, Some(library)) => format!(
                "install {library} where the dynamic linker finds it (LD_LIBRARY_PATH); {SEARCH_VARIABLE} finds only globally registered plugins"
            ),
            _ if self.is_user_defined() => format!(
                "the program that wrote the data registers this {} itself, so read the data with that program; no plugin library has this number, and {SEARCH_VARIABLE} does not help",
                self.kind_name()
            ),
            _ => format!(
                "read the data with a newer version; {SEARCH_VARIABLE} does not help, because the name of the plugin is unknown"
            ),
        }
    }

    /// Writes a trace line about the missing plugin.
    pub fn trace_missing(&self) {
        trace_error!("{}", self.missing());
    }

    /// Returns a description of the missing plugin, with instructions for obtaining it.
    pub(crate) fn missing(&self) -> String {
        format!("{self} is missing: {}", self.advice())
    }
}

impl fmt::Display for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind_name();
        match &self.name {
            Some(name) => write!(f, "the {kind} plugin {name:?} (id {})", self.id),
            None if self.kind == Kind::Format => {
                write!(f, "the codec of the stream format {}", self.id)
            }
            None if self.is_user_defined() => write!(f, "the user-defined {kind} {}", self.id),
            None => write!(f, "the {kind} plugin {}", self.id),
        }
    }
}

/// Returns the error of compressing with a codec that does not exist. If a feature of this crate
/// would add it, the error names the feature.
pub(crate) fn unknown_codec(compcode: i32) -> Error {
    let plugin = u8::try_from(compcode).map(|id| Plugin { kind: Kind::Codec, id, name: None });
    match plugin {
        Ok(plugin) if plugin.missing_feature().is_some() => {
            Error::CodecSupport.because(plugin.advice())
        }
        _ => Error::CodecSupport,
    }
}

/// Whether an error may be caused by a missing plugin.
pub fn may_be_missing(error: &Error) -> bool {
    *error == Error::CodecSupport || *error == Error::FilterPipeline
}

/// Recasts an error to [`ErrorKind::Failure`], unless a plugin or memory is missing.
pub(crate) fn or_failure(error: Error) -> Error {
    if may_be_missing(&error) { error } else { error.recast(ErrorKind::Failure) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{codec, filter};
    use std::env::consts;

    #[test]
    fn descriptions_name_the_plugin_its_library_and_the_variable() {
        let openzl = codec::missing_plugin(codec::id::OPENZL);
        assert_eq!(openzl.to_string(), "the codec plugin \"openzl\" (id 38)");
        let advice = openzl.advice();
        let library = format!("{}blosc2_openzl{}", consts::DLL_PREFIX, consts::DLL_SUFFIX);
        for part in [&*library, "pip install blosc2-openzl", SEARCH_VARIABLE] {
            assert!(advice.contains(part), "{advice}");
        }
        let user = codec::missing_plugin(247);
        assert_eq!(user.to_string(), "the user-defined codec 247");
        assert!(user.advice().contains(SEARCH_VARIABLE));
        let filter = filter::missing_plugin(60);
        assert_eq!(filter.to_string(), "the filter plugin 60");
        assert!(filter.advice().contains(SEARCH_VARIABLE));
    }
}
