//! Frames whose chunks are placeholders: python-blosc2's lazy expressions, references and caches.
//!
//! | metalayer | content |
//! |---|---|
//! | `b2o` | map; `kind` names a lazy expression, a lazy function or a remote array |
//! | `LazyArray` | 0 for an expression, 1 for a function, written by python-blosc2 4.1 |
//! | `proxy-source` | cache of another array: only some chunks hold data |
//! | `b2remote_store` | cache of a remote store |
//!
//! The variable-length metalayers `b2o` and `_LazyArray` also mark placeholders. All or some of the
//! chunks of these frames are zeros, which are never read as data.

use super::attrs::decode;
use super::error::{Error, Result};
use crate::bloscpack::Value;
use ferroblosc::schunk::{Layers, State};

/// Returns a short description of the data source if the chunks are placeholders.
pub fn placeholder<S: State + ?Sized>(schunk: &S) -> Option<String> {
    let mut found = None;
    schunk.with_layers(Layers::Fixed, &mut |layers| {
        let content = |wanted: &str| {
            let mut of_name = layers.iter().filter(|(name, _)| *name == wanted.as_bytes());
            of_name.next().map(|(_, content)| decode(content))
        };
        let has = |wanted| content(wanted).is_some();
        found = if has("proxy-source") {
            Some("the cache of an array elsewhere (proxy-source)".to_owned())
        } else if let Some(map) = content("b2o") {
            let kind = map.as_ref().and_then(|map| map.get("kind"));
            Some(match kind {
                Some(Value::Text(kind)) if kind == "lazyexpr" => lazy_expression("b2o"),
                Some(Value::Text(kind)) if kind == "lazyudf" => lazy_function("b2o"),
                Some(Value::Text(kind)) if kind == "remote_array" => {
                    "a reference to a remote array (b2o)".to_owned()
                }
                Some(Value::Text(kind)) => format!("an object of the kind {kind:?} (b2o)"),
                _ => "an expression or reference of an unknown kind (b2o)".to_owned(),
            })
        } else if let Some(kind) = content("LazyArray") {
            Some(match kind {
                Some(Value::Int(kind)) if kind == "1" => lazy_function("LazyArray"),
                _ => lazy_expression("LazyArray"),
            })
        } else if has("b2remote_store") {
            Some("the cache of a remote store (b2remote_store)".to_owned())
        } else {
            None
        };
    });
    if found.is_some() {
        return found;
    }
    schunk.with_layers(Layers::Variable, &mut |layers| {
        let has = |wanted: &str| layers.iter().any(|(name, _)| *name == wanted.as_bytes());
        found = if has("b2o") {
            Some("an expression or reference of an unknown kind (b2o)".to_owned())
        } else if has("_LazyArray") {
            Some(lazy_expression("_LazyArray"))
        } else {
            None
        };
    });
    found
}

fn lazy_expression(layer: &str) -> String {
    format!("a lazy expression ({layer})")
}

fn lazy_function(layer: &str) -> String {
    format!("a lazy function ({layer})")
}

/// Fails if the chunks of a super-chunk are placeholders.
///
/// # Errors
/// [`Error::Placeholder`]
pub fn check_has_data<S: State + ?Sized>(schunk: &S) -> Result<()> {
    match placeholder(schunk) {
        Some(description) => Err(Error::Placeholder(description)),
        None => Ok(()),
    }
}
