//! The command line.

use crate::data::{self, Set};

/// What to run.
pub struct Options {
    files: Vec<String>,
    /// Compression levels.
    pub levels: Vec<u8>,
    chunk: usize,
    /// Threads per context.
    pub threads: i16,
    /// Time per library and measurement, milliseconds.
    pub milliseconds: f64,
    /// The plugins, instead of what is built in.
    pub plugins: bool,
}

impl Options {
    /// Reads the arguments (without the program's name).
    ///
    /// # Errors
    /// Which argument makes no sense.
    pub fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            files: Vec::new(),
            levels: vec![5],
            chunk: 4 << 20,
            threads: 1,
            milliseconds: 40.0,
            plugins: false,
        };
        while let Some(name) = arguments.next() {
            let value = arguments
                .next()
                .ok_or_else(|| format!("{name} wants a value"))?;
            let wrong = || format!("{name} {value}: not understood");
            match name.as_str() {
                "--file" => options.files.push(value),
                "--levels" => {
                    let levels = value.split(',').map(str::parse).collect::<Result<_, _>>();
                    options.levels = levels.map_err(|_| wrong())?;
                }
                "--chunk" => options.chunk = value.parse().map_err(|_| wrong())?,
                "--threads" => options.threads = value.parse().map_err(|_| wrong())?,
                "--plugins" => options.plugins = value == "yes",
                "--ms" => options.milliseconds = value.parse().map_err(|_| wrong())?,
                _ => return Err(format!("unknown option {name}")),
            }
        }
        Ok(options)
    }

    /// The data sets: the files given, or the generated ones.
    ///
    /// # Errors
    /// Which file cannot be read.
    pub fn sets(&self) -> Result<Vec<Set>, String> {
        if self.files.is_empty() {
            return Ok(data::generated(self.chunk));
        }
        self.files
            .iter()
            .map(|file| data::from_file(file, self.chunk))
            .collect()
    }
}
