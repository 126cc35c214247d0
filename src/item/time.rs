//! Dates and durations with the units of NumPy.

use super::{Item, NATIVE_ORDER, in_native_order};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// Units of time, as parameters of [`DateTime64`] and [`TimeDelta64`].
pub mod unit {
    /// A unit of time. It is implemented by the types of this module only.
    pub trait Unit: sealed::Sealed + Send + Sync + 'static {
        /// The name of the unit in dtypes.
        const NAME: &'static str;
    }

    mod sealed {
        pub trait Sealed {}
    }

    macro_rules! units {
        ($($unit:ident = $name:literal, $doc:literal;)*) => {
            $(
                #[doc = $doc]
                pub enum $unit {}

                impl sealed::Sealed for $unit {}

                impl Unit for $unit {
                    const NAME: &'static str = $name;
                }
            )*
        };
    }

    units! {
        Year = "Y", "Years: `<M8[Y]`.";
        Month = "M", "Months: `<M8[M]`.";
        Week = "W", "Weeks: `<M8[W]`.";
        Day = "D", "Days: `<M8[D]`.";
        Hour = "h", "Hours: `<M8[h]`.";
        Minute = "m", "Minutes: `<M8[m]`.";
        Second = "s", "Seconds: `<M8[s]`.";
        Millisecond = "ms", "Milliseconds: `<M8[ms]`.";
        Microsecond = "us", "Microseconds: `<M8[us]`.";
        Nanosecond = "ns", "Nanoseconds: `<M8[ns]`.";
        Picosecond = "ps", "Picoseconds: `<M8[ps]`.";
        Femtosecond = "fs", "Femtoseconds: `<M8[fs]`.";
        Attosecond = "as", "Attoseconds: `<M8[as]`.";
    }
}

use unit::Unit;

/// Whether `dtype` is `kind`, `M8` or `m8`, with this unit in native byte order.
fn is_time(dtype: &str, kind: &str, unit: &str) -> bool {
    let unit_of = |name: &str| {
        let rest = name.strip_prefix(kind)?.strip_prefix('[')?.strip_suffix(']')?;
        Some(rest == unit)
    };
    in_native_order(dtype).and_then(unit_of).unwrap_or(false)
}

macro_rules! times {
    ($($(#[$doc:meta])* $name:ident = $kind:literal;)*) => {
        $(
            $(#[$doc])*
            #[repr(transparent)]
            pub struct $name<U>(i64, PhantomData<fn() -> U>);

            impl<U: Unit> $name<U> {
                /// The value for "not a time", NumPy's `NaT`.
                pub const NAT: $name<U> = $name::new(i64::MIN);

                /// Returns the time of this number of units.
                pub const fn new(value: i64) -> $name<U> {
                    $name(value, PhantomData)
                }

                /// Returns the number of units; [`i64::MIN`] is not a time.
                pub const fn value(self) -> i64 {
                    self.0
                }

                /// Whether the value is not a time.
                pub const fn is_nat(self) -> bool {
                    self.0 == i64::MIN
                }
            }

            // SAFETY: an integer, for which all bytes are valid.
            unsafe impl<U: Unit> Item for $name<U> {
                fn dtype() -> Cow<'static, str> {
                    Cow::Owned(format!("{NATIVE_ORDER}{}[{}]", $kind, U::NAME))
                }

                fn matches(dtype: &str) -> bool {
                    is_time(dtype, $kind, U::NAME)
                }
            }

            impl<U> Clone for $name<U> {
                fn clone(&self) -> $name<U> {
                    *self
                }
            }

            impl<U> Copy for $name<U> {}

            impl<U> PartialEq for $name<U> {
                fn eq(&self, other: &$name<U>) -> bool {
                    self.0 == other.0
                }
            }

            impl<U> Eq for $name<U> {}

            impl<U> PartialOrd for $name<U> {
                fn partial_cmp(&self, other: &$name<U>) -> Option<Ordering> {
                    Some(self.cmp(other))
                }
            }

            impl<U> Ord for $name<U> {
                fn cmp(&self, other: &$name<U>) -> Ordering {
                    self.0.cmp(&other.0)
                }
            }

            impl<U> Hash for $name<U> {
                fn hash<H: Hasher>(&self, state: &mut H) {
                    self.0.hash(state);
                }
            }

            impl<U: Unit> fmt::Debug for $name<U> {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    if self.is_nat() {
                        write!(f, concat!(stringify!($name), "(NaT)"))
                    } else {
                        write!(f, concat!(stringify!($name), "({} {})"), self.0, U::NAME)
                    }
                }
            }
        )*
    };
}

times! {
    /// A date or time, NumPy's `datetime64`: the number of units since 1970-01-01T00:00 UTC.
    ///
    /// ```
    /// use ferroblosc::b2nd::Array;
    /// use ferroblosc::chunk::CParams;
    /// use ferroblosc::item::{DateTime64, unit::Day};
    /// use ferroblosc::schunk::Storage;
    ///
    /// let days = [DateTime64::<Day>::new(20_000), DateTime64::NAT];
    /// let array = Array::from_items(Storage::memory(), CParams::default(), [2], &days)?;
    /// assert_eq!(array.dtype(), Some("<M8[D]"));
    /// assert_eq!(array.get::<DateTime64<Day>>(0)?[0].value(), 20_000);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    DateTime64 = "M8";
    /// A duration, NumPy's `timedelta64`: a number of units.
    TimeDelta64 = "m8";
}

#[cfg(test)]
mod tests {
    use super::unit::{Day, Month, Nanosecond};
    use super::*;
    use crate::item::native;

    #[test]
    fn dtypes_have_the_unit() {
        assert_eq!(DateTime64::<Nanosecond>::dtype(), native("<M8[ns]"));
        assert_eq!(TimeDelta64::<Day>::dtype(), native("<m8[D]"));
        assert!(DateTime64::<Day>::matches(&native("<M8[D]")));
        for dtype in ["<M8[D]", "=M8[D]", "M8[D]"] {
            assert_eq!(
                DateTime64::<Day>::matches(dtype),
                cfg!(target_endian = "little"),
                "{dtype}"
            );
        }
        for dtype in ["<m8[D]", ">M8[D]", "<M8[2D]", "<M8[ns]", "<M8", "<i8", "<M8[D", "M8[]"] {
            assert!(!DateTime64::<Day>::matches(&native(dtype)), "{dtype}");
        }
        assert!(!DateTime64::<Month>::matches(&native("<M8[m]")));
    }

    #[test]
    fn values_are_compared_and_shown() {
        let (early, late) = (TimeDelta64::<Day>::new(-1), TimeDelta64::<Day>::new(2));
        assert!(early < late && early != late && TimeDelta64::NAT < early);
        assert!(TimeDelta64::<Day>::NAT.is_nat() && !late.is_nat());
        assert_eq!(
            format!("{late:?}, {:?}", TimeDelta64::<Day>::NAT),
            "TimeDelta64(2 D), TimeDelta64(NaT)"
        );
    }
}
