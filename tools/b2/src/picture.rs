//! Lines and images as SVG and PNG.

use crate::error::Failure;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write;

/// A line: for each pixel the least and the greatest number, if there is one.
pub struct Line {
    /// The number of items.
    pub len: u64,
    pub ranges: Vec<Option<(f64, f64)>>,
}

/// An image of numbers, row by row.
pub struct Image {
    pub width: usize,
    pub height: usize,
    pub values: Vec<Option<f64>>,
}

/// An image of colours, row by row: red, green, blue and opacity.
pub struct Coloured {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 4]>,
}

/// The size of the panel in pixels.
const PANEL: (f64, f64) = (800.0, 400.0);
/// The margins in pixels: left for the labels of an axis, and on all other sides.
const LEFT: f64 = 90.0;
const MARGIN: f64 = 40.0;
/// The size of a line in an image.
const LINE_IMAGE: (usize, usize) = (1000, 400);
const BLUE: &str = "#0072b2";
const BLUE_PIXEL: [u8; 4] = [0x00, 0x72, 0xb2, 0xff];
/// Colours of equal distance, from dark blue to yellow, which are distinguishable with colour
/// blindness.
const COLOURS: [[u8; 3]; 6] =
    [[68, 1, 84], [65, 68, 135], [42, 120, 142], [34, 168, 132], [122, 209, 81], [253, 231, 37]];

/// Returns the least and the greatest number; 0 and 1 if there is none.
fn range_of(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let range = numbers.fold(None, |range, number| match range {
        None => Some((number, number)),
        Some((low, high)) => Some((f64::min(low, number), f64::max(high, number))),
    });
    range.unwrap_or((0.0, 1.0))
}

/// Returns the position of a number in a range, from 0 to 1.
fn fraction(number: f64, (low, high): (f64, f64)) -> f64 {
    // Halves, because the difference of two floats may be infinite.
    let size = high / 2.0 - low / 2.0;
    if size > 0.0 { ((number / 2.0 - low / 2.0) / size).clamp(0.0, 1.0) } else { 0.5 }
}

