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

/// The source of a library that writes the path of each synced file, and of each renamed one, to
/// the file `log`.
pub const LOGGER: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
static void note(const char *what, const char *path)
{
    FILE *file = fopen("log", "a");
    if (file) {
        fprintf(file, "%s %s\n", what, path);
        fclose(file);
    }
}
int fsync(int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path - 1);
    path[len < 0 ? 0 : len] = 0;
    note("sync", path);
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}
int rename(const char *from, const char *to)
{
    note("rename", to);
    return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(from, to);
}
"#;
