//! Floor 3: frames, super-chunks as one buffer, one file or one directory.
//!
//! | file | what |
//! |---|---|
//! | `description.rs` | what a frame says of its super-chunk |

mod description;

pub use description::{
    Counters, MAX_METALAYERS, MAX_NAME_LEN, MAX_VLMETALAYERS, Metalayer, Recorded,
};
