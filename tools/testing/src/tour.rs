//! Tours: the commands in the `console` blocks of a document, run in order in one folder, as a reader would.

use crate::Folder;
use std::path::Path;
use std::process::Command;

/// A command that is shown and the lines it is said to print.
struct Step {
    command: String,
    shown: String,
}

/// The commands in the `console` blocks of a text: lines that begin with `$ `.
fn steps(text: &str) -> Vec<Step> {
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

/// Goes through a document of the project, given by its path there: each command must succeed and print what is shown,
/// and nothing to standard error. `program` is one of the commands, the others are beside it. Returns how many
/// commands there were.
pub fn go_through(document: &str, program: &'static str) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join(document)).unwrap();
    let steps = steps(&text);
    let folder = Folder::of(program);
    let programs = Path::new(program).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    for step in &steps {
        let output = Command::new("sh")
            .args(["-c", &step.command])
            .current_dir(folder.path(""))
            .env("PATH", &path)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(errors, "", "{}", step.command);
        assert_eq!(said, step.shown, "{}", step.command);
        assert!(output.status.success(), "{}", step.command);
    }
    steps.len()
}
