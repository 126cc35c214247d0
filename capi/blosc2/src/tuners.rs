//! Tuners: registered by users, or part of the project and loaded from plugin libraries.

use crate::constants::tuners::BLOSC2_USER_REGISTERED_TUNER_START;
use crate::context::blosc2_context;
use crate::plugins::{self, Registrant};
use crate::registry::tuners::BLOSC_BTUNE;
use crate::types::plugins::blosc2_tuner;
use ferroblosc::plugin::{Kind, Plugin};
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{PoisonError, RwLock};

/// The maximum number of registered tuners.
const MAX_TUNERS: usize = 255;

/// The registered tuners.
static REGISTRY: RwLock<Vec<Registered>> = RwLock::new(Vec::new());
/// The tuners loaded from plugin libraries. They are never removed, since the libraries are never
/// unloaded.
static LOADED: RwLock<Vec<Registered>> = RwLock::new(Vec::new());
/// The name of the project's tuner.
const BTUNE_NAME: &CStr = c"btune";

struct Registered(blosc2_tuner);

// SAFETY: the functions of a tuner may be called from any thread, and its name outlives the
// library; both are rules of the C interface.
unsafe impl Send for Registered {}
// SAFETY: as above.
unsafe impl Sync for Registered {}

/// Returns the tuner with this id, if its functions are known.
pub fn registered(id: c_int) -> Option<blosc2_tuner> {
    find(&REGISTRY, id)
        .filter(has_functions)
        .or_else(|| find(&LOADED, id))
}

fn find(tuners: &RwLock<Vec<Registered>>, id: c_int) -> Option<blosc2_tuner> {
    let tuners = tuners.read().unwrap_or_else(PoisonError::into_inner);
    let found = tuners.iter().find(|tuner| tuner.0.id == id);
    found.map(|tuner| tuner.0)
}

/// Whether a context can be created with a tuner.
fn has_functions(tuner: &blosc2_tuner) -> bool {
    tuner.init.is_some() && tuner.next_blocksize.is_some()
}

/// Returns the tuner with this id, which is loaded if only its name is registered.
fn registered_or_loaded(id: c_int) -> Option<blosc2_tuner> {
    if let Some(tuner) = registered(id) {
        return Some(tuner);
    }
    let tuner = match id {
        BLOSC_BTUNE => plugins::load_tuner(id, BTUNE_NAME, Registrant::Project),
        _ => {
            let known = find(&REGISTRY, id)?;
            // SAFETY: a registered name is NUL-terminated and outlives the library.
            let name: &'static CStr = unsafe { CStr::from_ptr(known.name) };
            plugins::load_tuner(id, name, Registrant::User)
        }
    }?;
    let mut loaded = LOADED.write().unwrap_or_else(PoisonError::into_inner);
    loaded.try_reserve(1).ok()?;
    loaded.push(Registered(tuner));
    Some(tuner)
}

/// Returns the description of a tuner that cannot be loaded, for the trace.
fn missing(id: c_int) -> Plugin {
    let name = match id {
        BLOSC_BTUNE => Some(BTUNE_NAME),
        // SAFETY: a registered name is NUL-terminated and outlives the library.
        _ => find(&REGISTRY, id).map(|known| unsafe { CStr::from_ptr(known.name) }),
    };
    Plugin {
        kind: Kind::Tuner,
        id: u8::try_from(id).unwrap_or(u8::MAX),
        name: name.map(|name| name.to_string_lossy().into_owned()),
    }
}

/// Calls a tuner's `init` for a new context.
///
/// # Errors
/// [`Error::Tuner`] if there is no such tuner, it lacks a function, or its `init` fails.
///
/// # Safety
/// `context` is complete; `params` is valid for the tuner.
pub unsafe fn initialize(
    id: c_int,
    params: *mut c_void,
    context: *mut blosc2_context,
) -> Result<()> {
    let Some(tuner) = registered_or_loaded(id) else {
        missing(id).trace_missing();
        return Err(Error::Tuner);
    };
    let init = tuner.init.ok_or(Error::Tuner)?;
    // SAFETY: a registered `init` accepts any context, by the contract of registration.
    match unsafe { init(params, context, null_mut()) } {
        0.. => Ok(()),
        _ => Err(Error::Tuner),
    }
}

/// Removes all registered tuners.
pub fn reset() {
    REGISTRY
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .clear();
}

/// Registers a tuner.
///
/// # Safety
/// The name is NUL-terminated.
unsafe fn register(tuner: blosc2_tuner) -> Result<()> {
    if tuner.id < BLOSC2_USER_REGISTERED_TUNER_START {
        return Err(Error::Failure);
    }
    // SAFETY: the caller guarantees a NUL-terminated string.
    let name = |tuner: &blosc2_tuner| unsafe { CStr::from_ptr(tuner.name) };
    let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    match registry.iter().find(|known| known.0.id == tuner.id) {
        Some(known) if name(&known.0) == name(&tuner) => Ok(()),
        Some(_) => Err(Error::Failure),
        None if registry.len() == MAX_TUNERS => Err(Error::CodecSupport),
        None => {
            registry.try_reserve(1)?;
            registry.push(Registered(tuner));
            Ok(())
        }
    }
}

/// Registers a tuner for the contexts created afterwards. Registering the same id and name again
/// has no effect.
///
/// - `tuner`: the tuner. The struct is copied; the name is not and must outlive the library.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_FAILURE if the id is below
/// BLOSC2_USER_REGISTERED_TUNER_START or registered with another name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_register_tuner(tuner: *mut blosc2_tuner) -> c_int {
    boundary!(blosc2_register_tuner, {
        // SAFETY: the caller passes a valid struct or NULL.
        let tuner = unsafe { pointers::reference(tuner) }?;
        if tuner.name.is_null() {
            return Err(Error::InvalidParam);
        }
        // SAFETY: not NULL; the caller guarantees a NUL-terminated name.
        unsafe { register(*tuner) }?;
        Ok(0)
    })
}
