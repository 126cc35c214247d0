//! The structs and callback types of the C headers, with the same names.
//!
//! The layout is part of the interface: each struct is followed by an `assert_layout!` with the
//! size, alignment and offsets of C-Blosc2 3.3.5 on 64-bit Linux, which is checked at compile time
//! for every 64-bit target. On all targets a test compares the structs with those that a C compiler
//! makes of the headers.

pub mod b2nd;
pub mod context;
pub mod flag;
pub mod io;
pub mod params;
pub mod plugins;
pub mod schunk;
pub mod stdio;
pub mod threads;

/// Asserts the size, the alignment and the field offsets of a struct at compile time.
macro_rules! assert_layout {
    ($type:ty, size $size:tt, align $align:literal, { $($field:ident: $offset:literal),* $(,)? }) => {
        #[cfg(target_pointer_width = "64")]
        const _: () = {
            assert!(size_of::<$type>() == $size);
            assert!(align_of::<$type>() == $align);
            $(assert!(std::mem::offset_of!($type, $field) == $offset);)*
        };

        #[cfg(test)]
        impl crate::types::tests::Described for $type {
            const NAME: &str = stringify!($type);
            const FIELDS: &[(&str, usize)] =
                &[$((stringify!($field), std::mem::offset_of!($type, $field))),*];
        }
    };
}
pub(crate) use assert_layout;

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use ferroblosc_capi_testing::{c_compiler, project_root, run, scratch};

    use super::*;

    /// A struct with a layout.
    pub(super) trait Described: Sized {
        const NAME: &str;
        /// The fields, with their offsets.
        const FIELDS: &[(&str, usize)];

        /// Returns C assertions about the struct of this name.
        fn assertions() -> String {
            let name = Self::NAME;
            let (size, align) = (size_of::<Self>(), align_of::<Self>());
            let mut source = format!(
                "_Static_assert(sizeof({name}) == {size}, \"size of {name}\");\n\
                 _Static_assert(_Alignof({name}) == {align}, \"alignment of {name}\");\n"
            );
            for (field, offset) in Self::FIELDS {
                writeln!(
                    source,
                    "_Static_assert(offsetof({name}, {field}) == {offset}, \"{name}.{field}\");"
                )
                .expect("a string can be written to");
            }
            source
        }
    }

    #[test]
    fn the_headers_have_the_structs_of_this_target() {
        let structs = [
            b2nd::b2nd_array_t::assertions(),
            b2nd::chunk_cache_s::assertions(),
            io::blosc2_io::assertions(),
            io::blosc2_io_cb::assertions(),
            io::blosc2_storage::assertions(),
            params::blosc2_cparams::assertions(),
            params::blosc2_dparams::assertions(),
            params::blosc2_instr::assertions(),
            params::blosc2_postfilter_params::assertions(),
            params::blosc2_prefilter_params::assertions(),
            plugins::blosc2_codec::assertions(),
            plugins::blosc2_filter::assertions(),
            plugins::blosc2_tuner::assertions(),
            schunk::blosc2_metalayer::assertions(),
            schunk::blosc2_schunk::assertions(),
            stdio::blosc2_stdio_file::assertions(),
            stdio::blosc2_stdio_mmap::assertions(),
            stdio::blosc2_stdio_params::assertions(),
        ];
        let sources = std::fs::read_dir(project_root().join("capi/blosc2/src/types")).unwrap();
        let count =
            |path| std::fs::read_to_string(path).unwrap().matches("\nassert_layout!(").count();
        let asserted: usize = sources.map(|entry| count(entry.unwrap().path())).sum();
        assert_eq!(structs.len(), asserted, "the list above is not complete");

        let folder = scratch("layout");
        let source = folder.join("layout.c");
        let headers = "#include <stddef.h>\n#include <b2nd.h>\n#include <blosc2/blosc2-stdio.h>\n";
        std::fs::write(&source, headers.to_owned() + &structs.concat()).unwrap();
        run(c_compiler().args(["-std=c11", "-fsyntax-only"]).arg(&source));
    }
}
