//! The filters that users register, for the whole process.
//!
//! A filter's id is its key: registering it again under the same name changes nothing, under another
//! name is refused. A filter may be registered by name only; when its code is needed, the process's
//! [`Loader`] is asked for it.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use super::{Filter, built_in, id};
use crate::{Error, Result};

/// A user's filter, perhaps without code yet.
struct Registered {
    id: u8,
    name: String,
    filter: Option<Arc<dyn Filter>>,
}

/// Finds the code of a filter that is known by name only, when it is needed. Asked again after it found
/// none; may be called from several threads at once.
pub type Loader = fn(name: &str) -> Option<Arc<dyn Filter>>;

static LOADER: OnceLock<Loader> = OnceLock::new();

/// Sets the loader of this process, once: later calls change nothing.
pub fn set_loader(loader: Loader) {
    LOADER.get_or_init(|| loader);
}

static REGISTRY: RwLock<Vec<Registered>> = RwLock::new(Vec::new());

/// Adds a user's filter, for every context of this process.
///
/// # Errors
/// [`Error::Failure`] when `filter_id` is below 160 or already stands for a filter of another name.
pub fn register(filter_id: u8, name: &str, filter: Option<Arc<dyn Filter>>) -> Result<()> {
    if filter_id < id::FIRST_USER {
        return Err(Error::Failure);
    }
    let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    match registry.iter().find(|known| known.id == filter_id) {
        Some(known) if known.name == name => Ok(()),
        Some(_) => Err(Error::Failure),
        None => {
            registry.push(Registered {
                id: filter_id,
                name: name.to_owned(),
                filter,
            });
            Ok(())
        }
    }
}

/// Forgets every user's filter.
pub fn reset() {
    REGISTRY
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .clear();
}

/// Whether a context may name this filter id: a built-in one, or any of the users' range, registered by
/// now or not.
pub fn known(filter_id: u8) -> bool {
    filter_id <= id::TRUNC_PREC
        || (id::FIRST_REGISTERED..=id::LAST_REGISTERED).contains(&filter_id)
        || filter_id >= id::FIRST_USER
}

/// A filter that can be called.
pub(super) enum Callable {
    BuiltIn(&'static dyn Filter),
    User(Arc<dyn Filter>),
}

impl Callable {
    pub(super) fn get(&self) -> &dyn Filter {
        match self {
            Callable::BuiltIn(filter) => *filter,
            Callable::User(filter) => &**filter,
        }
    }
}

/// The implementation behind an id, if there is one.
pub(super) fn find(filter_id: u8) -> Option<Callable> {
    if let Some(filter) = built_in(filter_id) {
        return Some(Callable::BuiltIn(filter));
    }
    let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
    let known = registry.iter().find(|known| known.id == filter_id)?;
    known.filter.clone().map(Callable::User)
}

/// Returns the name under which a user's filter is registered.
pub fn name_of(filter_id: u8) -> Option<String> {
    let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
    let known = registry.iter().find(|known| known.id == filter_id)?;
    Some(known.name.clone())
}

/// Whether there is code for a filter, which is loaded if only its name is known.
pub fn is_available(filter_id: u8) -> bool {
    load_quietly(filter_id).is_some()
}

/// The implementation behind an id, loaded if only its name is known; a missing one is traced.
pub(super) fn load(filter_id: u8) -> Option<Callable> {
    let found = load_quietly(filter_id);
    if found.is_none() && filter_id >= id::FIRST_REGISTERED {
        crate::plugin::trace_missing_filter(filter_id);
    }
    found
}

fn load_quietly(filter_id: u8) -> Option<Callable> {
    if let Some(filter) = find(filter_id) {
        return Some(filter);
    }
    let name = name_of(filter_id)?;
    let filter = LOADER.get()?(&name)?;
    let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    let same = |known: &&mut Registered| known.id == filter_id && known.name == name;
    if let Some(known) = registry.iter_mut().find(same) {
        known.filter.get_or_insert_with(|| Arc::clone(&filter));
    }
    Some(Callable::User(filter))
}
