//! A plot of speed against ratio as SVG: two panels, a colour for each codec, both axes
//! logarithmic. A point is labelled with its level; the Pareto front is a grey line. `make plot`
//! uses it too.

use std::fmt::Write;
use std::ops::Range;

/// A setting of the plot.
pub struct Point {
    /// The name that selects the colour.
    pub codec: String,
    /// The tooltip.
    pub label: String,
    /// The level, which is written next to the point.
    pub level: u8,
    /// Whether the point is on the Pareto front of ratio and of each speed.
    pub is_on_front: [bool; 2],
    /// The compression ratio.
    pub ratio: f64,
    /// Speeds of compression and decompression, in MB/s.
    pub speeds: [f64; 2],
}

/// A line that connects the points with these indices, in the colour of the first one; whether it
/// is dashed.
pub type Curve = (Range<usize>, bool);

const PANEL: (f64, f64) = (420.0, 320.0);
const MARGIN: f64 = 70.0;
const LEGEND: f64 = 40.0;
const TITLES: [&str; 2] = ["compression", "decompression"];
/// Colours that are distinguishable with colour blindness.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// The colour of the Pareto front.
const FRONT: &str = "#999";

/// A logarithmic axis: its range as powers of ten, and its first and last pixel.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            let power = value.max(1e-3).log10();
            low = low.min(power);
            high = high.max(power);
        }
        // A margin, so that no point is on an edge.
        let margin = ((high - low) * 0.06).max(0.05);
        Axis { low: low - margin, high: high + margin, from, to }
    }

    fn position(&self, value: f64) -> f64 {
        let fraction = (value.max(1e-3).log10() - self.low) / (self.high - self.low);
        self.from + fraction * (self.to - self.from)
    }

    /// Returns the values of the ticks.
    fn ticks(&self) -> Vec<f64> {
        let mut ticks = Vec::new();
        for power in self.low.floor() as i32..=self.high.ceil() as i32 {
            for step in [1.0, 2.0, 5.0] {
                let value = step * 10f64.powi(power);
                if (self.low..=self.high).contains(&value.log10()) {
                    ticks.push(value);
                }
            }
        }
        ticks
    }
}

/// Escapes a text for XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns the plot as SVG.
pub fn svg(title: &str, points: &[Point], curves: &[Curve]) -> String {
    let width = 2.0 * (PANEL.0 + MARGIN) + MARGIN / 2.0;
    let height = PANEL.1 + 2.0 * MARGIN + LEGEND;
    let mut codecs: Vec<&str> = Vec::new();
    for point in points {
        if !codecs.contains(&point.codec.as_str()) {
            codecs.push(&point.codec);
        }
    }
    codecs.sort_unstable();
    let colour = |codec: &str| {
        let number = codecs.iter().position(|known| *known == codec).unwrap_or(0);
        COLOURS[number % COLOURS.len()]
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    // Writing to a string cannot fail.
    let _ = writeln!(
        svg,
        "<title>{0}</title>\n<text x=\"{1}\" y=\"24\" text-anchor=\"middle\" font-size=\"16\" font-weight=\"bold\">{0}</text>",
        escaped(title),
        width / 2.0
    );
    for (panel, title) in TITLES.iter().enumerate() {
        let left = MARGIN + panel as f64 * (PANEL.0 + MARGIN);
        draw_panel(&mut svg, (points, curves), panel, (left, title), &colour);
    }
    for (number, codec) in codecs.iter().enumerate() {
        let x = MARGIN + number as f64 * 100.0;
        let y = height - LEGEND / 2.0;
        let fill = colour(codec);
        let _ = writeln!(
            svg,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"5\" fill=\"{fill}\"/><text x=\"{}\" y=\"{}\">{}</text>",
            x + 10.0,
            y + 4.0,
            escaped(codec)
        );
    }
    if points.iter().any(|point| point.is_on_front != [false; 2]) {
        let (x, y) = (MARGIN + codecs.len() as f64 * 100.0, height - LEGEND / 2.0);
        let _ = writeln!(
            svg,
            "<path d=\"M{x} {y}h24\" stroke=\"{FRONT}\" stroke-width=\"2\"/><text x=\"{}\" y=\"{}\">Pareto front; numbers are levels</text>",
            x + 30.0,
            y + 4.0
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_panel(
    svg: &mut String,
    (points, curves): (&[Point], &[Curve]),
    panel: usize,
    (left, title): (f64, &str),
    colour: &dyn Fn(&str) -> &'static str,
) {
    let (right, top, bottom) = (left + PANEL.0, MARGIN, MARGIN + PANEL.1);
    let ratios = Axis::new(points.iter().map(|point| point.ratio), left, right);
    let speeds = Axis::new(points.iter().map(|point| point.speeds[panel]), bottom, top);
    let middle = left + PANEL.0 / 2.0;
    let (width, height) = PANEL;
    let mut draw = |text: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = svg.write_fmt(text);
        svg.push('\n');
    };
    draw(format_args!(
        "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"#888\"/>"
    ));
    draw(format_args!(
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" font-size=\"15\">{title}</text>",
        top - 14.0
    ));
    draw(format_args!(
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">compression ratio</text>",
        bottom + 36.0
    ));
    let (x, y) = (left - 46.0, top + height / 2.0);
    draw(format_args!(
        "<text transform=\"translate({x} {y}) rotate(-90)\" text-anchor=\"middle\">speed of {title}, MB/s</text>"
    ));
    for value in ratios.ticks() {
        let x = ratios.position(value);
        draw(format_args!("<path d=\"M{x:.1} {top}V{bottom}\" stroke=\"#eee\"/>"));
        draw(format_args!(
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{value}</text>",
            bottom + 18.0
        ));
    }
    for value in speeds.ticks() {
        let y = speeds.position(value);
        draw(format_args!("<path d=\"M{left} {y:.1}H{right}\" stroke=\"#eee\"/>"));
        draw(format_args!(
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            left - 6.0,
            y + 4.0
        ));
    }
    let position =
        |point: &Point| (ratios.position(point.ratio), speeds.position(point.speeds[panel]));
    for (range, is_dashed) in curves {
        let path: Vec<String> = points[range.clone()]
            .iter()
            .map(position)
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let dashes = if *is_dashed { "5 4" } else { "none" };
        draw(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" stroke-dasharray=\"{dashes}\"/>",
            path.join(" "),
            colour(&points[range.start].codec)
        ));
    }
    let mut front: Vec<(f64, f64)> =
        points.iter().filter(|point| point.is_on_front[panel]).map(position).collect();
    if !front.is_empty() {
        front.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.total_cmp(&one.1)));
        let path: Vec<String> = front.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        draw(format_args!(
            "<polyline class=\"front\" points=\"{}\" fill=\"none\" stroke=\"{FRONT}\" stroke-width=\"2\"/>",
            path.join(" ")
        ));
    }
    for point in points {
        let (x, y) = position(point);
        let (fill, label) = (colour(&point.codec), escaped(&point.label));
        let (ratio, speed) = (point.ratio, point.speeds[panel]);
        let stroke = if point.is_on_front[panel] { "black" } else { "none" };
        draw(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{fill}\" fill-opacity=\"0.8\" stroke=\"{stroke}\"><title>{label}: {ratio:.2}, {speed:.0} MB/s</title></circle>"
        ));
        draw(format_args!(
            "<text class=\"level\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"9\" fill=\"#444\">{}</text>",
            x + 5.0,
            y - 4.0,
            point.level
        ));
    }
}
