//! Named calls and what they must come to: the tables behind the tests of odd arguments.
//!
//! Each call runs in a child of its own, since many change global state and some crash. Where a
//! decision row says otherwise than the reference does, only our library is asked, and must give
//! what the row says.

use std::ffi::{CStr, c_char};

use crate::data::{Content, digest};
use crate::ffi::Cparams;
use crate::isolate::{self, MOST_VALUES, Outcome, Values};
use crate::library::{Library, ours, reference};

/// The code for a parameter that makes no sense.
pub const INVALID_PARAM: i32 = -12;

/// What a call must come to.
pub enum Expect {
    /// The same as with the reference.
    Same,
    /// These codes, by a decision row.
    Row(&'static str, Vec<i32>),
    /// These codes, which the interface promises; the reference may crash on its way there.
    Promised(Vec<i32>),
}
use Expect::{Promised, Row, Same};

type Call = Box<dyn Fn(&Library) -> Vec<i32>>;

/// What a call reports when it gets NULL for a context.
pub const NO_CONTEXT: i32 = i32::MIN;

/// A named call and its expectation.
pub struct Case {
    name: String,
    expect: Expect,
    call: Call,
}

/// A call, its name for messages and its expectation.
pub fn case(
    name: impl Into<String>,
    expect: Expect,
    call: impl Fn(&Library) -> Vec<i32> + 'static,
) -> Case {
    Case {
        name: name.into(),
        expect,
        call: Box::new(call),
    }
}

/// The codes as an item reports them; too many are folded into a digest.
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
/// When a result is not the expected one, naming all such cases.
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
            complaints += &format!(
                "  {}: {mine:?}\n    instead of {wanted:?} ({by})\n",
                case.name
            );
        }
    }
    assert!(
        complaints.is_empty(),
        "of {} calls, these differ:\n{complaints}",
        cases.len()
    );
}

/// A digest of a C string, 0 for NULL, as a number that fits a code.
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

/// Integers counting up.
pub fn ramp(len: usize) -> Vec<u8> {
    Content::Ramp.make(len, 4, 5)
}

/// Incompressible bytes.
pub fn random(len: usize) -> Vec<u8> {
    Content::Random.make(len, 1, 5)
}

/// LZ4 with shuffle on items of four bytes.
pub fn lz4() -> Cparams {
    Cparams {
        compcode: 1,
        typesize: 4,
        ..Cparams::default()
    }
}

/// The chunk most decoding cases start from: 4000 bytes in blocks of 1000, no special value.
///
/// # Panics
/// When the reference cannot make it.
pub fn good_chunk() -> Vec<u8> {
    let source = Content::Sorted.make(4000, 4, 5);
    let mut chunk = vec![0; source.len() + 32];
    let context = reference()
        .compressor(Cparams {
            blocksize: 1000,
            ..lz4()
        })
        .expect("a context");
    let size = context.compress(&source, &mut chunk);
    chunk.truncate(usize::try_from(size).expect("a chunk"));
    chunk
}
