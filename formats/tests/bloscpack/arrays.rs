//! NumPy arrays: packing and unpacking.

use crate::common::{Scratch, fixture, iota, json};
use ferroblosc_formats::bloscpack::{self, Array, Error, PackArgs};
use ferroblosc_formats::blpk::Archive;
use ferroblosc_formats::numpy::{ArrayInfo, Dtype};

fn array(dtype: &str, shape: &[u64], data: Vec<u8>) -> Array {
    Array {
        info: ArrayInfo {
            dtype: Dtype::parse(dtype).unwrap(),
            shape: shape.to_vec(),
            fortran_order: false,
        },
        data,
    }
}

#[test]
fn arrays_round_trip_with_the_metadata_of_bloscpack() {
    for (name, array) in [
        (
            "np_f8_3d",
            array("'<f8'", &[24, 30, 5], {
                (0..3600).flat_map(|k| f64::from(k).to_le_bytes()).collect()
            }),
        ),
        ("np_0d", array("'<f8'", &[], 3_f64.to_le_bytes().to_vec())),
        ("np_empty", array("'<f8'", &[0, 3], vec![])),
    ] {
        let args = PackArgs { chunk_size: 8000, ..PackArgs::default() };
        let container = bloscpack::pack_ndarray_to_bytes(&array, &args).unwrap();
        assert_eq!(bloscpack::unpack_ndarray_from_bytes(&container, 1).unwrap(), array);
        let ours = Archive::open(container).unwrap();
        let theirs = Archive::open(fixture(&format!("{name}.blp"))).unwrap();
        assert_eq!(ours.metadata(), theirs.metadata(), "{name}");
        assert_eq!(ours.header(), theirs.header(), "{name}");
    }
}

#[test]
fn row_p12_chunks_hold_whole_items_and_large_items_count_as_bytes() {
    let three = array("'|S3'", &[500_000], vec![65; 1_500_000]);
    let args = PackArgs::default();
    let container = bloscpack::pack_ndarray_to_bytes(&three, &args).unwrap();
    let archive = Archive::open(container.clone()).unwrap();
    assert_eq!(archive.header().chunk_size, Some((1 << 20) - 1));
    assert_eq!(archive.header().typesize, 3);
    assert_eq!(bloscpack::unpack_ndarray_from_bytes(&container, 1).unwrap(), three);

    let long = array("'<U100'", &[30], iota(1500));
    let args = PackArgs { chunk_size: 1000, ..args };
    let container = bloscpack::pack_ndarray_to_bytes(&long, &args).unwrap();
    let mut archive = Archive::open(container.clone()).unwrap();
    assert_eq!(archive.header().chunk_size, Some(800));
    assert_eq!(archive.header().typesize, 1);
    assert_eq!(archive.locate(0).unwrap().chunk.header.typesize, 1);
    assert_eq!(bloscpack::unpack_ndarray_from_bytes(&container, 1).unwrap(), long);

    // An item is never split, even if the requested chunks are smaller.
    let args = PackArgs { chunk_size: 1, ..args };
    let container = bloscpack::pack_ndarray_to_bytes(&long, &args).unwrap();
    assert_eq!(Archive::open(container).unwrap().header().chunk_size, Some(400));
}

