//! Loops over arrays of registers, unrolled by a macro.
//!
//! An array of vectors stays in registers only if all its indices are constants early in
//! compilation. The compiler often unrolls too late for that; then every step accesses memory,
//! which is several times slower.

/// Repeats the block with `$k` as the constants below 2, 3, 4, 7, 8 or 16, skipping those for which
/// the condition is false. After `< const` the bound is a constant expression, and the compiler
/// generates no code for the skipped ones.
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
    (@ $k:ident, [$($value:literal)*] < const $count:expr, $body:block) => {
        $(if const { $value < $count } {
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
