//! `plot`: items as SVG and PNG.

use crate::common::TestDir;
use ferroblosc_tools_testing::npy_header;

/// Writes a `.npy` file of floats.
fn floats(folder: &TestDir, name: &str, shape: &str, numbers: impl Iterator<Item = f64>) {
    let mut npy = npy_header("'<f8'", shape, false);
    npy.extend(numbers.flat_map(f64::to_le_bytes));
    folder.write(name, &npy);
}

/// Decodes a PNG: the width, the height and the pixels.
fn decode(bytes: &[u8]) -> (usize, usize, Vec<[u8; 4]>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgba);
    let pixels = pixels.as_chunks::<4>().0.to_vec();
    (info.width as usize, info.height as usize, pixels)
}

#[test]
fn images_have_a_pixel_for_each_item() {
    let folder = TestDir::new();
    floats(&folder, "a.npy", "(2, 3)", [0.0, 5.0, 10.0, f64::NAN, 0.0, 10.0].into_iter());
    folder.succeed("convert a.npy a.b2nd");
    for name in ["a.npy", "a.b2nd"] {
        folder.succeed(&format!("plot {name} -o a.png --force"));
        let (width, height, pixels) = decode(&folder.read("a.png"));
        assert_eq!((width, height), (3, 2));
        let (dark, light) = ([68, 1, 84, 255], [253, 231, 37, 255]);
        assert_eq!((pixels[0], pixels[2], pixels[4], pixels[5]), (dark, light, dark, light));
        assert_eq!(pixels[1], [38, 144, 137, 255]);
        assert_eq!(pixels[3], [0; 4], "NaN is transparent");
    }
    folder.succeed("plot a.npy -o a.svg");
    let svg = String::from_utf8(folder.read("a.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("href=\"data:image/png;base64,iVBOR"));
    for text in [">0<", ">2<", ">10<"] {
        assert!(svg.contains(text), "{text}");
    }
}

#[test]
fn large_arrays_are_reduced() {
    let folder = TestDir::new();
    // Each pixel is the mean of two rows, which is 1 in all columns but the first.
    let item = |at: usize| if at.is_multiple_of(1000) { 0.0 } else { (at / 1000 % 2 * 2) as f64 };
    floats(&folder, "a.npy", "(2000, 1000)", (0..2_000_000).map(item));
    folder.succeed("plot a.npy ::-1,... -o a.png");
    let (width, height, pixels) = decode(&folder.read("a.png"));
    assert_eq!((width, height), (1000, 1000));
    assert!(
        pixels
            .chunks(1000)
            .all(|row| row[0] != row[1] && row[1..].iter().all(|pixel| *pixel == row[1]))
    );
    folder.succeed("plot a.npy 5 -o line.svg");
    folder.succeed("plot a.npy -d <f8 -o rows.svg");
    let svg = String::from_utf8(folder.read("rows.svg")).unwrap();
    // The range of each of 1000 pixels.
    assert_eq!(svg.matches('V').count(), 1000);
    folder.succeed("plot a.npy 5 -o line.png");
    let (width, height, pixels) = decode(&folder.read("line.png"));
    assert_eq!((width, height), (1000, 400));
    assert!(pixels.contains(&[0x00, 0x72, 0xb2, 0xff]));
}

