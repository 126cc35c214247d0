//! Metadata of arrays without chunks: fill values and extensions.

use super::*;

/// Writes `.zarray` or `zarr.json` of an array without chunks.
fn write_metadata(path: &Path, metadata: &str) {
    fs::create_dir_all(path).unwrap();
    let name = if metadata.contains("data_type") { "zarr.json" } else { ".zarray" };
    fs::write(path.join(name), metadata).unwrap();
}

/// Returns the metadata of an array of version 3 with one chunk of three items.
fn v3(data_type: &str, fill_value: &str, more: &str) -> String {
    format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":[3],"data_type":{data_type},
            "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[3]}}}},
            "chunk_key_encoding":"default","fill_value":{fill_value},
            "codecs":[{{"name":"bytes","configuration":{{"endian":"little"}}}}]{more}}}"#
    )
}

/// Returns the metadata of an array of version 2 with one chunk of three items.
fn v2(dtype: &str, fill_value: &str, more: &str) -> String {
    format!(
        r#"{{"zarr_format":2,"shape":[3],"chunks":[3],"dtype":{dtype},"order":"C",
            "compressor":null,"filters":null,"fill_value":{fill_value}{more}}}"#
    )
}

#[test]
fn extensions_that_may_be_ignored_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zarr");
    let more = r#","x":{"must_understand":false,"y":1},"z":null,"attributes":null"#;
    write_metadata(&path, &v3("\"int32\"", "5", more));
    assert_eq!(items(&path).unwrap().2, [5, 0, 0, 0].repeat(3));
}

