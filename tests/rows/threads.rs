//! The same chunks and the same results for any number of threads, any thread pool, and from any
//! thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ferroblosc::Error;
use ferroblosc::chunk::{
    Compressor, DParams, Decompressor, Prefilter, PrefilterCall, Refused, SplitMode,
};
use ferroblosc::codec::id;
use ferroblosc::filter;
use ferroblosc::pool::{Backend, set_backend};

use crate::common::*;

/// The thread pool is a process-wide setting.
static THREADS: Mutex<()> = Mutex::new(());

#[test]
fn row_c18_blocks_are_stored_in_order() {
    let data = mixed(200_000);
    for nthreads in [1, 2, 8] {
        let params = lz4(4, &[SHUFFLE]).blocksize(4096).threads(nthreads);
        let chunk = round_trip(&params, &data);
        let starts: Vec<i32> =
            (0..data.len().div_ceil(4096)).map(|i| get_i32(&chunk, at::STARTS + 4 * i)).collect();
        assert!(starts.is_sorted());
        assert_eq!(starts[0] as usize, at::STARTS + 4 * starts.len());
    }
}

#[test]
fn row_d8_chunks_are_the_same_for_any_number_of_threads() {
    let _alone = THREADS.lock();
    let mut random = Random::new(8);
    let pipelines = [
        vec![],
        vec![SHUFFLE],
        vec![DELTA, SHUFFLE],
        vec![SHUFFLE, DELTA],
        vec![slot(filter::id::TRUNC_PREC, 9), DELTA, BITSHUFFLE],
    ];
    for round in 0..60 {
        let nbytes = 20_000 + random.below(40_000);
        let data = match round % 3 {
            0 => mixed(nbytes),
            1 => text(nbytes),
            _ => [mixed(nbytes / 2), noise(nbytes / 2)].concat(),
        };
        let codec = CODECS[round % CODECS.len()];
        let params = lz4(4, &pipelines[random.below(pipelines.len())])
            .codec(codec)
            .level(1 + random.below(6) as u8)
            .blocksize(random.pick(&[0, 1024, 4096, 10_000]))
            .splitmode(random.pick(&[SplitMode::ALWAYS, SplitMode::NEVER]))
            .use_dict(matches!(codec, id::LZ4 | id::LZ4HC | id::ZSTD) && random.below(2) == 0);
        let whole = compress_into(&params, &data, 2 * nbytes + 5000).unwrap();
        // Near the limit, an encoder's limit may depend on the preceding blocks.
        for destsize in [
            2 * nbytes + 5000,
            nbytes + 32,
            whole.len() + 1,
            whole.len(),
            whole.len() - 1,
            whole.len() - random.below(2000),
        ] {
            let one = compress_into(&params, &data, destsize).unwrap();
            for nthreads in [2, 3, 8] {
                let threaded = params.clone().threads(nthreads);
                let many = compress_into(&threaded, &data, destsize).unwrap();
                assert!(one == many, "round {round}, {nthreads} threads, {destsize}");
            }
        }
        for nthreads in [2, 8] {
            let reader = DParams::default().threads(nthreads);
            let found = decompress_with(reader, &whole, data.len());
            assert!(found == decompress(&whole, data.len()));
        }
    }
}

#[test]
fn row_d8_variable_length_chunks_are_the_same_for_any_number_of_threads() {
    let _alone = THREADS.lock();
    let blocks: Vec<Vec<u8>> = (0..40).map(|i| text(300 + 37 * i)).collect();
    let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
    for codec in CODECS {
        for use_dict in [false, matches!(codec, id::LZ4 | id::LZ4HC | id::ZSTD)] {
            let params = lz4(1, &[]).codec(codec).use_dict(use_dict);
            let chunk = |nthreads, destsize| {
                let mut dest = vec![0; destsize];
                let params = params.clone().threads(nthreads);
                let mut compressor = Compressor::new(params).unwrap();
                let size = compressor.vl_compress(&blocks, &mut dest).unwrap();
                dest.truncate(size);
                dest
            };
            let one = chunk(1, 60_000);
            for destsize in [60_000, one.len(), one.len() - 1] {
                let one = chunk(1, destsize);
                for nthreads in [2, 8] {
                    assert!(one == chunk(nthreads, destsize));
                }
            }
        }
    }
}

#[test]
fn any_number_of_threads_works() {
    let data = mixed(50_000);
    for nthreads in [i16::MIN, -1, 0, 1, 64, i16::MAX] {
        let params = lz4(4, &[SHUFFLE]).blocksize(1000).threads(nthreads);
        let chunk = compress(&params, &data).unwrap();
        let reader = DParams::default().threads(nthreads);
        assert!(decompress_with(reader, &chunk, data.len()).as_ref() == Ok(&data));
    }
}

