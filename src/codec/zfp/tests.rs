//! Known streams, bounds of the loss, and invalid streams.

use super::*;
use crate::blockshape::tests::Array;
use proptest::prelude::*;

fn call(array: &Array, meta: u8) -> CodecCall<'_> {
    CodecCall { level: 5, meta, ctx: array.call_context() }
}

/// Returns a smooth curve, the data of the known streams.
fn curve(items: usize) -> Vec<f64> {
    let value = |i: usize| (0.05 * i as f64).sin() * 10.0 + 0.01 * i as f64;
    (0..items).map(value).collect()
}

fn bytes_of(values: &[f64], typesize: usize) -> Vec<u8> {
    match typesize {
        4 => values.iter().flat_map(|&value| (value as f32).to_ne_bytes()).collect(),
        _ => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
    }
}

fn values_of(bytes: &[u8], typesize: usize) -> Vec<f64> {
    match typesize {
        4 => bytes.as_chunks().0.iter().map(|item| f64::from(f32::from_ne_bytes(*item))).collect(),
        _ => bytes.as_chunks().0.iter().map(|item| f64::from_ne_bytes(*item)).collect(),
    }
}

fn encode(codec: &Zfp, array: &Array, meta: u8, block: &[u8]) -> Vec<u8> {
    let mut dest = vec![0; block.len()];
    let len = codec.encode(&call(array, meta), block, &mut dest).unwrap();
    dest.truncate(len);
    dest
}

fn decode(codec: &Zfp, array: &Array, meta: u8, stream: &[u8], len: usize) -> Result<Vec<u8>> {
    let mut dest = vec![0xEE; len];
    let made = codec.decode(&call(array, meta), stream, &mut dest)?;
    assert_eq!(made, len);
    Ok(dest)
}

#[test]
fn known_streams_are_written() {
    let array = Array::new(4, &[64]);
    let block = bytes_of(&curve(64), 4);
    let known: [(Zfp, u8, usize, u128); 3] = [
        (Zfp::Accuracy, -3i8 as u8, 128, 0x01ED_1420_53DA_0D0E_B4BA_0098_9CC4_4541),
        (Zfp::Precision, 1, 48, 0x01ED_140C_B4BA_14B4_B015_B4B2_1DB4_8083),
        (Zfp::Rate, 37, 96, 0x01ED_1420_53DA_8156_1700_9353_410B_1BA6),
    ];
    for (codec, meta, len, start) in known {
        let stream = encode(&codec, &array, meta, &block);
        assert_eq!(stream.len(), len);
        assert_eq!(stream[..16], start.to_be_bytes());
    }
    for meta in [1, 3] {
        assert_eq!(encode(&Zfp::Rate, &array, meta, &block).len(), 24);
    }
}

#[test]
fn the_accuracy_bounds_the_error_in_any_number_of_dimensions() {
    for shape in [&[100][..], &[9, 14], &[4, 5, 6], &[4, 5, 4, 7]] {
        for typesize in [4, 8] {
            let array = Array::new(typesize as i32, shape);
            let values = curve(shape.iter().product::<i32>() as usize);
            let block = bytes_of(&values, typesize);
            for exponent in [-3i8, -1, 0] {
                let meta = exponent as u8;
                let stream = encode(&Zfp::Accuracy, &array, meta, &block);
                assert!(!stream.is_empty() && stream.len() < block.len());
                let back = decode(&Zfp::Accuracy, &array, meta, &stream, block.len()).unwrap();
                for (was, is) in values_of(&block, typesize).iter().zip(values_of(&back, typesize))
                {
                    let bound = 10f64.powi(i32::from(exponent));
                    assert!((was - is).abs() <= bound, "{shape:?}: {was} became {is}");
                }
            }
        }
    }
}

#[test]
fn unsupported_arrays_are_rejected_and_other_streams_stored_raw() {
    let block = [1; 1024];
    let mut dest = [0; 1024];
    for (typesize, shape) in
        [(2, &[512][..]), (4, &[2, 128]), (4, &[4, 4, 4, 4, 1]), (16, &[64]), (4, &[0])]
    {
        let array = Array::new(typesize, shape);
        let result = Zfp::Rate.encode(&call(&array, 50), &block, &mut dest);
        assert_eq!(result, Err(Error::Data), "{typesize}, {shape:?}");
    }
    let array = Array::new(4, &[16, 16]);
    let result = Zfp::Rate.encode(&call(&array, 50), &block[..256], &mut dest);
    assert_eq!(result, Ok(0), "one stream of four");
    let nowhere = CodecCall { ctx: Default::default(), ..call(&array, 50) };
    assert_eq!(Zfp::Rate.encode(&nowhere, &block, &mut dest), Ok(0));
    assert_eq!(Zfp::Rate.decode(&nowhere, &block, &mut dest), Err(Error::Data));
    let larger = Zfp::Rate.decode(&call(&array, 50), &block, &mut dest[..1020]);
    assert_eq!(larger, Err(Error::Data), "a shape larger than the block");
}

