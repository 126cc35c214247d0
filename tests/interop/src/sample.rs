//! A random sample of cells: how long it runs and where it starts.
//!
//! `FERROBLOSC_SAMPLE_SECONDS` and `FERROBLOSC_SAMPLE_SEED` say so; the clock is the seed otherwise, and printed.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::data::Random;

/// Seconds a sample runs when nobody says otherwise.
const DEFAULT_SECONDS: u64 = 10;

fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable}={text} is no number")),
    )
}

/// The seed that was asked for.
pub fn seed() -> Option<u64> {
    number_from("FERROBLOSC_SAMPLE_SEED")
}

/// A sample that is running.
pub struct Sample {
    /// What draws the cells.
    pub random: Random,
    end: Instant,
}

impl Sample {
    /// Starts one as the environment says.
    pub fn start() -> Sample {
        let seconds = number_from("FERROBLOSC_SAMPLE_SECONDS").unwrap_or(DEFAULT_SECONDS);
        let seed = seed().unwrap_or_else(|| {
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .expect("after 1970")
                .as_secs()
        });
        println!("FERROBLOSC_SAMPLE_SEED={seed}");
        Sample {
            random: Random::new(seed),
            end: Instant::now() + Duration::from_secs(seconds),
        }
    }

    /// Whether there is time left.
    pub fn is_running(&self) -> bool {
        Instant::now() < self.end
    }
}
