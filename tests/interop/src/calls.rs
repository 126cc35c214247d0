//! Named calls and their expected results: the tables of the tests of invalid arguments.
//!
//! Each call runs in a forked child, because many change global state and some crash. If a decision
//! row differs from the reference, only our library runs the call, and must return the row's
//! result.

use std::ffi::{CStr, c_char};

use crate::data::{Content, digest};
use crate::ffi::Cparams;
use crate::isolate::{self, MOST_VALUES, Outcome, Values};
use crate::library::{Library, ours, reference};

/// The code for an invalid parameter.
pub const INVALID_PARAM: i32 = -12;

/// The expected result of a call.
pub enum Expect {
    /// The reference's result.
    Same,
    /// These codes, by a decision row.
    Row(&'static str, Vec<i32>),
    /// These codes, which the interface promises; the reference may crash instead.
    Promised(Vec<i32>),
}
use Expect::{Promised, Row, Same};

type Call = Box<dyn Fn(&Library) -> Vec<i32>>;

/// The result reported for a context that is NULL.
pub const NO_CONTEXT: i32 = i32::MIN;

/// A named call and its expectation.
pub struct Case {
    name: String,
    expect: Expect,
    call: Call,
}

/// Creates a named case.
pub fn case(
    name: impl Into<String>,
    expect: Expect,
    call: impl Fn(&Library) -> Vec<i32> + 'static,
) -> Case {
    Case { name: name.into(), expect, call: Box::new(call) }
}

/// Returns the codes as values to report; long lists are folded into a digest.
fn values(codes: &[i32]) -> Values {
    if codes.len() <= MOST_VALUES {
        return codes.iter().map(|&code| i64::from(code)).collect();
    }
    let bytes: Vec<u8> = codes.iter().flat_map(|code| code.to_le_bytes()).collect();
    vec![digest(&bytes)]
}

fn outcome(library: &Library, case: &Case) -> Outcome {
    isolate::once(|| Ok(values(&(case.call)(library))))
}

/// Runs every case.
///
/// # Panics
/// Panics if a result differs from the expected one, with all such cases.
pub fn check(cases: Vec<Case>) {
    ours();
    reference();
    let mut complaints = String::new();
    for case in &cases {
        let mine = outcome(ours(), case);
        let (wanted, by) = match &case.expect {
            Same => (outcome(reference(), case), "the reference"),
            Row(row, codes) => (Outcome::Values(values(codes)), *row),
            Promised(codes) => (Outcome::Values(values(codes)), "the interface"),
        };
        if mine != wanted {
            complaints += &format!("  {}: {mine:?}\n    instead of {wanted:?} ({by})\n", case.name);
        }
    }
    assert!(complaints.is_empty(), "of {} calls, these differ:\n{complaints}", cases.len());
}

/// Returns a digest of a C string that fits a code, or 0 for NULL.
///
/// # Safety
/// `pointer` is NULL or points to NUL-terminated text.
pub unsafe fn text(pointer: *const c_char) -> i32 {
    if pointer.is_null() {
        return 0;
    }
    // SAFETY: not NULL, so it points to NUL-terminated text.
    digest(unsafe { CStr::from_ptr(pointer) }.to_bytes()) as i32 | 1
}

/// Returns increasing integers.
pub fn ramp(len: usize) -> Vec<u8> {
    Content::Ramp.make(len, 4, 5)
}

/// Returns incompressible bytes.
pub fn random(len: usize) -> Vec<u8> {
    Content::Random.make(len, 1, 5)
}

/// Returns parameters for LZ4 with a shuffle of 4-byte items.
pub fn lz4() -> Cparams {
    Cparams { compcode: 1, typesize: 4, ..Cparams::default() }
}

/// Returns the chunk that most decoding cases start from: 4000 bytes in blocks of 1000, not
/// special.
///
/// # Panics
/// Panics if the reference cannot make it.
pub fn good_chunk() -> Vec<u8> {
    let source = Content::Sorted.make(4000, 4, 5);
    let mut chunk = vec![0; source.len() + 32];
    let context = reference().compressor(Cparams { blocksize: 1000, ..lz4() }).expect("a context");
    let size = context.compress(&source, &mut chunk);
    chunk.truncate(usize::try_from(size).expect("a chunk"));
    chunk
}
