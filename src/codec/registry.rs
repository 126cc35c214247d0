//! Registered codecs: the global plugins and those that users register.
//!
//! Ids below 160 are assigned globally, and the plugins among them are known by name from the
//! start. Ids from 160 are for users. Some plugins are built into this library. A plugin or user
//! codec registered by name only is loaded by the process's [`Loader`] on first use.

use std::ffi::{CStr, CString};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::info::{Code, CodecInfo};
use super::interface::Codec;
use super::{id, lookup};
use crate::escape::escape;
use crate::plugin::{Kind, Plugin};
use crate::pool::SharedList;
use crate::{Error, Result};

/// The version byte of chunks written by the codecs of the table.
pub(super) const VERSION: u8 = 1;

/// The implementation of a registered codec.
#[derive(Clone)]
pub enum Implementation {
    /// A plugin built into this library.
    BuiltIn(&'static dyn Codec),
    /// A user's codec or a loaded plugin.
    Added(Arc<dyn Codec>),
}

impl Deref for Implementation {
    type Target = dyn Codec;

    fn deref(&self) -> &Self::Target {
        match self {
            Implementation::BuiltIn(codec) => *codec,
            Implementation::Added(codec) => &**codec,
        }
    }
}

/// Loads the implementation of a codec known by name only. May be called again after it returned
/// `None`, and concurrently from several threads.
pub type Loader = fn(&RegisteredCodec) -> Option<Arc<dyn Codec>>;

static LOADER: OnceLock<Loader> = OnceLock::new();

/// Sets the loader of this process. Only the first call has an effect.
pub fn set_loader(loader: Loader) {
    LOADER.get_or_init(|| loader);
}

/// A codec with a number and a name, with or without an implementation.
#[derive(Clone)]
pub struct RegisteredCodec {
    id: u8,
    name: &'static CStr,
    complib: u8,
    version: u8,
    codec: Option<Implementation>,
}

impl RegisteredCodec {
    /// Returns the compcode.
    pub fn id(&self) -> u8 {
        self.id
    }

    /// Returns the name, which stays valid after the registration is removed.
    pub fn name(&self) -> &'static CStr {
        self.name
    }

    /// Returns the number of the library (`complib`).
    pub fn complib(&self) -> u8 {
        self.complib
    }

    /// Returns the version byte of chunks written with this codec.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// Returns the implementation, or `None` if only the name is registered.
    pub fn codec(&self) -> Option<&Implementation> {
        self.codec.as_ref()
    }
}

/// Implementations of loaded plugins, by id. They are never unloaded.
static LOADED: SharedList<(u8, Arc<dyn Codec>)> = SharedList::new();

/// User codecs in registration order.
static USERS: SharedList<RegisteredCodec> = SharedList::new();

/// Registers a codec of the program for all contexts of this process, under `id` and `name`.
/// Registering an id again under the same name has no effect. Chunks record the id and version 1.
///
/// # Errors
/// - [`Error::CodecParam`] if `id` is below [`id::FIRST_USER`] or registered under another name,
///   and for a name with a NUL byte;
/// - [`Error::MemoryAlloc`].
pub fn register(id: u8, name: &str, codec: impl Codec + 'static) -> Result<()> {
    let name = CString::new(name)
        .map_err(|error| Error::CodecParam.because("the name of the codec").caused_by(error))?;
    register_entry(id, &name, id, 1, Some(Arc::new(codec)))
}

/// Registers a codec with the number of its library and the version of its streams, for C programs.
/// With `codec` `None`, only the number and name are reserved, and chunks that need the codec fail
/// with [`Error::CodecSupport`].
///
/// # Errors
/// Returns the errors of [`register`].
pub fn register_entry(
    id: u8,
    name: &CStr,
    complib: u8,
    version: u8,
    codec: Option<Arc<dyn Codec>>,
) -> Result<()> {
    if id < id::FIRST_USER {
        let text = format!(
            "{id} is not the number of a codec of the program: {} to 255 are",
            id::FIRST_USER
        );
        return Err(Error::CodecParam.because(text));
    }
    let name = intern(name);
    let codec = codec.map(Implementation::Added);
    USERS.update(|users| {
        if let Some(known) = users.iter().find(|known| known.id == id) {
            if known.name == name {
                return Ok(());
            }
            let known = known.name.to_string_lossy();
            let text =
                format!("codec {id} is registered already, with the name {}", escape(&known));
            return Err(Error::CodecParam.because(text));
        }
        users.try_reserve(1)?;
        users.push(RegisteredCodec { id, name, complib, version, codec: codec.clone() });
        Ok(())
    })
}

/// Removes all user codecs; the plugins stay.
pub fn reset_user_registrations() {
    USERS.update(Vec::clear);
}

/// Returns the registered codec or plugin with this id.
pub fn registered(id: u8) -> Option<RegisteredCodec> {
    if id < id::FIRST_USER {
        return lookup::info(id).and_then(plugin_entry);
    }
    USERS.find(|known| known.id == id)
}

/// Returns the implementation of the codec with this id, and loads it if only its name is known.
///
/// # Errors
/// [`Error::CodecSupport`] if there is no such codec or no implementation of it.
pub fn implementation(id: u8) -> Result<Implementation> {
    let registered = registered(id).ok_or_else(|| missing(id))?;
    if let Some(codec) = registered.codec {
        return Ok(codec);
    }
    let loaded = LOADER.get().and_then(|load| load(&registered));
    let codec = loaded.ok_or_else(|| missing(id))?;
    store_loaded(&registered, &codec)?;
    Ok(Implementation::Added(codec))
}

