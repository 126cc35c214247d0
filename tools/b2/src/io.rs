//! Input and output files, and standard input and output.
//!
//! Most formats require random access, since their index is at the end. Therefore, standard input
//! is copied to a temporary file first, and output for standard output is written to a temporary
//! file. The same is done for output paths that are FIFOs or devices, such as `/dev/null`.

use crate::error::{Failure, Outcome};
use crate::lock::{lock_of_frame, locked_file};
pub use crate::paths::STDIN;
use ferroblosc::Error;
use ferroblosc::io::Durability;
use ferroblosc::io::named::{NamedFile, named};
use ferroblosc::os::files;
use ferroblosc_formats::convert::{self, Detected, Location};
use ferroblosc_formats::store;
use ferroblosc_tools_common::identity::Identity;
use ferroblosc_tools_common::os::{self, Special};
use ferroblosc_tools_common::size::human;
use ferroblosc_tools_common::staging::{Folder, Staged};
use std::fs::{self, File, Metadata};
use std::io::{IsTerminal, Read, StdoutLock, Write, copy};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The argument for standard input and output.
pub const STDIO: &str = "-";

/// Returns the name of the temporary file for an output in errors.
pub fn temporary_name(target: &Path) -> PathBuf {
    PathBuf::from(format!("the temporary file for {}", target.display()))
}

/// The name of standard output in errors.
const STDOUT: &str = "standard output";

/// Fails if standard output is a terminal and `force` is false.
pub fn refuse_terminal(force: bool) -> Result<(), Failure> {
    if force || !std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Failure::new("standard output is a terminal, and compressed data are not text")
        .with_hint("redirect it, or set OUT; '--force' writes to the terminal"))
}

/// Fails if JSON is requested and standard output is the output of data.
pub fn refuse_json(json: bool, output: &Path) -> Outcome {
    if !json || output != Path::new(STDIO) {
        return Ok(());
    }
    Err(Failure::usage("--json: the data are written to standard output")
        .replacing_hint("write the data to a file"))
}

/// Fails if the path of an output that is a file ends with a slash. The complete file could not be
/// renamed to it.
pub fn refuse_directory_name(output: &Path) -> Outcome {
    let last = output.as_os_str().as_encoded_bytes().last();
    if !last.is_some_and(|&byte| std::path::is_separator(byte.into())) {
        return Ok(());
    }
    Err(Failure::new("the slash at the end names a directory, and the output is a file").at(output))
}

/// Creates a folder for temporary files, which is removed on drop.
pub fn temporary_folder() -> Result<Folder, Failure> {
    let parent = ferroblosc::os::temporary_directory();
    let folder = Folder::temporary("b2");
    Ok(folder.map_err(|error| named(error, Error::FileOpen, "create a directory in", &parent))?)
}

/// Returns the path without links of an output, which need not exist. Of `FILE:/NAME`, it is that of
/// the file, if it exists. Standard output has none.
fn location(output: &Path) -> Option<PathBuf> {
    if output == Path::new(STDIO) {
        return None;
    }
    let path = Location::of(output).path;
    if let Ok(real) = fs::canonicalize(&path) {
        return Some(real);
    }
    // A link without a target is replaced, so that its directory counts.
    path.ancestors().skip(1).find_map(|parent| {
        let is_here = parent.as_os_str().is_empty();
        let real = fs::canonicalize(if is_here { Path::new(".") } else { parent }).ok()?;
        Some(real.join(path.strip_prefix(parent).unwrap_or(&path)))
    })
}

/// Whether a path is a directory that is neither a store nor of a known format.
fn is_plain_directory(path: &Path) -> bool {
    path.is_dir() && convert::detect(path).is_err() && !store::is_store(path)
}

fn nested(output: &Path, relation: &str) -> Failure {
    Failure::new(format!("{}: {relation}", output.display())).with_hint("select another output")
}

/// Fails if an output is inside of an input, which is then a directory. `is_input` is whether a path
/// without links is that of an input. Plain directories may contain the output.
pub fn refuse_inside(output: &Path, is_input: impl Fn(&Path) -> bool) -> Outcome {
    let target = location(output);
    let parents = target.iter().flat_map(|target| target.ancestors().skip(1));
    if parents.into_iter().any(|parent| is_input(parent) && !is_plain_directory(parent)) {
        return Err(nested(output, "is inside of the input, which would be changed"));
    }
    Ok(())
}