#[test]
fn lines_have_gaps_and_axes() {
    let folder = TestDir::new();
    let numbers = [1.0, 2.0, f64::NAN, 4.0, f64::INFINITY, 5.0, 3.0];
    floats(&folder, "a.npy", "(7,)", numbers.into_iter());
    folder.succeed("plot a.npy -o a.svg");
    let svg = String::from_utf8(folder.read("a.svg")).unwrap();
    let path = svg.split("<path d=\"").find(|path| path.contains("stroke-width")).unwrap();
    assert_eq!(path.split('"').next().unwrap().matches('M').count(), 3);
    assert!([">1<", ">5<"].iter().all(|text| svg.contains(text)));
    // No items, one item, equal items, and only NaN.
    floats(&folder, "none.npy", "(0,)", [].into_iter());
    floats(&folder, "one.npy", "(1,)", [7.0].into_iter());
    floats(&folder, "nan.npy", "(3,)", [f64::NAN; 3].into_iter());
    floats(&folder, "huge.npy", "(2,)", [-f64::MAX, f64::MAX].into_iter());
    for name in ["none", "one", "nan", "huge"] {
        folder.succeed(&format!("plot {name}.npy -o {name}.svg"));
        let svg = String::from_utf8(folder.read(&format!("{name}.svg"))).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
    }
    // A slice of items of another type.
    floats(&folder, "raw.npy", "(4,)", [300.0, 1.0, 2.0, 300.0].into_iter());
    folder.succeed("convert raw.npy raw.b2frame --raw");
    folder.succeed("plot raw.b2frame 1:3 --dtype <f8 -o raw.svg");
    let svg = String::from_utf8(folder.read("raw.svg")).unwrap();
    assert!(svg.contains(">1.2<") && !svg.contains(">300<"), "{svg}");
    // Integers and columns of records.
    let mut npy = npy_header("[('a', '>i2'), ('b', '?')]", "(2,)", false);
    npy.extend([0, 1, 1, 1, 0, 0]);
    folder.write("records.npy", &npy);
    folder.succeed("plot records.npy --column a -o r.svg");
    folder.succeed("plot records.npy --column b -o r.png");
    let svg = String::from_utf8(folder.read("r.svg")).unwrap();
    assert!(svg.contains(">250<"), "{svg}");
}

#[test]
fn invalid_requests_write_nothing() {
    let folder = TestDir::new();
    floats(&folder, "a.npy", "(2, 2, 2)", [0.0; 8].into_iter());
    let mut npy = npy_header("'|S4'", "(2,)", false);
    npy.extend([b'a'; 8]);
    folder.write("text.npy", &npy);
    floats(&folder, "none.npy", "(0, 5)", [].into_iter());
    folder.write("exists.svg", b"precious");
    let names = folder.names();
    for (line, status, text) in [
        ("plot a.npy -o a.svg", 1, "a.npy: the shape (2, 2, 2) has neither one nor two dimensions"),
        ("plot a.npy 0,0,0 -o a.svg", 1, "a.npy: the shape () has neither one nor two dimensions"),
        ("plot a.npy 0 -o a.gif", 2, "a.gif: the extension of a plot is .svg or .png"),
        ("plot a.npy 0 -o a", 2, "a: the extension of a plot is .svg or .png"),
        ("plot a.npy 0 -o exists.svg", 1, "exists.svg: already exists"),
        ("plot a.npy 9 -o a.svg", 2, "a.npy: --slice '9': index 9 is out of range for 2 items"),
        ("plot text.npy -o a.svg", 1, "text.npy: items of the type '|S4' are not numbers"),
        ("plot none.npy -o a.png", 1, "there are no items to plot"),
        ("plot missing -o a.svg", 1, "cannot open missing: No such file or directory (os error 2)"),
        ("plot exists.svg -o a.svg", 1, "exists.svg: the format is unknown"),
    ] {
        let result = folder.line(line);
        assert_eq!(result.status, status, "{line}: {}", result.err());
        let first = result.err().lines().next().unwrap();
        assert_eq!(first, format!("b2: error: {text}"), "{line}");
        assert_eq!(folder.names(), names, "{line}");
        assert_eq!(folder.read("exists.svg"), b"precious");
    }
    let result = folder.limited("-f 1", &["plot", "a.npy", "0", "-o", "a.svg"]);
    assert_eq!(result.status, 1);
    assert!(result.err().starts_with("b2: error: cannot write to a.svg: "), "{}", result.err());
    assert_eq!(folder.names(), names);
}
