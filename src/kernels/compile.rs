//! Compiles one algorithm for each SIMD level.

/// Runs a body that is generic over a [`Vector`](super::vector::Vector) type, compiled for the
/// instructions of a level, or the `generic` expression at the generic level:
///
/// ```text
/// at_level!(level, |V| fn(src: *const u8, len: usize) { body::<V>(src, len) }, generic: …)
/// ```
///
/// The arguments are variables of the caller, listed with their types, because each compiled copy
/// is a separate function. Constants of the caller's type parameters are listed before them: `|V|
/// fn<TS>(src: *const u8)`.
///
/// # Safety
/// The macro is used in an `unsafe` block: the CPU must have the level, and the contract of the
/// body must hold.
macro_rules! at_level {
    (
        $level:expr,
        |$vector:ident| fn $(<$constant:ident>)? ($($argument:ident: $type:ty),* $(,)?)
            $(-> $result:ty)? $body:block,
        generic: $generic:expr $(,)?
    ) => {
        $crate::kernels::vector::all_levels!(
            ($crate::kernels::compile::dispatch),
            (
                $level, $vector, ($($constant)?), ($($argument: $type),*), ($($argument),*),
                ($(-> $result)?), $body, $generic
            )
        )
    };
}

/// Compiles the body of [`at_level`] for each row of the table of levels, and calls the function of
/// the current level.
macro_rules! dispatch {
    (
        (
            $level:expr, $vector:ident, $constant:tt, $parameters:tt, $arguments:tt, $result:tt,
            $body:block, $generic:expr
        )
        $($(#[$doc:meta])* $variant:ident, $module:ident, $target:meta, $features:literal;)*
    ) => {{
        $(
            #[cfg($target)]
            $crate::kernels::compile::copy!(
                $module: $variant, $features, $vector, $constant, $parameters, $result, $body
            );
        )*
        match $level {
            $(
                #[cfg($target)]
                $crate::kernels::Level::$variant => {
                    $crate::kernels::compile::call!($module, $constant, $arguments)
                }
            )*
            _ => $generic,
        }
    }};
}

/// Compiles the body of [`at_level`] for one level.
macro_rules! copy {
    (
        $module:ident: $variant:ident, $features:literal,
        $vector:ident, ($($constant:ident)?), $parameters:tt, ($($result:tt)*), $body:block
    ) => {
        /// # Safety
        /// The CPU has the features, and the contract of the body holds.
        #[target_feature(enable = $features)]
        unsafe fn $module $(<const $constant: usize>)? $parameters $($result)* {
            type $vector = $crate::kernels::vector::$module::$variant;
            // SAFETY: the caller's contract.
            unsafe { $body }
        }
    };
}

/// Calls a function that [`copy`] defined.
macro_rules! call {
    ($module:ident, (), $arguments:tt) => {
        $module $arguments
    };
    ($module:ident, ($constant:ident), $arguments:tt) => {
        $module::<$constant> $arguments
    };
}

pub(super) use {at_level, call, copy, dispatch};
