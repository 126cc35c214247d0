//! Records by `#[derive(Item)]`.

use ferroblosc::b2nd::Array;
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::item::{DateTime64, FixedBytes, unit};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc::{Error, Item};

#[derive(Clone, Copy, Debug, PartialEq, Item)]
#[repr(C)]
struct Reading {
    time: DateTime64<unit::Second>,
    station: FixedBytes<7>,
    r#type: bool,
    wind: [[f32; 2]; 3],
}

/// A record whose fields are not aligned, with another record as a field.
#[derive(Clone, Copy, Debug, PartialEq, Item)]
#[repr(C, packed)]
struct Packed(u8, Pair, i64);

#[derive(Clone, Copy, Debug, PartialEq, Item)]
#[repr(C)]
struct Pair {
    a: bool,
    b: i8,
}

#[derive(Clone, Copy, Debug, PartialEq, Item)]
#[repr(transparent)]
struct Celsius(f32);

#[derive(Clone, Copy, Debug, PartialEq, Item)]
#[repr(C, align(8))]
struct Aligned {
    value: u32,
    #[item(padding)]
    _padding: [u8; 4],
}

#[test]
fn dtypes_are_those_of_numpy() {
    assert_eq!(
        Reading::dtype(),
        "[('time', '<M8[s]'), ('station', '|S7'), ('type', '|b1'), ('wind', '<f4', (3, 2))]"
    );
    let nested = "[('f0', '|u1'), ('f1', [('a', '|b1'), ('b', '|i1')]), ('f2', '<i8')]";
    assert_eq!(Packed::dtype(), nested);
    assert!(Packed::matches(nested));
    // As NumPy prints it.
    assert!(Packed::matches("[('f0', 'u1'), ('f1', [('a', '?'), ('b', 'i1')]), ('f2', '<i8')]"));
    assert!(!Packed::matches("[('f0', 'u1'), ('f1', [('a', '?'), ('c', 'i1')]), ('f2', '<i8')]"));
    assert_eq!(Celsius::dtype(), "<f4");
    assert_eq!(
        Aligned::dtype(),
        "{'names': ['value'], 'formats': ['<u4'], 'offsets': [0], 'itemsize': 8}"
    );
    for own in [Reading::dtype(), Celsius::dtype(), Aligned::dtype()] {
        assert_eq!(Reading::matches(&own), own == Reading::dtype());
        assert_eq!(Celsius::matches(&own), own == Celsius::dtype());
        assert_eq!(Aligned::matches(&own), own == Aligned::dtype());
    }
}

#[test]
fn records_are_read_and_written() {
    let reading = |n: i64| Reading {
        time: DateTime64::new(n),
        station: FixedBytes::new(format!("S{n}")).unwrap(),
        r#type: n % 2 == 0,
        wind: [[n as f32, 1.0], [2.0, 3.0], [4.0, 5.0]],
    };
    let readings: Vec<Reading> = (0..100).map(reading).collect();
    let params = CParams::default();
    let mut array = Array::from_items(Storage::memory(), params, [10, 10], &readings).unwrap();
    assert_eq!(array.schunk().typesize(), 40);
    array.set((3, 4), &[reading(-1)]).unwrap();
    assert_eq!(array.get::<Reading>((3, 3..5)).unwrap(), [reading(33), reading(-1)]);
    assert_eq!(array.get::<[u8; 40]>((0, 0)).unwrap()[0][8..10], *b"S0");
    let error = array.get::<Packed>((0, 0)).unwrap_err();
    assert_eq!(error, Error::InvalidParam);
    assert!(error.to_string().contains("records::Packed has the dtype [('f0', "), "{error}");

    let packed =
        [Packed(1, Pair { a: true, b: -2 }, i64::MIN), Packed(0, Pair { a: false, b: 3 }, 4)];
    let array = Array::from_items(Storage::frame(), CParams::default(), [2], &packed).unwrap();
    assert_eq!(array.get::<Packed>(..).unwrap(), packed);
    let degrees = [Celsius(1.5), Celsius(-2.5)];
    let array = Array::from_items(Storage::frame(), CParams::default(), [2], &degrees).unwrap();
    assert_eq!(array.get::<f32>(..).unwrap(), [1.5, -2.5]);
}

#[test]
fn invalid_bytes_of_fields_become_valid() {
    let params = CParams::default().typesize(11);
    let mut schunk = SChunk::create(Storage::memory(), params, DParams::default()).unwrap();
    schunk.append(&[[1, 255, 2, 3, 0, 0, 0, 0, 0, 0, 0], [7; 11]].concat()).unwrap();
    let read = schunk.get::<Packed>(..).unwrap();
    assert_eq!(read[0], Packed(1, Pair { a: true, b: 2 }, 3));
    assert_eq!(read[1], Packed(7, Pair { a: true, b: 7 }, 0x0707_0707_0707_0707));
}
