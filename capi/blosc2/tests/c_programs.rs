//! The C programs of `c-tests`, run against the headers and both libraries.
//!
//! Each program is compiled as C99 with POSIX, with all warnings as errors, and linked with the
//! shared library and with the static one.

use ferroblosc_capi_testing::abi::{archive_exports, exports};
use ferroblosc_capi_testing::{
    compiler_of, empty_folder, library_folder, program_of, project_root, run, scratch,
    static_library, with_library,
};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// The linking of a program.
#[derive(Clone, Copy)]
enum Linking {
    Shared,
    Static,
}

/// Compiles a C test; `libraries` follow the library on the command line.
fn compile(source: &str, linking: Linking, libraries: &[&str]) -> PathBuf {
    let (folder, library) = match linking {
        Linking::Shared => ("shared", library_folder().join("libblosc2.so")),
        Linking::Static => ("static", static_library("blosc2")),
    };
    let others = libraries.iter().map(|&name| name.into());
    let libraries: Vec<OsString> = [library.into()].into_iter().chain(others).collect();
    program_of(source, folder, &libraries)
}

/// Compiles and runs a C test with both libraries.
fn passes(source: &str) {
    run(&mut with_library(compile(source, Linking::Shared, &[])));
    run(&mut Command::new(compile(source, Linking::Static, &[])));
}

#[test]
fn contexts_round_trip() {
    passes("roundtrip.c");
}

#[test]
fn repeated_calls_of_contexts_allocate_nothing() {
    passes("allocations.c");
}

#[test]
fn row_c11_null_arguments_are_errors() {
    passes("row_c11_null_arguments.c");
}

#[test]
fn row_u8_without_memory_no_call_ends_the_process_or_damages_data_or_leaks() {
    // Every request of the program can fail: `make test-full` tries all of them, and `make
    // test-durability` more than `make test`.
    let step = std::env::var("FERROBLOSC_MEMORY_STEP").unwrap_or_else(|_| "2003".into());
    run(with_library(compile("out_of_memory.c", Linking::Shared, &[])).arg(step));
    run(Command::new(compile("out_of_memory.c", Linking::Static, &[])).arg("4001"));
}

#[test]
fn without_memory_for_large_objects_no_call_ends_the_process() {
    // The requests of this program are many and alike: nearly all runs refuse them by size.
    run(with_library(compile("out_of_memory_large.c", Linking::Shared, &[])).arg("100000"));
}

#[test]
fn row_c12_row_c13_names_of_codecs_are_known() {
    passes("row_c12_c13_names.c");
}

#[test]
fn calls_without_context_use_the_global_settings() {
    passes("global.c");
}

#[test]
fn row_c14_row_c37_row_c39_row_c57_callbacks_are_called_and_their_results_checked() {
    passes("callbacks.c");
}

#[test]
fn blocks_of_variable_length_round_trip() {
    passes("vlblocks.c");
}

#[test]
fn row_c14_row_c15_row_f27_row_f29_row_u7_backends_read_files_and_paths_are_removed() {
    passes("io.c");
}

#[test]
fn row_s34_row_u1_borrowed_memory_can_be_passed_to_every_call() {
    passes("borrowed_memory.c");
}

#[test]
fn row_u2_outputs_are_defined_after_errors() {
    passes("outputs.c");
}

#[test]
fn every_byte_but_zero_is_true() {
    passes("flags.c");
}

#[test]
fn row_u4_callbacks_can_use_the_super_chunk_of_their_call() {
    passes("reentrant.c");
}

#[test]
fn super_chunks_follow_the_rows() {
    passes("rows_schunk.c");
    passes("rows_schunk_data.c");
}

#[test]
fn super_chunks_are_changed_and_read() {
    passes("schunk.c");
}

#[test]
fn frames_are_converted_to_bytes_and_files() {
    passes("frame.c");
}

#[test]
fn files_can_be_used_for_long_without_growth() {
    // `make soak` runs it for hours.
    let files = empty_folder("soak").join("files");
    let program = compile("soak.c", Linking::Shared, &[]);
    for _ in 0..2 {
        run(with_library(&program).arg("1").arg(&files));
    }
}

#[test]
fn metalayers_are_added_changed_and_read() {
    passes("meta.c");
}

#[test]
fn frames_follow_the_rows() {
    passes("rows_frame.c");
}

#[test]
fn row_c38_shuffle_functions_round_trip_and_check_sizes() {
    passes("row_c38_shuffles.c");
}

#[test]
fn inline_functions_of_the_headers_work() {
    passes("inline.c");
}

#[test]
fn row_c10_row_c60_row_c61_calls_of_blosc_1_check_their_arguments() {
    passes("row_c10_c60_c61_blosc1.c");
}

#[test]
fn row_c16_concurrent_calls_do_not_race() {
    passes("row_c16_races.c");
}

#[test]
fn row_u3_threads_share_super_chunks_and_arrays() {
    passes("sharing.c");
}

#[test]
fn a_cancelled_thread_ends_after_its_call() {
    passes("cancel.c");
}

#[test]
fn a_panic_becomes_an_error_of_the_call() {
    passes("caught_panic.c");
}

#[test]
fn processes_handles_and_threads_use_one_super_chunk() {
    passes("many_handles.c");
}

#[test]
fn handles_threads_and_processes_agree_with_a_model() {
    passes("random_handles.c");
}

#[test]
fn handles_share_the_descriptors_of_the_process() {
    passes("descriptors.c");
}

#[test]
fn row_u5_readers_follow_files_that_others_change() {
    passes("followed_files.c");
}

