//! Members of .npz files.

use super::*;

#[test]
fn members_of_npz_files_with_faults_are_reported() {
    use crate::store::zip::ZipWriter;
    let folder = Folder::new();
    let npy = std::fs::read(folder.npy("a.npy", "<i4", &[2], &[1; 8])).unwrap();
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()), 0);
    zip.add("a.npy", &npy).unwrap();
    zip.add("a.npy", &[&npy[..], b"more"].concat()).unwrap();
    zip.add("short.npy", &npy[..npy.len() - 1]).unwrap();
    let path = folder.write("a.npz", zip.finish().unwrap().into_inner());
    let found = detect(&path).unwrap();
    let verified = verify(&path, &found, &Reading::default()).unwrap();
    let faults: Vec<String> = verified.faults.iter().map(ToString::to_string).collect();
    let text = faults.join("; ");
    assert!(verified.is_damaged() && verified.compared == 3, "{text}");
    for expected in [
        "\"a.npy\": 4 unused bytes after the items",
        "several members have the name \"a.npy\"",
        "the file ends at byte",
    ] {
        assert!(text.contains(expected), "{text}");
    }
    assert!(matches!(
        open(&folder.path("a.npz:/a"), &Reading::default()),
        Err(Error::SeveralArrays(_))
    ));
    let one = folder.path("a.npz:/short");
    let verified = verify(&one, &found, &Reading::default()).unwrap();
    assert!(verified.is_damaged() && verified.faults.len() == 1);
    assert!(error_of(open(&one, &Reading::default())).contains("the file ends at byte"));
    let summary = summarise(&path, &found).unwrap();
    assert!(summary.columns[2].1.fault.is_some());
}

#[test]
fn headers_of_npz_members_may_be_long() {
    use crate::store::zip::ZipWriter;
    let folder = Folder::new();
    let fields: Vec<String> =
        (0..6000).map(|number| format!("('a_long_name_of_a_field_{number}', '|u1')")).collect();
    let dtype = format!("[{}]", fields.join(", "));
    let npy = std::fs::read(folder.npy("a.npy", &dtype, &[2], &[3; 12_000])).unwrap();
    assert!(npy.len() > 200_000);
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()), 0);
    zip.add("a.npy", &npy).unwrap();
    let path = folder.write("a.npz", zip.finish().unwrap().into_inner());
    assert_eq!(items(&path), [3; 12_000]);
}

#[test]
fn names_of_npz_members_are_checked() {
    let folder = Folder::new();
    let npy = folder.npy("a.npy", "<i4", &[2], &[1; 8]);
    for name in ["", ".", "..", "a//b", "../a", "a/"] {
        let joined = join_npz(&[(name.to_owned(), npy.clone())], &folder.path("out.npz"));
        assert!(matches!(joined, Err(Error::Name(found)) if found == name), "{name}");
        let writing = Writing { name: Some(name.to_owned()), ..Writing::default() };
        let refused = converted_with(&npy, &folder.path("o"), Destination::Npz, &writing);
        assert!(matches!(refused, Err(Error::Name(_))), "{name}");
    }
}