/// Fails if an output contains the input, and all other arrays in it would be replaced, or is inside
/// of it. `key` is that of the input in the file or directory `container`.
pub fn refuse_nesting(container: &Path, key: &str, output: &Path) -> Outcome {
    let Ok(container) = fs::canonicalize(container) else {
        return Ok(());
    };
    let input = container.join(key.trim_start_matches('/'));
    if fs::canonicalize(output).is_ok_and(|target| input != target && input.starts_with(target)) {
        return Err(nested(output, "contains the input, and would be replaced"));
    }
    refuse_inside(output, |path| path == container)
}

/// Fails if an output that is replaced is a directory with files of the user, which would be lost.
fn refuse_foreign_files(output: &Path) -> Outcome {
    let found = convert::foreign_file(output).map_err(|error| Failure::from(error).at(output))?;
    let Some(file) = found else {
        return Ok(());
    };
    let name = file.strip_prefix(output).unwrap_or(&file).display();
    let text = format!("contains '{name}', which is not part of its data and would be lost");
    Err(Failure::new(text).at(output).with_hint("move it to another directory"))
}

/// Adds the name of a stream to an error of writing to it.
fn name_stream(error: std::io::Error, name: &Path) -> std::io::Error {
    match error.get_ref() {
        Some(inner) if inner.is::<Error>() => error,
        _ => named(error, Error::FileWrite, "write to", name),
    }
}

/// Adds the name of standard output to an error of writing to it.
pub fn name_stdout(error: std::io::Error) -> std::io::Error {
    name_stream(error, Path::new(STDOUT))
}

/// Whether the command goes on if standard output is a closed pipe.
static IS_REPORT: AtomicBool = AtomicBool::new(false);

/// Lets the command do all its work and return its exit status if the reader of standard output
/// closes it: the text there is only a report about the work.
pub fn ignore_closed_stdout() {
    // Relaxed: the thread that sets it writes the output.
    IS_REPORT.store(true, Ordering::Relaxed);
}

/// Replaces the error of a closed pipe by `done`, if the output is a report.
fn unless_closed<T>(written: std::io::Result<T>, done: T) -> std::io::Result<T> {
    match written {
        Err(error)
            if error.kind() == std::io::ErrorKind::BrokenPipe
                && IS_REPORT.load(Ordering::Relaxed) =>
        {
            Ok(done)
        }
        written => written.map_err(name_stdout),
    }
}

/// Returns standard output, locked, and named in its errors.
pub fn stdout() -> Stdout {
    Stdout(std::io::stdout().lock())
}

/// Standard output, named in its errors.
pub struct Stdout(StdoutLock<'static>);

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        unless_closed(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        unless_closed(self.0.flush(), ())
    }
}

/// Standard input, named in its errors.
pub struct Stdin;

impl Read for Stdin {
    fn read(&mut self, dest: &mut [u8]) -> std::io::Result<usize> {
        let read = std::io::stdin().lock().read(dest);
        read.map_err(|error| named(error, Error::FileRead, "read", Path::new(STDIN)))
    }
}

/// Whether a regular file of the size 0 has content, as those in `/proc`.
fn has_unknown_size(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0)
        && NamedFile::open_regular(path)
            .is_ok_and(|mut file| file.read(&mut [0]).is_ok_and(|count| count > 0))
}

/// An input.
pub struct Input {
    path: PathBuf,
    /// The name in messages.
    name: PathBuf,
    /// The directory of a temporary file, such as the copy of standard input.
    _folder: Option<Folder>,
}

impl Input {
    /// Opens a path, or copies standard input, or a file of unknown size, to a temporary file.
    pub fn new(name: &Path) -> Result<Input, Failure> {
        if name == Path::new(STDIO) {
            return Input::copied(&mut Stdin, Path::new(STDIN));
        }
        if has_unknown_size(name) {
            return Input::copied(&mut NamedFile::open(name)?, name);
        }
        Ok(Input { path: name.to_owned(), name: name.to_owned(), _folder: None })
    }