#[test]
fn row_c66_streams_that_do_not_fit_are_stored_raw() {
    let array = Array::new(4, &[17]);
    let block = bytes_of(&curve(17), 4);
    let call = call(&array, 70);
    let mut dest = vec![0; block.len()];
    let len = Zfp::Rate.encode(&call, &block, &mut dest).unwrap();
    assert!(0 < len && len < block.len());
    for capacity in 0..len {
        assert_eq!(
            Zfp::Rate.encode(&call, &block, &mut dest[..capacity]),
            Ok(0),
            "{capacity} bytes"
        );
    }
    assert_eq!(Zfp::Rate.encode(&call, &block, &mut dest[..len]), Ok(len));
}

#[test]
fn row_c69_truncated_streams_are_padded_with_zeros() {
    let array = Array::new(8, &[12, 20]);
    let block = bytes_of(&curve(240), 8);
    for (codec, meta) in [(Zfp::Accuracy, -6i8 as u8), (Zfp::Precision, 30), (Zfp::Rate, 40)] {
        let stream = encode(&codec, &array, meta, &block);
        for len in [0, 1, 7, 8, 9, stream.len() / 2, stream.len() - 1] {
            let mut padded = stream.clone();
            padded[len..].fill(0);
            padded.resize(4 * block.len(), 0);
            assert_eq!(
                decode(&codec, &array, meta, &stream[..len], block.len()),
                decode(&codec, &array, meta, &padded, block.len()),
                "{len} bytes"
            );
        }
    }
}

#[test]
fn row_c67_partial_decoding_equals_full_decoding() {
    for shape in [&[37][..], &[8, 12], &[5, 6, 7], &[4, 5, 4, 6]] {
        for typesize in [4, 8] {
            let array = Array::new(typesize as i32, shape);
            let items = shape.iter().product::<i32>() as usize;
            let block = bytes_of(&curve(items), typesize);
            let stream = encode(&Zfp::Rate, &array, 25, &block);
            assert!(!stream.is_empty());
            let whole = decode(&Zfp::Rate, &array, 25, &stream, block.len()).unwrap();
            let width = *shape.last().unwrap() as usize;
            for first in 0..items {
                for count in 1..=5.min(items - first) {
                    let mut part = vec![0; count * typesize];
                    let (call, from) = (call(&array, 25), first * typesize);
                    let done = Zfp::Rate.decode_part(&call, &stream, block.len(), from, &mut part);
                    let x = first % width;
                    let is_one_row = x % 4 + count <= 4 && x + count <= width;
                    assert_eq!(done, is_one_row.then_some(Ok(())), "{shape:?}: {count} at {first}");
                    if is_one_row {
                        assert_eq!(
                            part,
                            whole[from..][..part.len()],
                            "{shape:?}: {count} at {first}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn forged_shapes_do_not_inflate_the_decoders_memory() {
    // Cells of 4^4 items, with 4 items in each.
    let array = Array::new(8, &[1, 1, 1, 1 << 20]);
    let mut dest = vec![0xEE; 8 << 20];
    let rejected = Zfp::Rate.decode(&call(&array, 255), &[7; 100], &mut dest);
    assert_eq!(rejected, Err(Error::Data));
    let part = Zfp::Rate.decode_part(&call(&array, 255), &[7; 100], 8 << 20, 0, &mut [0; 8]);
    assert_eq!(part, None);
    for codec in [Zfp::Accuracy, Zfp::Precision] {
        let made = codec.decode(&call(&array, 100), &[7; 100], &mut dest);
        assert_eq!(made, Ok(8 << 20));
        assert!(dest[4 << 20..].iter().all(|&byte| byte == 0));
    }
}

proptest! {
    #[test]
    fn any_bytes_decode_or_are_rejected(
        stream in proptest::collection::vec(any::<u8>(), 0..600),
        shape in proptest::collection::vec(1i32..9, 1..5),
        wide in any::<bool>(),
        meta in any::<u8>(),
        offset in 0usize..4,
    ) {
        let typesize = if wide { 8 } else { 4 };
        let array = Array::new(typesize, &shape);
        let len = shape.iter().product::<i32>() as usize * typesize as usize;
        let mut dest = vec![0; len + offset];
        for codec in [Zfp::Accuracy, Zfp::Precision, Zfp::Rate] {
            let made = codec.decode(&call(&array, meta), &stream, &mut dest[offset..]);
            let is_rejected = matches!(codec, Zfp::Rate) && made == Err(Error::Data);
            prop_assert!(made == Ok(len) || is_rejected, "{:?}", made);
            let part = &mut dest[..typesize as usize];
            let _ = codec.decode_part(&call(&array, meta), &stream, len, 0, part);
        }
    }

    #[test]
    fn alignment_does_not_matter(offset in 0usize..8, meta in 0u8..100) {
        let array = Array::new(8, &[5, 7]);
        let block = bytes_of(&curve(35), 8);
        let mut moved = vec![0; offset];
        moved.extend_from_slice(&block);
        prop_assert_eq!(
            encode(&Zfp::Rate, &array, meta, &moved[offset..]),
            encode(&Zfp::Rate, &array, meta, &block)
        );
    }
}
