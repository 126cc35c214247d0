//! What the tests share: a folder, the command run in it, and files of the formats.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A folder of a test, removed with it.
pub struct Folder(tempfile::TempDir);

#[allow(unused, reason = "each test file uses its part of this module")]
impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// A copy of something in the project's test data.
    pub fn fixture(&self, name: &str) -> String {
        let from = fixtures().join(name);
        let short = from.file_name().unwrap().to_str().unwrap().to_owned();
        copy_tree(&from, &self.path(&short));
        short
    }

    /// The names of what is there, hidden files too.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The command in this folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_b2"));
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env_remove("NO_COLOR")
            .stdin(Stdio::null());
        command
    }

    /// Runs the command with these words.
    pub fn run(&self, words: &[&str]) -> Said {
        Said::of(self.command(words).output().unwrap())
    }

    /// Runs a command line, whose words have blanks between them.
    pub fn line(&self, line: &str) -> Said {
        self.run(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// The output of a command line that must succeed and say nothing else.
    pub fn out(&self, line: &str) -> String {
        let said = self.line(line);
        assert_eq!((said.status, said.err()), (0, ""), "{line}");
        said.out().to_owned()
    }

    /// The JSON that a command line prints.
    pub fn json(&self, line: &str) -> serde_json::Value {
        serde_json::from_slice(&self.line(line).stdout).unwrap()
    }

    /// Runs a command line with these bytes as its standard input.
    pub fn line_with(&self, line: &str, input: &[u8]) -> Said {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut child = self.start(&words);
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // Beside the reading of its output, or both would wait for each other.
        let writer = std::thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
        let said = Said::of(child.wait_with_output().unwrap());
        writer.join().unwrap();
        said
    }

    /// Starts a command with pipes at all ends.
    pub fn start(&self, words: &[&str]) -> Child {
        self.command(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }
}

/// What a command said.
pub struct Said {
    pub status: i32,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

#[allow(unused, reason = "each test file uses its part of this module")]
impl Said {
    fn of(output: Output) -> Said {
        Said {
            status: output.status.code().unwrap_or(-1),
            stdout: output.stdout,
            stderr: output.stderr,
        }
    }

    pub fn out(&self) -> &str {
        str::from_utf8(&self.stdout).unwrap()
    }

    pub fn err(&self) -> &str {
        str::from_utf8(&self.stderr).unwrap()
    }
}

/// The project's test data.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data")
}

/// Copies a file, or a directory with all in it.
pub fn copy_tree(from: &Path, to: &Path) {
    if from.is_file() {
        std::fs::copy(from, to).unwrap();
        return;
    }
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        copy_tree(&entry.path(), &to.join(entry.file_name()));
    }
}
