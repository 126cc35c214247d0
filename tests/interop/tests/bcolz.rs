//! Arrays converted from bcolz directories, with copied or recompressed chunks, read by the
//! reference.

use ferroblosc_capi_testing::{blosc2_folder, compiler_of, project_root, run};
use ferroblosc_formats::bcolz::{self, Carray, Mode, Object, Options};
use ferroblosc_formats::convert::{carray_to_b2nd, ctable_to_b2nd};
use ferroblosc_formats::numpy::Dtype;
use ferroblosc_interop::library::reference_path;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program that reads arrays with the reference.
struct Reader {
    program: PathBuf,
    folder: PathBuf,
}

impl Reader {
    fn new(name: &str) -> Reader {
        let reference = reference_path().unwrap_or_else(|error| panic!("{error}"));
        let folder = blosc2_folder(name, &reference);
        let program = folder.join("b2nd_dump");
        run(compiler_of("b2nd_dump.c", &program).arg(folder.join("libblosc2.so")));
        Reader { program, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the reference's description of an array, line by line, and its items.
    fn read(&self, frame: &Path) -> (Vec<String>, Vec<u8>) {
        let items = self.path("items");
        let output = run(Command::new(&self.program)
            .env("LD_LIBRARY_PATH", &self.folder)
            .arg(frame)
            .arg(&items));
        let text = String::from_utf8_lossy(&output.stdout);
        let lines = text.lines().map(str::to_owned).collect();
        (lines, std::fs::read(items).expect("the items"))
    }
}

/// Returns the first two lines of the description of an array.
fn description(array: &Carray) -> [String; 2] {
    let shape: Vec<String> = array.shape().iter().map(u64::to_string).collect();
    let dtype = array.dtype().description().repr().trim_matches('\'').to_owned();
    [format!("{} dimensions: {}", shape.len(), shape.join(" ")), dtype]
}

fn assert_same(reader: &Reader, frame: &Path, array: &mut Carray) {
    let (lines, items) = reader.read(frame);
    assert_eq!(lines[..2], description(array));
    let len = array.len();
    assert!(items == array.read(0..len).expect("rows"), "{}", frame.display());
}

#[test]
fn the_reference_reads_arrays_converted_from_carrays_and_ctables() {
    let reader = Reader::new("fixtures");
    let options = Options::default();
    let fixtures = project_root().join("formats/tests/data/bcolz");
    for entry in std::fs::read_dir(&fixtures).expect("fixtures") {
        let from = entry.expect("a fixture").path();
        if !from.is_dir() || from.ends_with("objects") {
            continue;
        }
        let name = from.file_name().expect("a name").to_string_lossy().into_owned();
        match bcolz::open(&from, Mode::Read, &options).expect("a fixture") {
            Object::Carray(mut array) => {
                let frame = reader.path(&format!("{name}.b2nd"));
                carray_to_b2nd(&from, &frame, &options).expect("a frame");
                assert_same(&reader, &frame, &mut array);
            }
            Object::Ctable(table) => {
                let folder = reader.path(&name);
                ctable_to_b2nd(&from, &folder, &options).expect("frames");
                for column in table.names() {
                    let frame = folder.join(format!("{column}.b2nd"));
                    let column = Carray::open(&from.join(column), Mode::Read, &options);
                    assert_same(&reader, &frame, &mut column.expect("a column"));
                }
            }
        }
    }
    let (lines, _) = reader.read(&reader.path("attrs.b2nd"));
    let title = "title a668c3a96c6c6f";
    assert!(lines.iter().any(|line| line == title), "{lines:?}");
}

#[test]
fn the_reference_reads_copied_chunks() {
    let reader = Reader::new("copied");
    let options = Options::default();
    for codec in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
        for (shuffle, dtype, clevel) in [
            (0, "int64", 5),
            (1, "int64", 9),
            (2, "int64", 5),
            (1, "int32", 1),
            (2, "uint8", 5),
            (1, "int16", 0),
        ] {
            let name = format!("{codec}-{shuffle}-{dtype}");
            let from = reader.path(&name);
            let mut spec = bcolz::CarraySpec::new(Dtype::parse(dtype).expect("a dtype"));
            spec.chunklen = Some(1 << 16);
            spec.cparams =
                bcolz::Compression { cname: codec.to_owned(), shuffle, clevel, quantize: 0 };
            let mut array = Carray::create(&from, &spec, Mode::Append, &options).expect(&name);
            // Increasing numbers, noise, and zeros.
            let mut rows: Vec<u8> =
                (0..1_u64 << 17).flat_map(|k| (k * k / 9).to_le_bytes()).collect();
            rows.extend((0..1_u32 << 19).map(|k| (k.wrapping_mul(2_654_435_761) >> 24) as u8));
            rows.resize(2_000_000, 0);
            array.append(&rows).expect("rows");
            array.flush().expect("a disk");
            let frame = reader.path(&format!("{name}.b2nd"));
            carray_to_b2nd(&from, &frame, &options).expect("a frame");
            assert_same(&reader, &frame, &mut array);
        }
    }
}