#[test]
fn arrays_slices_and_selections_follow_the_rows() {
    passes("b2nd_slices.c");
}

#[test]
fn reshaped_arrays_views_and_files_follow_the_rows() {
    passes("b2nd_shapes.c");
}

#[test]
fn row_u6_parent_and_forked_child_lock_files_separately() {
    passes("forked_locks.c");
}

#[test]
fn row_n40_processes_append_to_one_array() {
    passes("b2nd_locking.c");
}

#[test]
fn row_d7_everything_works_without_initialisation() {
    passes("row_d7_init_free.c");
}

#[test]
fn the_library_can_be_unloaded_after_threads_worked() {
    let program = compile("dlopen.c", Linking::Static, &[]);
    run(Command::new(program).arg(library_folder().join("libblosc2.so")));
}

#[test]
fn row_d4_symbols_of_codecs_are_hidden() {
    passes("own_symbols.c");
}

#[test]
fn row_d4_a_program_can_use_zstd_beside_the_static_library() {
    let program = compile("with_zstd.c", Linking::Static, &["-lzstd"]);
    run(&mut Command::new(program));
}

#[test]
fn row_d4_the_static_library_shows_its_exports_only() {
    let shared = library_folder().join("libblosc2.so");
    assert_eq!(archive_exports(&static_library("blosc2")), exports(&shared));
}

#[test]
fn the_static_library_hides_no_function_of_the_system() {
    // The linker gold fails if a shared library defines a symbol that an object wants hidden.
    let output = run(Command::new("readelf").arg("-sW").arg(static_library("blosc2")));
    let symbols = String::from_utf8(output.stdout).expect("text");
    let hidden: Vec<&str> = symbols
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|fields| fields.len() == 8 && fields[5] != "DEFAULT" && fields[6] == "UND")
        .map(|fields| fields[7])
        .filter(|name| !name.starts_with("_ferroblosc_"))
        .collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}

#[test]
fn cplusplus_programs_compile_and_run() {
    let program = scratch("shared").join("includes");
    run(Command::new(std::env::var_os("CXX").unwrap_or_else(|| "c++".into()))
        .args(["-std=c++17", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I"])
        .arg(project_root().join("include"))
        .arg(project_root().join("c-tests/includes.cc"))
        .arg(library_folder().join("libblosc2.so"))
        .arg("-o")
        .arg(&program));
    run(&mut with_library(program));
}

/// Compiles a C example into the directory `folder`, linked with the libraries whose headers it
/// includes; returns the command that runs it.
fn example(name: &str, folder: &str) -> Command {
    let source = project_root().join(format!("examples/{name}.c"));
    let source = std::fs::read_to_string(source).unwrap();
    let program = scratch(folder).join(name);
    let mut compiler = compiler_of(&format!("../examples/{name}.c"), &program);
    if source.contains("#include <ferroblosc.h>") {
        compiler.arg(library_folder().join("libferroblosc.so"));
    }
    run(compiler.arg(library_folder().join("libblosc2.so")));
    let mut command = with_library(program);
    // These change the files that the examples write.
    for variable in ["BLOSC_LOCKING", "FERROBLOSC_CHECKSUMS", "FERROBLOSC_DURABLE"] {
        command.env_remove(variable);
    }
    command
}

#[test]
fn examples_compile_without_a_warning_and_run() {
    let file = project_root().join("include/blosc2.h");
    let mut count = 0;
    for entry in std::fs::read_dir(project_root().join("examples")).unwrap() {
        let source = entry.unwrap().file_name().into_string().unwrap();
        let Some(name) = source.strip_suffix(".c") else { continue };
        let folder = empty_folder(&format!("example-{name}"));
        let mut command = example(name, "examples");
        match name {
            // It writes the file of its argument.
            "array" => command.arg(scratch("shared").join("example.b2nd")),
            "ratios" => command.arg(&file).arg("1"),
            _ => &mut command,
        };
        let output = run(command.current_dir(&folder));
        assert!(!output.stdout.is_empty(), "{name} prints nothing");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "{name} leaves files");
        count += 1;
    }
    assert!(count >= 18, "{count}");
}

#[test]
fn the_array_example_prints_its_documented_output() {
    let file = scratch("shared").join("printed.b2nd");
    let output = example("array", "example-printed").arg(&file).output().unwrap();
    assert!(output.status.success());
    let expected =
        ["  947   948   949", "  997   998   999", " 1047  1048  1049", " 1097  1098  1099"];
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    assert!(file.is_file());
}

#[test]
#[ignore = "takes minutes: make test-durability runs it"]
fn row_d9_valgrind_finds_no_memory_errors() {
    for source in [
        "b2nd_slices.c",
        "b2nd_shapes.c",
        "vlblocks.c",
        "callbacks.c",
        "io.c",
        "schunk.c",
        "frame.c",
        "meta.c",
        "rows_frame.c",
        "rows_schunk.c",
        "rows_schunk_data.c",
        "row_c12_c13_names.c",
        "row_c11_null_arguments.c",
        "cancel.c",
    ] {
        let program = compile(source, Linking::Shared, &[]);
        run(with_library("valgrind")
            .args(["--error-exitcode=9", "--leak-check=full", "--quiet"])
            // Without this option, a thread that never sleeps delays the others for minutes.
            .arg("--fair-sched=yes")
            // Names of registered codecs and the threads of the pool exist until the process ends.
            .arg("--show-leak-kinds=definite,indirect")
            .arg("--errors-for-leak-kinds=definite,indirect")
            .env("CANCEL_ROUNDS", "2")
            .env("CHECK_QUICK", "1")
            .arg(program));
    }
}
