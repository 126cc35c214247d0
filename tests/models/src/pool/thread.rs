//! Threads of shuttle instead of `src/os/unix/thread.rs`, forks, and the runner of the models.

use super::{fork, process};
use shuttle::current::me;
use shuttle::thread::JoinHandle;
use shuttle_engine::runtime::execution::ExecutionState;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The handles of the helper threads of an execution, with their processes.
static HELPERS: Mutex<Vec<(usize, JoinHandle<()>)>> = Mutex::new(Vec::new());

/// The number of modelled forks.
static PROCESS: AtomicUsize = AtomicUsize::new(0);

/// The number of threads that are in an access to shared memory.
static ACCESSES: AtomicUsize = AtomicUsize::new(0);

/// Not 0 if starting a thread may fail.
static REFUSES: AtomicUsize = AtomicUsize::new(0);

/// Models use statics of the sources, so one runs at a time.
static SERIAL: Mutex<()> = Mutex::new(());

/// Random executions of each model, and as many with few preemptions at random points.
const ITERATIONS: usize = 5000;

/// The number of preemptions of the executions with few.
const PREEMPTIONS: usize = 3;

shuttle::thread_local! {
    /// The process to which the thread belongs.
    static OWN_PROCESS: Cell<usize> = Cell::new(0);
}

/// Runs a model in many interleavings.
pub(crate) fn check(model: impl Fn() + Send + Sync + Clone + 'static) {
    let _serial = SERIAL.lock().unwrap_or_else(PoisonError::into_inner);
    let iterations = std::env::var("MODEL_ITERATIONS").ok().and_then(|text| text.parse().ok());
    let iterations = iterations.unwrap_or(ITERATIONS);
    let execution = move || {
        ACCESSES.store(0, Ordering::Relaxed);
        enter_process();
        model();
        // The handles belong to this execution.
        helpers().clear();
        refuse_threads(false);
    };
    shuttle::check_random(execution.clone(), iterations);
    shuttle::check_pct(execution, iterations, PREEMPTIONS);
}

/// Lets the start of a thread fail until the end of the execution.
pub(crate) fn refuse_threads(refuse: bool) {
    REFUSES.store(usize::from(refuse), Ordering::Relaxed);
}

fn helpers() -> std::sync::MutexGuard<'static, Vec<(usize, JoinHandle<()>)>> {
    HELPERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a helper, unless the system refuses: in one of 16 cases while [`REFUSES`] is set.
pub(super) fn start(_number: usize, body: Box<dyn FnOnce() + Send>) -> bool {
    if REFUSES.load(Ordering::Relaxed) != 0 && chance(16) {
        return false;
    }
    let handle = spawn(body);
    helpers().push((own_process(), handle));
    true
}

/// Returns the number of helpers that were started in this execution.
pub(crate) fn started() -> usize {
    helpers().len()
}

/// Waits until all helpers of the current process have ended.
pub(crate) fn join_helpers() {
    loop {
        let next = helpers().pop();
        match next {
            Some((process, handle)) if process == own_process() => handle.join().unwrap(),
            Some(_) => {}
            None => return,
        }
    }
}

/// Starts a thread of the current process.
pub(crate) fn spawn<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let process = own_process();
    shuttle::thread::spawn(move || {
        OWN_PROCESS.with(|own| own.set(process));
        // An execution may end while helpers sleep. A deadlock is still found, as the main thread
        // waits for threads that must end.
        let own = me();
        ExecutionState::with(|state| state.detach(own));
        f()
    })
}

fn own_process() -> usize {
    OWN_PROCESS.with(|own| own.get())
}

/// Makes the current thread a member of the current process.
fn enter_process() {
    OWN_PROCESS.with(|own| own.set(PROCESS.load(Ordering::Relaxed)));
}

/// Forks, and continues in the child: the other threads stop before their next access.
pub(crate) fn fork() {
    PROCESS.fetch_add(1, Ordering::Relaxed);
    // The accesses that have begun happen before the fork.
    while ACCESSES.load(Ordering::Relaxed) > 0 {
        shuttle::thread::yield_now();
    }
    enter_process();
    // SAFETY: the handler accesses atomics alone.
    unsafe { process::in_child() };
}

/// Accesses shared memory, unless the process has forked and the current thread belongs to a
/// parent: then the thread stops for ever.
pub(crate) fn access<T>(operation: impl FnOnce() -> T) -> T {
    let process = own_process();
    let is_stopped = || process != PROCESS.load(Ordering::Relaxed);
    // The end of an execution unwinds the threads that have stopped.
    while is_stopped() && !std::thread::panicking() {
        shuttle::thread::park();
    }
    ACCESSES.fetch_add(1, Ordering::Relaxed);
    let result = operation();
    ACCESSES.fetch_sub(1, Ordering::Relaxed);
    result
}

/// Returns true in one of `n` cases.
pub(crate) fn chance(n: u32) -> bool {
    use shuttle::rand::Rng;
    shuttle::rand::thread_rng().gen_ratio(1, n)
}