    /// Opens a path like [`Input::new`], and copies a FIFO to a temporary file, too.
    pub fn new_or_fifo(name: &Path) -> Result<Input, Failure> {
        if os::special(name) != Some(Special::Pipe) {
            return Input::new(name);
        }
        Input::copied(&mut NamedFile::open(name)?, name)
    }

    /// Copies a stream to a temporary file.
    fn copied(stream: &mut dyn Read, name: &Path) -> Result<Input, Failure> {
        let folder = temporary_folder()?;
        let path = folder.path("input");
        copy(stream, &mut NamedFile::create(&path)?)?;
        Ok(Input { path, name: name.to_owned(), _folder: Some(folder) })
    }

    /// Returns the input of a file in a temporary directory, with its name in messages.
    pub fn temporary(path: PathBuf, name: &Path, folder: Folder) -> Input {
        Input { path, name: name.to_owned(), _folder: Some(folder) }
    }

    /// Returns the path to read.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the name in messages.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Detects the format by the content.
    pub fn detect(&self) -> Result<Detected, Failure> {
        convert::detect(&self.path).map_err(|error| self.error(error))
    }

    /// Fails if an output contains this input, such as `STORE` of `STORE:/key`, or is inside of it.
    pub fn refuse_nesting(&self, output: &Path) -> Outcome {
        let Location { path, key } = Location::of(&self.name);
        refuse_nesting(&path, key.as_deref().unwrap_or_default(), output)
    }

    /// Returns an error of this input.
    pub fn error(&self, error: impl Into<Failure>) -> Failure {
        error.into().of_target(&self.path, &self.name).at(&self.name)
    }
}

/// A file that is the input and the output of a command. A frame is locked from before it is read
/// until it is replaced, so that no change by another `b2` is lost.
pub struct Overwritten {
    _lock: Option<File>,
    /// The file, or the index of a directory.
    file: PathBuf,
    state: Identity,
}

impl Overwritten {
    /// Returns the output if it exists, is one of the inputs, and is replaced because `force` is
    /// true. Waits for the lock of the frame while another program changes it.
    pub fn find<'a>(
        output: &Path,
        force: bool,
        inputs: impl IntoIterator<Item = &'a Path>,
    ) -> Result<Option<Overwritten>, Failure> {
        let Some(target) = fs::canonicalize(output).ok().filter(|_| force) else {
            return Ok(None);
        };
        let is_target = |input: &Path| fs::canonicalize(input).is_ok_and(|path| path == target);
        let file = locked_file(&target);
        if !file.is_file() || !inputs.into_iter().any(is_target) {
            return Ok(None);
        }
        let lock = lock_of_frame(output);
        let state =
            Identity::at(&file).map_err(|error| named(error, Error::FileOpen, "open", output))?;
        Ok(Some(Overwritten { _lock: lock, file, state }))
    }

    fn is_unchanged(&self) -> bool {
        Identity::at(&self.file).is_ok_and(|now| now.has_content_of(&self.state))
    }
}

/// An output.
pub enum Output {
    /// An output that is staged next to its target.
    Path {
        staged: Staged,
        /// Its path on the command line.
        name: PathBuf,
        /// Whether it replaces an existing one.
        force: bool,
        /// The input that it replaces.
        overwritten: Option<Overwritten>,
    },
    /// A temporary file, which is copied to standard output.
    Pipe { folder: Folder, file: PathBuf },
    /// A temporary file, which is copied to a FIFO or a character device.
    Stream { folder: Folder, file: PathBuf, target: PathBuf },
}

/// Returns the error of an addition to a file that another program has changed since it was read.
pub fn changed_meanwhile(name: &Path) -> Failure {
    Failure::new("another program has changed the file, and nothing was added")
        .at(name)
        .with_hint("repeat the command")
}

/// Fails if the file system on which a file of at least `nbytes` bytes is created has less free
/// space: a sparse array can be much larger than the disk. With `force` it does not fail, as a file
/// system that compresses can have enough. Devices and FIFOs need no space.
pub fn check_space(path: &Path, nbytes: u64, force: bool) -> Outcome {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Ok(());
    }
    match path.parent().and_then(files::free_space) {
        Some(free) if free < nbytes && !force => {
            let (size, free) = (human(nbytes), human(free));
            let text = format!("the output has {size}, and {free} are free on its file system");
            Err(Failure::new(text).with_hint("'--force' writes it nevertheless"))
        }
        _ => Ok(()),
    }
}

