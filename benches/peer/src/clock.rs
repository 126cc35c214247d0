//! Time measurement. The sides take turns, so that none benefits from cache contents left by
//! another, and the best turn of each is the result.

/// The minimum duration of a turn in seconds; shorter calls are repeated.
const SHORTEST_TURN: f64 = 20e-6;
/// The minimum number of rounds, each forward and backward.
const LEAST_ROUNDS: usize = 2;

/// The best time per call of each side, in seconds.
pub type Times = Vec<f64>;

/// A clock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// CPU time of the calling thread, which is least affected by other load.
    Thread,
    /// Wall time, for work shared with other threads.
    Wall,
}

impl Clock {
    /// Returns the clock for a number of threads.
    pub fn for_threads(threads: i16) -> Clock {
        match threads {
            1 => Clock::Thread,
            _ => Clock::Wall,
        }
    }

    /// Returns the time in seconds since an arbitrary moment.
    fn now(self) -> f64 {
        let clock = match self {
            Clock::Thread => libc::CLOCK_THREAD_CPUTIME_ID,
            Clock::Wall => libc::CLOCK_MONOTONIC,
        };
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the output is valid; both clocks exist on all supported systems.
        unsafe { libc::clock_gettime(clock, &mut time) };
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    }

    /// Returns the duration of `work` in seconds.
    fn time(self, mut work: impl FnMut()) -> f64 {
        let start = self.now();
        work();
        self.now() - start
    }
}

/// Runs `work` on all sides in turns A B C C B A until they have used `budget` seconds per side on
/// average, but for at least `LEAST_ROUNDS` rounds.
pub fn race<T>(clock: Clock, budget: f64, sides: &mut [T], work: impl Fn(&mut T)) -> Times {
    let slowest = sides
        .iter_mut()
        .map(|side| {
            work(side);
            // A single turn may be interrupted, which would make all turns too short.
            let turns = (0..3).map(|_| clock.time(|| work(side)));
            turns.fold(f64::INFINITY, f64::min)
        })
        .fold(0.0, f64::max);
    let repeats = (SHORTEST_TURN / slowest.max(1e-9)).ceil() as usize;
    let mut best = vec![f64::INFINITY; sides.len()];
    let mut spent = 0.0;
    let mut rounds = 0;
    while rounds < LEAST_ROUNDS || spent < budget * sides.len() as f64 {
        for who in (0..sides.len()).chain((0..sides.len()).rev()) {
            let side = &mut sides[who];
            let seconds = clock.time(|| (0..repeats).for_each(|_| work(side)));
            // On hosts that correct stolen time, the CPU clock may not advance during a turn.
            if seconds > 0.0 {
                best[who] = best[who].min(seconds / repeats as f64);
            }
            spent += seconds;
        }
        rounds += 1;
    }
    best
}
