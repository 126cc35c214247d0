//! Whatever stands in a fenced block of a document is run by somebody.
//!
//! | language | run by |
//! |---|---|
//! | none, `text` | nobody: drawings and summaries of usage |
//! | `rust` | the tests of documentation: `src/lib.rs` includes the document |
//! | `console` | a `tour.rs` beside the commands, which also compares what is printed |
//! | `c` | `capi/ferroblosc/tests/documents.rs`, as whole programs |
//! | the others | what [`ELSEWHERE`] says: the same file as they stand, or another since they take long or need a network |

use super::markdown::{self, Block};

/// What runs a block that no test of documents runs.
struct Runner {
    document: &'static str,
    /// How the block begins.
    block: &'static str,
    /// The file of the project that runs the same, or is started by it.
    file: &'static str,
    /// What that file says for it.
    says: &'static str,
}

const fn runner(
    document: &'static str,
    block: &'static str,
    file: &'static str,
    says: &'static str,
) -> Runner {
    Runner {
        document,
        block,
        file,
        says,
    }
}

/// The test of programs, and of the commands around them.
const PROGRAMS: &str = "capi/ferroblosc/tests/documents.rs";

/// The blocks that are run elsewhere.
const ELSEWHERE: [Runner; 16] = [
    runner(
        "CONTRIBUTING.md",
        "make check",
        ".ci/run",
        "\npart make check\n",
    ),
    runner("README.md", "make demo", ".ci/run", "\npart make demo\n"),
    runner(
        "README.md",
        "make install",
        PROGRAMS,
        "block(\"README.md\", \"sh\", \"make install\")",
    ),
    runner(
        "README.md",
        "cc program.c",
        PROGRAMS,
        "block(\"README.md\", \"sh\", \"cc program.c\")",
    ),
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
        "docs/clients.md",
        "make test-clients",
        ".ci/run",
        "part make test-clients ;;\n",
    ),
    runner(
        "docs/fortran.md",
        "program field",
        "scripts/test-fortran.sh",
        "docs/fortran.md",
    ),
    runner(
        "docs/fortran.md",
        "make fortran",
        "scripts/test-fortran.sh",
        "install-fortran.sh",
    ),
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
    runner(
        "docs/hdf5.md",
        "import h5py",
        "scripts/test-hdf5.sh",
        "shown \"import h5py\"",
    ),
    runner(
        "docs/hdf5.md",
        "apt-get install",
        "scripts/test-hdf5.sh",
        "shown \"apt-get install\"",
    ),
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
    // A cluster is what it takes: the test runs three processes on one machine.
    runner(
        "docs/hdf5.md",
        "mpirun -x",
        "scripts/test-hdf5.sh",
        "mpirun",
    ),
];

/// Whether this project runs the block, and if not, why it seems so.
fn is_run(document: &str, block: &Block) -> Result<(), &'static str> {
    let says = |file: &str, what: &str| crate::text(file).contains(what);
    match block.language.as_str() {
        "" | "text" => Ok(()),
        "rust" => says("src/lib.rs", &format!("include_str!(\"../{document}\")"))
            .then_some(())
            .ok_or("src/lib.rs doesn't include the document"),
        "console" => ["tools/b2/tests/tour.rs", "tools/blpk/tests/tour.rs"]
            .iter()
            .any(|tour| says(tour, document))
            .then_some(())
            .ok_or("no tour goes through the document"),
        "c" => says(PROGRAMS, document)
            .then_some(())
            .ok_or("the test of programs doesn't know the document"),
        _ => ELSEWHERE
            .iter()
            .any(|runner| runner.is_of(document, block))
            .then_some(())
            .ok_or("nobody is named who runs it"),
    }
}

impl Runner {
    fn is_of(&self, document: &str, block: &Block) -> bool {
        self.document == document && block.lines[0].starts_with(self.block)
    }
}

#[test]
fn every_block_is_run_by_somebody() {
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
fn whoever_is_said_to_run_a_block_does_something_like_it() {
    for runner in &ELSEWHERE {
        let document = markdown::document(runner.document);
        let blocks = document.blocks.iter();
        let found = blocks.filter(|block| runner.is_of(runner.document, block));
        assert_eq!(found.count(), 1, "{}: {}", runner.document, runner.block);
        let file = crate::text(runner.file);
        assert!(
            file.contains(runner.says),
            "{}: {}",
            runner.file,
            runner.says
        );
    }
}

/// The targets of the Makefile that a line of a document names.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let calls = line.split("make ").skip(1);
    let words = calls.filter_map(|rest| rest.split_whitespace().next());
    words.map(|word| word.trim_end_matches(|c: char| !c.is_alphanumeric()))
}

#[test]
fn every_target_that_documents_name_is_in_the_makefile() {
    let makefile = crate::text("Makefile");
    let is_target = |word: &str| makefile.contains(&format!("\n{word}:"));
    let mut count = 0;
    for document in markdown::documents() {
        let commands = document
            .blocks
            .iter()
            .filter(|block| block.language == "sh");
        let lines = commands.flat_map(|block| &block.lines);
        let quoted = document
            .prose
            .iter()
            .flat_map(|line| line.split('`').skip(1).step_by(2));
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
