//! Codecs that are not built in: the known plugins, and what users register.
//!
//! The ids below 160 belong to the project; the plugins among them are known by name from the first
//! call on. Ids from 160 on are the users'.

use std::ffi::{CStr, CString};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::id;
use crate::{Error, Result, Surroundings};

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
}

/// A codec that is known by number and name, with or without code behind it.
#[derive(Clone)]
pub struct RegisteredCodec {
    id: u8,
    name: &'static CStr,
    complib: u8,
    version: u8,
    codec: Option<Arc<dyn Codec>>,
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
    pub fn codec(&self) -> Option<&Arc<dyn Codec>> {
        self.codec.as_ref()
    }
}

/// The version of every plugin.
const PLUGIN_VERSION: u8 = 1;

static PLUGINS: [(u8, &CStr); 9] = [
    (id::NDLZ, c"ndlz"),
    (id::ZFP_ACCURACY, c"zfp_acc"),
    (id::ZFP_PRECISION, c"zfp_prec"),
    (id::ZFP_RATE, c"zfp_rate"),
    (id::OPENHTJ2K, c"openhtj2k"),
    (id::GROK, c"grok"),
    (id::OPENZL, c"openzl"),
    (id::J2K, c"j2k"),
    (id::HTJ2K, c"htj2k"),
];

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
        codec,
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
        let &(id, name) = PLUGINS.iter().find(|plugin| plugin.0 == id)?;
        return Some(plugin(id, name));
    }
    read_users().iter().find(|known| known.id == id).cloned()
}

/// The first registered codec or plugin with this name.
pub(super) fn find_by_name(name: &[u8]) -> Option<RegisteredCodec> {
    if let Some(&(id, name)) = PLUGINS.iter().find(|plugin| plugin.1.to_bytes() == name) {
        return Some(plugin(id, name));
    }
    read_users()
        .iter()
        .find(|known| known.name.to_bytes() == name)
        .cloned()
}

fn plugin(id: u8, name: &'static CStr) -> RegisteredCodec {
    RegisteredCodec {
        id,
        name,
        complib: id,
        version: PLUGIN_VERSION,
        codec: None,
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
