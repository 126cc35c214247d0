//! Tests of the plugins in programs that link or load HDF5 differently.

mod common;

use common::plugin_folder;
use ferroblosc_capi_testing::{c_compiler, project_root, run, scratch};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The plugins, with the completed values of the fake dataset, the function that registers them,
/// and its output.
const PLUGINS: [(&str, &str, &str, &str); 2] = [
    ("libH5Zblosc.so", "2 2 4 2400 5 1 1", "register_blosc", "32001 1.21.6 $Date:: 2024-06-24 #$"),
    (
        "libH5Zblosc2.so",
        "1 0 4 2400 5 1 1 2 10 20",
        "register_blosc2",
        "32026 3.3.5 $Date:: 2026-09-24 #$",
    ),
];

/// Compiles C files of the tests.
fn compile(output: &str, sources: &[&str], arguments: &[&str]) -> PathBuf {
    let target = scratch("hosts").join(output);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    run(c_compiler()
        .args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror"])
        .args(sources.iter().map(|source| folder.join(source)))
        .args(arguments)
        .arg("-o")
        .arg(&target)
        .arg("-ldl"));
    target
}

/// Builds HDF5 as a shared library whose identifiers start at `first`.
fn shared_hdf5(name: &str, first: u32) -> PathBuf {
    let first = format!("-DFIRST_ID={first}");
    compile(name, &["fake_hdf5.c"], &["-shared", "-fPIC", &first])
}

/// Returns the standard output of a host, as lines, and its standard error.
fn output_of(host: &mut Command) -> (Vec<String>, String) {
    let output = run(host.env_remove("BLOSC_TRACE"));
    let lines = String::from_utf8(output.stdout).expect("text");
    let errors = String::from_utf8(output.stderr).expect("text");
    (lines.lines().map(str::to_owned).collect(), errors)
}

fn symbols(library: &Path, arguments: &[&str]) -> BTreeSet<String> {
    let output = run(Command::new("nm").args(arguments).arg(library));
    let text = String::from_utf8(output.stdout).expect("names are text");
    let names = text.lines().filter_map(|line| line.split_whitespace().last());
    names.map(str::to_owned).collect()
}

#[test]
fn row_h1_plugins_are_not_linked_to_libhdf5_and_export_only_their_entry_points() {
    let expected = |own: &[&str]| -> BTreeSet<String> {
        let common = ["H5PLget_plugin_info", "H5PLget_plugin_type", "init_filter"];
        common.iter().chain(own).map(|&name| name.to_owned()).collect()
    };
    for (file, own) in [
        ("libH5Zblosc.so", &["register_blosc", "NCZ_get_codec_info"][..]),
        ("libH5Zblosc2.so", &["register_blosc2", "compute_blosc2_blocksize"]),
    ] {
        let library = plugin_folder().join(file);
        assert_eq!(symbols(&library, &["-D", "--defined-only"]), expected(own));
        let wanted = symbols(&library, &["-D", "--undefined-only"]);
        let of_hdf5: Vec<&String> = wanted.iter().filter(|name| name.starts_with("H5")).collect();
        assert!(of_hdf5.is_empty(), "{of_hdf5:?}");
        let output = run(Command::new("readelf").arg("-d").arg(&library));
        let dynamic = String::from_utf8(output.stdout).expect("text");
        for line in dynamic.lines().filter(|line| line.contains("(NEEDED)")) {
            assert!(!line.contains("hdf5") && !line.contains("blosc"), "{line}");
        }
        assert!(dynamic.contains("NODELETE"), "{dynamic}");
    }
}

#[test]
fn row_h1_each_privately_loaded_copy_of_hdf5_receives_its_own_calls() {
    let loader = compile("loader", &["loader.c"], &[]);
    let copies = [shared_hdf5("libhdf5-9e18f0c6.so.320.0.0", 1000), shared_hdf5("other.so", 2000)];
    for (plugin, values, _, _) in PLUGINS {
        let (lines, errors) =
            output_of(Command::new(&loader).arg(plugin_folder().join(plugin)).args(&copies));
        let created = format!("set_local 1, 0 types open: {values}");
        let made: Vec<&String> = lines.iter().filter(|line| **line == created).collect();
        assert_eq!(made.len(), 2, "{lines:?}");
        assert_eq!(lines.len(), 6, "{lines:?}");
        assert!(lines[1].starts_with("blosc"), "{lines:?}");
        assert_eq!(errors, "");
    }
}