/// Runs jobs in sequence, the last one first.
struct OneByOne;

impl Backend for OneByOne {
    fn run(&self, njobs: usize, job: &(dyn Fn(usize) + Sync)) {
        (0..njobs).rev().for_each(job);
    }
}

#[test]
fn row_c27_jobs_may_run_in_sequence() {
    let _alone = THREADS.lock();
    let data = mixed(50_000);
    for filters in [vec![DELTA], vec![DELTA, SHUFFLE], vec![BITSHUFFLE, DELTA]] {
        let params = lz4(4, &filters).blocksize(1000);
        let chunk = compress(&params, &data).unwrap();
        let first = get_i32(&chunk, at::STARTS) as usize;
        let broken = with_i32(&chunk, first, 1_000_000);
        set_backend(Some(Arc::new(OneByOne)));
        let threaded = compress(&params.threads(4), &data);
        let reader = || DParams::default().threads(4);
        let found = decompress_with(reader(), &chunk, data.len());
        let failed = decompress_with(reader(), &broken, data.len());
        let mut masking = Decompressor::new(reader());
        masking.set_maskout((0..50).map(|i| i == 0).collect());
        let mut dest = data.clone();
        dest[1000..].fill(UNTOUCHED);
        let masked = masking.decompress(&chunk, &mut dest);
        set_backend(None);
        assert!(threaded.as_ref() == Ok(&chunk));
        assert!(found.as_ref() == Ok(&data));
        assert_eq!(failed, Err(Error::ReadBuffer));
        assert_eq!(masked, Ok(data.len()));
        assert!(dest == data);
    }
}

#[test]
fn row_d7_all_calls_work_concurrently_from_any_thread() {
    std::thread::scope(|scope| {
        for worker in 0..8 {
            scope.spawn(move || {
                let params = lz4(4, &[DELTA, SHUFFLE]).blocksize(2048);
                let params = params.codec(CODECS[worker % CODECS.len()]);
                let data = mixed(60_000 + worker);
                for nthreads in [1, 3, 4] {
                    let chunk = round_trip(&params.clone().threads(nthreads), &data);
                    let reader = DParams::default().threads(nthreads);
                    let found = decompress_with(reader, &chunk, data.len());
                    assert!(found.as_ref() == Ok(&data));
                }
            });
        }
    });
}

#[test]
fn row_d7_a_forked_child_works_with_any_number_of_threads() {
    /// The number of seconds after which a child is considered hung.
    const TIMEOUT_SECONDS: u32 = 20;
    let _alone = THREADS.lock();
    let data = mixed(60_000);
    let works = |nthreads| {
        let params = lz4(4, &[DELTA, SHUFFLE]).blocksize(2048).threads(nthreads);
        let reader = DParams::default().threads(nthreads);
        let chunk = compress(&params, &data);
        let found = chunk.and_then(|chunk| decompress_with(reader, &chunk, data.len()));
        found.as_ref() == Ok(&data)
    };
    assert!(works(4), "the parent runs with threads");
    // SAFETY: the child uses only the tested code and the allocator, which glibc keeps usable; it
    // exits by _exit, also after a panic.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: neither call has preconditions.
        unsafe {
            libc::alarm(TIMEOUT_SECONDS);
            let result = std::panic::catch_unwind(|| works(1) && works(4) && works(7));
            libc::_exit(if let Ok(true) = result { 0 } else { 1 });
        }
    }
    let mut status = 0;
    // SAFETY: `status` is writable.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    assert!(works(4), "the parent still runs with threads");
}

/// Makes blocks of noise but refuses one, and delays the block before it.
struct Refuses(usize);

impl Prefilter for Refuses {
    fn apply(&self, call: &mut PrefilterCall<'_>) -> Result<(), Refused> {
        let block = noise(call.output.len() + call.nblock)[call.nblock..].to_vec();
        call.output.copy_from_slice(&block);
        if call.nblock + 1 == self.0 {
            std::thread::sleep(Duration::from_millis(20));
        }
        if call.nblock == self.0 { Err(Refused) } else { Ok(()) }
    }
}

