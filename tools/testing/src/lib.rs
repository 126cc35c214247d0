//! What the tests of the commands share: a folder in which a command runs, and what it said there; in [`tour`], the
//! commands that documents show.
//!
//! Whatever can't be done fails the test.

pub mod tour;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// What changes how the commands speak, and is not to come from where the tests run.
const UNSET: [&str; 2] = ["NO_COLOR", "BLPK_STDERR"];

/// A folder of a test in which a command runs, removed with it.
pub struct Folder {
    directory: tempfile::TempDir,
    program: &'static str,
}

impl Folder {
    /// An empty folder for the program at this path.
    pub fn of(program: &'static str) -> Folder {
        Folder {
            directory: tempfile::tempdir().unwrap(),
            program,
        }
    }

    /// Where something in it is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Makes a file in it.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// The bytes of a file in it.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Whether there is something of that name in it.
    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The names of what is in it, hidden files too.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Copies something of the project's test data into it; returns its name here.
    pub fn fixture(&self, name: &str) -> String {
        let from = fixtures().join(name);
        let short = from.file_name().unwrap().to_str().unwrap().to_owned();
        copy_tree(&from, &self.path(&short));
        short
    }

    /// The command with these words, in this folder.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command
            .args(words)
            .current_dir(self.directory.path())
            .stdin(Stdio::null());
        for name in UNSET {
            command.env_remove(name);
        }
        command
    }

    /// Starts the command with pipes at all ends.
    pub fn start(&self, words: &[&str]) -> Child {
        self.command(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs the command with these words.
    pub fn run(&self, words: &[&str]) -> Said {
        self.said(self.command(words).output().unwrap())
    }

    /// Runs the command with these words under a limit of the shell's `ulimit`: `-f 8` for files of at
    /// most 4 KiB, as on a full disk, `-n 5` for five open files.
    pub fn limited(&self, limit: &str, words: &[&str]) -> Said {
        let script = format!("trap '' XFSZ; ulimit {limit}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command
            .args(["-c", &script, self.program])
            .args(words)
            .current_dir(self.directory.path())
            .stdin(Stdio::null());
        for name in UNSET {
            command.env_remove(name);
        }
        self.said(command.output().unwrap())
    }

    /// Runs a command line, whose words have blanks between them.
    pub fn line(&self, line: &str) -> Said {
        self.run(&words(line))
    }

    /// Runs a command line with these bytes as its standard input.
    pub fn line_with(&self, line: &str, input: &[u8]) -> Said {
        let mut child = self.start(&words(line));
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // Beside the reading of its output, or both would wait for each other.
        let writer = std::thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
        let said = self.said(child.wait_with_output().unwrap());
        writer.join().unwrap();
        said
    }

    /// The output of a command line that must succeed and say nothing else.
    pub fn out(&self, line: &str) -> String {
        let said = self.line(line);
        assert_eq!((said.status, said.err()), (0, ""), "{line}");
        said.out().to_owned()
    }

    /// Runs a command line that must succeed without a word.
    pub fn quietly(&self, line: &str) {
        assert_eq!(self.out(line), "", "{line}");
    }

    /// The JSON that a command line prints.
    pub fn json(&self, line: &str) -> serde_json::Value {
        serde_json::from_slice(&self.line(line).stdout).unwrap()
    }

    fn said(&self, output: Output) -> Said {
        let name = Path::new(self.program).file_stem().unwrap();
        Said {
            name: name.to_str().unwrap().to_owned(),
            status: output.status.code().unwrap_or(-1),
            stdout: output.stdout,
            stderr: output.stderr,
        }
    }
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// What a command said.
pub struct Said {
    /// The command's name.
    name: String,
    /// Its exit status; -1 when a signal ended it.
    pub status: i32,
    /// What it wrote to its standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to its standard error.
    pub stderr: Vec<u8>,
}

impl Said {
    /// The text it wrote to its standard output.
    pub fn out(&self) -> &str {
        str::from_utf8(&self.stdout).unwrap()
    }

    /// The text it wrote to its standard error.
    pub fn err(&self) -> &str {
        str::from_utf8(&self.stderr).unwrap()
    }

    /// The one error there must be on the standard output, with this exit status.
    pub fn error(&self, status: i32) -> &str {
        assert_eq!((self.status, self.err()), (status, ""), "{}", self.out());
        let error = self.out().strip_prefix(&format!("{}: error: ", self.name));
        error.expect("an error").trim_end()
    }
}

/// What stands in front of the items in a `.npy` file of version 1.
pub fn npy_header(descr: &str, shape: &str, fortran: bool) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes
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
