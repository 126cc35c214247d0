//! Codecs behind numbers of their own: the plugins, and what users register.
//!
//! The ids below 160 belong to the project; the plugins among them are known by name from the first
//! call on. Ids from 160 on are the users'. Some plugins are part of this library; of others, and of what
//! users register so, only the name is known, until the code is needed and the process's [`Loader`] finds it.

use std::ffi::{CStr, CString};
use std::ops::Deref;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::id;
use super::ndlz::Ndlz;
use super::zfp::Zfp;
use crate::{Error, Result, Surroundings, plugin};

/// The first id that users may register.
pub const FIRST_USER_ID: u8 = 160;

/// What a codec's call knows about the chunk around its stream.
#[derive(Clone, Copy)]
pub struct CodecCall<'a> {
    /// The chunk's compression level, 0 to 9. 0 when decoding.
    pub level: u8,
    /// The codec's own parameter (`compcode_meta`).
    pub meta: u8,
    /// What the codec may know of the place it is called from.
    pub around: Surroundings<'a>,
}

/// A codec that a user registers. Called from several threads at once, once a stream; never for streams
/// that are runs of one byte or stored raw.
pub trait Codec: Send + Sync {
    /// Compresses `src` into `dest` and returns the length of the result, at most `dest.len()`; 0 if `src`
    /// can't be compressed into `dest`, in which case it is stored raw.
    ///
    /// # Errors
    /// [`Error::CodecSupport`] if it can't encode at all, [`Error::MemoryAlloc`]; any other error makes the
    /// compression of the chunk fail with [`Error::Data`].
    fn encode(&self, call: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize>;

    /// Decompresses `src` into `dest` and returns the number of bytes produced, which must be `dest.len()`.
    ///
    /// # Errors
    /// [`Error::CodecSupport`] if it can't decode at all, [`Error::MemoryAlloc`]; any other error, or any other
    /// length, makes the decompression of the chunk fail with [`Error::Data`].
    fn decode(&self, call: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize>;

    /// Decompresses a part of `src`: of the `len` bytes that [`Codec::decode`] would make, as many as `part`
    /// has from byte `from` on. `None` if the codec knows no shorter way there than to decode all.
    ///
    /// # Errors
    /// Those of [`Codec::decode`].
    fn decode_part(
        &self,
        _call: &CodecCall<'_>,
        _src: &[u8],
        _len: usize,
        _from: usize,
        _part: &mut [u8],
    ) -> Option<Result<()>> {
        None
    }
}

/// The code of a registered codec.
#[derive(Clone)]
pub enum Implementation {
    /// A plugin that is part of this library.
    BuiltIn(&'static dyn Codec),
    /// A user's, or a plugin that was loaded.
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

/// Finds the code of a codec that is known by name only, when it is needed. Asked again after it found
/// none; may be called from several threads at once.
pub type Loader = fn(&RegisteredCodec) -> Option<Arc<dyn Codec>>;

static LOADER: OnceLock<Loader> = OnceLock::new();

/// Sets the loader of this process, once: later calls change nothing.
pub fn set_loader(loader: Loader) {
    LOADER.get_or_init(|| loader);
}

/// A codec that is known by number and name, with or without code behind it.
#[derive(Clone)]
pub struct RegisteredCodec {
    id: u8,
    name: &'static CStr,
    complib: u8,
    version: u8,
    codec: Option<Implementation>,
}

impl RegisteredCodec {
    /// The compcode.
    pub fn id(&self) -> u8 {
        self.id
    }

    /// The name; stays valid after the registration is gone.
    pub fn name(&self) -> &'static CStr {
        self.name
    }

    /// The library's number.
    pub fn complib(&self) -> u8 {
        self.complib
    }

    /// The version byte of the chunks it writes.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// The code, unless only the name was registered.
    pub fn codec(&self) -> Option<&Implementation> {
        self.codec.as_ref()
    }
}

/// A codec that is known from the start.
struct Plugin {
    id: u8,
    name: &'static CStr,
    /// The code, if it is part of this library.
    codec: Option<&'static dyn Codec>,
}

/// The version of every plugin.
const PLUGIN_VERSION: u8 = 1;

#[rustfmt::skip]
static PLUGINS: [Plugin; 9] = [
    Plugin { id: id::NDLZ, name: c"ndlz", codec: Some(&Ndlz) },
    Plugin { id: id::ZFP_ACCURACY, name: c"zfp_acc", codec: Some(&Zfp::Accuracy) },
    Plugin { id: id::ZFP_PRECISION, name: c"zfp_prec", codec: Some(&Zfp::Precision) },
    Plugin { id: id::ZFP_RATE, name: c"zfp_rate", codec: Some(&Zfp::Rate) },
    Plugin { id: id::OPENHTJ2K, name: c"openhtj2k", codec: None },
    Plugin { id: id::GROK, name: c"grok", codec: None },
    Plugin { id: id::OPENZL, name: c"openzl", codec: None },
    Plugin { id: id::J2K, name: c"j2k", codec: None },
    Plugin { id: id::HTJ2K, name: c"htj2k", codec: None },
];

/// The code of plugins that were loaded, by id. It stays for good, as the libraries do.
static LOADED: RwLock<Vec<(u8, Arc<dyn Codec>)>> = RwLock::new(Vec::new());

/// The users' codecs, in the order of their registration.
static USERS: RwLock<Vec<RegisteredCodec>> = RwLock::new(Vec::new());

/// Registers a user's codec under `id` and `name`. A `None` codec reserves number and name only: chunks
/// that need the code fail with [`Error::CodecSupport`]. Registering an id again under the same name
/// changes nothing.
///
/// # Errors
/// [`Error::CodecParam`] if `id` is below [`FIRST_USER_ID`] or taken under another name,
/// [`Error::MemoryAlloc`].
pub fn register(
    id: u8,
    name: &CStr,
    complib: u8,
    version: u8,
    codec: Option<Arc<dyn Codec>>,
) -> Result<()> {
    if id < FIRST_USER_ID {
        return Err(Error::CodecParam);
    }
    let mut users = write_users();
    if let Some(known) = users.iter().find(|known| known.id == id) {
        return if known.name == name {
            Ok(())
        } else {
            Err(Error::CodecParam)
        };
    }
    users.try_reserve(1)?;
    users.push(RegisteredCodec {
        id,
        name: intern(name),
        complib,
        version,
        codec: codec.map(Implementation::Added),
    });
    Ok(())
}

/// Forgets every user's codec; the plugins stay.
pub fn reset_user_registrations() {
    write_users().clear();
}

/// The registered codec or plugin with this id.
pub fn registered(id: u8) -> Option<RegisteredCodec> {
    if id < FIRST_USER_ID {
        return PLUGINS.iter().find(|known| known.id == id).map(of_plugin);
    }
    read_users().iter().find(|known| known.id == id).cloned()
}

/// The code of the codec with this id, loaded if only its name is known.
///
/// # Errors
/// [`Error::CodecSupport`] if there is no such codec, or no code for it.
pub fn implementation(id: u8) -> Result<Implementation> {
    let registered = registered(id).ok_or_else(|| plugin::missing_codec(id))?;
    if let Some(codec) = registered.codec {
        return Ok(codec);
    }
    let loaded = LOADER.get().and_then(|load| load(&registered));
    let codec = loaded.ok_or_else(|| plugin::missing_codec(id))?;
    remember(&registered, &codec)?;
    Ok(Implementation::Added(codec))
}

/// Keeps what was loaded for the next call.
fn remember(registered: &RegisteredCodec, codec: &Arc<dyn Codec>) -> Result<()> {
    if registered.id < FIRST_USER_ID {
        let mut loaded = LOADED.write().unwrap_or_else(PoisonError::into_inner);
        if loaded.iter().all(|known| known.0 != registered.id) {
            loaded.try_reserve(1)?;
            loaded.push((registered.id, Arc::clone(codec)));
        }
        return Ok(());
    }
    let same = |known: &&mut RegisteredCodec| {
        known.id == registered.id && known.name == registered.name && known.codec.is_none()
    };
    if let Some(known) = write_users().iter_mut().find(same) {
        known.codec = Some(Implementation::Added(Arc::clone(codec)));
    }
    Ok(())
}

/// The first registered codec or plugin with this name.
pub(super) fn find_by_name(name: &[u8]) -> Option<RegisteredCodec> {
    if let Some(known) = PLUGINS.iter().find(|known| known.name.to_bytes() == name) {
        return Some(of_plugin(known));
    }
    read_users()
        .iter()
        .find(|known| known.name.to_bytes() == name)
        .cloned()
}

fn of_plugin(known: &Plugin) -> RegisteredCodec {
    let loaded = || {
        let loaded = LOADED.read().unwrap_or_else(PoisonError::into_inner);
        let (_, codec) = loaded.iter().find(|loaded| loaded.0 == known.id)?;
        Some(Implementation::Added(Arc::clone(codec)))
    };
    RegisteredCodec {
        id: known.id,
        name: known.name,
        complib: known.id,
        version: PLUGIN_VERSION,
        codec: known.codec.map(Implementation::BuiltIn).or_else(loaded),
    }
}

/// A copy of `name` that lives for ever, since names are handed to callers without an owner. Each distinct
/// name is kept once, so that registering in a loop doesn't grow memory.
fn intern(name: &CStr) -> &'static CStr {
    static NAMES: RwLock<Vec<&'static CStr>> = RwLock::new(Vec::new());
    let mut names = NAMES.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.iter().find(|known| **known == name) {
        return known;
    }
    let kept: &'static CStr = Box::leak(CString::from(name).into_boxed_c_str());
    names.push(kept);
    kept
}

// Nothing panics while a lock is held, and no entry is ever half-written: a poisoned lock is as good.

fn read_users() -> RwLockReadGuard<'static, Vec<RegisteredCodec>> {
    USERS.read().unwrap_or_else(PoisonError::into_inner)
}

fn write_users() -> RwLockWriteGuard<'static, Vec<RegisteredCodec>> {
    USERS.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::{compcode_to_compname, compname_to_compcode, wire_version};
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

