//! Taking time: who is raced takes turns, so that none profits from what another left in the caches, and the best
//! turn of each counts.

/// A turn lasts at least so long, in seconds: short calls are repeated within it.
const SHORTEST_TURN: f64 = 20e-6;
/// Turns there are at least, each forth and back.
const LEAST_ROUNDS: usize = 2;

/// Best seconds per call of each side.
pub type Times = Vec<f64>;

/// Which clock is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The processor time of the calling thread, which a busy machine disturbs least.
    Thread,
    /// The time on the wall, for work that other threads do a share of.
    Wall,
}

impl Clock {
    /// The clock that suits so many threads.
    pub fn for_threads(threads: i16) -> Clock {
        match threads {
            1 => Clock::Thread,
            _ => Clock::Wall,
        }
    }

    /// Seconds since some moment.
    fn now(self) -> f64 {
        let clock = match self {
            Clock::Thread => libc::CLOCK_THREAD_CPUTIME_ID,
            Clock::Wall => libc::CLOCK_MONOTONIC,
        };
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: a valid output; both clocks exist wherever the libraries run.
        unsafe { libc::clock_gettime(clock, &mut time) };
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    }

    /// Seconds that `work` takes.
    fn time(self, mut work: impl FnMut()) -> f64 {
        let start = self.now();
        work();
        self.now() - start
    }
}

/// Lets all sides do the same work, in turns A B C C B A until each had `budget` seconds.
pub fn race<T>(clock: Clock, budget: f64, sides: &mut [T], work: impl Fn(&mut T)) -> Times {
    let slowest = sides
        .iter_mut()
        .map(|side| {
            work(side);
            // One turn alone may have been interrupted, and all would be too short then.
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
            // Where the host takes time away and corrects the clock of processor time, it may stand still for a turn.
            if seconds > 0.0 {
                best[who] = best[who].min(seconds / repeats as f64);
            }
            spent += seconds;
        }
        rounds += 1;
    }
    best
}