/// Returns multiples of 1, 2 or 5 times a power of ten in a range, about five.
fn ticks((low, high): (f64, f64)) -> Vec<f64> {
    let size = high - low;
    if !size.is_finite() || size <= 0.0 {
        return vec![low];
    }
    let power = 10f64.powf((size / 5.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = steps.into_iter().find(|step| size / step <= 6.0).unwrap_or(size);
    let first = (low / step).ceil();
    let all = (0..12).map(|number| (first + f64::from(number)) * step);
    // Adding zero turns -0 into 0.
    let inside = all.filter(|tick| (low..=high).contains(tick)).map(|tick| tick + 0.0);
    inside.collect()
}

/// Returns a number with at most six significant digits.
fn label(number: f64) -> String {
    let size = number.abs();
    if number != 0.0 && !(1e-4..1e6).contains(&size) {
        let text = format!("{number:.5e}");
        return match text.split_once('e') {
            Some((digits, power)) => {
                format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
            }
            None => text,
        };
    }
    let whole = if size >= 1.0 { size.log10().floor() as usize + 1 } else { 1 };
    let text = format!("{number:.*}", 6_usize.saturating_sub(whole) + 2 * usize::from(size < 1.0));
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Returns the start of a picture.
fn begin((width, height): (f64, f64)) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    )
}

/// Writes a line. Writing to a string cannot fail.
fn add(svg: &mut String, line: std::fmt::Arguments<'_>) {
    let _ = svg.write_fmt(line);
    svg.push('\n');
}

/// Draws the frame of a panel with ticks at positions from 0 to 1 along both axes.
fn frame(
    svg: &mut String,
    (width, height): (f64, f64),
    across: &[(f64, String)],
    along: &[(f64, String)],
) {
    for (at, text) in across {
        let x = LEFT + at * width;
        let (bottom, y) = (MARGIN + height, MARGIN + height + 18.0);
        add(svg, format_args!("<path d=\"M{x:.1} {bottom}v5\" stroke=\"#888\"/>"));
        add(svg, format_args!("<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{text}</text>"));
    }
    for (at, text) in along {
        let y = MARGIN + at * height;
        let x = LEFT - 8.0;
        add(svg, format_args!("<path d=\"M{LEFT} {y:.1}h-5\" stroke=\"#888\"/>"));
        let base = y + 4.0;
        add(svg, format_args!("<text x=\"{x}\" y=\"{base:.1}\" text-anchor=\"end\">{text}</text>"));
    }
    add(
        svg,
        format_args!(
            "<rect x=\"{LEFT}\" y=\"{MARGIN}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"#888\"/>"
        ),
    );
}

/// Returns ticks for the indices of a dimension, at the centres of its items.
fn index_ticks(len: u64) -> Vec<(f64, String)> {
    let last = len.saturating_sub(1) as f64;
    let whole = ticks((0.0, last)).into_iter().filter(|tick| tick.fract() == 0.0);
    whole.map(|tick| ((tick + 0.5) / len.max(1) as f64, label(tick))).collect()
}

/// Returns the range of a line's numbers.
fn range_of_line(line: &Line) -> (f64, f64) {
    range_of(line.ranges.iter().flatten().flat_map(|&(low, high)| [low, high]))
}

/// Returns a line as SVG.
pub fn line_svg(line: &Line) -> String {
    let (width, height) = PANEL;
    let range = range_of_line(line);
    let mut svg = begin((LEFT + width + MARGIN, height + 2.0 * MARGIN));
    let numbers: Vec<(f64, String)> = ticks(range)
        .into_iter()
        .map(|tick| (0.05 + 0.9 * (1.0 - fraction(tick, range)), label(tick)))
        .collect();
    frame(&mut svg, PANEL, &index_ticks(line.len), &numbers);
    let y = |number: f64| MARGIN + height * (0.05 + 0.9 * (1.0 - fraction(number, range)));
    let step = width / line.ranges.len().max(1) as f64;
    // A gap begins a new part of the path.
    let mut path = String::new();
    let mut is_open = false;
    for (number, range) in line.ranges.iter().enumerate() {
        let Some((low, high)) = range else {
            is_open = false;
            continue;
        };
        let x = LEFT + (number as f64 + 0.5) * step;
        let begin = if is_open { 'L' } else { 'M' };
        let _ = write!(path, "{begin}{x:.1} {:.1}", y(*low));
        // A part of one item is a point, which the round end of a line of no length draws.
        if low < high || !is_open {
            let _ = write!(path, "V{:.1}", y(*high));
        }
        is_open = true;
    }
    add(
        &mut svg,
        format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{BLUE}\" stroke-width=\"1.5\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>"
        ),
    );
    svg.push_str("</svg>\n");
    svg
}

/// Returns a line as an image.
pub fn line_image(line: &Line) -> Coloured {
    let (width, height) = LINE_IMAGE;
    let range = range_of_line(line);
    let mut pixels = vec![[0xff; 4]; width * height];
    let row = |number: f64| ((1.0 - fraction(number, range)) * (height - 1) as f64) as usize;
    let count = line.ranges.len();
    let mut last: Option<(usize, usize)> = None;
    for x in 0..width {
        let Some(range) = line.ranges.get(x * count / width) else {
            continue;
        };
        let rows = range.map(|(low, high)| (row(high), row(low)));
        if let Some((mut top, mut bottom)) = rows {
            // Connects the line with that of the previous column.
            if let Some((last_top, last_bottom)) = last {
                top = top.min(last_bottom);
                bottom = bottom.max(last_top);
            }
            for y in top..=bottom {
                pixels[y * width + x] = BLUE_PIXEL;
            }
        }
        last = rows;
    }
    Coloured { width, height, pixels }
}

/// Returns the colour of a position from 0 to 1.
fn colour(at: f64) -> [u8; 4] {
    let scaled = at.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
    let first = (scaled.floor() as usize).min(COLOURS.len() - 2);
    let part = scaled - first as f64;
    let mut colour = [0xff; 4];
    for (channel, value) in colour.iter_mut().take(3).enumerate() {
        let (from, to) =
            (f64::from(COLOURS[first][channel]), f64::from(COLOURS[first + 1][channel]));
        *value = (from + (to - from) * part).round() as u8;
    }
    colour
}

impl Image {
    fn range(&self) -> (f64, f64) {
        range_of(self.values.iter().flatten().copied())
    }

    /// Returns the colours. Pixels without a number are transparent.
    pub fn coloured(&self) -> Coloured {
        let range = self.range();
        let pixels = self.values.iter().map(|value| match value {
            Some(value) => colour(fraction(*value, range)),
            None => [0; 4],
        });
        Coloured { width: self.width, height: self.height, pixels: pixels.collect() }
    }
}

