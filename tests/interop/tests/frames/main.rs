//! Super-chunks and frames: equal calls to both libraries, compared byte by byte.

mod model;
mod pairs;
mod random;
mod schedules;
mod sharing;
mod steps;
mod vectors;
mod walks;
