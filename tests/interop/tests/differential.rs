//! Comparison of the two libraries over combinations of codec, level, filters, sizes and contents.
//!
//! `FERROBLOSC_SAMPLE_SECONDS` is the duration of the random sample, `FERROBLOSC_SAMPLE_SEED` its
//! seed (default: the clock; it is printed), and `FERROBLOSC_CELL` selects a single cell. The
//! ignored test runs the product of the dimensions that determine a chunk's contents, about four
//! million cells; `FERROBLOSC_FULL_PART=2/8` runs the second eighth of it.

use ferroblosc_interop::cell::{Cell, DIMENSIONS, SOUND};
use ferroblosc_interop::data::Random;
use ferroblosc_interop::isolate;
use ferroblosc_interop::library::{ours, reference};
use ferroblosc_interop::pairs::all_pairs;
use ferroblosc_interop::sample::Sample;
use ferroblosc_interop::tally::{Report, Tally};

/// The number of cells per forked child; a crash costs one fork.
const BATCH: usize = 64;

fn run(cells: &[Cell], tally: &mut Tally, check: impl Fn(&Cell) -> Result<Report, String>) {
    let outcomes = isolate::each(cells.len(), |index| Ok(check(&cells[index])?.to_values()));
    for (cell, outcome) in cells.iter().zip(&outcomes) {
        tally.add(cell, cell.codec_index(), cell.level(), outcome);
    }
}

fn against_the_reference(cell: &Cell) -> Result<Report, String> {
    cell.check(ours(), reference())
}

/// Returns every pair of values of any two dimensions, and again every pair of those values that
/// allow a full comparison, because some would otherwise occur only in cells that both libraries
/// refuse.
fn pair_cells() -> Vec<Cell> {
    let sound = all_pairs(&SOUND.map(<[usize]>::len)).into_iter().map(|picks| {
        let values = std::iter::zip(picks, SOUND).map(|(pick, values)| values[pick]);
        values.collect()
    });
    all_pairs(&DIMENSIONS)
        .into_iter()
        .chain(sound)
        .enumerate()
        .map(|(index, picks): (usize, Vec<usize>)| Cell::new(&picks, index as u64))
        .collect()
}

/// Returns the requested cell, if any: the other tests then do nothing.
fn single_cell() -> Option<Cell> {
    let text = std::env::var("FERROBLOSC_CELL").ok()?;
    Some(text.parse().unwrap_or_else(|error| panic!("FERROBLOSC_CELL: {error}")))
}

fn load_both() {
    // Opens the libraries before the first fork, so that the children share them.
    ours();
    reference();
}

#[test]
fn the_reference_reads_its_own_chunks_unless_a_row_says_otherwise() {
    reference();
    let mut tally = Tally::default();
    let mut cells = pair_cells();
    let mut random = Random::new(1);
    cells.extend((0..500).map(|_| Cell::random(&mut random)));
    for batch in cells.chunks(BATCH) {
        run(batch, &mut tally, |cell| cell.check_reference(reference()));
    }
    tally.conclude();
}

#[test]
fn every_pair_of_parameters_agrees_with_the_reference() {
    load_both();
    let mut tally = Tally::default();
    if let Some(cell) = single_cell() {
        run(&[cell], &mut tally, against_the_reference);
        return tally.conclude();
    }
    for batch in pair_cells().chunks(BATCH) {
        run(batch, &mut tally, against_the_reference);
    }
    tally.conclude();
}

#[test]
fn a_random_sample_of_parameters_agrees_with_the_reference() {
    if single_cell().is_some() {
        return;
    }
    load_both();
    let mut sample = Sample::start();
    let mut tally = Tally::default();
    while sample.is_running() {
        let cells: Vec<Cell> = (0..BATCH).map(|_| Cell::random(&mut sample.random)).collect();
        run(&cells, &mut tally, against_the_reference);
    }
    tally.conclude_sample();
}

/// The dimensions of the full product: codec, level, pipeline, typesize, size, content. The others
/// are random for each cell.
const PRODUCT: [usize; 6] = [0, 1, 2, 3, 4, 8];

/// Returns the cell with this index in the product.
fn product_cell(index: usize) -> Cell {
    let mut cell = Cell::random(&mut Random::new(index as u64));
    let mut rest = index;
    for dimension in PRODUCT {
        cell = cell.with(dimension, rest % DIMENSIONS[dimension]);
        rest /= DIMENSIONS[dimension];
    }
    cell
}

/// Returns the index of the part to run and the number of parts.
fn part_from_environment() -> (usize, usize) {
    let Ok(text) = std::env::var("FERROBLOSC_FULL_PART") else {
        return (1, 1);
    };
    text.split_once('/')
        .and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)))
        .filter(|&(part, parts)| (1..=parts).contains(&part))
        .unwrap_or_else(|| panic!("FERROBLOSC_FULL_PART={text} is not PART/PARTS"))
}

#[test]
#[ignore = "takes hours: `make test-long`"]
fn the_full_product_agrees_with_the_reference() {
    load_both();
    let product: usize = PRODUCT.iter().map(|&dimension| DIMENSIONS[dimension]).product();
    let (part, parts) = part_from_environment();
    let indices: Vec<usize> = (0..product).filter(|index| index % parts == part - 1).collect();
    let mut tally = Tally::default();
    for (batch, indices) in indices.chunks(BATCH).enumerate() {
        let cells: Vec<Cell> = indices.iter().map(|&index| product_cell(index)).collect();
        run(&cells, &mut tally, against_the_reference);
        if batch % 1000 == 999 {
            println!("{} of {product} cells in {parts} parts", (batch + 1) * BATCH);
        }
    }
    tally.conclude();
}
