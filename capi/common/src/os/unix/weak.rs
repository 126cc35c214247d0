//! Functions of other libraries that may be missing, in ELF format.

// Defines a function that returns a C function of the process, if it was present when this library
// was loaded.
#[doc(hidden)]
#[macro_export]
macro_rules! linked_function {
    ($(#[$doc:meta])* fn $name:ident() -> $symbol:literal: $type:ty;) => {
        // A reference from Rust would be strong, so the assembler stores the weak address.
        std::arch::global_asm!(
            concat!(".weak ", $symbol),
            ".pushsection .data.rel,\"aw\"",
            ".balign {size}",
            concat!(".hidden ferroblosc_", $symbol, "_if_linked"),
            concat!(".globl ferroblosc_", $symbol, "_if_linked"),
            concat!("ferroblosc_", $symbol, "_if_linked:"),
            concat!(".{size}byte ", $symbol),
            ".popsection",
            size = const size_of::<usize>(),
        );

        $(#[$doc])*
        fn $name() -> Option<$type> {
            unsafe extern "C" {
                #[link_name = concat!("ferroblosc_", $symbol, "_if_linked")]
                static FOUND: Option<$type>;
            }
            // SAFETY: the dynamic linker initialised the pointer, with zero if the symbol is
            // undefined.
            unsafe { (&raw const FOUND).read_volatile() }
        }
    };
}
