//! Errors on HDF5's stack.
//!
//! HDF5 keeps for each thread a stack of messages, and prints it when one of its functions fails, or hands
//! it to whoever asks. A plugin adds its own with `H5Epush2`, whose numbers for the kind of error are
//! variables of libhdf5. Where there is no libhdf5 to be found, there is no stack.

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

/// What went wrong, in HDF5's words.
#[derive(Clone, Copy, Debug)]
pub enum Minor {
    /// A callback failed.
    Callback,
    /// A filter was not registered.
    CantRegister,
}

impl Minor {
    /// The variable with its number.
    fn variable(self) -> &'static CStr {
        match self {
            Minor::Callback => c"H5E_CALLBACK_g",
            Minor::CantRegister => c"H5E_CANTREGISTER_g",
        }
    }
}

/// Where a message comes from, to HDF5: a place in C.
pub struct Place {
    /// The file.
    pub file: &'static CStr,
    /// The function.
    pub function: &'static CStr,
    /// The line.
    pub line: u32,
}

/// The place of this line, in this function.
macro_rules! place {
    ($function:expr) => {
        $crate::report::Place {
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
pub(crate) use place;

/// Puts a failure on the stack of a library; returns whether that could be done.
pub fn push(library: Option<&Library>, place: &Place, minor: Minor, failure: &Failure) -> bool {
    let name = place.function.to_string_lossy();
    trace_error!("{name}: {failure}");
    library
        .and_then(|library| try_to_push(library, place, minor, failure))
        .is_some()
}

fn try_to_push(library: &Library, place: &Place, minor: Minor, failure: &Failure) -> Option<()> {
    let text = CString::new(failure.0.as_bytes()).ok()?;
    let push = library.symbol_address(c"H5Epush2")?;
    let class = number(library, c"H5E_ERR_CLS_g")?;
    let major = number(library, c"H5E_PLINE_g")?;
    let minor = number(library, minor.variable())?;
    // SAFETY: the type is that of the function; the texts live through the call, and the one format
    // directive has its argument.
    let status = unsafe {
        let push = std::mem::transmute::<std::ptr::NonNull<std::ffi::c_void>, Push>(push);
        push(
            DEFAULT_STACK,
            place.file.as_ptr(),
            place.function.as_ptr(),
            place.line as c_int,
            class,
            major,
            minor,
            c"%s".as_ptr(),
            text.as_ptr(),
        )
    };
    (status >= 0).then_some(())
}

/// The value of a variable that is set once HDF5 is in use.
fn number(library: &Library, name: &CStr) -> Option<Id> {
    let address = library.symbol_address(name)?.cast::<Id>();
    // SAFETY: the variables of these names are of this type, and are written before any plugin is called.
    Some(unsafe { address.read() }).filter(|&number| number > 0)
}
