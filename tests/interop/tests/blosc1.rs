//! Comparison of `libblosc.so.1` with C-Blosc 1.21 over combinations of codec, level, shuffle,
//! sizes, threads, split mode, block size and contents.
//!
//! `FERROBLOSC_SAMPLE_SECONDS` and `FERROBLOSC_SAMPLE_SEED` apply as in the tests of
//! `libblosc2.so`.

use ferroblosc_interop::blosc1::cell::{CODECS, Cell, DIMENSIONS};
use ferroblosc_interop::blosc1::{ours, reference};
use ferroblosc_interop::data::Random;
use ferroblosc_interop::isolate;
use ferroblosc_interop::pairs::all_pairs;
use ferroblosc_interop::sample::{self, Sample};
use ferroblosc_interop::tally::Tally;

/// The number of cells per forked child; a crash costs one fork.
const BATCH: usize = 64;
/// The number of batches of cells with short blocks, which need a few milliseconds each.
const SHORT_BLOCK_BATCHES: usize = 40;

fn run(cells: &[Cell], tally: &mut Tally) {
    let outcomes = isolate::each(cells.len(), |index| {
        Ok(cells[index].check(ours(), reference())?.to_values())
    });
    for (cell, outcome) in cells.iter().zip(&outcomes) {
        tally.add(cell, cell.codec(), cell.level() as u8, outcome);
    }
}

#[test]
fn row_l14_every_pair_of_parameters_agrees_with_the_reference() {
    ours();
    reference();
    let mut tally = Tally::new(&CODECS);
    let cells: Vec<Cell> = all_pairs(&DIMENSIONS)
        .into_iter()
        .enumerate()
        .map(|(seed, picks)| Cell::new(&picks, seed as u64))
        .collect();
    for batch in cells.chunks(BATCH) {
        run(batch, &mut tally);
    }
    tally.conclude();
}

#[test]
fn row_l16_chunks_of_short_blocks_are_up_to_a_quarter_larger() {
    ours();
    reference();
    let seed = sample::seed().unwrap_or_default();
    let mut random = Random::new(seed);
    let mut tally = Tally::new(&CODECS);
    for _ in 0..SHORT_BLOCK_BATCHES {
        let cells: Vec<Cell> =
            (0..BATCH).map(|_| Cell::random_with_short_blocks(&mut random)).collect();
        run(&cells, &mut tally);
    }
    tally.conclude();
}

#[test]
fn row_l14_a_random_sample_of_parameters_agrees_with_the_reference() {
    ours();
    reference();
    let mut sample = Sample::start();
    let mut tally = Tally::new(&CODECS);
    while sample.is_running() {
        let cells: Vec<Cell> = (0..BATCH).map(|_| Cell::random(&mut sample.random)).collect();
        run(&cells, &mut tally);
    }
    tally.conclude_sample();
}