/// A conversion keeps the bytes of missing chunks, and the fill value in the metadata.
#[test]
fn fill_values_of_all_dtypes_survive_conversions() {
    let folder = tempfile::tempdir().unwrap();
    let record =
        r#"{"name":"structured","configuration":{"fields":[["a","int16"],["b","float32"]]}}"#;
    let of_struct = r#"{"name":"struct","configuration":{"fields":[
        {"name":"a","data_type":"int16"},{"name":"b","data_type":"float32"}]}}"#;
    let fixed = |name: &str, len: u32| {
        format!(r#"{{"name":"{name}","configuration":{{"length_bytes":{len}}}}}"#)
    };
    let time = |name: &str, unit: &str| {
        format!(r#"{{"name":"numpy.{name}","configuration":{{"unit":"{unit}","scale_factor":1}}}}"#)
    };
    let item = [7, 0, 0, 0, 128, 255];
    // Metadata, the item, and the fill value in version 3 after conversions.
    let cases: Vec<(String, Vec<u8>, &str)> = vec![
        // R's missing number is a signalling NaN with a payload.
        (
            v3("\"float64\"", "\"0x7ff00000000007a2\"", ""),
            0x7ff0_0000_0000_07a2_u64.to_le_bytes().to_vec(),
            "\"0x7ff00000000007a2\"",
        ),
        (
            v3("\"float32\"", "\"0xffc00001\"", ""),
            0xffc0_0001_u32.to_le_bytes().to_vec(),
            "\"0xffc00001\"",
        ),
        (v3("\"float16\"", "\"NaN\"", ""), vec![0, 0x7e], "\"NaN\""),
        (
            v3("\"complex64\"", "[\"-Infinity\",\"0x7fc00001\"]", ""),
            vec![0, 0, 128, 255, 1, 0, 192, 127],
            "[\"-Infinity\",\"0x7fc00001\"]",
        ),
        (v3(record, "\"BwAAAID/\"", ""), item.to_vec(), "\"BwAAAID/\""),
        (v3(of_struct, r#"{"a":7,"b":"-Infinity"}"#, ""), item.to_vec(), "\"BwAAAID/\""),
        (v2(r#"[["a","<i2"],["b","<f4"]]"#, "\"BwAAAID/\"", ""), item.to_vec(), "\"BwAAAID/\""),
        (v3(&fixed("null_terminated_bytes", 3), "\"6QA=\"", ""), vec![0xe9, 0, 0], "\"6QAA\""),
        (v2("\"|S3\"", "\"6QA=\"", ""), vec![0xe9, 0, 0], "\"6QAA\""),
        (v3("\"r16\"", "[0,9]", ""), vec![0, 9], "\"AAk=\""),
        (v3(&fixed("raw_bytes", 2), "\"AAk=\"", ""), vec![0, 9], "\"AAk=\""),
        (
            v3(&fixed("fixed_length_utf32", 8), "\"\u{1f600}\"", ""),
            vec![0, 0xf6, 1, 0, 0, 0, 0, 0],
            "\"\\ud83d\\ude00\"",
        ),
        (v2("\">U1\"", "\"x\"", ""), vec![0, 0, 0, b'x'], "\"x\""),
        (
            v3(&time("datetime64", "us"), "\"NaT\"", ""),
            i64::MIN.to_le_bytes().to_vec(),
            "-9223372036854775808",
        ),
        (v2("\">m8[ns]\"", "5", ""), 5_i64.to_be_bytes().to_vec(), "5"),
        (v3(&time("timedelta64", "\u{3bc}s"), "-2", ""), (-2_i64).to_le_bytes().to_vec(), "-2"),
        (v3("\"bool\"", "true", ""), vec![1], "true"),
        (v2("\">f8\"", "-0.0", ""), (-0.0_f64).to_be_bytes().to_vec(), "-0.0"),
        (
            v2("\"<u8\"", "1.8e19", ""),
            18_000_000_000_000_000_000_u64.to_le_bytes().to_vec(),
            "18000000000000000000",
        ),
    ];
    let v3_directory = Destination::Zarr { version: Version::V3, is_zip: false };
    for (number, (metadata, item, shown)) in cases.into_iter().enumerate() {
        let path = folder.path().join(format!("{number}.zarr"));
        write_metadata(&path, &metadata);
        let read = items(&path).unwrap_or_else(|error| panic!("{metadata}: {error}"));
        assert_eq!(read.2, item.repeat(3), "{metadata}");
        let (old, new) = (folder.path().join("old.zarr"), folder.path().join("new.zarr"));
        let array = folder.path().join("a.b2nd");
        let converted = convert(&path, &new, v3_directory).unwrap();
        assert_eq!(converted.lost, Vec::<String>::new(), "{metadata}");
        assert!(items(&new).unwrap() == read, "{metadata}");
        let text = fs::read_to_string(new.join("zarr.json")).unwrap();
        assert!(text.contains(&format!("\"fill_value\":{shown},")), "{shown} in {text}");
        fs::remove_dir_all(&new).unwrap();
        convert(&path, &array, B2ND).unwrap();
        assert!(items(&array).unwrap() == read, "{metadata}");
        // Version 2 may lack a form of the fill value, but the items remain.
        convert(&array, &old, V2).unwrap();
        assert!(items(&old).unwrap() == read, "{metadata}");
        convert(&array, &new, v3_directory).unwrap();
        assert!(items(&new).unwrap() == read, "{metadata}");
        for made in [old, new] {
            fs::remove_dir_all(made).unwrap();
        }
        fs::remove_file(array).unwrap();
    }
}

/// Legal metadata that this library does not support: the error names the cause.
#[test]
fn unsupported_metadata_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let filters = |filters: &str| v2("\"<i4\"", "0", "").replace("\"filters\":null", filters);
    for (metadata, expected) in [
        (v2("\"|O\"", "0", ""), "the dtype \"|O\" is not supported"),
        (v2("\"<f4x\"", "0", ""), "the dtype \"<f4x\" is not supported"),
        (v2(r#"[["a","|O"],["b","<f4"]]"#, "0", ""), r#"the dtype [["a","|O"],["b","<f4"]]"#),
        (v2(r#"[[["t","a"],"<i4"]]"#, "0", ""), r#"the dtype [[["t","a"],"<i4"]]"#),
        (v2("\"|S0\"", "0", ""), "the dtype \"|S0\" is not supported"),
        (filters(r#""filters":[{"id":"delta","dtype":"<i4"}]"#), "the codec \"delta\""),
        (filters(r#""filters":[{"id":"vlen-utf8"}]"#), "the codec \"vlen-utf8\""),
        (filters(r#""filters":[{"id":"crc32c","location":"start"}]"#), "the codec \"crc32c\""),
        (filters(r#""filters":{}"#), "\"filters\" is not a list"),
        (filters(r#""filters":[{}]"#), "a codec has no name"),
        (
            filters(&format!(r#""filters":[{}]"#, vec![r#"{"id":"zlib"}"#; 17].join(","))),
            "a list of more than 16 codecs is not supported",
        ),
        (v2("\"<i4\"", "0", r#","dimension_separator":":""#), "neither \".\" nor \"/\""),
        (v2("\"<i4\"", "0", "").replace("\"C\"", "\"A\""), "neither \"C\" nor \"F\""),
        (v2("\"<i4\"", "2.5", ""), "the fill value 2.5 does not fit the dtype"),
        (v2("\"<i4\"", "\"x\"", ""), "the fill value \"x\" does not fit the dtype"),
        (v2("\"<f4\"", "\"0x7fc0\"", ""), "the fill value \"0x7fc0\" does not fit the dtype"),
        (v2("\"<c8\"", "[1,2,3]", ""), "the fill value [1,2,3] does not fit the dtype"),
        (v2("\"|S2\"", "\"!\"", ""), "the fill value \"!\" does not fit the dtype"),
        (v2("\"|S2\"", "7", ""), "the fill value 7 does not fit the dtype"),
        (v2("\"<i4\"", "0", "").replace("format\":2", "format\":1"), "this version of the format"),
        (
            v2("\"<i4\"", "0", "").replace("[3]", "[0]").replacen("[0]", "[3]", 1),
            "a chunk has no items",
        ),
        (v2("\"<i4\"", "0", "").replace("[3]", "[9000000000000000000]"), "a chunk of more than"),
        (v3("\"string\"", "\"\"", ""), "the data type \"string\" is not supported"),
        (v3("\"variable_length_bytes\"", "\"\"", ""), "the data type \"variable_length_bytes\""),
        (v3("\"bfloat16\"", "0", ""), "the data type \"bfloat16\" is not supported"),
        (v3("\"r7\"", "[0]", ""), "the data type \"r7\" is not supported"),
        (
            v3(r#"{"name":"numpy.datetime64","configuration":{"scale_factor":1}}"#, "0", ""),
            r#"the data type {"name":"numpy.datetime64""#,
        ),
        (
            v3(r#"{"name":"struct","configuration":{"fields":[{"name":"a"}]}}"#, "0", ""),
            r#"the data type {"name":"struct""#,
        ),
        (
            v3(r#"{"name":"structured","configuration":{"fields":[["a"]]}}"#, "0", ""),
            r#"the data type {"name":"structured""#,
        ),
        (
            v3(r#"{"name":"fixed_length_utf32","configuration":{"length_bytes":6}}"#, "\"\"", ""),
            r#"the data type {"name":"fixed_length_utf32""#,
        ),
        (v3("\"r16\"", "[0,256]", ""), "the fill value [0,256] does not fit the dtype"),
        (
            v3("\"int32\"", "0", "").replace("\"bytes\",", "\"vlen-utf8\","),
            "the codec \"vlen-utf8\" before \"bytes\" is not supported",
        ),
        (v3("\"int32\"", "0", "").replace("\"codecs\":[", "\"codecs\":7,\"z\":["), "\"z\""),
        (v3("\"int32\"", "0", "").replace("\"chunk_shape\":[3]", "\"x\":1"), "\"chunk_shape\""),
    ] {
        let path = folder.path().join("a.zarr");
        write_metadata(&path, &metadata);
        let error = zarr::Array::open(&path, "").err().unwrap();
        assert!(error.to_string().contains(expected), "{metadata}: {error}");
        let is_code_of_input =
            [ferroblosc::Error::InvalidParam, ferroblosc::Error::Data].contains(&error.code());
        assert!(is_code_of_input, "{error}: {}", error.code());
        fs::remove_dir_all(&path).unwrap();
    }
}

#[test]
fn extensions_of_groups_that_must_be_understood_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.zarr");
    let write = |node: &str, more: &str| {
        let path = path.join(node);
        fs::create_dir_all(&path).unwrap();
        let metadata = format!(r#"{{"zarr_format":3,"node_type":"group"{more}}}"#);
        fs::write(path.join("zarr.json"), metadata).unwrap();
    };
    let ignored = [
        "",
        r#","attributes":{"a":1}"#,
        r#","consolidated_metadata":null"#,
        r#","consolidated_metadata":{"kind":"inline","must_understand":false,"metadata":{}}"#,
    ];
    for more in ignored {
        write("", more);
        write("inner", more);
        assert_eq!(zarr::arrays_in(&path, "").unwrap(), [""; 0], "{more}");
        assert_eq!(zarr::groups_in(&path, "").unwrap(), ["", "inner"], "{more}");
    }
    for more in [r#","x":{}"#, r#","x":{"must_understand":true}"#, r#","x":7"#, r#","shape":[]"#] {
        for node in ["inner", ""] {
            write(node, more);
            let error = zarr::attributes(&path, node).unwrap_err().to_string();
            let name = if more.contains("shape") { "shape" } else { "x" };
            let expected = format!("the extension {name:?} is not supported");
            assert!(error.contains(&expected), "{more}: {error}");
        }
        assert!(zarr::arrays_in(&path, "").is_err() && zarr::groups_in(&path, "").is_err());
        write("", "");
        // As an array that is not supported.
        assert_eq!(zarr::arrays_in(&path, "").unwrap(), ["inner"]);
        assert_eq!(zarr::groups_in(&path, "").unwrap(), [""]);
    }
}
