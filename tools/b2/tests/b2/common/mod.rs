//! A temporary directory in which `b2` runs.

use ferroblosc_tools_testing::npy_header;
use std::ops::Deref;

/// A temporary directory of a test.
pub struct TestDir(ferroblosc_tools_testing::TestDir);

impl TestDir {
    pub fn new() -> TestDir {
        TestDir(ferroblosc_tools_testing::TestDir::new(env!("CARGO_BIN_EXE_b2")))
    }
}

impl Deref for TestDir {
    type Target = ferroblosc_tools_testing::TestDir;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Writes a `.npy` file of 32-bit integers that count from `first`.
pub fn ints(folder: &TestDir, name: &str, shape: &[usize], first: i32) {
    let count = shape.iter().product::<usize>() as i32;
    let lengths: Vec<String> = shape.iter().map(|len| format!("{len},")).collect();
    let mut npy = npy_header("'<i4'", &format!("({})", lengths.concat()), false);
    npy.extend((first..first + count).flat_map(i32::to_le_bytes));
    folder.write(name, &npy);
}

/// Returns bytes that do not compress.
pub fn noise(len: usize) -> Vec<u8> {
    let mut state = 1u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..len).map(next).collect()
}