/// Whether this process can compress with the codec. Loads plugin libraries as needed.
pub fn can_encode(compcode: u8) -> bool {
    match lookup::info(compcode) {
        Some(codec) if codec.is_built_in() => codec.can_encode,
        _ => implementation(compcode).is_ok(),
    }
}

/// Returns the description of a codec without an implementation.
pub(crate) fn missing_plugin(id: u8) -> Plugin {
    let name = registered(id).map(|codec| codec.name().to_string_lossy().into_owned());
    Plugin { kind: Kind::Codec, id, name }
}

/// Traces that a codec has no implementation, and returns the error.
fn missing(id: u8) -> Error {
    let plugin = missing_plugin(id);
    plugin.trace_missing();
    Error::CodecSupport.because(plugin.missing())
}

/// Stores a loaded implementation for later calls.
fn store_loaded(registered: &RegisteredCodec, codec: &Arc<dyn Codec>) -> Result<()> {
    if registered.id < id::FIRST_USER {
        return LOADED.update(|loaded| {
            if loaded.iter().all(|known| known.0 != registered.id) {
                loaded.try_reserve(1)?;
                loaded.push((registered.id, Arc::clone(codec)));
            }
            Ok(())
        });
    }
    let same = |known: &&mut RegisteredCodec| {
        known.id == registered.id && known.name == registered.name && known.codec.is_none()
    };
    USERS.update(|users| {
        if let Some(known) = users.iter_mut().find(same) {
            known.codec = Some(Implementation::Added(Arc::clone(codec)));
        }
    });
    Ok(())
}

/// Returns the first registered codec or plugin with this name.
pub(super) fn find_by_name(name: &[u8]) -> Option<RegisteredCodec> {
    let mut named = lookup::all().filter(|known| known.name.to_bytes() == name);
    if let Some(plugin) = named.find_map(plugin_entry) {
        return Some(plugin);
    }
    USERS.find(|known| known.name.to_bytes() == name)
}

/// Returns the codec as a registered one if it is a plugin.
fn plugin_entry(known: &CodecInfo) -> Option<RegisteredCodec> {
    let codec = match known.code {
        Code::Stream(_) => return None,
        Code::Plugin(codec) => Some(Implementation::BuiltIn(codec)),
        Code::External => {
            LOADED.find(|(id, _)| *id == known.id).map(|(_, codec)| Implementation::Added(codec))
        }
    };
    Some(RegisteredCodec {
        id: known.id,
        name: known.name,
        complib: known.id,
        version: VERSION,
        codec,
    })
}

/// Returns a leaked copy of `name`, because names are returned to callers without an owner. Each
/// distinct name is leaked once, so repeated registration does not grow memory.
fn intern(name: &CStr) -> &'static CStr {
    static NAMES: SharedList<&'static CStr> = SharedList::new();
    let is_same = |known: &&'static CStr| *known == name;
    if let Some(known) = NAMES.find(is_same) {
        return known;
    }
    let leaked: &'static CStr = Box::leak(CString::from(name).into_boxed_c_str());
    // Another thread may have added the name in the meantime.
    NAMES.update(|names| {
        let known = names.iter().copied().find(is_same);
        known.unwrap_or_else(|| {
            names.push(leaked);
            leaked
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::{CodecCall, compcode_to_compname, compname_to_compcode, id, wire_version};
    use super::*;

    struct Reverse;

    impl Codec for Reverse {
        fn encode(&self, _: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
            let dest = dest.get_mut(..src.len()).ok_or(Error::WriteBuffer)?;
            dest.copy_from_slice(src);
            dest.reverse();
            Ok(src.len())
        }

        fn decode(&self, call: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
            self.encode(call, src, dest)
        }
    }

    // One test, because the registry is shared by the whole process.
    #[test]
    fn registration_follows_the_reference() {
        for taken in [0, 1, 32, 40, 41, 159] {
            assert_eq!(register_entry(taken, c"mine", 0, 1, None), Err(Error::CodecParam));
        }

        assert_eq!(register_entry(250, c"mine", 250, 7, Some(Arc::new(Reverse))), Ok(()));
        assert_eq!(register_entry(250, c"mine", 1, 1, None), Ok(()));
        assert_eq!(register_entry(250, c"other", 1, 1, None), Err(Error::CodecParam));
        let error = register(250, "other", Reverse).unwrap_err();
        assert_eq!(error.to_string(), "codec 250 is registered already, with the name mine");
        assert_eq!(register(251, "a\0b", Reverse), Err(Error::CodecParam));
        assert_eq!(register(251, "simple", Reverse), Ok(()));
        let simple = registered(251).expect("registered");
        assert_eq!((simple.complib(), simple.version()), (251, 1));
        let mine = registered(250).expect("registered");
        assert_eq!((mine.complib(), mine.version()), (250, 7), "unchanged");
        assert!(mine.codec().is_some(), "unchanged");
        assert_eq!(wire_version(250), Some(7));
        assert_eq!(compname_to_compcode("mine"), Some(250));

        assert_eq!(register_entry(240, c"mine", 240, 1, None), Ok(()));
        assert_eq!(compname_to_compcode("mine"), Some(250), "first one wins");
        assert_eq!(compcode_to_compname(240), Some(c"mine"));
        assert!(registered(240).expect("registered").codec().is_none());

        let name = compcode_to_compname(250).expect("a name");
        reset_user_registrations();
        assert_eq!(compname_to_compcode("mine"), None);
        assert_eq!(compcode_to_compname(250), None);
        assert_eq!(name, c"mine", "names outlive registrations");
        assert_eq!(registered(id::NDLZ).is_some(), cfg!(feature = "plugins"), "plugins stay");

        assert_eq!(register_entry(250, c"other", 1, 1, None), Ok(()));
        reset_user_registrations();
    }
}
