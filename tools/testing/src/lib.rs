//! Helpers for the tests of the programs: a temporary directory in which a program runs, and its
//! output; in [`tour`], the commands of documents.
//!
//! The helpers panic on errors.

#![forbid(unsafe_code)]

pub mod tour;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The environment variables that change the output of the programs. They are removed.
const UNSET: [&str; 2] = ["NO_COLOR", "BLPK_STDERR"];

/// A temporary directory in which a program runs.
pub struct TestDir {
    directory: tempfile::TempDir,
    program: &'static str,
}

impl TestDir {
    /// Creates an empty directory for the program at this path.
    pub fn new(program: &'static str) -> TestDir {
        TestDir { directory: tempfile::tempdir().unwrap(), program }
    }

    /// Returns the path of an entry of the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file in the directory.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// Returns the content of a file in the directory.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Whether the directory has an entry of this name.
    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Returns the sorted names of all entries, including hidden ones.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Copies a file or directory of the project's test data. Returns its name in this directory.
    pub fn fixture(&self, name: &str) -> String {
        let from = fixtures().join(name);
        let short = from.file_name().unwrap().to_str().unwrap().to_owned();
        copy_tree(&from, &self.path(&short));
        short
    }

    /// Returns the program with these arguments, to run in this directory.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("/usr/bin/env");
        // Tests that are started in the background or by `nohup` ignore some signals.
        command.args(["--default-signal=INT,HUP", self.program]);
        command.args(arguments).current_dir(self.directory.path()).stdin(Stdio::null());
        // HDF5 locks the files that tests create, and programs that other tests start at this time
        // inherit the locks.
        command.env("HDF5_USE_FILE_LOCKING", "FALSE");
        for name in UNSET {
            command.env_remove(name);
        }
        command
    }

    /// Starts the program with pipes as standard input, output and error.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs the program with these arguments.
    pub fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.output(self.command(arguments).output().unwrap())
    }

    /// Runs the program under a limit of the shell's `ulimit`: `-f 8` for files of at most 4 KiB,
    /// as on a full disk, `-n 5` for five open files.
    pub fn limited(&self, limit: &str, arguments: &[&str]) -> CommandOutput {
        // Descriptors of other tests, such as those of terminals, may have been inherited.
        let close = (3..=9).map(|number| format!(" {number}<&-")).collect::<String>();
        let script = format!("exec{close}; ulimit {limit}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command
            .args(["-c", &script, self.program])
            .args(arguments)
            .current_dir(self.directory.path())
            // The counts of `make coverage` could not be written, either, with a message about it.
            .env("LLVM_PROFILE_FILE", "/dev/null")
            .stdin(Stdio::null());
        for name in UNSET {
            command.env_remove(name);
        }
        self.output(command.output().unwrap())
    }

    /// Runs a command line, whose arguments are separated by blanks.
    pub fn line(&self, line: &str) -> CommandOutput {
        self.run(&arguments(line))
    }

    /// Runs a command line with these bytes as its standard input.
    pub fn line_with(&self, line: &str, input: &[u8]) -> CommandOutput {
        let mut child = self.start(&arguments(line));
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // In another thread, since the program may block on its output.
        let writer = std::thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
        let result = self.output(child.wait_with_output().unwrap());
        writer.join().unwrap();
        result
    }

    /// Returns the output of a command line that must succeed without errors or warnings.
    pub fn out(&self, line: &str) -> String {
        let result = self.line(line);
        assert_eq!((result.status, result.err()), (0, ""), "{line}");
        result.out().to_owned()
    }

    /// Runs a command line that must succeed without output.
    pub fn succeed(&self, line: &str) {
        assert_eq!(self.out(line), "", "{line}");
    }

    /// Returns the JSON that a command line prints.
    pub fn json(&self, line: &str) -> serde_json::Value {
        serde_json::from_slice(&self.line(line).stdout).unwrap()
    }

    fn output(&self, output: Output) -> CommandOutput {
        let name = Path::new(self.program).file_stem().unwrap();
        CommandOutput {
            name: name.to_str().unwrap().to_owned(),
            status: output.status.code().unwrap_or(-1),
            stdout: output.stdout,
            stderr: output.stderr,
        }
    }
}

fn arguments(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// The output and the exit status of a program.
pub struct CommandOutput {
    /// The name of the program.
    name: String,
    /// The exit status; -1 if a signal ended the program.
    pub status: i32,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

impl CommandOutput {
    /// Returns standard output as text.
    pub fn out(&self) -> &str {
        str::from_utf8(&self.stdout).unwrap()
    }

    /// Returns standard error as text.
    pub fn err(&self) -> &str {
        str::from_utf8(&self.stderr).unwrap()
    }

    /// Returns the only error, which must be on standard output. Checks the exit status.
    pub fn error(&self, status: i32) -> &str {
        assert_eq!((self.status, self.err()), (status, ""), "{}", self.out());
        let error = self.out().strip_prefix(&format!("{}: error: ", self.name));
        error.expect("an error").trim_end()
    }
}

/// Returns the header of a `.npy` file of version 1.
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

/// Returns the directory of the project's test data.
pub fn fixtures() -> PathBuf {
    ferroblosc_capi_testing::project_root().join("formats/tests/data")
}

/// Copies a file, or a directory with its entries.
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
