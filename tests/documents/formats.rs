//! Checks that the frame in `docs/formats.md` is valid.

use super::markdown;
use ferroblosc::chunk::DParams;
use ferroblosc::schunk::SChunk;

/// Parses a hex dump: each line has an offset, two spaces, hex bytes, and an optional comment after
/// more spaces.
fn bytes(lines: &[String]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines {
        let (position, rest) = line.split_once("  ").unwrap();
        assert_eq!(usize::from_str_radix(position, 16), Ok(bytes.len()), "{line}");
        let digits = rest.split("  ").next().unwrap();
        let pairs = digits.split(' ');
        bytes.extend(pairs.map(|pair| u8::from_str_radix(pair, 16).expect(line)));
    }
    bytes
}

#[test]
fn the_documented_frame_is_valid() {
    let document = markdown::document("docs/formats.md");
    let mut dumps = document.blocks.iter().filter(|block| block.lines[0].starts_with("0000  "));
    let frame = bytes(&dumps.next().unwrap().lines);
    assert_eq!(frame.len(), 298);
    let schunk = SChunk::from_bytes(&frame, DParams::default()).unwrap();
    let mut data = [0; 32];
    assert_eq!(schunk.decompress(0, &mut data), Ok(32));
    let numbers: Vec<u8> = (1..=8i32).flat_map(i32::to_le_bytes).collect();
    assert_eq!(data[..], numbers);
    assert_eq!(schunk.metalayer("m").unwrap(), [1, 2, 3]);
    assert_eq!(schunk.vlmetalayer("v").unwrap(), b"abc");
}
