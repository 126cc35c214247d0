//! Compares `docs/errors.md` with `blosc2.h` and the code.

use super::markdown;
use ferroblosc::{Error, blosc1};

/// Returns the table rows with this number of columns that begin with a negative code.
fn rows(columns: usize) -> Vec<(i32, Vec<String>)> {
    let document = markdown::document("docs/errors.md");
    let rows = document.rows(|cell| cell.starts_with('-') && cell.len() > 1);
    let rows = rows.into_iter().filter(|row| row.len() == columns);
    let owned = |row: Vec<&str>| row.into_iter().map(|cell| cell.replace('`', "")).collect();
    rows.filter_map(|row| Some((row[0].parse().ok()?, owned(row)))).collect()
}

/// Returns the names and values of the header's error codes, without success.
fn header() -> Vec<(String, i32)> {
    let header = crate::text("include/blosc2.h");
    let lines = header.lines().filter_map(|line| {
        let (name, code) = line.trim().strip_prefix("BLOSC2_ERROR_")?.split_once(" = ")?;
        Some((name.to_owned(), code.trim_end_matches(',').parse().ok()?))
    });
    lines.filter(|&(_, code)| code != 0).collect()
}

#[test]
fn the_table_matches_the_header_in_names_values_and_order() {
    let table = rows(5).into_iter().map(|(code, row)| (row[1].clone(), code));
    assert_eq!(table.collect::<Vec<_>>(), header());
    assert_eq!(header().len(), 37);
}

#[test]
fn the_table_matches_the_variants_and_texts_of_the_code() {
    for (code, row) in rows(5) {
        let error = Error::from_code(code);
        assert_eq!(row[2], format!("{error:?}"), "{code}");
        assert_eq!(row[3], error.message(), "{code}");
        assert!(row[4].len() > 20, "{code}: no advice");
    }
}

#[test]
fn the_blosc_1_codes_match_the_code() {
    use blosc1::Error::{CodecSupport, Failure, InvalidParam, Version};
    let table = rows(3).into_iter().map(|(code, row)| (code, row[1].clone()));
    let known = [Failure, CodecSupport, Version, InvalidParam];
    let known = known.map(|error| (error.code(), format!("{error:?}")));
    assert_eq!(table.collect::<Vec<_>>(), known);
}