    // One test, because the registry is one for the whole process.
    #[test]
    fn registration_follows_the_rules_of_the_reference() {
        for taken in [0, 1, 32, 40, 41, 159] {
            assert_eq!(register(taken, c"mine", 0, 1, None), Err(Error::CodecParam));
        }

        assert_eq!(
            register(250, c"mine", 250, 7, Some(Arc::new(Reverse))),
            Ok(())
        );
        assert_eq!(register(250, c"mine", 1, 1, None), Ok(()));
        assert_eq!(register(250, c"other", 1, 1, None), Err(Error::CodecParam));
        let mine = registered(250).expect("registered");
        assert_eq!((mine.complib(), mine.version()), (250, 7), "unchanged");
        assert!(mine.codec().is_some(), "unchanged");
        assert_eq!(wire_version(250), Some(7));
        assert_eq!(compname_to_compcode("mine"), Some(250));

        assert_eq!(register(240, c"mine", 240, 1, None), Ok(()));
        assert_eq!(compname_to_compcode("mine"), Some(250), "first one wins");
        assert_eq!(compcode_to_compname(240), Some(c"mine"));
        assert!(registered(240).expect("registered").codec().is_none());

        let name = compcode_to_compname(250).expect("a name");
        reset_user_registrations();
        assert_eq!(compname_to_compcode("mine"), None);
        assert_eq!(compcode_to_compname(250), None);
        assert_eq!(name, c"mine", "names outlive registrations");
        assert!(registered(id::NDLZ).is_some(), "plugins stay");

        assert_eq!(register(250, c"other", 1, 1, None), Ok(()));
        reset_user_registrations();
    }
}