#[test]
fn row_p13_a_container_without_an_array_is_refused_before_writing() {
    let scratch = Scratch::new();
    for shape in ["[11]", "[9]", "[10,2]", "[]"] {
        let text =
            format!(r#"{{"dtype":"'<i8'","shape":{shape},"order":"C","container":"numpy"}}"#);
        let args = PackArgs { metadata: Some(json(&text)), ..PackArgs::default() };
        let container = bloscpack::pack_bytes_to_bytes(&iota(10), &args).unwrap();
        let path = scratch.file("x.blp", &container);
        let result = bloscpack::unpack_ndarray_from_bytes(&container, 1);
        assert!(matches!(result, Err(Error::ArraySize { actual: 80, .. })), "{shape}");
        let npy = scratch.path("x.npy");
        assert!(bloscpack::unpack_npy_file(&path, &npy, 1).is_err());
        assert!(!npy.exists());
        // Without a size in the header, the mismatch is detected while writing.
        let mut streamed = Vec::new();
        bloscpack::pack_stream(&iota(10)[..], None, &mut streamed, &args, &mut ()).unwrap();
        let path = scratch.file("y.blp", &streamed);
        assert!(bloscpack::unpack_npy_file(&path, &npy, 1).is_err(), "{shape}");
        assert_eq!(scratch.names(), ["x.blp", "y.blp"]);
        std::fs::remove_file(path).unwrap();
    }
    let long =
        r#"{"dtype":"'<i8'","shape":[4294967296,4294967296],"order":"C","container":"numpy"}"#;
    let args = PackArgs { metadata: Some(json(long)), ..PackArgs::default() };
    let container = bloscpack::pack_bytes_to_bytes(&iota(10), &args).unwrap();
    assert!(bloscpack::unpack_ndarray_from_bytes(&container, 1).is_err());
}

#[test]
fn invalid_npy_files_are_refused() {
    let without = bloscpack::unpack_ndarray_from_bytes(&fixture("iota_default.blp"), 1);
    assert!(matches!(without, Err(Error::NotANumpyArray)));
    for text in [
        "[1]",
        r#"{"container":"zarr"}"#,
        r#"{"container":"numpy"}"#,
        r#"{"dtype":"'<i8'","shape":[-1],"order":"C","container":"numpy"}"#,
        r#"{"dtype":"'<i8'","shape":[1.0],"order":"C","container":"numpy"}"#,
        r#"{"dtype":"'<i8'","shape":[1],"order":"K","container":"numpy"}"#,
        r#"{"dtype":"'<i8'","shape":[1],"order":1,"container":"numpy"}"#,
        r#"{"dtype":"'<i8'","shape":1,"order":"C","container":"numpy"}"#,
        r#"{"dtype":7,"shape":[1],"order":"C","container":"numpy"}"#,
        r#"{"dtype":null,"shape":[1],"order":"C","container":"numpy"}"#,
        r#"{"dtype":[["a",true]],"shape":[1],"order":"C","container":"numpy"}"#,
        r#"{"dtype":[["a","<i8",99999999999999999999]],"shape":[1],"order":"C","container":"numpy"}"#,
        r#"{"dtype":"'|O'","shape":[1],"order":"C","container":"numpy"}"#,
        r#"{"dtype":"__import__('os')","shape":[1],"order":"C","container":"numpy"}"#,
    ] {
        let args = PackArgs { metadata: Some(json(text)), ..PackArgs::default() };
        let container = bloscpack::pack_bytes_to_bytes(&iota(1), &args).unwrap();
        assert!(bloscpack::unpack_ndarray_from_bytes(&container, 1).is_err(), "{text}");
    }
    let wrong = array("'<f8'", &[3], vec![0; 23]);
    assert!(matches!(
        bloscpack::pack_ndarray_to_bytes(&wrong, &PackArgs::default()),
        Err(Error::ArraySize { expected: 24, actual: 23 })
    ));
}

#[test]
fn arrays_are_written_to_files_with_the_bytes_of_those_in_memory() {
    let scratch = Scratch::new();
    let array = array("'<i8'", &[2, 5], iota(10));
    let args = PackArgs { chunk_size: 24, ..PackArgs::default() };
    let path = scratch.path("a.blp");
    bloscpack::pack_ndarray_to_file(&array, &path, &args).unwrap();
    let bytes = bloscpack::pack_ndarray_to_bytes(&array, &args).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    assert_eq!(bloscpack::unpack_ndarray_from_file(&path, 1).unwrap(), array);
    let mut npy = Vec::new();
    array.to_npy(&mut npy).unwrap();
    let too_short = Array::from_npy(&npy[..npy.len() - 1]).unwrap_err();
    assert_eq!(too_short.to_string(), "not a .npy file: there are too few items");
    assert_eq!(Array::from_npy(&[&npy[..], b"more"].concat()[..]).unwrap(), array);
}

#[test]
fn npy_files_round_trip() {
    let scratch = Scratch::new();
    let mut npy = Vec::new();
    let mut original = array("'<i4'", &[6, 10], iota(30));
    original.info.fortran_order = true;
    original.to_npy(&mut npy).unwrap();
    let input = scratch.file("in.npy", &npy);
    let (packed, output) = (scratch.path("x.blp"), scratch.path("out.npy"));
    bloscpack::pack_npy_file(&input, &packed, &PackArgs::default()).unwrap();
    bloscpack::unpack_npy_file(&packed, &output, 2).unwrap();
    assert_eq!(std::fs::read(&output).unwrap(), npy);
    assert_eq!(bloscpack::unpack_ndarray_from_file(&packed, 1).unwrap(), original);
    let short = scratch.file("short.npy", &npy[..npy.len() - 1]);
    assert!(bloscpack::pack_npy_file(&short, &packed, &PackArgs::default()).is_err());
}
