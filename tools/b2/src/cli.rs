//! Commands and options.

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

/// One tool for everything Blosc
///
/// Looks into, checks, converts and makes files of the Blosc family: chunks of Blosc 1 and 2, frames (one file or a
/// directory), b2nd arrays, Bloscpack files, directories of bcolz, and .npy files. What a file is, is told by its
/// content, never by its name. Where a file is read or written, '-' is standard input or output.
#[derive(Parser)]
#[command(name = "b2", version, propagate_version = true, after_help = STATUSES, after_long_help = EXAMPLES)]
pub struct Cli {
    /// Threads to work with [default: one for each core]
    #[arg(short = 'n', long, global = true, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// Show no progress
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

const STATUSES: &str =
    "Exit status: 0 success, 1 error, 2 wrong command line, 3 corrupt data. See 'b2 help COMMAND'.";

const EXAMPLES: &str = "\
Exit status: 0 success, 1 error, 2 wrong command line, 3 corrupt data.

Examples:
  b2 info climate.b2nd                     what is in a file
  b2 ls data/                              what is in a folder
  b2 head table                            the first rows of a bcolz table
  b2 cat climate.b2nd --slice '0,:3,5:8'   some items of an array
  b2 verify *.b2frame || echo damaged      check files";

impl Cli {
    /// The threads to work with.
    pub fn nthreads(&self) -> usize {
        match self.threads {
            Some(number) => number.into(),
            None => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Say what files are and what is in them
    Info(InfoArgs),
    /// List files and what is in them, a line each
    Ls(LsArgs),
    /// Print items as text, or as they are
    Cat(CatArgs),
    /// Print the first items as text
    Head(HeadArgs),
    /// Read everything and tell what is wrong; exit status 3 if something is
    Verify(VerifyArgs),
    /// Print the completions of a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

#[derive(Args)]
pub struct InfoArgs {
    /// Files or directories
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Print JSON, an object for each path in an array
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct LsArgs {
    /// Files or directories
    #[arg(default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// List the chunks of each
    #[arg(short, long)]
    pub chunks: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct CatArgs {
    /// A file or directory
    pub path: PathBuf,
    /// Which items, as NumPy's: a range START:STOP or an index for each dimension, '10:20,:,-1'
    #[arg(short, long, allow_hyphen_values = true)]
    pub slice: Option<String>,
    /// The column of a table
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The type to take the items for, as NumPy writes it: '<f8', '|S5'
    #[arg(short, long, value_name = "TYPE")]
    pub dtype: Option<String>,
    /// Print the bytes of the items as they are stored
    #[arg(short, long)]
    pub raw: bool,
}

#[derive(Args)]
pub struct HeadArgs {
    /// A file or directory
    pub path: PathBuf,
    /// How many lines
    #[arg(short = 'l', long, default_value_t = 10, value_name = "NUMBER")]
    pub lines: u64,
    /// The column of a table
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The type to take the items for, as NumPy writes it: '<f8', '|S5'
    #[arg(short, long, value_name = "TYPE")]
    pub dtype: Option<String>,
}

#[derive(Args)]
pub struct VerifyArgs {
    /// Files or directories
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Print JSON, an object for each path in an array
    #[arg(long)]
    pub json: bool,
}
