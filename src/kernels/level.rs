//! Selection of the vector instruction set: the best the CPU has, or a lower one that the user
//! sets.

use std::sync::atomic::{AtomicU8, Ordering};

/// The environment variable that forces a level by its [name](Level::name).
const ENVIRONMENT: &str = "FERROBLOSC_SIMD";

/// A vector instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Level {
    /// Plain Rust: the definition of every transform.
    Generic = 0,
    /// SSE2, the baseline of x86-64.
    Sse2 = 1,
    /// AVX2.
    Avx2 = 2,
    /// AVX-512 with F, BW, VL and VBMI, and GFNI.
    Avx512 = 3,
    /// NEON, the baseline of AArch64.
    Neon = 4,
}

impl Level {
    /// All levels; on a CPU that has several, later ones are better.
    pub const ALL: [Level; 5] = [
        Level::Generic,
        Level::Sse2,
        Level::Avx2,
        Level::Avx512,
        Level::Neon,
    ];

    /// Returns the name of this level in `FERROBLOSC_SIMD`.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Generic => "generic",
            Level::Sse2 => "sse2",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
            Level::Neon => "neon",
        }
    }

    /// Returns the levels this CPU can run, the best one last.
    pub fn available() -> impl DoubleEndedIterator<Item = Level> {
        Level::ALL.into_iter().filter(|level| level.is_available())
    }

    /// Whether this CPU can run the level.
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

    /// Panics unless this CPU can run the level. Every safe function with a level parameter calls
    /// this, to be sound.
    pub(super) fn assert_available(self) {
        assert!(
            self.is_available(),
            "this CPU does not support {}",
            self.name()
        );
    }

    /// Returns the best level up to this one whose vector has at most `items` bytes.
    pub(super) fn for_items(self, items: usize) -> Level {
        match self {
            Level::Avx512 if items >= 64 => Level::Avx512,
            Level::Avx512 | Level::Avx2 if items >= 32 => Level::Avx2,
            Level::Avx512 | Level::Avx2 | Level::Sse2 if items >= 16 => Level::Sse2,
            Level::Neon if items >= 16 => Level::Neon,
            _ => Level::Generic,
        }
    }

    /// Returns the level to use for the environment's value `wanted`: at most that level, and at
    /// most the best the CPU has. An unknown name, and one of another CPU family, is ignored.
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

/// Returns the level that all kernels run at: the best this CPU has, capped by `FERROBLOSC_SIMD`
/// (`generic`, `sse2`, `avx2`, `avx512`, `neon`). It is detected at the first call and does not
/// change.
#[inline]
pub fn level() -> Level {
    // Relaxed: the byte guards no other data, and threads that race here store the same value.
    let known = CHOSEN.load(Ordering::Relaxed);
    match Level::ALL.get(usize::from(known)) {
        Some(&level) => level,
        None => choose_level(),
    }
}

/// The selected level as an index into [`Level::ALL`], or `u8::MAX` before detection.
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
