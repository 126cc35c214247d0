//! The command line.

use std::path::PathBuf;

/// A group of measurements, as named by `--parts`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The exported shuffle functions.
    Kernels,
    /// Filters alone.
    Filters,
    /// Chunks of generated data.
    Chunks,
    /// Chunks of file data.
    Files,
    /// Small calls, and calls without context.
    Calls,
    /// Two threads.
    Threads,
    /// The Blosc 1.x library.
    Blosc1,
    /// Memory use.
    Memory,
    /// Plugin codecs and filters.
    Plugins,
    /// Speed and ratio of each codec and level, as a plot in SVG.
    Curves,
    /// Speed by the number of threads and of callers.
    Scaling,
}

impl Part {
    const ALL: [(&str, Part); 11] = [
        ("kernels", Part::Kernels),
        ("filters", Part::Filters),
        ("chunks", Part::Chunks),
        ("files", Part::Files),
        ("calls", Part::Calls),
        ("threads", Part::Threads),
        ("blosc1", Part::Blosc1),
        ("memory", Part::Memory),
        ("plugins", Part::Plugins),
        ("curves", Part::Curves),
        ("scaling", Part::Scaling),
    ];
    /// The number of leading parts that run by default.
    const DEFAULT_COUNT: usize = 8;
}

/// The options.
pub struct Options {
    /// The parts to run.
    pub parts: Vec<Part>,
    /// Files as `file:TYPESIZE:PATH`; if empty, the files that `scripts/real-data.sh` fetched.
    pub files: Vec<String>,
    /// Compression levels, if given.
    pub levels: Option<Vec<u8>>,
    /// The chunk size in bytes, if given.
    pub chunk: Option<usize>,
    /// The number of threads per context of chunks.
    pub threads: i16,
    /// The time per library and measurement in seconds.
    pub budget: f64,
    /// Whether to measure many more cells.
    pub full: bool,
    /// Whether to measure a second copy of the reference.
    pub noise: bool,
    /// The maximum instruction set of our library.
    pub level: Option<String>,
    /// Whether to print Markdown tables.
    pub markdown: bool,
    /// The file for the results as JSON, if any.
    pub json: Option<PathBuf>,
    /// Words that the names of cells must contain.
    only: Vec<String>,
}

impl Options {
    /// Parses the arguments, without the program's name.
    ///
    /// # Errors
    /// Returns the invalid argument.
    pub fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            parts: Vec::new(),
            files: Vec::new(),
            levels: None,
            chunk: None,
            threads: 1,
            budget: 0.025,
            full: false,
            noise: false,
            level: None,
            markdown: false,
            json: None,
            only: Vec::new(),
        };
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
            options.set(&name, &value).ok_or_else(|| format!("invalid option: {name} {value}"))?;
        }
        if options.parts.is_empty() {
            options.parts = if options.files.is_empty() {
                Part::ALL[..Part::DEFAULT_COUNT].iter().map(|&(_, part)| part).collect()
            } else {
                vec![Part::Files]
            };
        }
        Ok(options)
    }

    /// Parses one option; returns none if it is invalid.
    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "--parts" => {
                for word in value.split(',') {
                    let part = Part::ALL.iter().find(|(name, _)| *name == word)?;
                    self.parts.push(part.1);
                }
            }
            "--file" => self.files.push(value.to_owned()),
            "--levels" => {
                let levels = value.split(',').map(|level| level.parse().ok());
                self.levels = Some(levels.collect::<Option<_>>()?);
            }
            "--chunk" => self.chunk = Some(value.parse().ok()?),
            "--threads" => self.threads = value.parse().ok()?,
            "--ms" => self.budget = value.parse::<f64>().ok()? * 1e-3,
            "--full" => self.full = yes(value)?,
            "--noise" => self.noise = yes(value)?,
            "--markdown" => self.markdown = yes(value)?,
            "--level" => self.level = Some(value.to_owned()),
            "--json" => self.json = Some(value.into()),
            "--only" => self.only = value.split_whitespace().map(str::to_owned).collect(),
            _ => return None,
        }
        Some(())
    }

    /// Whether a cell is selected.
    pub fn wants(&self, name: &str) -> bool {
        let words: Vec<&str> = name.split_whitespace().collect();
        self.only.iter().all(|word| words.contains(&word.as_str()))
    }
}

fn yes(value: &str) -> Option<bool> {
    match value {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}
