//! Selection of the vector instruction set: the best the CPU has, or a lower one that the user
//! sets.

use super::vector::{self, all_levels};
use std::sync::atomic::{AtomicU8, Ordering};

/// The environment variable that forces a level by its [name](Level::name).
const ENVIRONMENT: &str = "FERROBLOSC_SIMD";

/// Defines [`Level`] from the table of the levels.
macro_rules! define {
    (() $($(#[$doc:meta])* $variant:ident, $module:ident, $target:meta, $features:literal;)*) => {
        /// A vector instruction set.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Level {
            /// Plain Rust: the definition of every transform.
            Generic,
            $($(#[$doc])* $variant,)*
        }

        impl Level {
            /// All levels; on a CPU that has several, later ones are better.
            pub const ALL: [Level; COUNT] = [Level::Generic, $(Level::$variant),*];

            /// Returns the name of this level in `FERROBLOSC_SIMD`.
            pub const fn name(self) -> &'static str {
                match self {
                    Level::Generic => "generic",
                    $(Level::$variant => stringify!($module),)*
                }
            }

            /// Whether this CPU can run the level.
            pub fn is_available(self) -> bool {
                match self {
                    Level::Generic => true,
                    $(
                        #[cfg($target)]
                        Level::$variant => vector::$module::is_available(),
                    )*
                    _ => false,
                }
            }

            /// Whether the level is compiled for this CPU family.
            const fn is_compiled(self) -> bool {
                match self {
                    Level::Generic => true,
                    $(Level::$variant => cfg!($target),)*
                }
            }

            /// Returns the best level up to this one whose vector has at most `items` bytes. A CPU
            /// that has this level also has the result: `is_available` of a level implies that of
            /// the levels before it.
            pub(super) fn for_items(self, items: usize) -> Level {
                let mut best = Level::Generic;
                $(
                    #[cfg($target)]
                    if self as u8 >= Level::$variant as u8
                        && items >= <vector::$module::$variant as vector::Vector>::BYTES
                    {
                        best = Level::$variant;
                    }
                )*
                best
            }
        }

        /// The number of levels.
        const COUNT: usize = [Level::Generic, $(Level::$variant),*].len();
    };
}

all_levels!((define), ());

impl Level {
    /// Returns the levels this CPU can run, the best one last.
    pub fn available() -> impl DoubleEndedIterator<Item = Level> {
        Level::ALL.into_iter().filter(|level| level.is_available())
    }

    /// Panics unless this CPU can run the level. Every safe function that is called with a level
    /// from outside of the kernels calls this, to be sound.
    pub(super) fn assert_available(self) {
        assert!(self.is_available(), "this CPU does not support {}", self.name());
    }

    /// Returns the level to use for the environment's value `wanted`: at most that level, and at
    /// most the best the CPU has. An unknown name, and one of another CPU family, is ignored.
    fn choose(wanted: Option<&str>) -> Level {
        let best = Level::available().next_back().unwrap_or(Level::Generic);
        let is_wanted = |level: &Level| Some(level.name()) == wanted && level.is_compiled();
        match Level::ALL.into_iter().find(is_wanted) {
            Some(wanted) => {
                Level::available().rfind(|level| *level as u8 <= wanted as u8).unwrap_or(best)
            }
            None => best,
        }
    }
}

/// Returns the level that all kernels run at: the best this CPU has, capped by `FERROBLOSC_SIMD`.
/// It is detected at the first call and does not change.
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