#[test]
fn row_d8_a_failure_past_the_end_of_the_destination_is_ignored() {
    let data = vec![0; 50_000];
    for (destsize, expected) in [
        (20_000, Ok(vec![])),
        (49_000, Err(Error::FilterPipeline)),
        (60_000, Err(Error::FilterPipeline)),
    ] {
        for nthreads in [1, 2, 8] {
            let params = lz4(1, &[]).blocksize(1000).threads(nthreads);
            let params = params.prefilter(Arc::new(Refuses(20)));
            assert_eq!(compress_into(&params, &data, destsize), expected);
        }
    }
}

/// Copies blocks of the source, some of them slowly, and records how far ahead of a slow block
/// others were started.
#[derive(Default)]
struct Uneven {
    /// The slow blocks in progress.
    slow: Mutex<Vec<usize>>,
    most_ahead: AtomicUsize,
}

/// The number of blocks from one slow block to the next.
const SLOW_EVERY: usize = 40;

impl Prefilter for Uneven {
    fn apply(&self, call: &mut PrefilterCall<'_>) -> Result<(), Refused> {
        let is_slow = call.nblock.is_multiple_of(SLOW_EVERY);
        {
            let mut slow = self.slow.lock().unwrap();
            if let Some(first) = slow.iter().min() {
                let ahead = call.nblock.saturating_sub(*first);
                self.most_ahead.fetch_max(ahead, Ordering::Relaxed);
            }
            if is_slow {
                slow.push(call.nblock);
            }
        }
        let input = call.input.expect("there is a source");
        call.output.copy_from_slice(input);
        if is_slow {
            std::thread::sleep(Duration::from_millis(15));
            self.slow.lock().unwrap().retain(|&n| n != call.nblock);
        }
        Ok(())
    }
}

#[test]
fn row_d8_blocks_of_uneven_cost_make_the_same_chunk_with_few_buffered() {
    /// The maximum number of blocks per thread that may be started ahead of the next one.
    const AHEAD: usize = 2;
    let _alone = THREADS.lock();
    let data = mixed(400_000);
    let params = lz4(4, &[SHUFFLE]).blocksize(1000);
    let expected = compress(&params, &data).unwrap();
    for nthreads in [1, 2, 3, 8] {
        let uneven = Arc::new(Uneven::default());
        let params = params.clone().threads(nthreads).prefilter(uneven.clone());
        let mut compressor = Compressor::new(params).unwrap();
        for _ in 0..2 {
            let chunk = compressor.compress_to_vec(&data);
            assert!(chunk.as_ref() == Ok(&expected), "{nthreads} threads");
        }
        let most = uneven.most_ahead.load(Ordering::Relaxed);
        let bound = AHEAD * nthreads as usize;
        assert!(most <= bound, "{most} blocks ahead of a slow one");
        assert!(nthreads == 1 || most > 0, "no thread worked ahead");
    }
}

/// Compresses other data with threads while a block is processed.
struct Nesting(Arc<Uneven>);

impl Prefilter for Nesting {
    fn apply(&self, call: &mut PrefilterCall<'_>) -> Result<(), Refused> {
        let inner = lz4(4, &[SHUFFLE]).blocksize(1000).threads(3);
        let data = mixed(20_000);
        assert!(compress(&inner, &data) == compress(&inner.threads(1), &data));
        self.0.apply(call)
    }
}

#[test]
fn row_d7_a_prefilter_may_compress_with_threads() {
    let _alone = THREADS.lock();
    let data = mixed(100_000);
    let params = lz4(4, &[SHUFFLE]).blocksize(1000);
    let expected = compress(&params, &data);
    let nesting = Arc::new(Nesting(Arc::default()));
    assert!(compress(&params.threads(2).prefilter(nesting), &data) == expected);
}

/// Panics at one block.
struct Panics(usize);

impl Prefilter for Panics {
    fn apply(&self, call: &mut PrefilterCall<'_>) -> Result<(), Refused> {
        if call.nblock == self.0 {
            std::panic::resume_unwind(Box::new("as wanted"));
        }
        Ok(())
    }
}

#[test]
fn a_panic_in_a_thread_ends_the_call_and_the_compressor_stays_usable() {
    let _alone = THREADS.lock();
    let data = mixed(100_000);
    let params = lz4(4, &[SHUFFLE]).blocksize(1000).threads(3);
    let expected = compress(&params, &data);
    let mut compressor = Compressor::new(params.clone()).unwrap();
    for nblock in [0, 1, 50, 99] {
        let panicking = params.clone().prefilter(Arc::new(Panics(nblock)));
        compressor.set_params(panicking).unwrap();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            compressor.compress_to_vec(&data)
        }));
        assert!(result.is_err());
        compressor.set_params(params.clone()).unwrap();
        assert!(compressor.compress_to_vec(&data) == expected);
    }
}
