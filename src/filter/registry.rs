//! The process-wide registry of user-defined filters.
//!
//! The key is the filter id. Registering an id again has no effect if the name is the same, and
//! fails otherwise. A filter may be registered by name only; the [`Loader`] of the process finds
//! its code when it is needed.

use std::sync::{Arc, OnceLock};

use super::{Filter, FilterInfo, id, info};
use crate::escape::escape;
use crate::plugin::{Kind, Plugin};
use crate::pool::SharedList;
use crate::{Error, Result};

/// A user-defined filter, possibly without code.
#[derive(Clone)]
struct Registered {
    id: u8,
    name: Arc<str>,
    filter: Option<Arc<dyn Filter>>,
}

/// Finds the code of a filter that is registered by name only. May be called from several threads
/// at once, and again after it returned `None`.
pub type Loader = fn(name: &str) -> Option<Arc<dyn Filter>>;

static LOADER: OnceLock<Loader> = OnceLock::new();

/// Sets the loader of this process. Later calls change nothing.
pub fn set_loader(loader: Loader) {
    LOADER.get_or_init(|| loader);
}

static REGISTRY: SharedList<Registered> = SharedList::new();

/// Registers a filter of the program for all contexts of this process, under `id` and `name`.
/// Registering an id again under the same name has no effect.
///
/// # Errors
/// - [`Error::Failure`] if `id` is below [`id::FIRST_USER`] or registered under another name.
pub fn register(id: u8, name: &str, filter: impl Filter + 'static) -> Result<()> {
    register_entry(id, name, Some(Arc::new(filter)))
}

/// Registers a filter for C programs. With `filter` `None`, only the id and the name are reserved,
/// and blocks that need the filter fail with [`Error::FilterPipeline`].
///
/// # Errors
/// Returns the errors of [`register`].
pub fn register_entry(filter_id: u8, name: &str, filter: Option<Arc<dyn Filter>>) -> Result<()> {
    if filter_id < id::FIRST_USER {
        let first = id::FIRST_USER;
        let text =
            format!("{filter_id} is not the id of a filter of the program: {first} to 255 are");
        return Err(Error::Failure.because(text));
    }
    REGISTRY.update(|registry| match registry.iter().find(|known| known.id == filter_id) {
        Some(known) if *known.name == *name => Ok(()),
        Some(known) => Err(Error::Failure.because(format!(
            "filter {filter_id} is registered already, with the name {}",
            escape(&known.name)
        ))),
        None => {
            let (name, filter) = (name.into(), filter.clone());
            registry.push(Registered { id: filter_id, name, filter });
            Ok(())
        }
    })
}

/// Removes all user-defined filters.
pub fn reset_user_registrations() {
    REGISTRY.update(Vec::clear);
}

/// Whether a context may use this filter id: the id of a built-in filter, or any id in the users'
/// range, registered or not.
pub fn known(filter_id: u8) -> bool {
    filter_id == id::NONE || filter_id >= id::FIRST_USER || info(filter_id).is_some()
}

/// The code of a filter.
pub(super) enum Callable {
    BuiltIn(&'static FilterInfo),
    User(Arc<dyn Filter>),
}

impl Callable {
    pub(super) fn get(&self) -> &dyn Filter {
        match self {
            Callable::BuiltIn(info) => info.filter,
            Callable::User(filter) => &**filter,
        }
    }
}

/// Returns the filter with this id, if its code is known.
pub(super) fn find(filter_id: u8) -> Option<Callable> {
    if let Some(info) = info(filter_id) {
        return Some(Callable::BuiltIn(info));
    }
    REGISTRY.find(|known| known.id == filter_id)?.filter.map(Callable::User)
}

/// Returns the name under which a user-defined filter is registered.
pub fn name_of(filter_id: u8) -> Option<String> {
    REGISTRY.find(|known| known.id == filter_id).map(|known| known.name.to_string())
}

/// Returns the description of a filter without code.
pub(crate) fn missing_plugin(filter_id: u8) -> Plugin {
    Plugin { kind: Kind::Filter, id: filter_id, name: name_of(filter_id) }
}

/// Returns the error for decoding a block with a filter that is unknown or has no code.
pub(super) fn missing(filter_id: u8) -> Error {
    match filter_id {
        ..id::FIRST_REGISTERED => {
            Error::Failure.because(format!("filter {filter_id} is not available in this process"))
        }
        _ => Error::FilterPipeline.because(missing_plugin(filter_id).missing()),
    }
}

/// Whether the filter has code. Loads it if only its name is registered.
pub fn is_available(filter_id: u8) -> bool {
    load_quietly(filter_id).is_some()
}

/// Returns the filter with this id, loading it if only its name is registered. Writes a trace line
/// if it is missing.
pub(super) fn load(filter_id: u8) -> Option<Callable> {
    let found = load_quietly(filter_id);
    if found.is_none() && filter_id >= id::FIRST_REGISTERED {
        missing_plugin(filter_id).trace_missing();
    }
    found
}

fn load_quietly(filter_id: u8) -> Option<Callable> {
    if let Some(filter) = find(filter_id) {
        return Some(filter);
    }
    let name = name_of(filter_id)?;
    let filter = LOADER.get()?(&name)?;
    let same = |known: &&mut Registered| known.id == filter_id && *known.name == *name;
    REGISTRY.update(|registry| {
        if let Some(known) = registry.iter_mut().find(same) {
            known.filter.get_or_insert_with(|| Arc::clone(&filter));
        }
    });
    Some(Callable::User(filter))
}
