//! Super-chunks and frames: the same calls to both libraries, byte by byte.

mod model;
mod random;
mod sharing;
mod steps;
mod twins;
mod vectors;
mod walks;
