//! `man`: the manual pages.

use crate::common::TestDir;
use std::process::{Command, Stdio};

/// The sections of the page of a command.
const SECTIONS: [&str; 8] = [
    "NAME",
    "SYNOPSIS",
    "DESCRIPTION",
    "OPTIONS",
    "EXAMPLES",
    "FILES",
    "ENVIRONMENT",
    "EXIT STATUS",
];

/// Whether a program is installed.
fn is_installed(name: &str) -> bool {
    let mut command = Command::new(name);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

#[test]
fn every_command_has_a_page_with_all_sections() {
    let folder = TestDir::new();
    folder.succeed("man --output pages/man1");
    let mut names: Vec<String> = std::fs::read_dir(folder.path("pages/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let help = folder.out("help");
    let commands = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    for line in commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
        let command = line.split_whitespace().next().unwrap();
        let page = format!("b2-{command}.1");
        assert!(command == "help" || names.contains(&page), "{page}");
    }
    for name in ["b2.1", "b2-meta-list.1", "b2-append.1"] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    for name in names.iter().filter(|name| *name != "b2.1") {
        let page = String::from_utf8(folder.read(&format!("pages/man1/{name}"))).unwrap();
        let mut rest = page.as_str();
        for section in SECTIONS {
            let quoted = [format!(".SH {section}\n"), format!(".SH \"{section}\"\n")];
            let found = quoted.iter().find_map(|heading| rest.split_once(heading.as_str()));
            rest = found.unwrap_or_else(|| panic!("{name}: {section}")).1;
        }
        assert!(page.contains(".SH \"SEE ALSO\"\n.BR b2 (1)\n"), "{name}");
        // Each page is also printed.
        let command = name.strip_prefix("b2-").unwrap().strip_suffix(".1").unwrap();
        let line = format!("man {}", command.replace('-', " "));
        assert_eq!(folder.out(&line), page, "{line}");
    }
    assert_eq!(folder.out("man").into_bytes(), folder.read("pages/man1/b2.1"));
    assert!(folder.out("man diff").contains("\\fB1\\fR\ndifferent\n"));
    let result = folder.line("man nothing");
    assert_eq!(result.status, 2);
    assert!(result.err().starts_with("b2: error: there is no command 'nothing'\n"));
}

#[test]
fn the_pages_are_formatted_without_warnings() {
    let folder = TestDir::new();
    folder.succeed("man --output pages");
    let formatters: [(&str, &[&str]); 2] = [
        ("man", &["--warnings", "--encoding=UTF-8", "--troff-device=utf8", "--local-file"]),
        ("groff", &["-man", "-ww", "-Tutf8", "-Kutf8"]),
    ];
    for (program, arguments) in formatters {
        if !is_installed(program) {
            eprintln!("{program} is not installed");
            continue;
        }
        for entry in std::fs::read_dir(folder.path("pages")).unwrap() {
            let path = entry.unwrap().path();
            let output = Command::new(program)
                .args(arguments)
                .arg(&path)
                .envs([("LC_ALL", "C.UTF-8"), ("MANWIDTH", "80"), ("MAN_KEEP_STDERR", "1")])
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(errors, "", "{program} {}", path.display());
            assert!(output.status.success(), "{program} {}", path.display());
            assert!(!output.stdout.is_empty(), "{program} {}", path.display());
        }
    }
}

#[test]
fn pages_are_not_written_through_links() {
    let folder = TestDir::new();
    folder.succeed("man --output pages");
    let page = folder.read("pages/b2-get.1");
    folder.write("other", b"kept");
    let path = folder.path("pages/b2-get.1");
    std::fs::remove_file(&path).unwrap();
    std::fs::hard_link(folder.path("other"), &path).unwrap();
    folder.succeed("man --output pages");
    assert!(folder.read("pages/b2-get.1") == page && folder.read("other") == b"kept");
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("../other", &path).unwrap();
    let failed = folder.line("man --output pages");
    assert_eq!(failed.status, 1);
    let expected = "b2: error: pages/b2-get.1: exists and is not a regular file\n";
    assert!(failed.err().starts_with(expected), "{}", failed.err());
    assert_eq!(folder.read("other"), b"kept");
}
