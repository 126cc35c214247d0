//! Plugin libraries: small test plugins, found by the dynamic linker or through Python.

use ferroblosc_capi_testing::{compiler_of, empty_folder, library_folder, run, scratch};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const FAILURE: i32 = -1;
const CODEC_SUPPORT: i32 = -7;
const FILTER_PIPELINE: i32 = -18;

/// A user id; its plugin is named `mine`.
const USER: i32 = 201;
/// The codec `j2k`.
const J2K: i32 = 39;
/// The tuner `btune`.
const BTUNE: i32 = 32;

/// The program `plugins.c`.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let program = scratch("plugins").join("plugins");
        run(compiler_of("plugins.c", &program).arg(library_folder().join("libblosc2.so")));
        program
    })
}

/// Returns a directory for one test, with a plugin library of this kind and name, if given.
fn folder(test: &str, plugin: Option<(&str, &str)>) -> PathBuf {
    let folder = empty_folder(test);
    if let Some((kind, name)) = plugin {
        let library = folder.join(format!("libblosc2_{name}.so"));
        run(compiler_of(&format!("plugins/{kind}.c"), &library).args(["-shared", "-fPIC"]));
    }
    folder
}

/// Returns a command that runs the program. It also loads libraries from the directory, and `PATH`
/// contains only the directory.
fn plugins(folder: &Path, kind: &str, id: i32, expected: i32) -> Command {
    let mut command = Command::new(program());
    let libraries = format!("{}:{}", library_folder().display(), folder.display());
    command
        .args([kind, &id.to_string(), &expected.to_string()])
        .env("LD_LIBRARY_PATH", libraries)
        .env("PATH", folder)
        .env_remove("FERROBLOSC_PLUGIN_SEARCH")
        .env_remove("BTUNE_TRADEOFF");
    command
}

/// Writes a shell script into the directory.
fn script(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
}

#[test]
fn plugins_are_found_by_the_dynamic_linker() {
    let codec = folder("linker-codec", Some(("codec", "j2k")));
    run(&mut plugins(&codec, "codec", J2K, 0));
    let codec = folder("linker-user-codec", Some(("codec", "mine")));
    run(&mut plugins(&codec, "codec", USER, 0));
    let filter = folder("linker-filter", Some(("filter", "mine")));
    run(&mut plugins(&filter, "filter", USER, 0));
    let tuner = folder("linker-tuner", Some(("tuner", "btune")));
    run(&mut plugins(&tuner, "tuner", BTUNE, 0));
    run(plugins(&tuner, "super-chunk", BTUNE, FAILURE).env("BTUNE_TRADEOFF", "0.5"));
    let tuner = folder("linker-user-tuner", Some(("tuner", "mine")));
    run(&mut plugins(&tuner, "tuner", USER, 0));
}

#[test]
fn missing_libraries_and_plugins_of_another_kind_are_errors() {
    let nothing = folder("missing", None);
    run(&mut plugins(&nothing, "codec", J2K, CODEC_SUPPORT));
    run(&mut plugins(&nothing, "codec", USER, CODEC_SUPPORT));
    run(&mut plugins(&nothing, "filter", USER, FILTER_PIPELINE));
    run(&mut plugins(&nothing, "tuner", BTUNE, FAILURE));
    run(&mut plugins(&nothing, "tuner", USER, FAILURE));
    fs::write(nothing.join("libblosc2_j2k.so"), "no library").expect("a file");
    run(&mut plugins(&nothing, "codec", J2K, CODEC_SUPPORT));
}

#[test]
fn row_c71_a_super_chunk_for_a_missing_tuner_is_null() {
    let nothing = folder("row_c71", None);
    run(&mut plugins(&nothing, "super-chunk", BTUNE, 0));
    run(plugins(&nothing, "super-chunk", BTUNE, FAILURE).env("BTUNE_TRADEOFF", "0.5"));
}

