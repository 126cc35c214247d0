//! The chunks in `vectors.tsv`, which the reference libraries wrote.

/// Returns the chunks by name.
pub fn vectors() -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    let lines = include_str!("../vectors.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let mut columns = line.split('\t');
        let (name, hex) = (columns.next().unwrap(), columns.nth(1).unwrap());
        let starts = (0..hex.len()).step_by(2);
        let bytes = starts.map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap());
        (name, bytes.collect())
    })
}
