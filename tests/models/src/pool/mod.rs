//! The pool with the types of shuttle, and its models.

#[path = "../../../../src/pool/backend.rs"]
mod backend;
#[path = "../../../../src/pool/bits.rs"]
mod bits;
#[path = "../../../../src/pool/boxes.rs"]
pub(crate) mod boxes;
#[path = "../../../../src/pool/fork.rs"]
mod fork;
mod futex;
#[path = "../../../../src/pool/gate.rs"]
mod gate;
pub mod gate_models;
#[path = "../../../../src/pool/helpers.rs"]
mod helpers;
pub mod models;
#[path = "../../../../src/pool/panics.rs"]
mod panics;
#[path = "../../../../src/pool/process.rs"]
mod process;
#[path = "../../../../src/pool/run.rs"]
mod run;
#[path = "../../../../src/pool/shared_list.rs"]
mod shared_list;
#[path = "../../../../src/pool/slot.rs"]
mod slot;
pub(crate) mod sync;
pub(crate) mod thread;

pub(crate) use backend::{Backend, set_backend};
pub(crate) use run::{release, run};

/// See `src/pool/mod.rs`.
const MAX_THREADS: usize = 32767;