#[test]
fn row_d5_row_c63_python_is_asked_for_plugins_only_if_enabled() {
    let elsewhere = folder("elsewhere", Some(("codec", "j2k")));
    let library = elsewhere.join("libblosc2_j2k.so");
    let asked = folder("asked", None);
    let answer = |lines: &str| {
        format!(": > '{}'; test \"$1\" = -c && printf '{lines}'", asked.join("started").display())
    };
    let library = library.display().to_string();
    for (python, python3) in [
        (answer(&library), "exit 1".to_owned()),
        (answer(&format!("{library}\\n")), "exit 1".to_owned()),
        (answer(&format!("{library}\\r\\nmore\\n")), "exit 1".to_owned()),
        ("exit 1".to_owned(), answer(&format!("{library}\\n"))),
        (answer("\\n"), answer(&format!("{library}\\n"))),
    ] {
        script(&asked, "python", &python);
        script(&asked, "python3", &python3);
        run(plugins(&asked, "codec", J2K, 0).env("FERROBLOSC_PLUGIN_SEARCH", "1"));
        let started = asked.join("started");
        fs::remove_file(&started).expect("python was asked");
        for refused in ["", "0"] {
            let mut command = plugins(&asked, "codec", J2K, CODEC_SUPPORT);
            run(command.env("FERROBLOSC_PLUGIN_SEARCH", refused));
        }
        run(&mut plugins(&asked, "codec", J2K, CODEC_SUPPORT));
        run(plugins(&asked, "codec", USER, CODEC_SUPPORT).env("FERROBLOSC_PLUGIN_SEARCH", "1"));
        assert!(!started.exists(), "a program was started");
    }
}

#[test]
fn row_u9_every_reading_call_reports_a_missing_plugin() {
    let folder = folder("forgotten", None);
    let program = folder.join("missing_plugin");
    run(compiler_of("missing_plugin.c", &program).arg(library_folder().join("libblosc2.so")));
    let mut command = Command::new(&program);
    command
        .current_dir(&folder)
        .env("LD_LIBRARY_PATH", library_folder())
        .env("BLOSC_TRACE", "1")
        .env_remove("FERROBLOSC_PLUGIN_SEARCH");
    let output = command.output().expect("a program");
    let trace = String::from_utf8_lossy(&output.stderr);
    let failures = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{failures}{trace}");
    for part in ["the user-defined codec 222 is missing", "the user-defined filter 222 is missing"]
    {
        assert!(trace.contains(part), "{trace}");
    }
}

#[test]
fn row_u9_the_trace_names_plugin_library_and_variable() {
    let nothing = folder("traced", None);
    for (kind, id, code, parts) in [
        (
            "codec",
            J2K,
            CODEC_SUPPORT,
            ["the codec plugin \"j2k\" (id 39) is missing", "libblosc2_j2k.so"],
        ),
        ("codec", USER, CODEC_SUPPORT, ["the codec plugin \"mine\"", "libblosc2_mine.so"]),
        ("filter", USER, FILTER_PIPELINE, ["the filter plugin \"mine\"", "libblosc2_mine.so"]),
        (
            "tuner",
            BTUNE,
            FAILURE,
            ["the tuner plugin \"btune\" (id 32) is missing", "libblosc2_btune.so"],
        ),
    ] {
        let mut command = plugins(&nothing, kind, id, code);
        let output = command.env("BLOSC_TRACE", "1").output().expect("a program");
        let trace = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{trace}");
        for part in [parts[0], parts[1], "FERROBLOSC_PLUGIN_SEARCH"] {
            assert!(trace.contains(part), "{kind} {id}: {trace}");
        }
    }
}

#[test]
fn the_codecs_in_c_check_their_stacks() {
    let output = Command::new("nm").arg("-D").arg(library_folder().join("libblosc2.so")).output();
    let symbols = String::from_utf8(output.expect("nm").stdout).expect("names");
    assert!(symbols.contains("__stack_chk_fail"), "{symbols}");
    // _FORTIFY_SOURCE: copies into buffers of known sizes.
    assert!(symbols.contains("_chk@"), "{symbols}");
}
