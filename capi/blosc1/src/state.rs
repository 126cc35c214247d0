//! The state of the process.
//!
//! The settings need no lock. Calls that use the settings share one engine and wait for its lock.
//! The other calls, and all calls if `BLOSC_NOLOCK` is set, use an engine from a pool.

use ferroblosc::blosc1::{Engine, EnginePool, Settings};
use ferroblosc::pool;
use ferroblosc_capi_common::global::fork_safe_global;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The settings of the calls without `_ctx`.
pub static SETTINGS: Settings = Settings::new();

/// Whether the library has been initialised, explicitly or by a call.
// Relaxed: the flag guards no memory.
static INITIALIZED: AtomicBool = AtomicBool::new(false);

fork_safe_global! {
    /// The engine of the calls without `_ctx`; created when first needed.
    static ENGINE: Option<Engine> = None;
}

fork_safe_global! {
    /// The engines of the other calls.
    static POOL: EnginePool = EnginePool::new();
}

/// Marks the library as initialised.
pub fn initialize() {
    INITIALIZED.store(true, Relaxed);
}

/// Undoes [`initialize`]; returns whether the library was initialised.
pub fn uninitialise() -> bool {
    INITIALIZED.swap(false, Relaxed)
}

/// Whether the library is initialised.
pub fn is_initialised() -> bool {
    INITIALIZED.load(Relaxed)
}

/// Calls `work` with the locked engine.
pub fn with_engine<T>(work: impl FnOnce(&mut Engine) -> T) -> T {
    ENGINE.with(|engine| work(engine.get_or_insert_default()))
}

/// Calls `work` with an engine from the pool, which no other call uses.
pub fn with_pooled_engine<T>(work: impl FnOnce(&mut Engine) -> T) -> T {
    let mut engine = POOL.with(EnginePool::take);
    let result = work(&mut engine);
    drop(POOL.with(|stock| stock.put(engine)));
    result
}

/// Stops threads and frees working memory; both are created again when needed.
pub fn release() {
    drop(ENGINE.with(Option::take));
    drop(POOL.with(std::mem::take));
    ferroblosc::chunk::release();
    pool::release();
}
