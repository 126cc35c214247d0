//! The content of each fixture equals that which the reference reads.

use crate::common::{content, difference, expected, fixture};
use ferroblosc_formats::store::Store;

#[test]
fn every_fixture_has_the_content_that_the_reference_reads() {
    let mut failed = Vec::new();
    let mut compared = 0;
    for (name, wanted) in expected() {
        compared += 1;
        let checked = std::panic::catch_unwind(|| {
            let store = Store::open(fixture(&name)).unwrap_or_else(|error| panic!("{error}"));
            difference("", &content(&store), &wanted)
        });
        match checked {
            Ok(None) => {}
            Ok(Some(difference)) => failed.push(format!("{name}{difference:.300}")),
            Err(panic) => {
                failed.push(format!("{name}: {:?}", panic.downcast_ref::<String>()));
            }
        }
    }
    assert!(compared > 50, "{compared}");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
