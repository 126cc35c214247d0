//! Every fenced block of a document is run by some test.
//!
//! | language | run by |
//! |---|---|
//! | none, `text` | not run: diagrams and usage summaries |
//! | `rust` | documentation tests: `tests/doctests` or the crate of the document includes it |
//! | `console` | a command's `tour.rs`, which also compares the output |
//! | `c` | `capi/ferroblosc/tests/documents.rs`, as whole programs |
//! | other | the file in [`ELSEWHERE`]: the same text, or a variant if the original is slow or
//! needs a network |

use std::collections::BTreeSet;

use super::markdown::{self, Block};

/// The file that runs a block outside of the documents' tests.
struct Runner {
    document: &'static str,
    /// The start of the block.
    block: &'static str,
    /// The file of the project that runs the block or a variant of it.
    file: &'static str,
    /// The text in that file that runs the block.
    says: &'static str,
}

const fn runner(
    document: &'static str,
    block: &'static str,
    file: &'static str,
    says: &'static str,
) -> Runner {
    Runner { document, block, file, says }
}

/// Returns the runner of an example of the npm package.
const fn js(block: &'static str) -> Runner {
    let file = "packaging/npm/test/readme.test.js";
    runner("packaging/npm/README.md", block, file, "runBlock(")
}

/// The package that runs the Rust examples of documents.
const DOCTESTS: &str = "tests/doctests/src/lib.rs";

/// The test of whole programs and their commands.
const PROGRAMS: &str = "capi/ferroblosc/tests/documents.rs";

/// The blocks that other files run.
const ELSEWHERE: [Runner; 26] = [
    runner("CONTRIBUTING.md", "make check", ".ci/run", "\npart make check-source "),
    runner("README.md", "make demo", ".ci/suite", "demo) make demo ;;\n"),
    runner("README.md", "make install", PROGRAMS, "block(\"README.md\", \"sh\", \"make install\")"),
    runner("README.md", "cc program.c", PROGRAMS, "block(\"README.md\", \"sh\", \"cc program.c\")"),
    runner(
        "README.md",
        "find_package",
        PROGRAMS,
        "block(\"README.md\", \"cmake\", \"find_package\")",
    ),
    runner(
        "README.md",
        "include(FetchContent)",
        "tests/consumers/contained/CMakeLists.txt",
        "FetchContent_MakeAvailable(Blosc2)",
    ),
    runner(
        "README.md",
        "[patch.crates-io]",
        "scripts/test-consumers.sh",
        "\nuse_sys blosc-src 0.3 ",
    ),
    runner(
        "docs/migrating.md",
        "[patch.crates-io]",
        "scripts/test-consumers.sh",
        "\nuse_sys blosc-src 0.3 ",
    ),
    runner(
        "packaging/npm/README.md",
        "npm install ferroblosc",
        "scripts/test-npm.sh",
        "pack-npm.sh",
    ),
    js("import { Blosc, compress"),
    js("import { registry }"),
    js("import { fromUrl, open }"),
    js("import { open as openFile }"),
    js("import { FrameDecoderStream"),
    js("import { init }"),
    runner(
        "docs/clients.md",
        "make test-clients",
        ".ci/suite",
        "clients) make test-clients CLIENTS=",
    ),
    runner("docs/platforms.md", "make test-ports", ".ci/suite", " make test-ports TARGETS="),
    runner("docs/fortran.md", "program field", "scripts/test-fortran.sh", "docs/fortran.md"),
    runner("docs/fortran.md", "make fortran", "scripts/test-fortran.sh", "install-fortran.sh"),
    runner(
        "docs/fortran.md",
        "call h5pset_filter_f",
        "scripts/test-fortran.sh",
        "\ncall=$(sed -n 's/^\\(call h5pset_filter_f(",
    ),
    runner(
        "docs/hdf5.md",
        "export HDF5_PLUGIN_PATH",
        "scripts/test-hdf5.sh",
        "shown \"export HDF5_PLUGIN_PATH\"",
    ),
    runner("docs/hdf5.md", "import h5py", "scripts/test-hdf5.sh", "shown \"import h5py\""),
    runner("docs/hdf5.md", "apt-get install", "scripts/test-hdf5.sh", "shown \"apt-get install\""),
    runner(
        "docs/migrating.md",
        "LD_LIBRARY_PATH",
        PROGRAMS,
        "block(\"docs/migrating.md\", \"sh\", \"LD_LIBRARY_PATH\")",
    ),
    runner(
        "docs/migrating.md",
        "make install-musl",
        "scripts/test-musl.sh",
        "scripts/install-musl.sh",
    ),
    // The document's command needs a cluster; the test runs three processes on one machine.
    runner("docs/hdf5.md", "mpirun -x", "scripts/test-hdf5.sh", "mpirun"),
];

