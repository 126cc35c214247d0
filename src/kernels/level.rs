//! Which vector instructions the kernels use: what the CPU has, or less if the user says so.

use std::sync::atomic::{AtomicU8, Ordering};

/// The environment variable that forces a level by its [name](Level::name).
const ENVIRONMENT: &str = "FERROBLOSC_SIMD";

/// A set of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Level {
    /// Plain Rust: the definition of every transform.
    Generic = 0,
    /// The baseline of x86-64: SSE2 and nothing newer.
    Sse2 = 1,
    /// AVX2.
    Avx2 = 2,
    /// AVX-512 with the F, BW, VL and VBMI sets, and GFNI.
    Avx512 = 3,
    /// The baseline of AArch64.
    Neon = 4,
}

impl Level {
    /// Every level there is, each better than the ones before it on the CPUs that have it.
    pub const ALL: [Level; 5] = [
        Level::Generic,
        Level::Sse2,
        Level::Avx2,
        Level::Avx512,
        Level::Neon,
    ];

    /// The name by which `FERROBLOSC_SIMD` calls this level.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Generic => "generic",
            Level::Sse2 => "sse2",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
            Level::Neon => "neon",
        }
    }

    /// The levels this CPU can run, the best one last.
    pub fn available() -> impl DoubleEndedIterator<Item = Level> {
        Level::ALL.into_iter().filter(|level| level.is_available())
    }

    /// True when this CPU can run the level.
    pub fn is_available(self) -> bool {
        match self {
            Level::Generic => true,
            #[cfg(target_arch = "x86_64")]
            Level::Sse2 => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("gfni")
                    && Level::Avx2.is_available()
            }
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Level::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            _ => false,
        }
    }

    /// Panics unless this CPU can run the level: what safe functions that take a level rest on.
    pub(super) fn assert_available(self) {
        assert!(self.is_available(), "this CPU has no {}", self.name());
    }

    /// The best level up to this one whose vector is not wider than `items` bytes.
    pub(super) fn for_items(self, items: usize) -> Level {
        match self {
            Level::Avx512 if items >= 64 => Level::Avx512,
            Level::Avx512 | Level::Avx2 if items >= 32 => Level::Avx2,
            Level::Avx512 | Level::Avx2 | Level::Sse2 if items >= 16 => Level::Sse2,
            Level::Neon if items >= 16 => Level::Neon,
            _ => Level::Generic,
        }
    }

    /// The level to use when `wanted` is what the environment asks for: no better than that, no
    /// better than the CPU. A name that means nothing on this CPU's family changes nothing.
    fn choose(wanted: Option<&str>) -> Level {
        let best = Level::available().next_back().unwrap_or(Level::Generic);
        let Some(wanted) = Level::ALL
            .into_iter()
            .find(|level| Some(level.name()) == wanted)
        else {
            return best;
        };
        let is_native = match wanted {
            Level::Generic => true,
            Level::Sse2 | Level::Avx2 | Level::Avx512 => cfg!(target_arch = "x86_64"),
            Level::Neon => cfg!(target_arch = "aarch64"),
        };
        if !is_native {
            return best;
        }
        Level::available()
            .rfind(|level| *level as u8 <= wanted as u8)
            .unwrap_or(best)
    }
}

/// The level all kernels run at: the best this CPU has, or what `FERROBLOSC_SIMD` (`generic`,
/// `sse2`, `avx2`, `avx512`, `neon`) allows. Found out at the first call and the same ever after.
#[inline]
pub fn level() -> Level {
    // Relaxed is enough: the byte is the whole message, and threads that race here store the same.
    let known = CHOSEN.load(Ordering::Relaxed);
    match Level::ALL.get(usize::from(known)) {
        Some(&level) => level,
        None => choose_level(),
    }
}

/// The number of the level all kernels run at, which is its place among all, or none.
static CHOSEN: AtomicU8 = AtomicU8::new(u8::MAX);

#[cold]
fn choose_level() -> Level {
    let wanted = std::env::var_os(ENVIRONMENT);
    let chosen = Level::choose(wanted.as_deref().and_then(|name| name.to_str()));
    CHOSEN.store(chosen as u8, Ordering::Relaxed);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_the_best_available_level() {
        assert_eq!(Some(Level::choose(None)), Level::available().next_back());
        assert_eq!(Level::choose(Some("mmx")), Level::choose(None));
    }

    #[test]
    fn an_available_level_can_be_forced() {
        for level in Level::available() {
            assert_eq!(Level::choose(Some(level.name())), level);
        }
    }

    #[test]
    fn a_forced_level_is_capped_at_the_cpu() {
        for level in Level::ALL {
            assert!(Level::choose(Some(level.name())).is_available());
        }
    }

    #[test]
    fn the_chosen_level_is_available() {
        assert!(level().is_available());
        assert_eq!(level(), level());
    }
}
