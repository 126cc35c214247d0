//! Items as text, as cells of CSV files, and as JSON.

use ferroblosc::escape::escape;
use ferroblosc_formats::numpy::{Dtype, Field, Kind, half_to};
use serde_json::{Number, Value as Json};

/// The value of NaT (not a time).
pub const NOT_A_TIME: i64 = i64::MIN;
/// The maximum number of significant digits, more than those of an `f64`.
const MAX_DIGITS: usize = 40;

/// The number of significant digits of floats; `None` for the shortest text that is read as the
/// same number.
pub type Digits = Option<usize>;

/// Formats an item.
pub fn text(dtype: &Dtype, bytes: &[u8], digits: Digits) -> String {
    let order = dtype.is_big_endian();
    match dtype.kind() {
        Kind::Bool => if bytes == [0] { "False" } else { "True" }.to_owned(),
        Kind::Int => signed(bytes, order).to_string(),
        Kind::Uint => unsigned(bytes, order).to_string(),
        Kind::Float => float(bytes, order, digits),
        Kind::Complex => complex(bytes, order, digits),
        Kind::Bytes => unpadded(bytes).escape_ascii().to_string(),
        Kind::Unicode => escape(&characters(bytes, order)).into_owned(),
        Kind::Datetime => datetime(signed(bytes, order), dtype.unit()),
        Kind::Timedelta => match signed(bytes, order) {
            NOT_A_TIME => "NaT".to_owned(),
            span => format!("{span} {}", dtype.unit()).trim_end().to_owned(),
        },
        Kind::Record => {
            let fields: Vec<String> =
                dtype.fields().iter().map(|field| of_field(field, bytes, digits)).collect();
            format!("({})", fields.join(", "))
        }
        // Void, Object, and kinds without a text.
        _ => hex(bytes),
    }
}

/// Formats a point in time or a time span.
pub fn time_text(dtype: &Dtype, time: i64) -> String {
    let bytes = if dtype.is_big_endian() { time.to_be_bytes() } else { time.to_le_bytes() };
    text(dtype, &bytes, None)
}

/// Returns the bytes of a field in a record.
fn bytes_of<'b>(field: &Field, record: &'b [u8]) -> &'b [u8] {
    let count: u64 = field.shape.iter().product();
    let start = field.offset as usize;
    &record[start..start + (field.dtype.itemsize() * count) as usize]
}

/// Formats a field of a record.
pub fn of_field(field: &Field, record: &[u8], digits: Digits) -> String {
    let bytes = bytes_of(field, record);
    if field.shape.is_empty() {
        text(&field.dtype, bytes, digits)
    } else {
        list(&field.dtype, &field.shape, bytes, digits)
    }
}

/// Formats a multidimensional item as nested lists.
fn list(dtype: &Dtype, shape: &[u64], bytes: &[u8], digits: Digits) -> String {
    let Some((&len, inner)) = shape.split_first() else {
        return text(dtype, bytes, digits);
    };
    if bytes.is_empty() {
        // Items without bytes may be any number.
        return "[]".to_owned();
    }
    let size = bytes.len().checked_div(len as usize).unwrap_or(0);
    let items: Vec<String> = (0..len as usize)
        .map(|i| list(dtype, inner, &bytes[i * size..(i + 1) * size], digits))
        .collect();
    format!("[{}]", items.join(", "))
}

/// Converts an item to JSON. NaN, infinities and NaT are null, complex numbers are lists of two
/// numbers, and time spans are numbers of their unit.
pub fn json(dtype: &Dtype, bytes: &[u8], digits: Digits) -> Json {
    let order = dtype.is_big_endian();
    let number = |bytes: &[u8]| float(bytes, order, digits).parse::<Number>().ok().into();
    match dtype.kind() {
        Kind::Bool => (bytes != [0]).into(),
        Kind::Int => signed(bytes, order).into(),
        Kind::Uint => unsigned(bytes, order).into(),
        Kind::Float => number(bytes),
        Kind::Complex => {
            let (real, imaginary) = bytes.split_at(bytes.len() / 2);
            Json::Array(vec![number(real), number(imaginary)])
        }
        Kind::Bytes => plain_text(bytes).into(),
        Kind::Unicode => characters(bytes, order).into(),
        Kind::Datetime => match signed(bytes, order) {
            NOT_A_TIME => Json::Null,
            time => datetime(time, dtype.unit()).into(),
        },
        Kind::Timedelta => match signed(bytes, order) {
            NOT_A_TIME => Json::Null,
            span => span.into(),
        },
        Kind::Record => {
            let fields = dtype.fields().iter().map(|field| {
                let value = json_list(&field.dtype, &field.shape, bytes_of(field, bytes), digits);
                (field.name.clone(), value)
            });
            Json::Object(fields.collect())
        }
        // Void, Object, and kinds without a value in JSON.
        _ => hex(bytes).into(),
    }
}

