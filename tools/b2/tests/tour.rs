//! The tour in the README, run as a new user would: each command that is shown, and what is shown of its output.

mod common;

use common::Folder;
use std::path::Path;
use std::process::Command;

/// A command of the tour and the lines it is said to print.
struct Step {
    command: String,
    shown: String,
}

/// The commands in the blocks of a section.
fn steps(readme: &str, section: &str) -> Vec<Step> {
    let start = readme.find(section).expect("the section is there");
    let text = &readme[start + section.len()..];
    let text = &text[..text.find("\n## ").unwrap_or(text.len())];
    let mut steps: Vec<Step> = Vec::new();
    for block in text.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => steps.push(Step {
                    command: command.to_owned(),
                    shown: String::new(),
                }),
                None => {
                    let shown = &mut steps.last_mut().expect("a command comes first").shown;
                    shown.push_str(line);
                    shown.push('\n');
                }
            }
        }
    }
    steps
}

#[test]
fn the_tour_of_the_readme_goes_as_it_is_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let steps = steps(&readme, "## A tour of `b2`\n");
    assert!(steps.len() >= 10, "{}", steps.len());
    let folder = Folder::new();
    let program = Path::new(env!("CARGO_BIN_EXE_b2")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    for step in steps {
        let output = Command::new("sh")
            .args(["-c", &step.command])
            .current_dir(folder.path(""))
            .env("PATH", &path)
            .output()
            .unwrap();
        let (said, errors) = (
            String::from_utf8(output.stdout),
            String::from_utf8(output.stderr),
        );
        assert_eq!(errors.unwrap(), "", "{}", step.command);
        assert_eq!(said.unwrap(), step.shown, "{}", step.command);
        assert!(output.status.success(), "{}", step.command);
    }
}
