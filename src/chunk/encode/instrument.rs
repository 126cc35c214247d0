//! Instrumented chunks, which contain measurements of the codec and the filters instead of data.
//!
//! ```text
//! 0         4        8              12
//! +--------+--------+--------------+---------+
//! | cratio | cspeed | filter_speed | flags[4]|     one record per stream; native f32, bytes per second
//! +--------+--------+--------------+---------+
//! ```
//! The first flag is 1 for a stream stored as a run. (Source: the C-Blosc2 chunk format.)

use std::time::{Duration, Instant};

use crate::chunk::format::limits::WORD;
use crate::chunk::format::streams::run_len;
use crate::os::process;

/// The size of a record in bytes.
pub(super) const RECORD_LEN: usize = 16;

/// The start time of a block and the speed of its filters.
pub(super) struct Timings {
    started: Option<Instant>,
    filter_speed: f32,
}

/// Returns the speed in bytes per second; 0 without a clock.
fn speed(bytes: usize, time: Option<Duration>) -> f32 {
    time.map_or(0.0, |time| bytes as f32 / time.as_secs_f32())
}

/// Returns the time since `started`, unless there is no clock.
pub(super) fn elapsed(started: Option<Instant>) -> Option<Duration> {
    started.map(|started| started.elapsed())
}

impl Timings {
    /// Starts the clock if measurements are wanted.
    pub fn start(wanted: bool) -> Timings {
        Timings { started: wanted.then(process::now).flatten(), filter_speed: 0.0 }
    }

    /// Records the end of the filters, which have processed `bytes` bytes.
    pub fn filters_done(&mut self, bytes: usize) {
        if self.started.is_some() {
            self.filter_speed = speed(bytes, elapsed(self.started));
        }
    }

    /// Returns the record of a stream stored as a run of `value`.
    pub fn run(&self, len: usize, value: u8) -> [u8; RECORD_LEN] {
        self.record(len as f32 / run_len(value) as f32, 0.0, 1)
    }

    /// Returns the record of a stream that was compressed to `stored` bytes.
    pub fn stream(&self, len: usize, stored: usize, time: Option<Duration>) -> [u8; RECORD_LEN] {
        self.record(len as f32 / (stored + WORD) as f32, speed(len, time), 0)
    }

    fn record(&self, ratio: f32, codec_speed: f32, is_run: u8) -> [u8; RECORD_LEN] {
        let mut record = [0; RECORD_LEN];
        record[0..4].copy_from_slice(&ratio.to_ne_bytes());
        record[4..8].copy_from_slice(&codec_speed.to_ne_bytes());
        record[8..12].copy_from_slice(&self.filter_speed.to_ne_bytes());
        record[12] = is_run;
        record
    }
}
