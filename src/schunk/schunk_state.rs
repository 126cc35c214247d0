//! The state of a super-chunk in Rust programs.

use super::describe::describe;
use super::state::{Layer, Layers, State};
use crate::chunk::{CParams, Compressor, DParams, Decompressor, LazySource};
use crate::frame::{Counters, Frame, Loaded, StoredParams};
use crate::{Buffer, Error, Parent, Result};
use std::sync::atomic::{AtomicI32, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

/// The numbers of compression and decompression threads that copies record.
pub const THREADS_OF_COPIES: (i16, i16) = (0, 1);

/// A stored metalayer.
struct Named {
    name: Vec<u8>,
    content: Buffer,
}

/// The properties of a super-chunk that its compressor and decompressors may query while they run.
struct Shared {
    typesize: AtomicI32,
    current: AtomicI64,
    fixed: RwLock<Vec<Named>>,
}

impl Shared {
    fn fixed(&self) -> RwLockReadGuard<'_, Vec<Named>> {
        self.fixed.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Parent for Shared {
    fn typesize(&self) -> i32 {
        // Relaxed: the value does not synchronise other memory.
        self.typesize.load(Ordering::Relaxed)
    }

    fn with_metalayer(&self, name: &str, read: &mut dyn FnMut(&[u8])) -> bool {
        let fixed = self.fixed();
        let layer = fixed.iter().find(|layer| layer.name == name.as_bytes());
        layer.map(|layer| read(&layer.content)).is_some()
    }

    fn current_chunk(&self) -> i64 {
        // Relaxed: the value does not synchronise other memory.
        self.current.load(Ordering::Relaxed)
    }
}

/// The fields of a super-chunk.
pub(super) struct SChunkState {
    recorded: StoredParams,
    counters: Mutex<Counters>,
    shared: Arc<Shared>,
    variable: RwLock<Vec<Named>>,
    chunks: Vec<Buffer>,
    frame: Option<Frame>,
    threads: (i16, i16),
    compressor: Mutex<Compressor>,
    /// Idle decompressors; each reading thread pops one.
    decompressors: Mutex<Vec<Decompressor>>,
    new_decompressor: Box<dyn Fn() -> Decompressor + Send + Sync>,
    version: AtomicI64,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SChunkState {
    /// Returns an empty super-chunk whose chunks, if any, are in `frame`. `threads` are the numbers
    /// of threads to report for compression and decompression.
    pub fn new(
        mut cparams: CParams,
        dparams: DParams,
        threads: (i16, i16),
        frame: Option<Frame>,
    ) -> Result<SChunkState> {
        let recorded = StoredParams::of(&cparams);
        let shared = Arc::new(Shared {
            typesize: AtomicI32::new(cparams.typesize),
            current: AtomicI64::new(0),
            fixed: RwLock::new(Vec::new()),
        });
        let parent: Arc<dyn Parent> = Arc::clone(&shared) as _;
        cparams.parent = Some(Arc::clone(&parent));
        let files = frame.as_ref().and_then(Frame::files).map(Arc::clone);
        let new_decompressor = Box::new(move || {
            let mut params = dparams.clone();
            params.parent = Some(Arc::clone(&parent));
            params.lazy = files.clone().map(|files| files as Arc<dyn LazySource>);
            Decompressor::new(params)
        });
        let compressor = Compressor::new(cparams)?;
        Ok(SChunkState {
            recorded,
            counters: Mutex::new(Counters::empty(compressor.params().blocksize)),
            shared,
            variable: RwLock::new(Vec::new()),
            chunks: Vec::new(),
            frame,
            threads,
            compressor: Mutex::new(compressor),
            decompressors: Mutex::new(Vec::new()),
            new_decompressor,
            version: AtomicI64::new(0),
        })
    }

    /// Returns an empty super-chunk with a frame in memory, as the target of a copy of `s`.
    pub fn for_copy_of<S: State + ?Sized>(s: &S) -> Result<SChunkState> {
        let (recorded, blocksize) = s.used();
        let counters = Counters::empty(blocksize);
        let params = recorded.params(0);
        let mut target = SChunkState::new(params, DParams::default(), THREADS_OF_COPIES, None)?;
        target.set_counters(counters);
        let description = describe(&target, counters)?;
        target.set_frame(Frame::create_in_memory(&description)?);
        Ok(target)
    }

    /// Returns the version of the metalayers, which increases with each change and each reload.
    pub fn version(&self) -> i64 {
        self.version.load(Ordering::Relaxed)
    }

    /// Consumes the super-chunk and returns its frame.
    pub fn into_frame(self) -> Option<Frame> {
        self.frame
    }

    /// Sets the frame, before there are chunks.
    pub fn set_frame(&mut self, frame: Frame) {
        self.frame = Some(frame);
    }

    /// Sets the chunk size in bytes, before the first chunk.
    pub fn set_chunksize(&mut self, chunksize: i32) -> Result<()> {
        let mut counters = locked(&self.counters);
        if counters.nchunks > 0 || chunksize < 0 {
            return Err(Error::InvalidParam);
        }
        counters.chunksize = chunksize;
        Ok(())
    }

    /// Sets the item size in bytes.
    pub fn set_typesize(&mut self, typesize: i32) -> Result<()> {
        let mut compressor = locked(&self.compressor);
        let params = compressor.params().clone().typesize(typesize);
        compressor.set_params(params)?;
        drop(compressor);
        self.recorded.typesize = typesize;
        self.shared.typesize.store(typesize, Ordering::Relaxed);
        Ok(())
    }

    /// Loads the content of a frame that was opened.
    pub fn load(&self, loaded: Loaded) -> Result<()> {
        let named = |layers: Vec<crate::frame::Metalayer>| {
            layers
                .into_iter()
                .map(|layer| {
                    Ok(Named { name: layer.name, content: Buffer::copy_of(&layer.content)? })
                })
                .collect::<Result<Vec<Named>>>()
        };
        let (fixed, variable) = (named(loaded.metalayers)?, named(loaded.vlmetalayers)?);
        *self.shared.fixed.write().unwrap_or_else(PoisonError::into_inner) = fixed;
        *self.variable.write().unwrap_or_else(PoisonError::into_inner) = variable;
        *locked(&self.counters) = loaded.counters;
        Ok(())
    }

    fn layers_mut(&mut self, kind: Layers) -> std::sync::RwLockWriteGuard<'_, Vec<Named>> {
        let layers = match kind {
            Layers::Fixed => &self.shared.fixed,
            Layers::Variable => &self.variable,
        };
        layers.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State for SChunkState {
    fn recorded(&self) -> StoredParams {
        self.recorded
    }

    fn counters(&self) -> Counters {
        *locked(&self.counters)
    }

    fn threads(&self) -> (i16, i16) {
        self.threads
    }

    fn used(&self) -> (StoredParams, i32) {
        (self.recorded, locked(&self.compressor).blocksize())
    }

    fn set_current(&self, nchunk: i64) {
        self.shared.current.store(nchunk, Ordering::Relaxed);
    }

    fn frame(&self) -> Option<&Frame> {
        self.frame.as_ref()
    }

    fn chunk(&self, nchunk: usize) -> &[u8] {
        self.chunks.get(nchunk).map_or(&[], |chunk| chunk)
    }

    fn with_layers(&self, kind: Layers, f: &mut dyn FnMut(&[Layer<'_>])) {
        let variable;
        let fixed;
        let named: &[Named] = match kind {
            Layers::Fixed => {
                fixed = self.shared.fixed();
                &fixed
            }
            Layers::Variable => {
                variable = self.variable.read().unwrap_or_else(PoisonError::into_inner);
                &variable
            }
        };
        let layers: Vec<Layer<'_>> =
            named.iter().map(|layer| (&layer.name[..], &layer.content[..])).collect();
        f(&layers);
    }

    fn reload(&self, loaded: Loaded) {
        // After a failed allocation the old metalayers remain.
        if self.load(loaded).is_ok() {
            self.version.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn compress_with(&self, f: &mut dyn FnMut(&mut Compressor) -> Result<usize>) -> Result<usize> {
        f(&mut locked(&self.compressor))
    }

    fn decompress(&self, f: &mut dyn FnMut(&mut Decompressor) -> Result<usize>) -> Result<usize> {
        let kept = locked(&self.decompressors).pop();
        let mut decompressor = kept.unwrap_or_else(|| (self.new_decompressor)());
        let result = f(&mut decompressor);
        locked(&self.decompressors).push(decompressor);
        result
    }

    fn frame_mut(&mut self) -> Option<&mut Frame> {
        self.frame.as_mut()
    }

    fn set_counters(&mut self, counters: Counters) {
        *locked(&self.counters) = counters;
    }

    fn reserve_chunk(&mut self, _: usize) -> Result<()> {
        Ok(self.chunks.try_reserve(1)?)
    }

    fn insert(&mut self, _: usize, at: usize, chunk: Buffer) {
        self.chunks.insert(at, chunk);
    }

    fn exchange(&mut self, at: usize, chunk: Buffer) -> Option<Buffer> {
        Some(std::mem::replace(&mut self.chunks[at], chunk))
    }

    fn release(&mut self, _: usize, gone: &[usize]) {
        if let [at] = *gone {
            self.chunks.remove(at);
            return;
        }
        let (mut number, mut gone) = (0, gone.iter().peekable());
        self.chunks.retain(|_| {
            let stays = gone.next_if_eq(&&number).is_none();
            number += 1;
            stays
        });
    }

    fn permute(&mut self, order: &[usize]) -> Result<()> {
        let mut taken: Vec<Buffer> = Vec::new();
        taken.try_reserve_exact(order.len())?;
        taken.extend(order.iter().map(|&from| std::mem::take(&mut self.chunks[from])));
        self.chunks = taken;
        Ok(())
    }

    fn add_layer(&mut self, kind: Layers, name: &[u8], content: Buffer) -> Result<()> {
        let mut layers = self.layers_mut(kind);
        layers.try_reserve(1)?;
        layers.push(Named { name: name.to_vec(), content });
        Ok(())
    }

    fn edit_layer(&mut self, at: usize, content: &[u8]) {
        self.layers_mut(Layers::Fixed)[at].content.copy_from_slice(content);
    }

    fn set_layer(&mut self, at: usize, content: Buffer) {
        self.layers_mut(Layers::Variable)[at].content = content;
    }

    fn remove_layer(&mut self, at: usize) {
        self.layers_mut(Layers::Variable).remove(at);
    }

    fn bump_version(&mut self) {
        self.version.fetch_add(1, Ordering::Relaxed);
    }
}
