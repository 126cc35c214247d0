//! `view` in a pseudo-terminal, whose output a terminal emulator interprets.

use crate::common::{TestDir, ints};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A program in a pseudo-terminal.
struct Session {
    child: Child,
    keyboard: File,
    /// The terminal of the program, which stays open after its end.
    terminal: File,
    before: Termios,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl Session {
    /// Starts `b2` with a controlling terminal of this size.
    fn start(folder: &TestDir, arguments: &[&str], (width, height): (u16, u16)) -> Session {
        Session::start_with(folder, arguments, (width, height), &[("TERM", "xterm-256color")])
    }

    fn start_with(
        folder: &TestDir,
        arguments: &[&str],
        (width, height): (u16, u16),
        variables: &[(&str, &str)],
    ) -> Session {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let path = ptsname(&keyboard, Vec::new()).unwrap().into_string().unwrap();
        let opened = || {
            let mut options = File::options();
            std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOCTTY);
            options.read(true).write(true).open(&path).unwrap()
        };
        let terminal = opened();
        set_size(&terminal, width, height);
        let before = tcgetattr(&terminal).unwrap();
        // `setsid` makes the terminal the controlling one, so that Ctrl-C and resizing send
        // signals.
        let program = folder.command(&[]);
        let mut command = Command::new("setsid");
        command
            .arg("--ctty")
            .arg(program.get_program())
            .args(program.get_args())
            .args(arguments)
            .current_dir(folder.path(""))
            .env_remove("NO_COLOR")
            .envs(variables.iter().copied())
            .stdin(Stdio::from(opened()))
            .stdout(Stdio::from(opened()))
            .stderr(Stdio::from(opened()));
        let child = command.spawn().unwrap();
        let screen = Arc::new(Mutex::new(vt100::Parser::new(size(height), size(width), 0)));
        let (mut output, parser) = (File::from(keyboard.try_clone().unwrap()), screen.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                parser.lock().unwrap().process(&bytes[..count]);
            }
        });
        Session { child, keyboard: File::from(keyboard), terminal, before, screen }
    }

    fn text(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    fn send(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the screen contains a text.
    fn expect(&self, expected: &str) {
        self.wait(expected, |session| session.text().contains(expected));
    }

    fn wait(&self, what: &str, is_met: impl Fn(&Session) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !is_met(self) {
            assert!(Instant::now() < deadline, "missing: {what}\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn resize(&self, width: u16, height: u16) {
        self.screen.lock().unwrap().screen_mut().set_size(size(height), size(width));
        set_size(&self.terminal, width, height);
    }

    /// Waits for the end, and checks that the modes of the terminal are restored.
    fn end(mut self) -> ExitStatus {
        let deadline = Instant::now() + Duration::from_secs(30);
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > deadline {
                self.child.kill().unwrap();
                panic!("the program did not end\n{}", self.text());
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        self.wait("the main screen", |session| {
            let screen = session.screen.lock().unwrap();
            let screen = screen.screen();
            !screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste()
        });
        let after = tcgetattr(&self.terminal).unwrap();
        assert_eq!(after.input_modes, self.before.input_modes);
        assert_eq!(after.output_modes, self.before.output_modes);
        assert_eq!(after.local_modes, self.before.local_modes);
        assert_eq!(
            format!("{:?}", after.special_codes),
            format!("{:?}", self.before.special_codes)
        );
        status
    }
}

fn size(length: u16) -> NonZero<u16> {
    NonZero::new(length).unwrap()
}

fn set_size(terminal: &File, width: u16, height: u16) {
    let size = Winsize { ws_row: height, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).unwrap();
}

#[test]
fn an_array_is_opened_browsed_resized_and_closed() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[5, 100, 40], 0);
    folder.out("convert a.npy a.b2nd --chunks 1,50,40 --blocks 1,10,40");
    folder.out("meta set a.b2nd units --string kelvin");
    let mut session = Session::start(&folder, &["view", "a.b2nd"], (80, 24));
    session.expect("a.b2nd  <i4 (5, 100, 40)");
    session.expect("row 0 of 100, column 0: 0");
    assert!(session.screen.lock().unwrap().screen().alternate_screen());
    session.send("jl");
    session.expect("row 1 of 100, column 1: 41");
    // The cursor keys, as a terminal sends them.
    session.send("\x1b[B\x1b[C");
    session.expect("row 2 of 100, column 2: 82");
    session.send(">>");
    session.expect("slice [2], ↓, →");
    session.expect("row 2 of 100, column 2: 8082");
    session.send("g4,99,39\r");
    session.expect("row 99 of 100, column 39: 19999");
    session.send("m");
    session.expect("codec        zstd, level 5");
    session.send("G");
    session.expect("\"kelvin\"");
    session.send("c");
    session.expect("chunks 0–9: ");
    session.send("?");
    session.expect("b2 view: keys");
    session.send("?d");
    session.expect("column 39: 19999");
    session.resize(120, 40);
    session.wait("40 rows", |session| {
        session.screen.lock().unwrap().screen().contents_between(39, 0, 39, 119).contains("19999")
    });
    session.resize(40, 12);
    session.wait("12 rows", |session| {
        session.screen.lock().unwrap().screen().contents_between(11, 0, 11, 39).contains("row 99")
    });
    session.send("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn keys_that_arrive_with_a_change_of_the_size_are_not_lost() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[500, 4], 0);
    let mut session = Session::start(&folder, &["view", "a.npy"], (80, 24));
    session.expect("row 0 of 500");
    for round in 1..200 {
        // The second key and the signal arrive while the program handles the first key.
        session.send("j");
        std::thread::sleep(Duration::from_micros(u64::from(round) * 53 % 2000));
        session.resize(80 + round % 2, 24);
        session.send("j");
        session.expect(&format!("row {} of 500", 2 * round));
    }
    session.send("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn containers_are_trees() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[10], 5);
    ints(&folder, "b.npy", &[3, 4], 0);
    folder.out("put s.b2z /group/first a.npy");
    folder.out("put s.b2z /second b.npy");
    let mut session = Session::start(&folder, &["view", "s.b2z"], (80, 24));
    session.expect("+ group");
    session.expect("second");
    session.send("j\r");
    session.expect("first");
    session.send("j\r");
    session.expect("row 0 of 10, column value: 5");
    session.send("c");
    session.expect("chunk 0: 40 B");
    session.send("\x1b");
    session.expect("- group");
    session.send("/second\rm");
    session.expect(" second  metadata");
    session.expect("s.b2z:/second");
    session.send("q");
    assert_eq!(session.end().code(), Some(0));

    folder.out("convert a.npy g.zarr:/inner/first");
    let mut session = Session::start(&folder, &["view", "g.zarr"], (80, 24));
    session.expect("+ inner");
    session.send("jlj");
    session.expect("first");
    session.send("\r");
    session.expect("row 0 of 10, column value: 5");
    session.send("m");
    session.expect("format       Zarr array or group, a directory");
    session.send("q");
    assert_eq!(session.end().code(), Some(0));

    let table = folder.fixture("bcolz/ct_mixed");
    let mut session = Session::start(&folder, &["view", &table], (80, 24));
    session.expect("columns");
    session.send("\r");
    session.expect("row 0 of ");
    // A column, its metadata and its chunks.
    session.send("\x1b");
    session.expect("- ct_mixed");
    session.send("jm");
    session.expect("format       bcolz carray");
    session.send("c");
    session.expect("ratio 1 ");
    session.send("d");
    session.expect("column value: ");
    session.send("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn signals_and_ctrl_c_restore_the_terminal() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[10], 0);
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let session = Session::start(&folder, &["view", "a.npy"], (80, 24));
        session.expect("row 0 of 10");
        kill_process(Pid::from_child(&session.child), signal).unwrap();
        assert_eq!(session.end().signal(), Some(signal.as_raw()));
    }
    let mut session = Session::start(&folder, &["view", "a.npy"], (80, 24));
    session.expect("row 0 of 10");
    // Ctrl-Z and Ctrl-\ do nothing.
    session.send("\x1a\x1cj");
    session.expect("row 1 of 10");
    session.send("\x03");
    assert_eq!(session.end().signal(), Some(Signal::INT.as_raw()));
    assert_eq!(folder.names(), ["a.npy"]);
}

#[test]
fn damaged_chunks_are_marked() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[100], 1_000_000);
    folder.out("convert a.npy a.b2nd --chunks 10 --blocks 10 --level 0 --filters none");
    let mut bytes = folder.read("a.b2nd");
    let number = 1_000_015_i32.to_le_bytes();
    let at = bytes.windows(4).position(|window| window == number).unwrap();
    // The header of the second chunk, which has 32 bytes before its data.
    let data = bytes.windows(4).position(|window| window == 1_000_010_i32.to_le_bytes()).unwrap();
    bytes[data - 32..data].fill(0xff);
    bytes[at] ^= 1;
    folder.write("a.b2nd", &bytes);
    let mut session = Session::start(&folder, &["view", "a.b2nd"], (80, 24));
    session.expect("1000009");
    session.wait("marks", |session| session.text().matches(" !").count() == 10);
    session.send("g12\r");
    session.expect("row 12 of 100, column value: ");
    assert!(session.text().contains("chunk 1"), "{}", session.text());
    session.send("g25\r");
    session.expect("row 25 of 100, column value: 1000025");
    session.send("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn a_sparse_array_of_terabytes_is_opened() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[4, 4], 7);
    folder.out("convert a.npy a.b2nd --chunks 20000,20000 --blocks 100,100");
    folder.out("resize a.b2nd 1000000,1000000");
    let mut session = Session::start(&folder, &["view", "a.b2nd"], (80, 24));
    session.expect("<i4 (1000000, 1000000)");
    session.expect("row 0 of 1000000, column 0: 7");
    session.send("g999999,999999\r");
    session.expect("row 999999 of 1000000, column 999999: 0");
    session.send("c");
    session.expect("chunks 0–");
    session.send("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn colours_depend_on_no_color() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[10_000], 0);
    folder.out("convert a.npy a.b2nd --chunks 1000 --blocks 1000");
    for (variables, has_colours) in
        [(vec![("TERM", "xterm")], true), (vec![("TERM", "xterm"), ("NO_COLOR", "1")], false)]
    {
        let mut session = Session::start_with(&folder, &["view", "a.b2nd"], (80, 24), &variables);
        session.expect("row 0 of 10000");
        session.send("c");
        session.expect("chunks 0–9");
        let is_coloured = |session: &Session| {
            let screen = session.screen.lock().unwrap();
            let cell = screen.screen().cell(3, 2).unwrap().clone();
            cell.bgcolor() != vt100::Color::Default
        };
        assert_eq!(is_coloured(&session), has_colours);
        session.send("q");
        assert_eq!(session.end().code(), Some(0));
    }
}

#[test]
fn without_a_terminal_the_viewer_refuses() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[10], 0);
    let result = folder.line("view a.npy");
    assert_eq!(result.status, 1);
    assert!(result.err().contains("standard input is not a terminal"), "{}", result.err());
    assert!(result.err().contains("hint: 'b2 ls --tree'"), "{}", result.err());
    let session = Session::start_with(&folder, &["view", "a.npy"], (80, 24), &[("TERM", "dumb")]);
    session.expect("TERM=dumb");
    assert_eq!(session.end().code(), Some(1));
    let session = Session::start(&folder, &["view", "missing"], (80, 24));
    session.expect("missing");
    assert_eq!(session.end().code(), Some(1));
}
