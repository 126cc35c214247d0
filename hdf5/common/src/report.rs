//! Error reporting on HDF5's error stack.
//!
//! HDF5 keeps a stack of messages per thread. It prints the stack when one of its functions fails,
//! or returns it on request. A plugin adds messages with `H5Epush2`; the identifiers of error
//! classes are variables of libhdf5. Without a libhdf5 there is no stack.

use crate::abi::{DEFAULT_STACK, Id, Status};
use crate::filter::Failure;
use crate::library::Library;
use ferroblosc::trace_error;
use std::ffi::{CStr, CString, c_char, c_int};

/// `H5Epush2`.
type Push = unsafe extern "C" fn(
    stack: Id,
    file: *const c_char,
    func: *const c_char,
    line: c_int,
    class: Id,
    major: Id,
    minor: Id,
    format: *const c_char,
    ...
) -> Status;

/// The minor error number of a message.
#[derive(Clone, Copy, Debug)]
pub enum Minor {
    /// A callback failed.
    Callback,
    /// A filter was not registered.
    CantRegister,
}

impl Minor {
    /// Returns the name of the libhdf5 variable that contains the number.
    fn variable(self) -> &'static CStr {
        match self {
            Minor::Callback => c"H5E_CALLBACK_g",
            Minor::CantRegister => c"H5E_CANTREGISTER_g",
        }
    }
}

/// The source location of a message.
pub struct Location {
    /// The file.
    pub file: &'static CStr,
    /// The function.
    pub function: &'static CStr,
    /// The line.
    pub line: u32,
}

/// Creates the [`Location`] of this line, with the name of a function.
macro_rules! location {
    ($function:expr) => {
        $crate::report::Location {
            file: const {
                match std::ffi::CStr::from_bytes_with_nul(concat!(file!(), "\0").as_bytes()) {
                    Ok(file) => file,
                    Err(_) => panic!("a file name with a NUL inside"),
                }
            },
            function: $function,
            line: line!(),
        }
    };
}
pub(crate) use location;

/// Pushes a failure on the error stack of a library. Returns whether that succeeded.
pub fn push(
    library: Option<&Library>,
    location: &Location,
    minor: Minor,
    failure: &Failure,
) -> bool {
    let name = location.function.to_string_lossy();
    trace_error!("{name}: {failure}");
    library.and_then(|library| try_push(library, location, minor, failure)).is_some()
}

fn try_push(library: &Library, location: &Location, minor: Minor, failure: &Failure) -> Option<()> {
    let text = CString::new(failure.0.as_bytes()).ok()?;
    let push = library.symbol_address(c"H5Epush2")?;
    let class = number(library, c"H5E_ERR_CLS_g")?;
    let major = number(library, c"H5E_PLINE_g")?;
    let minor = number(library, minor.variable())?;
    // SAFETY: the type is that of the function; the strings outlive the call, and the only format
    // directive has its argument.
    let status = unsafe {
        let push = std::mem::transmute::<std::ptr::NonNull<std::ffi::c_void>, Push>(push);
        push(
            DEFAULT_STACK,
            location.file.as_ptr(),
            location.function.as_ptr(),
            location.line as c_int,
            class,
            major,
            minor,
            c"%s".as_ptr(),
            text.as_ptr(),
        )
    };
    (status >= 0).then_some(())
}

/// Returns the value of a libhdf5 variable, or `None` if it is not initialised yet.
fn number(library: &Library, name: &CStr) -> Option<Id> {
    let address = library.symbol_address(name)?.cast::<Id>();
    // SAFETY: the variables of these names have this type, and HDF5 writes them before it calls any
    // plugin.
    Some(unsafe { address.read() }).filter(|&number| number > 0)
}
