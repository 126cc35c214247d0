//! One algorithm, compiled once for each SIMD level.

/// Runs a body that is generic over a [`Vector`](super::vector::Vector) type, compiled for the
/// instructions of a level, or else the `generic` expression:
///
/// ```text
/// at_level!(level, |V| fn(src: *const u8, len: usize) -> bool { body::<V>(src, len) }, generic: …)
/// ```
///
/// The arguments are variables of the place of use, given with their types, because each compiled
/// copy is a function of its own.
///
/// # Safety
/// The macro is used in an `unsafe` block: the CPU has the level, and the contract of the body
/// holds.
macro_rules! at_level {
    (
        $level:expr,
        |$vector:ident| fn($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block,
        generic: $generic:expr $(,)?
    ) => {{
        /// # Safety
        /// The CPU has the level; the contract of the body.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
        unsafe fn avx512($($argument: $type),*) $(-> $result)? {
            type $vector = $crate::kernels::vector::avx512::Avx512;
            // SAFETY: the caller's contract.
            unsafe { $body }
        }

        /// # Safety
        /// The CPU has the level; the contract of the body.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        unsafe fn avx2($($argument: $type),*) $(-> $result)? {
            type $vector = $crate::kernels::vector::avx2::Avx2;
            // SAFETY: the caller's contract.
            unsafe { $body }
        }

        /// # Safety
        /// The CPU has the level; the contract of the body.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "sse2")]
        unsafe fn sse2($($argument: $type),*) $(-> $result)? {
            type $vector = $crate::kernels::vector::sse2::Sse2;
            // SAFETY: the caller's contract.
            unsafe { $body }
        }

        /// # Safety
        /// The CPU has the level; the contract of the body.
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        #[target_feature(enable = "neon")]
        unsafe fn neon($($argument: $type),*) $(-> $result)? {
            type $vector = $crate::kernels::vector::neon::Neon;
            // SAFETY: the caller's contract.
            unsafe { $body }
        }

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

pub(super) use at_level;
