//! Plugin libraries: codecs, filters and tuners that are registered by name only, loaded on first
//! use.
//!
//! The library of a plugin `name` is `libblosc2_name.so` in the search path of the dynamic linker.
//! It exports an object `info` with the names of its functions ([`codec_info`], [`filter_info`],
//! [`tuner_info`]). Libraries are never unloaded, since their functions may be referenced anywhere.
//!
//! Python packages of plugins can print the path of their library. A chunk names the plugin it
//! needs, and chunks may be untrusted: reading one must not start a program without permission.
//! Python is therefore only started if `FERROBLOSC_PLUGIN_SEARCH` allows it, and only for plugins
//! of the project.

use super::codec::CCodec;
use super::filter::CFilter;
use crate::registry::codecs::codec_info;
use crate::registry::filters::filter_info;
use crate::registry::tuners::tuner_info;
use crate::types::plugins::blosc2_tuner;
use ferroblosc::cancellation;
use ferroblosc::codec::{self, Codec, RegisteredCodec, id::FIRST_USER};
use ferroblosc::filter::{self, Filter};
use ferroblosc_capi_common::{os, pointers};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

/// Enables the search with Python if it is set and neither empty nor `0`.
const SEARCH_VARIABLE: &str = "FERROBLOSC_PLUGIN_SEARCH";
/// The names of the Python interpreter, tried in this order.
const PYTHONS: [&str; 2] = ["python", "python3"];
/// The maximum size of Python's output in bytes.
const MAX_ANSWER: usize = 4096;
/// The name of the object that every plugin library exports.
const INFO: &CStr = c"info";

/// Registers the plugin loaders with the core. Each function that may need a plugin calls this
/// first; calls after the first have no effect.
pub fn install() {
    codec::set_loader(load_codec);
    filter::set_loader(load_filter);
}

/// The origin of a plugin.
#[derive(Clone, Copy, PartialEq)]
pub enum Registrant {
    /// The project: the id is in the global registry.
    Project,
    /// The user of the library.
    User,
}

fn load_codec(codec: &RegisteredCodec) -> Option<Arc<dyn Codec>> {
    let registrant = match codec.id() {
        ..FIRST_USER => Registrant::Project,
        _ => Registrant::User,
    };
    let library = Library::find(codec.name().to_bytes(), registrant)?;
    // SAFETY: by the contract of plugin libraries, a codec's library exports a `codec_info` whose
    // names are those of functions with these signatures.
    let functions = unsafe {
        let info = library.info::<codec_info>()?;
        CCodec {
            encoder: Some(library.function(info.encoder)?),
            decoder: Some(library.function(info.decoder)?),
        }
    };
    Some(Arc::new(functions))
}

fn load_filter(name: &str) -> Option<Arc<dyn Filter>> {
    let library = Library::find(name.as_bytes(), Registrant::User)?;
    // SAFETY: as in `load_codec`.
    let functions = unsafe {
        let info = library.info::<filter_info>()?;
        CFilter {
            forward: Some(library.function(info.forward)?),
            backward: Some(library.function(info.backward)?),
        }
    };
    Some(Arc::new(functions))
}

/// Loads the tuner with this id and name.
pub fn load_tuner(id: c_int, name: &'static CStr, registrant: Registrant) -> Option<blosc2_tuner> {
    let library = Library::find(name.to_bytes(), registrant)?;
    // SAFETY: as in `load_codec`.
    unsafe {
        let info = library.info::<tuner_info>()?;
        Some(blosc2_tuner {
            init: Some(library.function(info.init)?),
            next_blocksize: Some(library.function(info.next_blocksize)?),
            next_cparams: Some(library.function(info.next_cparams)?),
            update: Some(library.function(info.update)?),
            free: Some(library.function(info.free)?),
            id,
            name: name.as_ptr().cast_mut(),
        })
    }
}

/// A loaded library.
struct Library(NonNull<c_void>);

impl Library {
    /// Loads the library of a plugin.
    fn find(name: &[u8], registrant: Registrant) -> Option<Library> {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        if name.is_empty() || !name.iter().all(is_word) {
            return None;
        }
        let _deferred = cancellation::defer();
        let name = str::from_utf8(name).ok()?;
        let file = format!("{DLL_PREFIX}blosc2_{name}{DLL_SUFFIX}");
        Library::open(Path::new(&file)).or_else(|| {
            let may_search = registrant == Registrant::Project && is_search_allowed();
            let mut pythons = PYTHONS.into_iter().filter(|_| may_search);
            let path = pythons.find_map(|python| path_from(python, name))?;
            Library::open(os::path::of(&path)?)
        })
    }

    fn open(path: &Path) -> Option<Library> {
        // SAFETY: the search path of the dynamic linker is trusted.
        match unsafe { os::library::load(path) } {
            Ok(library) => Some(Library(library)),
            Err(why) => {
                ferroblosc::trace_warning!("no plugin library: {why}");
                None
            }
        }
    }

    fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        os::library::symbol(self.0, name)
    }

    /// Returns the object with the names of the functions.
    ///
    /// # Safety
    /// If the library exports `info`, it is a `T`.
    unsafe fn info<T>(&self) -> Option<&'static T> {
        // SAFETY: guaranteed by the caller; the library is never unloaded.
        self.symbol(INFO).map(|info| unsafe { info.cast().as_ref() })
    }

    /// Returns the function of this name.
    ///
    /// # Safety
    /// `name` is NULL or NUL-terminated. `F` is a function pointer with the signature of that
    /// function.
    unsafe fn function<F: Copy>(&self, name: *const c_char) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        // SAFETY: guaranteed by the caller.
        let symbol = self.symbol(unsafe { pointers::c_str(name) }?)?;
        // SAFETY: as above; function pointers are addresses.
        Some(unsafe { std::mem::transmute_copy(&symbol) })
    }
}

fn is_search_allowed() -> bool {
    std::env::var_os(SEARCH_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Returns the path of the library that the plugin's Python package prints.
fn path_from(python: &str, name: &str) -> Option<CString> {
    // The name is inserted into a shell command.
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return None;
    }
    let question = format!("import blosc2_{name}; blosc2_{name}.print_libpath()");
    let mut line = [0u8; MAX_ANSWER];
    let len = os::shell::output_of_python(python, &question, &mut line)?;
    let line = line[..len].split(|&byte| byte == b'\n').next()?;
    let path = CString::new(line.trim_ascii()).ok()?;
    (!path.is_empty()).then_some(path)
}