fn json_list(dtype: &Dtype, shape: &[u64], bytes: &[u8], digits: Digits) -> Json {
    let Some((&len, inner)) = shape.split_first() else {
        return json(dtype, bytes, digits);
    };
    if bytes.is_empty() {
        return Json::Array(Vec::new());
    }
    let size = bytes.len().checked_div(len as usize).unwrap_or(0);
    (0..len as usize)
        .map(|i| json_list(dtype, inner, &bytes[i * size..(i + 1) * size], digits))
        .collect()
}

/// Returns the fields of a record that contain scalars. Fields without bytes, and records without
/// scalars, may have any number of items.
pub fn fields_with_scalars(dtype: &Dtype) -> impl Iterator<Item = &Field> {
    let fields = dtype.fields().iter();
    fields.filter(|field| field.dtype.itemsize() > 0 && csv_width(&field.dtype) > 0)
}

/// Returns the number of columns of an item in a CSV file. Fields without bytes have none.
pub fn csv_width(dtype: &Dtype) -> u64 {
    if dtype.kind() != Kind::Record {
        return 1;
    }
    let fields = dtype.fields().iter().filter(|field| field.dtype.itemsize() > 0);
    fields.fold(0, |width: u64, field| {
        let count = field.shape.iter().fold(1, |count: u64, &len| count.saturating_mul(len));
        width.saturating_add(csv_width(&field.dtype).saturating_mul(count))
    })
}

/// Appends the names of the columns of a CSV file: one for each scalar of an item.
pub fn csv_names(dtype: &Dtype, name: &str, names: &mut Vec<String>) {
    if dtype.kind() != Kind::Record {
        names.push(name.to_owned());
        return;
    }
    for field in fields_with_scalars(dtype) {
        let name =
            if name.is_empty() { field.name.clone() } else { format!("{name}.{}", field.name) };
        let count: u64 = field.shape.iter().product();
        for number in 0..count {
            // The index in each dimension.
            let mut rest = number;
            let mut index = Vec::new();
            for &len in field.shape.iter().rev() {
                index.push((rest % len).to_string());
                rest /= len;
            }
            index.reverse();
            if index.is_empty() {
                csv_names(&field.dtype, &name, names);
            } else {
                csv_names(&field.dtype, &format!("{name}[{}]", index.join(",")), names);
            }
        }
    }
}

/// Appends the cells of an item in a CSV file, in the order of [`csv_names`]. With `is_text`, bytes
/// that are not UTF-8 are escaped.
pub fn csv_cells(
    dtype: &Dtype,
    bytes: &[u8],
    (digits, is_text): (Digits, bool),
    cells: &mut Vec<Vec<u8>>,
) {
    match dtype.kind() {
        Kind::Bytes if is_text => cells.push(plain_text(bytes).into_bytes()),
        Kind::Bytes => cells.push(unpadded(bytes).to_vec()),
        Kind::Unicode => cells.push(characters(bytes, dtype.is_big_endian()).into_bytes()),
        Kind::Record => {
            for field in fields_with_scalars(dtype) {
                let size = field.dtype.itemsize() as usize;
                let bytes = bytes_of(field, bytes);
                let count: u64 = field.shape.iter().product();
                for number in 0..count as usize {
                    let item = &bytes[number * size..(number + 1) * size];
                    csv_cells(&field.dtype, item, (digits, is_text), cells);
                }
            }
        }
        _ => cells.push(text(dtype, bytes, digits).into_bytes()),
    }
}