/// Checks that the project runs the block; the error is the reason why it does not.
fn is_run(document: &str, block: &Block) -> Result<(), &'static str> {
    let says = |file: &str, what: &str| crate::text(file).contains(what);
    match block.language.as_str() {
        "" | "text" => Ok(()),
        "rust" => (says(DOCTESTS, &format!("include_str!(\"../../../{document}\")"))
            || document == "formats/README.md"
                && says("formats/src/lib.rs", "include_str!(\"../README.md\")"))
        .then_some(())
        .ok_or("no crate includes the document"),
        "console" => ["tools/b2/tests/b2/tour.rs", "tools/blpk/tests/tour.rs"]
            .iter()
            .any(|tour| says(tour, document))
            .then_some(())
            .ok_or("no tour runs the document"),
        "c" => says(PROGRAMS, document)
            .then_some(())
            .ok_or("the test of programs doesn't list the document"),
        _ => ELSEWHERE
            .iter()
            .any(|runner| runner.is_of(document, block))
            .then_some(())
            .ok_or("no file is listed that runs it"),
    }
}

impl Runner {
    fn is_of(&self, document: &str, block: &Block) -> bool {
        self.document == document && block.lines[0].starts_with(self.block)
    }
}

#[test]
fn every_block_is_run_by_a_test() {
    for document in markdown::documents() {
        for block in &document.blocks {
            let first = &block.lines[0];
            let language = &block.language;
            assert_eq!(
                is_run(&document.name, block),
                Ok(()),
                "{}: {language}: {first}",
                document.name
            );
        }
    }
}

#[test]
fn every_listed_runner_contains_the_text_that_runs_the_block() {
    for runner in &ELSEWHERE {
        let document = markdown::document(runner.document);
        let blocks = document.blocks.iter();
        let found = blocks.filter(|block| runner.is_of(runner.document, block));
        assert_eq!(found.count(), 1, "{}: {}", runner.document, runner.block);
        let file = crate::text(runner.file);
        assert!(file.contains(runner.says), "{}: {}", runner.file, runner.says);
    }
}

/// Returns the Makefile targets in a line of a document.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let calls = line.split("make ").skip(1);
    let words = calls.filter_map(|rest| rest.split_whitespace().next());
    words.map(|word| word.trim_end_matches(|c: char| !c.is_alphanumeric()))
}

#[test]
fn every_target_in_a_document_is_in_the_makefile() {
    let makefile = crate::text("Makefile");
    let is_target = |word: &str| makefile.contains(&format!("\n{word}:"));
    let mut count = 0;
    for document in markdown::documents() {
        let commands = document.blocks.iter().filter(|block| block.language == "sh");
        let lines = commands.flat_map(|block| &block.lines);
        let quoted = document.prose.iter().flat_map(|line| line.split('`').skip(1).step_by(2));
        let quoted = quoted.filter(|piece| piece.starts_with("make "));
        for line in lines.map(String::as_str).chain(quoted) {
            for word in targets(line.split('#').next().unwrap()) {
                assert!(is_target(word), "{}: make {word}", document.name);
                count += 1;
            }
        }
    }
    assert!(count > 20, "{count}");
}

#[test]
fn every_target_of_the_makefile_is_in_its_help() {
    let makefile = crate::text("Makefile");
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let targets = makefile.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name);
    let targets: BTreeSet<&str> =
        targets.filter(|name| !name.is_empty() && is_name(name)).collect();
    assert!(targets.len() > 50, "{targets:?}");
    // Other targets need `test-needs`.
    for target in targets.difference(&BTreeSet::from(["help", "test-needs"])) {
        let is_listed = |end| makefile.contains(&format!("@echo \"make {target}{end}"));
        assert!(is_listed(" ") || is_listed("\""), "make {target}");
    }
}