#[test]
fn row_h1_statically_linked_hdf5_with_exported_functions_is_found() {
    let arguments = ["-DFIRST_ID=3000", "-rdynamic"];
    let program = compile("static-shown", &["static.c", "fake_hdf5.c"], &arguments);
    for (plugin, values, register, registered) in PLUGINS {
        let plugin = plugin_folder().join(plugin);
        let (lines, errors) = output_of(Command::new(&program).arg("dataset").arg(&plugin));
        assert_eq!(lines[0], format!("set_local 1, 0 types open: {values}"));
        assert_eq!(lines[2], "read");
        assert_eq!(errors, "");
        let (lines, _) = output_of(Command::new(&program).arg(register).arg(&plugin));
        assert_eq!(lines, [format!("{register} 1: {registered}")]);
    }
}

#[test]
fn row_h1_statically_linked_hdf5_without_exports_keeps_the_users_parameters() {
    let arguments = ["-DFIRST_ID=4000"];
    let other = shared_hdf5("another.so", 6000);
    let program = compile("static-hidden", &["static.c", "fake_hdf5.c"], &arguments);
    let created = "set_local 1, 0 types open: 0 0 0 0 5 1 1 77 88 99";
    for (plugin, _, register, registered) in PLUGINS {
        let plugin = plugin_folder().join(plugin);
        let (lines, errors) = output_of(Command::new(&program).arg("dataset").arg(&plugin));
        assert_eq!(lines, [created, "read"]);
        assert_eq!(errors, "");
        // Another copy of HDF5 that exports its functions is not used instead.
        let mut beside_another = Command::new(&program);
        beside_another.arg("dataset").arg(&plugin);
        let (lines, errors) = output_of(beside_another.env("LD_PRELOAD", &other));
        assert!(lines.iter().any(|line| line == created), "{lines:?}");
        assert_eq!(errors, "");
        // Registering always returns 1.
        let (lines, _) = output_of(Command::new(&program).arg(register).arg(&plugin));
        let registered = registered.replace("32001", "0").replace("32026", "0");
        assert_eq!(lines, [format!("{register} 1: {registered}")]);
    }
}

#[test]
fn a_choice_out_of_range_is_explained_on_the_error_stack_of_hdf5() {
    let program = compile(
        "refusing",
        &["static.c", "fake_hdf5.c"],
        &["-DFIRST_ID=9000", "-DLEVEL=77", "-rdynamic"],
    );
    for (plugin, ..) in PLUGINS {
        let mut host = Command::new(&program);
        host.arg("dataset").arg(plugin_folder().join(plugin));
        let (lines, errors) = output_of(&mut host);
        assert!(
            lines[0].ends_with(
                ": cannot prepare a dataset: parameter 4, the level, is 77, but must be 0 to 9"
            ),
            "{lines:?}"
        );
        assert!(lines[1].starts_with("set_local -1"), "{lines:?}");
        assert_eq!(errors, "");
    }
}

#[test]
fn only_an_optional_filter_accepts_chunks_of_4_gib() {
    let sources = ["static.c", "fake_hdf5.c"];
    // The size of a chunk, and an extent, do not fit in 32 bits.
    for extent in ["-DEXTENT=0x40000000", "-DEXTENT=0x100000000"] {
        let arguments = ["-DFIRST_ID=9100", extent, "-rdynamic"];
        let optional = compile("large-optional", &sources, &arguments);
        let arguments = ["-DFIRST_ID=9200", extent, "-DFLAGS=0", "-rdynamic"];
        let mandatory = compile("large-mandatory", &sources, &arguments);
        for (plugin, ..) in PLUGINS {
            let lines = |program: &Path| {
                output_of(Command::new(program).arg("dataset").arg(plugin_folder().join(plugin))).0
            };
            let accepted = lines(&optional);
            assert_eq!(accepted[0], "set_local 1, 0 types open: 0 0 0 0 5 1 1 77 88 99");
            assert_eq!(accepted.last().map(String::as_str), Some("read"));
            let lines = lines(&mandatory);
            assert!(lines[0].ends_with(": chunks have 4 GiB or more"), "{lines:?}");
            assert!(lines[1].starts_with("set_local -1"), "{lines:?}");
        }
    }
}

