//! Loops over registers that are no loops.
//!
//! An array of vectors lives in registers only if all its indices are constants when the compiler
//! looks. Its own unrolling often comes too late for that, or not at all, and then every step goes
//! through memory: the same code, several times slower.

/// Repeats the block with `$k` the constants 0, 1, 2 … below 2, 3, 4, 7, 8 or 16, as far as the condition
/// holds.
macro_rules! unroll {
    (2: $k:ident $($rest:tt)*) => { unroll!(@ $k, [0 1] $($rest)*) };
    (3: $k:ident $($rest:tt)*) => { unroll!(@ $k, [0 1 2] $($rest)*) };
    (4: $k:ident $($rest:tt)*) => { unroll!(@ $k, [0 1 2 3] $($rest)*) };
    (7: $k:ident $($rest:tt)*) => { unroll!(@ $k, [0 1 2 3 4 5 6] $($rest)*) };
    (8: $k:ident $($rest:tt)*) => { unroll!(@ $k, [0 1 2 3 4 5 6 7] $($rest)*) };
    (16: $k:ident $($rest:tt)*) => {
        unroll!(@ $k, [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] $($rest)*)
    };
    (@ $k:ident, [$($value:literal)*], $body:block) => {
        $({
            let $k: usize = $value;
            $body
        })*
    };
    (@ $k:ident, [$($value:literal)*] < $count:expr, $body:block) => {
        $({
            let $k: usize = $value;
            if $k < $count $body
        })*
    };
}

pub(super) use unroll;
