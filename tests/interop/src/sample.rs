//! A random sample of cells, limited by time.
//!
//! `FERROBLOSC_SAMPLE_SECONDS` sets the time and `FERROBLOSC_SAMPLE_SEED` the seed; the default
//! seed is the clock, which is printed.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::data::Random;

/// The default duration of a sample in seconds.
const DEFAULT_SECONDS: u64 = 10;

fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a number")))
}

/// Returns the requested seed.
pub fn seed() -> Option<u64> {
    number_from("FERROBLOSC_SAMPLE_SEED")
}

/// A running sample.
pub struct Sample {
    /// The generator that draws the cells.
    pub random: Random,
    end: Instant,
}

impl Sample {
    /// Starts a sample as configured by the environment.
    pub fn start() -> Sample {
        let seconds = number_from("FERROBLOSC_SAMPLE_SECONDS").unwrap_or(DEFAULT_SECONDS);
        let seed = seed().unwrap_or_else(|| {
            SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
        });
        println!("FERROBLOSC_SAMPLE_SEED={seed}");
        Sample { random: Random::new(seed), end: Instant::now() + Duration::from_secs(seconds) }
    }

    /// Whether time remains.
    pub fn is_running(&self) -> bool {
        Instant::now() < self.end
    }
}