/// Returns an image of an array with this number of rows and columns as SVG, with a scale.
pub fn image_svg(image: &Image, (rows, columns): (u64, u64)) -> Result<String, Failure> {
    const SCALE: f64 = 20.0;
    // The longer side has the width of the panel; the other one is visible, too.
    let ratio = (rows.max(1) as f64 / columns.max(1) as f64).clamp(0.1, 10.0);
    let (width, height) =
        if ratio < 1.0 { (PANEL.0, PANEL.0 * ratio) } else { (PANEL.0 / ratio, PANEL.0) };
    let (width, height) = (width.round(), height.round());
    let total = LEFT + width + 2.0 * MARGIN + SCALE + LEFT;
    let mut svg = begin((total, height + 2.0 * MARGIN));
    if !image.values.is_empty() {
        let encoded = STANDARD.encode(png(&image.coloured())?);
        add(
            &mut svg,
            format_args!(
                "<image x=\"{LEFT}\" y=\"{MARGIN}\" width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" \
                 style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{encoded}\"/>"
            ),
        );
    }
    frame(&mut svg, (width, height), &index_ticks(columns), &index_ticks(rows));
    let range = image.range();
    let left = LEFT + width + MARGIN;
    let stops: Vec<String> = (0..COLOURS.len())
        .map(|number| {
            let [red, green, blue] = COLOURS[COLOURS.len() - 1 - number];
            let at = number * 100 / (COLOURS.len() - 1);
            format!("<stop offset=\"{at}%\" stop-color=\"rgb({red},{green},{blue})\"/>")
        })
        .collect();
    add(
        &mut svg,
        format_args!(
            "<defs><linearGradient id=\"scale\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\">{}</linearGradient></defs>",
            stops.concat()
        ),
    );
    add(
        &mut svg,
        format_args!(
            "<rect x=\"{left}\" y=\"{MARGIN}\" width=\"{SCALE}\" height=\"{height}\" fill=\"url(#scale)\" stroke=\"#888\"/>"
        ),
    );
    for tick in ticks(range) {
        let y = MARGIN + height * (1.0 - fraction(tick, range)) + 4.0;
        let x = left + SCALE + 6.0;
        add(&mut svg, format_args!("<text x=\"{x}\" y=\"{y:.1}\">{}</text>", label(tick)));
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// Returns an image as PNG.
pub fn png(image: &Coloured) -> Result<Vec<u8>, Failure> {
    let failed = |error: png::EncodingError| Failure::new(format!("cannot write a PNG: {error}"));
    if image.pixels.is_empty() {
        return Err(Failure::new("there are no items to plot")
            .with_hint("an SVG has axes without items, too"));
    }
    let mut bytes = Vec::new();
    // At most 1000 pixels along each axis.
    let mut encoder = png::Encoder::new(&mut bytes, image.width as u32, image.height as u32);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(image.pixels.as_flattened()).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_in_the_range() {
        assert_eq!(ticks((0.0, 10.0)), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks((-1.0, 1.0)), [-1.0, -0.5, 0.0, 0.5, 1.0]);
        assert_eq!(ticks((3.0, 3.0)), [3.0]);
        assert!(!ticks((-f64::MAX, f64::MAX)).is_empty());
        assert!(ticks((0.0, f64::MIN_POSITIVE)).len() <= 12);
        assert_eq!(ticks((1e300, 1.0001e300)).len(), 6);
    }

    #[test]
    fn labels_have_few_digits_or_an_exponent() {
        for (number, text) in [
            (0.0, "0"),
            (0.5, "0.5"),
            (-250.0, "-250"),
            (1e6, "1e6"),
            (123456.0, "123456"),
            (1.5e-7, "1.5e-7"),
            (0.001, "0.001"),
            (2.5e10, "2.5e10"),
        ] {
            assert_eq!(label(number), text);
        }
    }

    #[test]
    fn the_least_and_the_greatest_value_have_the_end_colours() {
        assert_eq!(colour(0.0), [68, 1, 84, 255]);
        assert_eq!(colour(1.0), [253, 231, 37, 255]);
        assert_eq!(colour(0.2), [65, 68, 135, 255]);
        assert_eq!(fraction(f64::MAX, (-f64::MAX, f64::MAX)), 1.0);
        assert_eq!(fraction(1.0, (1.0, 1.0)), 0.5);
    }
}
