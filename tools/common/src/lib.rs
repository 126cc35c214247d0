//! What the programs of Ferroblosc share.
//!
//! | file | what |
//! |---|---|
//! | `status.rs` | exit statuses |
//! | `size.rs` | numbers of bytes, for people |
//! | `progress.rs` | the bar |
//! | `staging.rs` | results that appear whole or not at all, whatever signal ends the program |
//! | `pages.rs` | the manual page and the completions of shells |

pub mod pages;
pub mod progress;
pub mod size;
pub mod staging;
pub mod status;
