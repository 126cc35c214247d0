//! Code shared by the programs `b2` and `blpk`.
//!
//! | file | content |
//! |---|---|
//! | `status.rs` | exit statuses |
//! | `size.rs` | human-readable sizes, and their parser |
//! | `progress.rs` | the progress bar |
//! | `staging.rs` | atomic creation of files and directories, and clean-up on signals |
//! | `identity.rs` | the identity of a file and its state, to detect changes |
//! | `os/` | functions of the operating system |
//! | `man.rs` | manual pages and shell completions |

#![forbid(unsafe_code)]

pub mod identity;
pub mod man;
pub mod os;
pub mod progress;
pub mod size;
pub mod staging;
pub mod status;
