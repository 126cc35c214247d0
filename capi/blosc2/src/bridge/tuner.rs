//! Tuners: registered by users, or part of the project and loaded from plugin libraries.

use super::active_callbacks::run_callback;
use super::origin::CompressionOrigin;
use super::plugins::{self, Registrant};
use crate::constants::tuners::BLOSC2_USER_REGISTERED_TUNER_START;
use crate::registry::tuners::BLOSC_BTUNE;
use crate::types::context::blosc2_context;
use crate::types::plugins::blosc2_tuner;
use ferroblosc::chunk::{Tuner, TunerCall};
use ferroblosc::plugin::{Kind, Plugin};
use ferroblosc::pool::SharedList;
use ferroblosc::{Error, Result};
use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

/// The maximum number of registered tuners.
const MAX_TUNERS: usize = 255;

/// The registered tuners.
static REGISTRY: SharedList<Registered> = SharedList::new();
/// The tuners loaded from plugin libraries. They are never removed, since the libraries are never
/// unloaded.
static LOADED: SharedList<Registered> = SharedList::new();
/// The name of the project's tuner.
const BTUNE_NAME: &CStr = c"btune";

#[derive(Clone)]
struct Registered(blosc2_tuner);

// SAFETY: the functions of a tuner may be called from any thread, and its name outlives the
// library; both are rules of the C interface.
unsafe impl Send for Registered {}
// SAFETY: as above.
unsafe impl Sync for Registered {}

/// Returns the tuner with this id, if its functions are known.
fn registered(id: c_int) -> Option<blosc2_tuner> {
    find(&REGISTRY, id).filter(has_functions).or_else(|| find(&LOADED, id))
}

fn find(tuners: &SharedList<Registered>, id: c_int) -> Option<blosc2_tuner> {
    tuners.find(|tuner| tuner.0.id == id).map(|tuner| tuner.0)
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
    LOADED.update(|loaded| {
        loaded.try_reserve(1).ok()?;
        loaded.push(Registered(tuner));
        Some(tuner)
    })
}

/// Returns the description of a tuner that cannot be loaded, for the trace.
fn missing(id: c_int) -> Plugin {
    let name = match id {
        BLOSC_BTUNE => Some(BTUNE_NAME),
        // SAFETY: a registered name is NUL-terminated and outlives the library.
        _ => find(&REGISTRY, id).map(|known| unsafe { CStr::from_ptr(known.name) }),
    };
    let name = name.map(|name| name.to_string_lossy().into_owned());
    Plugin::new(Kind::Tuner, u8::try_from(id).unwrap_or(u8::MAX), name)
}

/// Calls a tuner's `init` for a new context.
///
/// # Errors
/// [`Error::Tuner`] if there is no such tuner, it lacks a function, or its `init` fails.
///
/// # Safety
/// `context` is complete; `params` is valid for the tuner. `schunk` is the super-chunk of the
/// context, or NULL.
pub unsafe fn initialize(
    id: c_int,
    params: *mut c_void,
    context: *mut blosc2_context,
    schunk: *mut c_void,
) -> Result<()> {
    let Some(tuner) = registered_or_loaded(id) else {
        missing(id).trace_missing();
        return Err(Error::Tuner);
    };
    let init = tuner.init.ok_or(Error::Tuner)?;
    // SAFETY: a registered `init` accepts any context, by the contract of registration.
    match run_callback(schunk, || unsafe { init(params, context, null_mut()) }) {
        0.. => Ok(()),
        _ => Err(Error::Tuner),
    }
}

/// Removes all registered tuners.
pub fn reset() {
    REGISTRY.update(Vec::clear);
}

/// Registers a tuner.
///
/// # Safety
/// The name is NUL-terminated.
pub unsafe fn register(tuner: blosc2_tuner) -> Result<()> {
    if tuner.id < BLOSC2_USER_REGISTERED_TUNER_START {
        return Err(Error::Failure);
    }
    // SAFETY: the caller guarantees a NUL-terminated string.
    let name = |tuner: &blosc2_tuner| unsafe { CStr::from_ptr(tuner.name) };
    REGISTRY.update(|registry| match registry.iter().find(|known| known.0.id == tuner.id) {
        Some(known) if name(&known.0) == name(&tuner) => Ok(()),
        Some(_) => Err(Error::Failure),
        None if registry.len() == MAX_TUNERS => Err(Error::CodecSupport),
        None => {
            registry.try_reserve(1)?;
            registry.push(Registered(tuner));
            Ok(())
        }
    })
}

/// A registered tuner of a context.
pub struct CTuner {
    /// The id of the tuner. The tuner is looked up at each call, since it may have been removed.
    pub id: c_int,
    /// The parameters that the context was created with.
    pub origin: Arc<CompressionOrigin>,
}

impl Tuner for CTuner {
    fn next_blocksize(&self, _: &TunerCall) -> Result<Option<usize>> {
        let tuner = registered(self.id).ok_or(Error::InvalidParam)?;
        let next_blocksize = tuner.next_blocksize.ok_or(Error::Tuner)?;
        let schunk = self.origin.params.schunk;
        // SAFETY: the context exists while it compresses; the program that registered the tuner
        // guarantees that its functions accept any context.
        match run_callback(schunk, || unsafe { next_blocksize(self.origin.context()) }) {
            // A tuner cannot set the block size of an opaque context, so the library chooses it.
            0.. => Ok(None),
            _ => Err(Error::Tuner),
        }
    }
}
