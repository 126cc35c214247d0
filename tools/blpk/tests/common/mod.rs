//! What the tests share: a folder with files, and the command run in it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder of a test, removed with it.
pub struct Folder(PathBuf);

#[allow(unused, reason = "each test file uses its part of this module")]
impl Folder {
    /// A folder with the files that `recorded.txt` names.
    pub fn new() -> Folder {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        // Relaxed: the number only has to be another one each time.
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("ferroblosc-blpk-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        let folder = Folder(path);
        folder.write("in", &iota(300_000));
        folder.write("small", b"0123456789");
        folder.write("zero", b"");
        folder.write(
            "m.json",
            br#"{"dtype": "float64", "shape": [200000000], "container": "numpy"}"#,
        );
        folder.write("null.json", b"null");
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The command in this folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blpk"));
        command
            .args(arguments)
            .current_dir(&self.0)
            .env_remove("BLPK_STDERR")
            .stdin(Stdio::null());
        command
    }

    /// Runs a command line, whose words have blanks between them.
    pub fn run(&self, line: &str) -> Said {
        let words: Vec<&str> = line.split_whitespace().collect();
        Said::of(self.command(&words).output().unwrap())
    }

    /// Runs a command line with these bytes as its standard input.
    pub fn run_with(&self, line: &str, input: &[u8]) -> Said {
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

    /// Starts a command with pipes at both ends.
    pub fn start(&self, words: &[&str]) -> Child {
        self.command(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Whether a command line that must succeed did so without a word.
    pub fn quietly(&self, line: &str) {
        let said = self.run(line);
        assert_eq!((said.status, said.out(), said.err()), (0, "", ""), "{line}");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
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

    /// The one error there must be, with this exit status.
    pub fn error(&self, status: i32) -> &str {
        assert_eq!((self.status, self.err()), (status, ""), "{}", self.out());
        let error = self.out().strip_prefix("blpk: error: ");
        error.expect("an error").trim_end()
    }
}

/// Little-endian numbers that count up.
pub fn iota(count: u64) -> Vec<u8> {
    (0..count).flat_map(u64::to_le_bytes).collect()
}

/// A file that Bloscpack wrote.
#[allow(unused, reason = "each test file uses its part of this module")]
pub fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/bloscpack");
    std::fs::read(folder.join(name)).unwrap()
}