impl Output {
    /// Prepares the creation of an output. An existing one is replaced only if `force` is true, and
    /// only if it is a file, a store, or a directory of a known format. The environment can request
    /// that it is on the disk after the commit.
    pub fn new(path: &Path, force: bool) -> Result<Output, Failure> {
        if path == Path::new(STDIO) {
            let folder = temporary_folder()?;
            let file = folder.path("output");
            return Ok(Output::Pipe { folder, file });
        }
        let shown = path.display();
        match os::special(path) {
            Some(Special::Pipe | Special::CharDevice) => {
                let folder = temporary_folder()?;
                let file = folder.path("output");
                return Ok(Output::Stream { folder, file, target: path.to_owned() });
            }
            Some(Special::Unsuitable) => {
                return Err(Failure::new(format!("{shown}: is a block device or a socket")));
            }
            None => {}
        }
        if is_plain_directory(path) {
            return Err(Failure::new(format!("{shown}: is a directory")));
        }
        // A link to a file that does not exist is replaced, too.
        if fs::symlink_metadata(path).is_ok() && !force {
            return Err(
                Failure::new(format!("{shown}: already exists")).with_hint("'--force' replaces it")
            );
        }
        refuse_foreign_files(path)?;
        let mut staged =
            Staged::new(path).map_err(|error| named(error, Error::FileOpen, "create", path))?;
        if Durability::of_environment().durable {
            staged.set_durable();
        }
        Ok(Output::Path { staged, name: path.to_owned(), force, overwritten: None })
    }

    /// Returns the output, which replaces an input unless another program changes that before.
    pub fn over(mut self, input: Option<Overwritten>) -> Output {
        if let Output::Path { overwritten, .. } = &mut self {
            *overwritten = input;
        }
        self
    }

    /// Returns the output, which is on the disk after the commit if `is_durable` is true.
    pub fn durable(mut self, is_durable: bool) -> Output {
        if let Output::Path { staged, .. } = &mut self
            && is_durable
        {
            staged.set_durable();
        }
        self
    }

    /// Whether the output becomes a file or directory when it is complete.
    pub fn is_staged(&self) -> bool {
        matches!(self, Output::Path { .. })
    }

    /// Returns the path at which the output is created.
    pub fn path(&self) -> &Path {
        match self {
            Output::Path { staged, .. } => staged.path(),
            Output::Pipe { file, .. } | Output::Stream { file, .. } => file,
        }
    }

    /// Returns an error of creating this output, with the path of the target.
    pub fn error(&self, failure: Failure) -> Failure {
        match self {
            Output::Path { staged, name, .. } => failure.of_target(staged.path(), name),
            Output::Pipe { file, .. } => {
                failure.of_target(file, &temporary_name(Path::new(STDOUT)))
            }
            Output::Stream { file, target, .. } => failure.of_target(file, &temporary_name(target)),
        }
    }

    /// Gives a staged output the permissions, and if possible the owner, of its input.
    pub fn copy_permissions(&mut self, input: &Metadata) -> Result<(), Failure> {
        match self {
            Output::Path { staged, name, .. } => Ok(staged
                .copy_permissions(input)
                .map_err(|error| named(error, Error::FileWrite, "set the mode of", name))?),
            Output::Pipe { .. } | Output::Stream { .. } => Ok(()),
        }
    }

    /// Writes the content of a staged output to the disk.
    pub fn sync(&mut self) -> Result<(), Failure> {
        match self {
            Output::Path { staged, .. } => Ok(staged.sync()?),
            Output::Pipe { .. } | Output::Stream { .. } => Ok(()),
        }
    }

    /// Replaces the file from which a staged output was made, as [`Output::commit`]. `before`
    /// describes that file. The new content is on the disk before the file is replaced.
    ///
    /// # Errors
    /// If another program has changed the file, whose change is kept; errors of writing.
    pub fn commit_over(self, before: &Identity) -> Result<(), Failure> {
        let Output::Path { staged, name, .. } = self else {
            return self.commit();
        };
        staged.commit_over(before).map_err(|error| match error.kind() {
            std::io::ErrorKind::ResourceBusy => changed_meanwhile(&name),
            _ => named(error, Error::FileWrite, "rename a file to", &name).into(),
        })
    }

