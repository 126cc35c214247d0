//! Times queries and reads of a table for `scripts/bench-stores.py`, which writes tasks to the
//! standard input, one per line, and reads the seconds and a sum from the standard output.
//!
//! ```text
//! column PATH NAME                 all rows of a column with values of a fixed size
//! texts PATH NAME                  all rows of a column with texts
//! query PATH NAME,NAME CONDITION   the values of columns in the rows that satisfy a condition
//! again NAME,NAME CONDITION        the same with the table of the last query, which is open
//! ```

use std::io::BufRead;
use std::time::Instant;

use ferroblosc_formats::store::{Error, Filter, QueryOptions, Result, Store, Table};

/// Returns the values of columns with values of a fixed size in the rows that satisfy a condition.
fn query(table: &Table<'_>, columns: &str, condition: &str) -> Result<u64> {
    let rows = table.find(&Filter::parse(condition)?, &QueryOptions::default())?.rows;
    let mut size = 0;
    for name in columns.split(',') {
        size += table.pick_items(name, &rows)?.bytes.len() as u64;
    }
    Ok(size)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut last: Option<&'static Table<'static>> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        let start = Instant::now();
        let sum = match words[..] {
            ["column", path, name] => {
                let store = Store::open(path)?;
                let table = store.table("/")?;
                table.items(name, 0..table.len())?.bytes.len() as u64
            }
            ["texts", path, name] => {
                let store = Store::open(path)?;
                let table = store.table("/")?;
                table.texts(name, 0..table.len())?.bytes.len() as u64
            }
            ["query", path, columns, condition] => {
                // The store stays open for the following tasks.
                let store: &'static Store = Box::leak(Box::new(Store::open(path)?));
                let table: &'static Table<'static> = Box::leak(Box::new(store.table("/")?));
                last = Some(table);
                query(table, columns, condition)?
            }
            ["again", columns, ..] => {
                let condition = &line["again ".len() + columns.len() + 1..];
                let table = last.ok_or_else(|| Error::NoSuchKey("/".to_owned()))?;
                query(table, columns, condition)?
            }
            _ => return Err(format!("{line}: no task").into()),
        };
        println!("{} {sum}", start.elapsed().as_secs_f64());
    }
    Ok(())
}
