//! Compares the names of codecs in the npm package with those of the library.

use crate::text;
use ferroblosc::codec;

#[test]
fn the_npm_package_names_all_codecs() {
    let source = text("packaging/npm/lib/frame.js");
    let (_, table) = source.split_once("const PLUGIN_CODECS = {").unwrap();
    let (table, _) = table.split_once('}').unwrap();
    let named = |id: u8| codec::compcode_to_compname(id).map(|name| (id, name));
    let expected: Vec<String> = (32..=u8::MAX)
        .filter_map(named)
        .map(|(id, name)| format!("{id}: \"{}\",", name.to_str().unwrap()))
        .collect();
    let found: Vec<&str> = table.split_whitespace().collect();
    assert_eq!(found.join(" "), expected.join(" "));
}
