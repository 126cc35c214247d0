//! Plugin libraries: codecs, filters and tuners of which only the name is known, found when they are needed.
//!
//! The library of a plugin `name` is `libblosc2_name.so`, wherever the dynamic linker finds it. It exports an
//! object `info` that names its functions ([`codec_info`], [`filter_info`], [`tuner_info`]). Loaded libraries
//! stay for good: nobody knows who holds their functions.
//!
//! Plugins that come as a Python package can tell where their library is. A chunk names the plugin it needs,
//! and chunks may be anybody's; so that reading one never starts a program on its own, Python is only asked
//! if `FERROBLOSC_PLUGIN_SEARCH` allows it, and only for the plugins of the project.

use crate::bridge::codec::CCodec;
use crate::bridge::filter::CFilter;
use crate::registry::codecs::codec_info;
use crate::registry::filters::filter_info;
use crate::registry::tuners::tuner_info;
use crate::types::plugins::blosc2_tuner;
use ferroblosc::cancellation;
use ferroblosc::codec::{self, Codec, FIRST_USER_ID, RegisteredCodec};
use ferroblosc::filter::{self, Filter};
use ferroblosc_capi_common::pointers;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::ptr::NonNull;
use std::sync::Arc;

/// Python is asked for plugins when this is set and neither empty nor `0`.
const SEARCH_VARIABLE: &str = "FERROBLOSC_PLUGIN_SEARCH";
/// The programs that are asked, until one answers.
const PYTHONS: [&str; 2] = ["python", "python3"];
/// Bytes of the longest answer.
const MAX_ANSWER: usize = 4096;
/// The object that every plugin library exports.
const INFO: &CStr = c"info";

/// Lets the core find plugins. Every way into the library that may need one comes here first; all but the
/// first call change nothing.
pub fn install() {
    codec::set_loader(load_codec);
    filter::set_loader(load_filter);
}

/// Who a plugin comes from.
#[derive(Clone, Copy, PartialEq)]
pub enum Registrant {
    /// The project: its number says what it is.
    Project,
    /// The user of the library.
    User,
}

fn load_codec(codec: &RegisteredCodec) -> Option<Arc<dyn Codec>> {
    let registrant = match codec.id() {
        ..FIRST_USER_ID => Registrant::Project,
        _ => Registrant::User,
    };
    let library = Library::find(codec.name().to_bytes(), registrant)?;
    // SAFETY: the library of a codec exports a `codec_info`, the names in which are those of functions with
    // these signatures; both are what makes it one.
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

/// The tuner of this number and name, with the functions of its library.
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
    /// The library of the plugin of this name.
    fn find(name: &[u8], registrant: Registrant) -> Option<Library> {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        if name.is_empty() || !name.iter().all(is_word) {
            return None;
        }
        let _deferred = cancellation::defer();
        let name = str::from_utf8(name).ok()?;
        let file = format!("{DLL_PREFIX}blosc2_{name}{DLL_SUFFIX}");
        Library::open(OsStr::new(&file)).or_else(|| {
            let may_search = registrant == Registrant::Project && is_search_allowed();
            let mut pythons = PYTHONS.into_iter().filter(|_| may_search);
            let path = pythons.find_map(|python| path_told_by(python, name))?;
            Library::open(OsStr::from_bytes(&path))
        })
    }

    fn open(path: &OsStr) -> Option<Library> {
        let path = CString::new(path.as_bytes()).ok()?;
        // SAFETY: a NUL-terminated path. What the library does when it is loaded is up to whoever put it
        // where the dynamic linker looks.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            // SAFETY: the text of the thread's last error, or NULL.
            let why = unsafe { libc::dlerror() };
            if !why.is_null() {
                // SAFETY: NUL-terminated, and valid until the thread's next call of the dynamic linker.
                let why = unsafe { CStr::from_ptr(why) };
                ferroblosc::trace_warning!("no plugin library: {}", why.to_string_lossy());
            }
        }
        NonNull::new(handle).map(Library)
    }

    fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle is of a library that is never closed.
        NonNull::new(unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) })
    }

    /// The object that names the functions.
    ///
    /// # Safety
    /// If the library exports one, it is a `T`.
    unsafe fn info<T>(&self) -> Option<&'static T> {
        // SAFETY: promised by the caller; the library stays for good.
        self.symbol(INFO)
            .map(|info| unsafe { info.cast().as_ref() })
    }

    /// The function of this name.
    ///
    /// # Safety
    /// The name is NULL or NUL-terminated. `F` is a function pointer, of the type of that function.
    unsafe fn function<F: Copy>(&self, name: *const c_char) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        // SAFETY: promised by the caller.
        let symbol = self.symbol(unsafe { pointers::c_str(name) }?)?;
        // SAFETY: as above; function pointers are addresses.
        Some(unsafe { std::mem::transmute_copy(&symbol) })
    }
}

fn is_search_allowed() -> bool {
    std::env::var_os(SEARCH_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Where the plugin's Python package says its library is: the first line it prints.
///
/// The program is started through libc: what Rust's own way refers to is not in every libc, and a static library
/// would ask for it.
fn path_told_by(python: &str, name: &str) -> Option<Vec<u8>> {
    // The name becomes part of a command.
    if !name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    {
        return None;
    }
    let question = format!("import blosc2_{name}; blosc2_{name}.print_libpath()");
    let command = format!("{python} -c '{question}' </dev/null 2>/dev/null");
    let command = CString::new(command).ok()?;
    let mut line = [0u8; MAX_ANSWER];
    // SAFETY: the texts are NUL-terminated, the room is as long as said, and the pipe is closed once.
    let len = unsafe {
        let pipe = NonNull::new(libc::popen(command.as_ptr(), c"r".as_ptr()))?.as_ptr();
        let len = libc::fread(line.as_mut_ptr().cast(), 1, line.len(), pipe);
        libc::pclose(pipe);
        len
    };
    let line = line[..len].split(|&byte| byte == b'\n').next()?;
    let path = line.trim_ascii();
    (!path.is_empty()).then(|| path.to_vec())
}