    /// Renames the output to its target, or copies it to standard output, a FIFO or a device.
    pub fn commit(self) -> Result<(), Failure> {
        match self {
            Output::Path { mut staged, name, force, overwritten } => {
                // Writing to the disk takes time, in which the file could be changed.
                if force && staged.replaces() {
                    staged.sync()?;
                }
                // The lock is held until the output is renamed.
                if overwritten.as_ref().is_some_and(|input| !input.is_unchanged()) {
                    let text = "another program has changed the file, which is kept";
                    return Err(Failure::new(text).at(&name).with_hint("repeat the command"));
                }
                // Another `b2` that changes the replaced file ends first.
                let _lock = match overwritten {
                    None if force => lock_of_frame(&name),
                    _ => None,
                };
                if force {
                    refuse_foreign_files(&name)?;
                }
                let renamed = if force { staged.commit() } else { staged.commit_new() };
                Ok(renamed
                    .map_err(|error| named(error, Error::FileWrite, "rename a file to", &name))?)
            }
            Output::Pipe { folder, file } => {
                let name = Path::new(STDOUT);
                copy_out(folder, &file, &mut std::io::stdout().lock(), name)
            }
            Output::Stream { folder, file, target } => {
                let opened = File::options().write(true).open(&target);
                let mut opened =
                    opened.map_err(|error| named(error, Error::FileOpen, "open", &target))?;
                copy_out(folder, &file, &mut opened, &target).map_err(|failure| match failure {
                    // Only for standard output, a reader that needs no more data is not an error.
                    Failure::BrokenPipe => {
                        let shown = target.display();
                        Failure::new(format!("cannot write to {shown}: its reader closed it"))
                    }
                    other => other,
                })
            }
        }
    }
}

/// Copies a temporary file, which is then removed, to a stream with this name.
fn copy_out(
    folder: Folder,
    file: &Path,
    output: &mut impl Write,
    name: &Path,
) -> Result<(), Failure> {
    if file.is_dir() {
        let shown = name.display();
        return Err(Failure::usage(format!("cannot write a directory to {shown}")));
    }
    copy(&mut NamedFile::open(file)?, output)
        .and_then(|_| output.flush())
        .map_err(|error| name_stream(error, name))?;
    drop(folder);
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn devices_need_no_space() {
        let folder = tempfile::tempdir().unwrap();
        assert!(check_space(Path::new("/dev/null"), u64::MAX, false).is_ok());
        let path = folder.path().join("new");
        assert!(check_space(&path, u64::MAX, true).is_ok());
        assert!(check_space(&path, u64::MAX, false).is_err());
        fs::write(&path, b"old").unwrap();
        assert!(check_space(&path, 1, false).is_ok());
        assert!(check_space(&path, u64::MAX, false).is_err());
    }

    /// Programs other than `b2` take no locks that `b2` uses.
    #[test]
    fn an_input_that_was_changed_meanwhile_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let link = folder.path().join("link");
        fs::write(&path, b"old").unwrap();
        std::os::unix::fs::symlink("data", &link).unwrap();
        for is_changed in [false, true] {
            let input = Overwritten::find(&link, true, [path.as_path()]).unwrap();
            assert!(input.is_some());
            let output = Output::new(&path, true).ok().unwrap().over(input);
            fs::write(output.path(), b"made of the old").unwrap();
            if is_changed {
                fs::write(&path, b"new data").unwrap();
            }
            assert_eq!(output.commit().is_err(), is_changed);
        }
        assert_eq!(fs::read(&path).unwrap(), b"new data");
        assert!(Overwritten::find(&link, false, [path.as_path()]).unwrap().is_none());
        let other = folder.path().join("other");
        assert!(Overwritten::find(&other, true, [path.as_path()]).unwrap().is_none());
        fs::write(&other, b"").unwrap();
        assert!(Overwritten::find(&other, true, [path.as_path()]).unwrap().is_none());
    }
}
