//! Compiles one algorithm for each SIMD level.

/// Runs a body that is generic over a [`Vector`](super::vector::Vector) type, compiled for the
/// instructions of a level, or the `generic` expression at the generic level:
///
/// ```text
/// at_level!(level, |V| fn(src: *const u8, len: usize) { body::<V>(src, len) }, generic: …)
/// ```
///
/// The arguments are variables of the caller, listed with their types, because each compiled copy
/// is a separate function.
///
/// # Safety
/// The macro is used in an `unsafe` block: the CPU must have the level, and the contract of the
/// body must hold.
macro_rules! at_level {
    (
        $level:expr,
        |$vector:ident| fn($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block,
        generic: $generic:expr $(,)?
    ) => {{
        #[cfg(target_arch = "x86_64")]
        $crate::kernels::compile::copy!(
            avx512: Avx512, "avx512f,avx512bw,avx512vl",
            |$vector| fn($($argument: $type),*) $(-> $result)? $body
        );
        #[cfg(target_arch = "x86_64")]
        $crate::kernels::compile::copy!(
            avx2: Avx2, "avx2",
            |$vector| fn($($argument: $type),*) $(-> $result)? $body
        );
        #[cfg(target_arch = "x86_64")]
        $crate::kernels::compile::copy!(
            sse2: Sse2, "sse2",
            |$vector| fn($($argument: $type),*) $(-> $result)? $body
        );
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        $crate::kernels::compile::copy!(
            neon: Neon, "neon",
            |$vector| fn($($argument: $type),*) $(-> $result)? $body
        );
        match $level {
            #[cfg(target_arch = "x86_64")]
            $crate::kernels::Level::Avx512 => avx512($($argument),*),
            #[cfg(target_arch = "x86_64")]
            $crate::kernels::Level::Avx2 => avx2($($argument),*),
            #[cfg(target_arch = "x86_64")]
            $crate::kernels::Level::Sse2 => sse2($($argument),*),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            $crate::kernels::Level::Neon => neon($($argument),*),
            _ => $generic,
        }
    }};
}

/// The body of [`at_level`], compiled for one level.
macro_rules! copy {
    (
        $name:ident: $type:ident, $features:literal,
        |$vector:ident| fn($($argument:ident: $argument_type:ty),*) $(-> $result:ty)? $body:block
    ) => {
        /// # Safety
        /// The CPU has the features, and the contract of the body holds.
        #[target_feature(enable = $features)]
        unsafe fn $name($($argument: $argument_type),*) $(-> $result)? {
            type $vector = $crate::kernels::vector::$name::$type;
            // SAFETY: the caller's contract.
            unsafe { $body }
        }
    };
}

pub(super) use {at_level, copy};
