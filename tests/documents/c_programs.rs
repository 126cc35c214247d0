//! Compares the C programs that count failed checks with the statuses that they return.

use crate::{files, text};

/// The expressions that are not 0 if a check failed, from `check.h` and `schunks.h`.
const STATUSES: [&str; 3] = ["checks_failed()", "leave_folder()", "end()"];

#[test]
fn c_programs_return_whether_a_check_failed() {
    let mut checked = 0;
    for path in files("c-tests", ".c") {
        let source = std::fs::read_to_string(&path).unwrap();
        let Some((_, main)) = source.split_once("\nint main(") else { continue };
        if source.contains("CHECK") {
            let has_status = STATUSES.iter().any(|status| main.contains(status));
            assert!(has_status, "{}", path.display());
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked}");
    assert!(text("c-tests/check.h").contains("int checks_failed(void)"));
}
