//! The command line.

/// What is raced: the names that `--parts` takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The shuffles that the library exports.
    Kernels,
    /// Filters alone.
    Filters,
    /// Chunks of generated data.
    Chunks,
    /// Chunks of the data in files.
    Files,
    /// Small calls, and those without context.
    Calls,
    /// Two threads.
    Threads,
    /// The library of 1.x.
    Blosc1,
    /// How much memory is needed.
    Memory,
    /// Codecs and filters that are plugins.
    Plugins,
    /// Speed and ratio of each codec and level, as a table for `scripts/plot.py`.
    Curves,
}

impl Part {
    const ALL: [(&str, Part); 10] = [
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
    ];
    /// What runs when nothing is said.
    const USUAL: usize = 8;
}

/// What to run.
pub struct Options {
    /// The parts.
    pub parts: Vec<Part>,
    /// Files as `file:TYPESIZE:PATH`; of generated data, if there are none.
    pub files: Vec<String>,
    /// Compression levels, where they are chosen.
    pub levels: Option<Vec<u8>>,
    /// Bytes of chunks, where they are chosen.
    pub chunk: Option<usize>,
    /// Threads per context of chunks.
    pub threads: i16,
    /// Time per library and measurement, seconds.
    pub budget: f64,
    /// Many more cells.
    pub full: bool,
    /// Whether a second copy of the reference is raced, too.
    pub noise: bool,
    /// The best instructions our library may use.
    pub level: Option<String>,
    /// Whether the tables are Markdown.
    pub markdown: bool,
    /// Words that the names of cells must have.
    only: Vec<String>,
}

impl Options {
    /// Reads the arguments (without the program's name).
    ///
    /// # Errors
    /// Which argument makes no sense.
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
            only: Vec::new(),
        };
        while let Some(name) = arguments.next() {
            let value = arguments
                .next()
                .ok_or_else(|| format!("{name} wants a value"))?;
            options
                .take(&name, &value)
                .ok_or_else(|| format!("{name} {value}: not understood"))?;
        }
        if options.parts.is_empty() {
            options.parts = match options.files.is_empty() {
                true => Part::ALL[..Part::USUAL]
                    .iter()
                    .map(|&(_, part)| part)
                    .collect(),
                false => vec![Part::Files],
            };
        }
        Ok(options)
    }

    /// Takes one option in, if it makes sense.
    fn take(&mut self, name: &str, value: &str) -> Option<()> {
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
            "--only" => self.only = value.split_whitespace().map(str::to_owned).collect(),
            _ => return None,
        }
        Some(())
    }

    /// Whether a cell is wanted.
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
