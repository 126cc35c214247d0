//! The file system, with a hook before operations, which changes files or lets the operation fail.

use ferroblosc::Result;
use ferroblosc::io::{
    Attributes, Backend, FileOps, FileSystem, Identity, Mode as Access, Stream, WriteGranularity,
};
use ferroblosc_formats::bcolz::{Options, Store};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Receives the name of the operation and the path.
type Hook = Box<dyn FnMut(&str, &Path) -> Result<()> + Send>;

#[derive(Clone)]
struct Hooked(Arc<Mutex<Hook>>);

impl Hooked {
    fn reach(&self, operation: &str, path: &Path) -> Result<()> {
        (self.0.lock().unwrap())(operation, path)
    }
}

/// An open file.
struct HookedStream {
    hooked: Hooked,
    path: PathBuf,
    stream: Box<dyn Stream>,
}

impl Stream for HookedStream {
    fn size(&self) -> Result<u64> {
        self.stream.size()
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        self.hooked.reach("read", &self.path)?;
        self.stream.read_at(position, dest)
    }

    fn write_at(&self, position: u64, bytes: &[u8], whole: WriteGranularity) -> Result<()> {
        self.stream.write_at(position, bytes, whole)
    }

    fn truncate(&self, len: u64) -> Result<()> {
        self.stream.truncate(len)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.stream.close()
    }
}

impl Backend for Hooked {
    fn open(&self, path: &Path, mode: Access) -> Result<Box<dyn Stream>> {
        self.reach("open", path)?;
        let (hooked, path) = (self.clone(), path.to_owned());
        let stream = FileSystem.open(&path, mode)?;
        Ok(Box::new(HookedStream { hooked, path, stream }))
    }

    fn file_ops(&self) -> Option<&dyn FileOps> {
        Some(self)
    }
}

impl FileOps for Hooked {
    fn identify(&self, path: &Path) -> Option<Identity> {
        self.reach("identify", path).ok()?;
        FileSystem.identify(path)
    }

    fn attributes(&self, path: &Path) -> Option<Attributes> {
        self.reach("attributes", path).ok()?;
        FileSystem.attributes(path)
    }

    fn open_unfollowed(&self, path: &Path, writes: bool) -> Result<Box<dyn Stream>> {
        self.reach("open unfollowed", path)?;
        FileSystem.open_unfollowed(path, writes)
    }

    fn create_new(&self, path: &Path, private: bool) -> Result<Box<dyn Stream>> {
        self.reach("create", path)?;
        FileSystem.create_new(path, private)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.reach("rename", from)?;
        FileSystem.rename(from, to)
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        FileSystem.resolve(path)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        self.reach("remove", path)?;
        FileSystem.remove(path)
    }

    fn make_directory(&self, path: &Path) -> Result<()> {
        self.reach("make directory", path)?;
        FileSystem.make_directory(path)
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        self.reach("remove directory", path)?;
        FileSystem.remove_directory(path)
    }

    fn list(&self, directory: &Path) -> Result<Vec<OsString>> {
        self.reach("list", directory)?;
        FileSystem.list(directory)
    }

    fn sync_directory(&self, directory: &Path) -> Result<()> {
        FileSystem.sync_directory(directory)
    }
}

/// Returns options with a hook before each operation.
pub fn hooked(hook: impl FnMut(&str, &Path) -> Result<()> + Send + 'static) -> Options {
    let store = Store::new(Arc::new(Hooked(Arc::new(Mutex::new(Box::new(hook))))));
    Options { store, ..Options::default() }
}

/// Returns options with a change of the files before the first of some operations at a path.
pub fn changing(
    operations: &'static [&'static str],
    path: &Path,
    change: impl FnOnce() + Send + 'static,
) -> Options {
    let (path, mut change) = (path.to_owned(), Some(change));
    hooked(move |operation, found| {
        if operations.contains(&operation)
            && found == path
            && let Some(change) = change.take()
        {
            change();
        }
        Ok(())
    })
}