/// Returns an unsigned integer of at most 8 bytes.
pub fn unsigned(bytes: &[u8], is_big_endian: bool) -> u64 {
    let join = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    if is_big_endian { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
}

/// Returns a signed integer of at most 8 bytes.
pub fn signed(bytes: &[u8], is_big_endian: bool) -> i64 {
    let unused = 64 - 8 * bytes.len() as u32;
    // Shifts the sign bit to the highest bit, for sign extension.
    (unsigned(bytes, is_big_endian) << unused).cast_signed() >> unused
}

/// Returns a float of any size as `f64`. An extended float is rounded.
pub fn float_value(bytes: &[u8], is_big_endian: bool) -> f64 {
    let number = || unsigned(bytes, is_big_endian);
    match bytes.len() {
        2 => half_to(number() as u16),
        4 => f32::from_bits(number() as u32).into(),
        8 => f64::from_bits(number()),
        _ => extended(bytes, is_big_endian),
    }
}

fn float(bytes: &[u8], is_big_endian: bool, digits: Digits) -> String {
    let value = float_value(bytes, is_big_endian);
    let text = match (digits, bytes.len()) {
        (Some(digits), _) if value.is_finite() => {
            let rounded = format!("{value:.*e}", digits.clamp(1, MAX_DIGITS) - 1);
            format!(
                "{:?}",
                rounded.parse().ok().filter(|value: &f64| value.is_finite()).unwrap_or(value)
            )
        }
        // The shortest text depends on the precision of the type.
        (_, 2 | 4) => format!("{:?}", value as f32),
        _ => format!("{value:?}"),
    };
    // As in Python.
    if text == "NaN" { "nan".to_owned() } else { text }
}

/// Converts an x87 float of ten bytes, with padding, to the nearest `f64`.
fn extended(bytes: &[u8], is_big_endian: bool) -> f64 {
    let mut ordered = bytes.to_vec();
    if is_big_endian {
        ordered.reverse();
    }
    let fraction = unsigned(&ordered[..8], false);
    let high = unsigned(&ordered[8..10], false);
    let sign = if high >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = (high & 0x7FFF) as i32;
    sign * match exponent {
        0x7FFF if fraction << 1 == 0 => f64::INFINITY,
        0x7FFF => f64::NAN,
        _ => {
            // In two steps, to avoid overflow and underflow of the intermediate result.
            let power = exponent - 16383 - 63;
            fraction as f64 * 2f64.powi(power / 2) * 2f64.powi(power - power / 2)
        }
    }
}

fn complex(bytes: &[u8], is_big_endian: bool, digits: Digits) -> String {
    let (real, imaginary) = bytes.split_at(bytes.len() / 2);
    let imaginary = float(imaginary, is_big_endian, digits);
    let plus = if imaginary.starts_with('-') { "" } else { "+" };
    format!("({}{plus}{imaginary}j)", float(real, is_big_endian, digits))
}

/// Returns a byte string without the NULs of its padding.
fn unpadded(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1);
    &bytes[..end]
}

/// Converts a byte string to a text. Bytes that are not UTF-8 are escaped.
fn plain_text(bytes: &[u8]) -> String {
    let bytes = unpadded(bytes);
    match str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.escape_ascii().to_string(),
    }
}

/// Returns the characters of a text without the NULs of its padding.
fn characters(bytes: &[u8], is_big_endian: bool) -> String {
    let text: String = bytes
        .chunks_exact(4)
        .map(|character| unsigned(character, is_big_endian) as u32)
        .map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    text.trim_end_matches('\0').to_owned()
}

/// Returns the characters of a text without its padding, to compare texts. A byte that is not ASCII
/// is different from all characters.
pub fn units(dtype: &Dtype, bytes: &[u8]) -> Vec<u64> {
    let order = dtype.is_big_endian();
    let unit = |byte: &u8| match byte {
        byte if byte.is_ascii() => u64::from(*byte),
        byte => 1 << 32 | u64::from(*byte),
    };
    let mut units: Vec<u64> = if dtype.kind() == Kind::Unicode {
        bytes.chunks_exact(4).map(|character| unsigned(character, order)).collect()
    } else {
        bytes.iter().map(unit).collect()
    };
    units.truncate(units.iter().rposition(|&unit| unit != 0).map_or(0, |at| at + 1));
    units
}

/// Formats bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns year, month and day for a number of days since 1970-01-01.
fn date_of(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        0..=9 => (year, month + 3),
        _ => (year + 1, month - 9),
    };
    (year + era * 400, month, of_month)
}

