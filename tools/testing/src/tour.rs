//! Runs the commands in the `console` blocks of a document, in order, in one directory.

use crate::TestDir;
use ferroblosc_capi_testing::project_root;
use std::path::Path;
use std::process::Command;

/// A command of a document, with its documented output.
struct Step {
    command: String,
    expected: String,
}

/// Returns the commands in the `console` blocks of a text: lines that begin with `$ `.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for block in text.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => {
                    steps.push(Step { command: command.to_owned(), expected: String::new() });
                }
                None => {
                    let step = steps.last_mut().expect("a command comes first");
                    step.expected.push_str(line);
                    step.expected.push('\n');
                }
            }
        }
    }
    steps
}

/// Runs the commands of a document, whose path is relative to the project. Each command must
/// succeed and print exactly the documented output, and nothing to standard error. `program` is the
/// path of one of the programs; its directory contains the others. Returns the number of commands.
pub fn run_document(document: &str, program: &'static str) -> usize {
    let text = std::fs::read_to_string(project_root().join(document)).unwrap();
    let steps = steps(&text);
    let folder = TestDir::new(program);
    let programs = Path::new(program).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    for step in &steps {
        let output = Command::new("sh")
            .args(["-c", &step.command])
            .current_dir(folder.path(""))
            .env("PATH", &path)
            .output()
            .unwrap();
        let result = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(errors, "", "{}", step.command);
        assert_eq!(result, step.expected, "{}", step.command);
        assert!(output.status.success(), "{}", step.command);
    }
    steps.len()
}