#[test]
fn row_h9_calls_have_threads_that_persist_but_not_with_mpi() {
    let sources = ["static.c", "fake_hdf5.c"];
    let program = compile("threads", &sources, &["-DFIRST_ID=5000", "-rdynamic"]);
    let parallel = ["-DFIRST_ID=5100", "-rdynamic", "-DPARALLEL"];
    let parallel = compile("threads-parallel", &sources, &parallel);
    let variables = [
        "BLOSC_NTHREADS",
        "OMPI_COMM_WORLD_SIZE",
        "PMI_SIZE",
        "MPI_LOCALNRANKS",
        "MV2_COMM_WORLD_SIZE",
        "SLURM_STEP_NUM_TASKS",
    ];
    for (plugin, ..) in PLUGINS {
        let threads = |program: &Path, variable: Option<(&str, &str)>| {
            let mut host = Command::new(program);
            host.arg("threads").arg(plugin_folder().join(plugin));
            for name in variables {
                host.env_remove(name);
            }
            host.envs(variable);
            let line = output_of(&mut host).0.concat();
            // Helper threads persist until the next call.
            let count = line.strip_suffix(" threads, 0 gone");
            count.and_then(|count| count.parse::<usize>().ok()).expect(&line)
        };
        assert!(threads(&program, Some(("BLOSC_NTHREADS", "4"))) > 1);
        assert_eq!(threads(&program, Some(("BLOSC_NTHREADS", "1"))), 1);
        let processors = std::thread::available_parallelism().unwrap().get();
        assert_eq!(threads(&program, None) > 1, processors > 1);
        // Programs that use MPI have a process for each processor.
        assert_eq!(threads(&program, Some(("PMI_SIZE", "2"))), 1);
        assert_eq!(threads(&parallel, None), 1);
        assert!(threads(&parallel, Some(("BLOSC_NTHREADS", "4"))) > 1);
    }
}

#[test]
fn hdf5_for_mpi_receives_a_stored_chunk_instead_of_a_failure() {
    let sources = ["static.c", "fake_hdf5.c"];
    let serial = compile("serial", &sources, &["-DFIRST_ID=7000", "-rdynamic"]);
    let parallel = ["-DFIRST_ID=8000", "-rdynamic", "-DPARALLEL"];
    let parallel = compile("parallel", &sources, &parallel);
    let outcomes = |program: &Path, plugin: &str| {
        let mut host = Command::new(program);
        host.arg("failures").arg(plugin_folder().join(plugin));
        let lines = output_of(&mut host).0.into_iter();
        let of_host = |line: &String| line.ends_with("stored") || line.ends_with("refused");
        lines.filter(of_host).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(
        outcomes(&serial, "libH5Zblosc.so"),
        "optional noise refused, optional nonsense refused, mandatory noise stored, mandatory nonsense stored"
    );
    assert_eq!(
        outcomes(&serial, "libH5Zblosc2.so"),
        "optional noise stored, optional nonsense refused, mandatory noise stored, mandatory nonsense stored"
    );
    for (plugin, ..) in PLUGINS {
        assert_eq!(
            outcomes(&parallel, plugin),
            "optional noise stored, optional nonsense stored, mandatory noise stored, mandatory nonsense stored"
        );
    }
}

/// The codec asks the copy that calls it for the size of items, on which the shuffle depends.
#[test]
fn each_privately_loaded_copy_of_netcdf_describes_its_own_variables() {
    let loader = compile("netcdf-loader", &["loader.c"], &[]);
    let copies =
        [("libnetcdf-1.so", 1000, 4), ("libnetcdf-2.so", 2000, 1)].map(|(name, id, item)| {
            let (id, item) = (format!("-DFILE_ID={id}"), format!("-DITEM={item}"));
            compile(name, &["fake_netcdf.c"], &["-shared", "-fPIC", &id, &item])
        });
    let plugin = plugin_folder().join(PLUGINS[0].0);
    let (lines, errors) = output_of(Command::new(&loader).arg(&plugin).args(&copies));
    let revision = u32::from_be_bytes(*b"ncz1");
    let of_copy = |item: u32, shuffle: u32| -> Vec<String> {
        let json =
            r#"{"id": "blosc", "cname": "zstd", "clevel": 9, "shuffle": -1, "blocksize": 4096}"#;
        let mut lines = vec![
            "codec 1 1 blosc 32001".to_owned(),
            format!("modify 0: {revision} 0 {item} 4096 9 {shuffle} 5 4096"),
            format!("modify another variable 0: {revision} 0 0 4096 9 1 5 4096"),
            format!("json 0: {json}"),
            format!("numbers 0: 0 0 0 4096 9 {} 5", u32::MAX),
        ];
        let codes = [-36, -36, -36, -36, -132, -132];
        lines.extend(codes.map(|code| format!("invalid {code}")));
        lines
    };
    assert_eq!(lines, [of_copy(4, 1), of_copy(1, 2)].concat());
    assert_eq!(errors, "");
}

#[test]
fn the_reported_versions_match_the_headers() {
    for (header, prefix, version) in
        [("blosc.h", "BLOSC", PLUGINS[0].3), ("blosc2.h", "BLOSC2", PLUGINS[1].3)]
    {
        let header = project_root().join("include").join(header);
        let text = std::fs::read_to_string(header).expect("the headers are in the tree");
        let value = |name: &str| {
            let line = text.lines().find(|line| line.contains(name)).expect(name);
            line.split('"').nth(1).expect("a text").to_owned()
        };
        let number = value(&format!("#define {prefix}_VERSION_STRING"));
        let date = value(&format!("#define {prefix}_VERSION_DATE"));
        assert!(version.ends_with(&format!("{number} {date}")), "{version}");
    }
}
