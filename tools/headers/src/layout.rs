//! The sections of each header.

/// A header.
pub struct Header {
    /// The path under `include/`.
    pub path: &'static str,
    /// The directory of the Rust files.
    pub sources: &'static str,
    /// The directory of the handwritten texts.
    pub texts: &'static str,
    /// The macro before the prototype of an exported function.
    pub export: &'static str,
    /// The sections, in order.
    pub sections: &'static [Section],
}

/// A section of a header.
pub enum Section {
    /// A handwritten text.
    Text(&'static str),
    /// The constants of each Rust file as an `enum`.
    Enums(&'static [&'static str]),
    /// The constants of the Rust files as macros.
    Macros(&'static [&'static str]),
    /// The structs and function types of the Rust files.
    Types(&'static [&'static str]),
    /// The exported functions of the Rust files and of the public modules in them.
    Functions(&'static [&'static str]),
}

use Section::{Enums, Functions, Macros, Text, Types};

/// A header of the interface of C-Blosc2.
const fn blosc2(path: &'static str, sections: &'static [Section]) -> Header {
    Header {
        path,
        sources: "capi/blosc2/src",
        texts: "capi/blosc2/header",
        export: "BLOSC_EXPORT",
        sections,
    }
}

/// A header of the interface of C-Blosc 1.x.
const fn blosc1(path: &'static str, sections: &'static [Section]) -> Header {
    Header {
        path,
        sources: "capi/blosc1/src",
        texts: "capi/blosc1/header",
        export: "BLOSC_EXPORT",
        sections,
    }
}

/// A header of the interface of Ferroblosc.
const fn ferroblosc(path: &'static str, sections: &'static [Section]) -> Header {
    Header {
        path,
        sources: "capi/ferroblosc/src",
        texts: "capi/ferroblosc/header",
        export: "FERROBLOSC_EXPORT",
        sections,
    }
}

/// The tags of opaque structs that differ from the name of the type, as in C-Blosc2. Clients
/// declare these structs themselves, and C++ mangles the tag.
pub const TAGS: &[(&str, &str)] = &[
    ("blosc2_context", "blosc2_context_s"),
    ("blosc2_frame", "blosc2_frame_s"),
    ("b2nd_context_t", "b2nd_context_s"),
];

/// All headers under `include/`.
pub const HEADERS: &[Header] = &[
    blosc2("blosc2/blosc2-export.h", &[Text("export.h")]),
    blosc2("blosc2/blosc2-common.h", &[Text("common.h")]),
    blosc2(
        "blosc2/blosc2-stdio.h",
        &[
            Text("stdio-begin.h"),
            Types(&["types/stdio.rs"]),
            Text("stdio-after-types.h"),
            Functions(&["stdio.rs", "mmap.rs"]),
            Text("stdio-end.h"),
        ],
    ),
    blosc2(
        "blosc2/codecs-registry.h",
        &[
            Text("codecs-registry-begin.h"),
            Enums(&["registry/codecs.rs"]),
            Types(&["registry/codecs.rs"]),
            Text("registry-end.h"),
        ],
    ),
    blosc2(
        "blosc2/filters-registry.h",
        &[
            Text("filters-registry-begin.h"),
            Enums(&["registry/filters.rs"]),
            Types(&["registry/filters.rs"]),
            Text("registry-end.h"),
        ],
    ),
    blosc2(
        "blosc2/tuners-registry.h",
        &[
            Text("tuners-registry-begin.h"),
            Enums(&["registry/tuners.rs"]),
            Types(&["registry/tuners.rs"]),
            Text("registry-end.h"),
        ],
    ),
    blosc2(
        "blosc2.h",
        &[
            Text("blosc2-begin.h"),
            Enums(&["constants/blosc1.rs"]),
            Text("blosc2-after-shared.h"),
            Enums(&[
                "constants/format.rs",
                "constants/limits.rs",
                "constants/filters.rs",
                "constants/codecs.rs",
                "constants/tuners.rs",
                "constants/io.rs",
                "constants/errors.rs",
            ]),
            Macros(&["constants/metalayers.rs"]),
            Text("blosc2-before-types.h"),
            Types(&[
                "types/params.rs",
                "types/plugins.rs",
                "types/threads.rs",
                "types/io.rs",
                "types/schunk.rs",
                "types/context.rs",
            ]),
            Text("blosc2-after-types.h"),
            Functions(&[
                "util.rs",
                "global.rs",
                "chunk.rs",
                "codecs.rs",
                "filters.rs",
                "tuners.rs",
                "threads.rs",
                "defaults.rs",
                // Has no functions; it declares the opaque struct of those in the next file.
                "types/context.rs",
                "context.rs",
                "vl.rs",
                "io.rs",
                "schunk/mod.rs",
                "meta.rs",
                "geometry.rs",
            ]),
            Text("blosc2-end.h"),
        ],
    ),
    blosc2(
        "b2nd.h",
        &[
            Text("b2nd-begin.h"),
            Macros(&["types/b2nd.rs"]),
            Types(&["types/b2nd.rs"]),
            Functions(&["b2nd/mod.rs"]),
            Text("b2nd-end.h"),
        ],
    ),
    blosc1("blosc-export.h", &[Text("export.h")]),
    blosc1(
        "blosc.h",
        &[
            Text("blosc-begin.h"),
            Macros(&["constants.rs"]),
            Functions(&["compress.rs", "settings.rs", "names.rs", "cbuffer.rs"]),
            Text("blosc-end.h"),
        ],
    ),
    ferroblosc("ferroblosc-export.h", &[Text("export.h")]),
    ferroblosc(
        "ferroblosc.h",
        &[
            Text("ferroblosc-begin.h"),
            Macros(&["constants.rs"]),
            Types(&["report.rs"]),
            Functions(&["util.rs", "last_error.rs", "verify.rs", "transaction.rs"]),
            Text("ferroblosc-end.h"),
        ],
    ),
    ferroblosc(
        "bcolz.h",
        &[
            Text("bcolz-begin.h"),
            Types(&["bcolz_spec.rs", "bcolz.rs"]),
            Functions(&["bcolz.rs", "bcolz_changes.rs", "bcolz_verify.rs"]),
            Text("bcolz-end.h"),
        ],
    ),
    ferroblosc(
        "b2store.h",
        &[
            Text("b2store-begin.h"),
            Macros(&["b2store_types.rs"]),
            Types(&[
                "b2store_types.rs",
                "b2store.rs",
                "b2store_data.rs",
                "b2store_table.rs",
                "b2store_writer.rs",
            ]),
            Functions(&["b2store.rs", "b2store_data.rs", "b2store_table.rs", "b2store_writer.rs"]),
            Text("b2store-end.h"),
        ],
    ),
    ferroblosc(
        "bloscpack.h",
        &[
            Text("bloscpack-begin.h"),
            Types(&["types.rs"]),
            Functions(&["bloscpack.rs"]),
            Text("bloscpack-end.h"),
        ],
    ),
];