/// Formats a date or time like NumPy.
fn datetime(value: i64, unit: &str) -> String {
    if value == NOT_A_TIME {
        return "NaT".to_owned();
    }
    let name = unit.trim_start_matches(|c: char| c.is_ascii_digit());
    let factor: i128 = unit[..unit.len() - name.len()].parse().unwrap_or(1);
    let count = i128::from(value) * factor;
    let small = |count: i128| i64::try_from(count).ok();
    let date = |day: i128| {
        // Later or earlier days have no representable year.
        let day = small(day).filter(|day| day.abs() < 1 << 50)?;
        let (year, month, day) = date_of(day);
        Some(format!("{year:04}-{month:02}-{day:02}"))
    };
    // The number of units in a second.
    let per_second: i128 = match name {
        "ms" => 1000,
        "us" => 1_000_000,
        "ns" => 1_000_000_000,
        "ps" => 1_000_000_000_000,
        "fs" => 1_000_000_000_000_000,
        "as" => 1_000_000_000_000_000_000,
        _ => 1,
    };
    let text = match name {
        "Y" => small(count + 1970).map(|year| format!("{year:04}")),
        "M" => small(count).map(|months| {
            let (year, month) = (1970 + months.div_euclid(12), months.rem_euclid(12) + 1);
            format!("{year:04}-{month:02}")
        }),
        "W" => date(count * 7),
        "D" => date(count),
        "h" | "m" | "s" | "ms" | "us" | "ns" | "ps" | "fs" | "as" => {
            let seconds = match name {
                "h" => count * 3600,
                "m" => count * 60,
                _ => count.div_euclid(per_second),
            };
            let of_day = seconds.rem_euclid(86_400);
            let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
            let digits = per_second.ilog10() as usize;
            let fraction = count.rem_euclid(per_second);
            date(seconds.div_euclid(86_400)).map(|date| match (name, digits) {
                ("h", _) => format!("{date}T{hour:02}"),
                ("m", _) => format!("{date}T{hour:02}:{minute:02}"),
                (_, 0) => format!("{date}T{hour:02}:{minute:02}:{second:02}"),
                (_, digits) => {
                    format!("{date}T{hour:02}:{minute:02}:{second:02}.{fraction:0digits$}")
                }
            })
        }
        _ => None,
    };
    text.unwrap_or_else(|| format!("{value} {unit}").trim_end().to_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a record with two billion records that consist of a byte of padding.
    pub(crate) fn padding() -> Dtype {
        let empty = "{'names': [], 'formats': [], 'offsets': [], 'itemsize': 1}";
        Dtype::parse(&format!("[('p', {empty}, (2000000000,))]")).unwrap()
    }

    #[test]
    fn records_without_scalars_are_skipped() {
        let (mut names, mut cells) = (Vec::new(), Vec::new());
        csv_names(&padding(), "", &mut names);
        csv_cells(&padding(), &[], (None, true), &mut cells);
        assert_eq!((csv_width(&padding()), names.len(), cells.len()), (0, 0, 0));
    }

    fn item(dtype: &str, bytes: &[u8]) -> String {
        text(&Dtype::parse(dtype).unwrap(), bytes, None)
    }

    #[test]
    fn floats_are_rounded_to_significant_digits() {
        let rounded = |value: f64, digits| float(&value.to_le_bytes(), false, Some(digits));
        assert_eq!(rounded(279.98765, 4), "280.0");
        assert_eq!(rounded(279.98765, 5), "279.99");
        assert_eq!(rounded(-0.000123456, 2), "-0.00012");
        assert_eq!(rounded(1.26e300, 2), "1.3e300");
        assert_eq!(rounded(9.99, 0), "10.0");
        assert_eq!(rounded(0.1, 100), "0.1");
        // The rounded number would be infinite.
        assert_eq!(rounded(f64::MAX, 1), "1.7976931348623157e308");
        assert_eq!(rounded(f64::NAN, 3), "nan");
        assert_eq!(rounded(f64::NEG_INFINITY, 3), "-inf");
        assert_eq!(float(&0.1f32.to_le_bytes(), false, Some(3)), "0.1");
    }

    #[test]
    fn items_are_converted_to_json_and_csv() {
        let descr = "[('a', '<f8'), ('b', '|S4', (2,)), ('c', [('d', '<M8[D]'), ('e', '<c8')])]";
        let dtype = Dtype::parse(descr).unwrap();
        let mut bytes = f64::INFINITY.to_le_bytes().to_vec();
        bytes.extend(b"x,\"\0\xff\0\0\0");
        bytes.extend(1i64.to_le_bytes());
        bytes.extend([1.5f32.to_le_bytes(), f32::NAN.to_le_bytes()].concat());
        assert_eq!(
            json(&dtype, &bytes, None).to_string(),
            r#"{"a":null,"b":["x,\"","\\xff"],"c":{"d":"1970-01-02","e":[1.5,null]}}"#
        );
        let (mut names, mut cells) = (Vec::new(), Vec::new());
        csv_names(&dtype, "", &mut names);
        csv_cells(&dtype, &bytes, (None, true), &mut cells);
        assert_eq!(names, ["a", "b[0]", "b[1]", "c.d", "c.e"]);
        let texts = ["inf", "x,\"", "\\xff", "1970-01-02", "(1.5+nanj)"];
        assert_eq!(cells, texts.map(str::as_bytes));
        cells.clear();
        csv_cells(&dtype, &bytes, (None, false), &mut cells);
        assert_eq!(cells[2], b"\xff");
    }

    #[test]
    fn numbers_are_formatted_as_in_python() {
        assert_eq!(item("|b1", &[1]), "True");
        assert_eq!(item("|i1", &[0xFE]), "-2");
        assert_eq!(item("<i4", &(-5i32).to_le_bytes()), "-5");
        assert_eq!(item(">i2", &[0x01, 0x00]), "256");
        assert_eq!(item("<u8", &u64::MAX.to_le_bytes()), "18446744073709551615");
        assert_eq!(item("<f8", &0.1f64.to_le_bytes()), "0.1");
        assert_eq!(item("<f8", &1e300f64.to_le_bytes()), "1e300");
        assert_eq!(item("<f4", &f32::NAN.to_le_bytes()), "nan");
        assert_eq!(item(">f8", &(-2.0f64).to_be_bytes()), "-2.0");
        assert_eq!(item("<f2", &[0x00, 0x3E]), "1.5");
        assert_eq!(item("<f2", &[0x01, 0x00]), "5.9604645e-8");
        let one = [0, 0, 0, 0, 0, 0, 0, 0x80, 0xFF, 0x3F, 0, 0, 0, 0, 0, 0];
        assert_eq!(item("<f16", &one), "1.0");
        let pair = [1f32.to_le_bytes(), (-2f32).to_le_bytes()].concat();
        assert_eq!(item("<c8", &pair), "(1.0-2.0j)");
    }

    #[test]
    fn texts_end_before_their_padding() {
        assert_eq!(item("|S5", b"ab\0c\0"), "ab\\x00c");
        let text: Vec<u8> = "né".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        assert_eq!(item("<U3", &[text, vec![0; 4]].concat()), "né");
        assert_eq!(item("|V3", &[1, 2, 255]), "0102ff");
    }

    #[test]
    fn times_are_formatted_as_in_numpy() {
        let time = |unit: &str, value: i64| item(&format!("<M8[{unit}]"), &value.to_le_bytes());
        assert_eq!(time("D", 0), "1970-01-01");
        assert_eq!(time("D", 19_782), "2024-02-29");
        assert_eq!(time("D", -719_162), "0001-01-01");
        assert_eq!(time("Y", 54), "2024");
        assert_eq!(time("M", -1), "1969-12");
        assert_eq!(time("W", 1), "1970-01-08");
        assert_eq!(time("h", 25), "1970-01-02T01");
        assert_eq!(time("s", -1), "1969-12-31T23:59:59");
        assert_eq!(time("ms", 1500), "1970-01-01T00:00:01.500");
        assert_eq!(time("ns", 1_000_000_001), "1970-01-01T00:00:01.000000001");
        assert_eq!(time("25s", 2), "1970-01-01T00:00:50");
        assert_eq!(time("s", i64::MIN), "NaT");
        assert_eq!(item("<m8[s]", &7i64.to_le_bytes()), "7 s");
    }

    /// Returns the number of days from 1970-01-01 to the first day of a month.
    fn days_to(year: i64, month: i64) -> i64 {
        // Years that begin with March, so that the leap day is the last day.
        let (year, month) = match month {
            1 | 2 => (year - 1, month + 9),
            _ => (year, month - 3),
        };
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let day = (153 * month + 2) / 5;
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day - 719_468
    }

    #[test]
    fn dates_of_eight_centuries_round_trip() {
        for day in -150_000..150_000 {
            let (year, month, of_month) = date_of(day);
            assert_eq!(days_to(year, month) + of_month - 1, day);
        }
    }

    #[test]
    fn records_are_formatted_in_brackets() {
        let dtype = "[('a', '<i2'), ('b', '|u1', (2, 2)), ('c', [('d', '|S1')])]";
        assert_eq!(item(dtype, &[1, 0, 2, 3, 4, 5, b'x']), "(1, [[2, 3], [4, 5]], (x))");
    }
}
