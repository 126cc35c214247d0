//! The state of the process.
//!
//! The settings need no lock. Calls that go by them wait for one another at the engine's lock; the others,
//! and all when `BLOSC_NOLOCK` is set, take an engine from the stock.

use ferroblosc::blosc1::{Engine, EnginePool, Settings};
use ferroblosc::pool;
use ferroblosc_capi_common::global::fork_safe_global;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What the calls without `_ctx` go by.
pub static SETTINGS: Settings = Settings::new();

/// Whether the library has been initialised, if only by a call that does so by itself.
// Relaxed: the flag guards no memory.
static INITIALISED: AtomicBool = AtomicBool::new(false);

fork_safe_global! {
    /// The engine of the calls without `_ctx`, once there was one.
    static ENGINE: Option<Engine> = None;
}

fork_safe_global! {
    /// The engines of the other calls.
    static STOCK: EnginePool = EnginePool::new();
}

/// Notes that the library is in use.
pub fn initialise() {
    INITIALISED.store(true, Relaxed);
}

/// Undoes [`initialise`]; returns whether there was something to undo.
pub fn forget() -> bool {
    INITIALISED.swap(false, Relaxed)
}

/// Whether the library is in use.
pub fn is_initialised() -> bool {
    INITIALISED.load(Relaxed)
}

/// Lets `work` use the engine, when its turn comes.
pub fn in_turn<T>(work: impl FnOnce(&mut Engine) -> T) -> T {
    ENGINE.with(|engine| work(engine.get_or_insert_default()))
}

/// Lets `work` use an engine at once.
pub fn apart<T>(work: impl FnOnce(&mut Engine) -> T) -> T {
    let mut engine = STOCK.with(EnginePool::take);
    let result = work(&mut engine);
    drop(STOCK.with(|stock| stock.put(engine)));
    result
}

/// Gives up threads and working memory; both come back when they are needed.
pub fn release() {
    drop(ENGINE.with(Option::take));
    drop(STOCK.with(std::mem::take));
    ferroblosc::chunk::release();
    pool::release();
}
