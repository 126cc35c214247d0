//! Finding the rows that satisfy a condition.
//!
//! Parts of the table are examined by several threads. In each part, a condition is evaluated for
//! the live rows that the preceding ones left, and segments whose extrema exclude a match are not
//! read.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Table;
use super::column::{Items, Test};
use super::compare::Number;
use super::filter::Filter;
use super::schema::{ColumnKind, Nulls};
use super::summary::Summary;
use crate::store::error::{Error, Result};
use crate::store::limits::Budget;
use crate::store::value::Value;
use crate::threads;

/// The number of stored rows in a part.
const PART: u64 = 1 << 16;
/// The number of rows whose values of variable length are compared at once.
const STEP: usize = 1 << 12;

/// Options of queries.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct QueryOptions {
    /// The number of threads; 0, the default, is the number of processors.
    pub threads: usize,
    /// The maximum number of rows that are found: the first ones. There is no limit by default.
    pub limit: u64,
    /// Whether the extrema that the table stores are used. The default is true. They are those of
    /// the program that wrote the table: if they are wrong, rows are not found.
    pub uses_summaries: bool,
}

impl Default for QueryOptions {
    fn default() -> QueryOptions {
        QueryOptions { threads: 0, limit: u64::MAX, uses_summaries: true }
    }
}

/// The rows that satisfy a condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matches {
    /// The numbers of the rows, ascending.
    pub rows: Vec<u64>,
    /// The number of values that were compared.
    pub compared: u64,
    /// The number of values that were not read, because the extrema of their segment exclude a
    /// match.
    pub skipped: u64,
}

/// The matches in a part.
struct Found {
    /// The number of live rows.
    live: u64,
    /// The positions of the matches among the live rows.
    positions: Vec<u64>,
}

struct Counters {
    compared: AtomicU64,
    skipped: AtomicU64,
}

impl Table<'_> {
    /// Returns the rows that satisfy a condition.
    ///
    /// # Errors
    /// - [`Error::NoSuchColumn`]; [`Error::Column`] if the column has no values that compare with
    ///   the constant, such as texts with a number;
    /// - [`Error::Limit`] if the numbers of the rows need more memory than
    ///   [`Options::max_message`](super::super::Options::max_message);
    /// - the errors of [`Table::values`].
    pub fn find(&self, filter: &Filter, options: &QueryOptions) -> Result<Matches> {
        self.check_filter(filter)?;
        let mut parts = Vec::new();
        for window in 0.. {
            let rows = self.windows.rows(window);
            if rows.is_empty() {
                break;
            }
            let at = usize::try_from(window).map_err(|_| Error::Memory)?;
            let live = self.live_before[at + 1] - self.live_before[at];
            if live == 0 {
                continue;
            }
            let is_live = live == rows.end - rows.start;
            let mut start = rows.start;
            while start < rows.end {
                let end = (start + PART).min(rows.end);
                parts.try_reserve(1)?;
                parts.push((start..end, is_live));
                start = end;
            }
        }
        let available = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if options.threads == 0 { available() } else { options.threads };
        let threads = threads.min(parts.len()).max(1);
        let counters = Counters { compared: AtomicU64::new(0), skipped: AtomicU64::new(0) };
        let results: Mutex<(Vec<Option<Found>>, usize, u64, u64)> =
            Mutex::new((parts.iter().map(|_| None).collect(), 0, 0, 0));
        let (next, is_done) = (AtomicU64::new(0), AtomicBool::new(false));
        let fault: Mutex<Option<Error>> = Mutex::new(None);
        let most = self.store.options().max_message / 8;
        let work = || {
            while !is_done.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let part = usize::try_from(number).ok().and_then(|number| {
                    parts.get(number).map(|(rows, is_live)| (number, rows, *is_live))
                });
                let Some((number, rows, is_live)) = part else {
                    return;
                };
                let found = self.find_in(rows.clone(), is_live, filter, options, &counters);
                let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                let (all, complete, count, total) = &mut *results;
                match found {
                    Ok(found) => {
                        *total += found.positions.len() as u64;
                        all[number] = Some(found);
                    }
                    Err(error) => {
                        fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        is_done.store(true, Ordering::Relaxed);
                    }
                }
                while let Some(Some(found)) = all.get(*complete) {
                    *count += found.positions.len() as u64;
                    *complete += 1;
                }
                if *count >= options.limit || *total > most {
                    is_done.store(true, Ordering::Relaxed);
                }
            }
        };
        threads::run("query", threads, work);
        if let Some(error) = fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let (all, complete, count, _) =
            results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let is_short = complete < all.len() && count < options.limit;
        let wanted = count.min(options.limit);
        if is_short || wanted > most {
            let what = format!("{}: too many rows are found", self.key);
            return Err(Error::Limit { what, limit: most });
        }
        let mut rows = Vec::new();
        rows.try_reserve_exact(usize::try_from(wanted).map_err(|_| Error::Memory)?)?;
        let mut before = 0;
        for found in all.into_iter().take(complete).flatten() {
            let missing = usize::try_from(wanted).unwrap_or(usize::MAX) - rows.len();
            rows.extend(found.positions.iter().take(missing).map(|position| before + position));
            before += found.live;
        }
        let load = |counter: AtomicU64| counter.into_inner();
        Ok(Matches { rows, compared: load(counters.compared), skipped: load(counters.skipped) })
    }

    /// Returns the values of columns in the rows that satisfy a condition: for each column, its
    /// values.
    ///
    /// # Errors
    /// - the errors of [`Table::find`] and [`Table::pick`].
    pub fn query(
        &self,
        filter: &Filter,
        columns: &[&str],
        options: &QueryOptions,
    ) -> Result<Vec<Vec<Value>>> {
        let rows = self.find(filter, options)?.rows;
        let mut budget = self.budget();
        let stored = self.stored_of_rows(&rows, &mut budget)?;
        let numbers = columns.iter().map(|name| self.column(name)).collect::<Result<Vec<_>>>()?;
        let values = |number| self.reader(number)?.values(&stored, &mut budget);
        numbers.into_iter().map(values).collect()
    }

    /// Returns the values of a column in ascending rows; nulls are [`Value::Nil`].
    ///
    /// # Errors
    /// - [`Error::Value`] if the rows are not ascending; the errors of [`Table::values`].
    pub fn pick(&self, column: &str, rows: &[u64]) -> Result<Vec<Value>> {
        let number = self.column(column)?;
        let mut budget = self.budget();
        let stored = self.stored_of_rows(rows, &mut budget)?;
        self.reader(number)?.values(&stored, &mut budget)
    }

    /// Returns the values of a column with values of a fixed size in ascending rows, as
    /// [`Table::items`].
    ///
    /// # Errors
    /// - [`Error::Value`] if the rows are not ascending; the errors of [`Table::items`].
    pub fn pick_items(&self, column: &str, rows: &[u64]) -> Result<Items> {
        let number = self.column(column)?;
        let mut budget = self.budget();
        let stored = self.stored_of_rows(rows, &mut budget)?;
        self.reader(number)?.items(&stored, &mut budget)
    }

    /// Checks that the columns exist and have values that compare with the constants.
    fn check_filter(&self, filter: &Filter) -> Result<()> {
        match filter {
            Filter::All(filters) | Filter::Any(filters) => {
                filters.iter().try_for_each(|filter| self.check_filter(filter))
            }
            Filter::IsNull(column) | Filter::IsNotNull(column) => {
                let number = self.column(column)?;
                self.reader(number).map(drop)
            }
            Filter::Compare { column, value, .. } => {
                let number = self.column(column)?;
                let kind = &self.schema.columns[number].kind;
                let is_number = Number::of(value).is_some();
                let is_comparable = match kind {
                    ColumnKind::Number(name) => is_number && !name.starts_with("complex"),
                    ColumnKind::Bool | ColumnKind::Timestamp { .. } => is_number,
                    ColumnKind::String
                    | ColumnKind::Utf8
                    | ColumnKind::VlString
                    | ColumnKind::Dictionary { .. } => matches!(value, Value::Str(_)),
                    ColumnKind::Bytes | ColumnKind::VlBytes => matches!(value, Value::Bytes(_)),
                    ColumnKind::Object => {
                        is_number || matches!(value, Value::Str(_) | Value::Bytes(_))
                    }
                    _ => false,
                };
                if !is_comparable {
                    let constant = match value {
                        _ if is_number => "a number",
                        Value::Str(_) => "a text",
                        Value::Bytes(_) => "bytes",
                        _ => "this constant",
                    };
                    let why =
                        format!("its kind {:?} does not compare with {constant}", kind.name());
                    return Err(Error::Column { name: column.clone(), why });
                }
                self.reader(number).map(drop)
            }
        }
    }

    /// Returns the matches in a part. If `is_live`, all its rows are live.
    fn find_in(
        &self,
        part: Range<u64>,
        is_live: bool,
        filter: &Filter,
        options: &QueryOptions,
        counters: &Counters,
    ) -> Result<Found> {
        let live: Vec<u64> = if is_live {
            part.collect()
        } else {
            let mask = self.mask(part.clone())?;
            let pairs = mask.iter().zip(part).filter(|&(&byte, _)| byte != 0);
            pairs.map(|(_, row)| row).collect()
        };
        let matches = self.matching(filter, &live, options, counters)?;
        let mut positions = Vec::new();
        let mut at = 0;
        for row in &matches {
            while live[at] != *row {
                at += 1;
            }
            positions.push(at as u64);
        }
        Ok(Found { live: live.len() as u64, positions })
    }

    /// Returns the rows of `rows` that satisfy a condition. They are stored rows, ascending.
    fn matching(
        &self,
        filter: &Filter,
        rows: &[u64],
        options: &QueryOptions,
        counters: &Counters,
    ) -> Result<Vec<u64>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        match filter {
            Filter::All(filters) => {
                let mut left = rows.to_vec();
                // No values are read of blocks that the summary of any condition excludes.
                for filter in filters {
                    if let Filter::Compare { column, comparison, value } = filter {
                        let number = self.column(column)?;
                        let test = Test { comparison: *comparison, constant: value };
                        let kept = self.not_excluded(number, &test, &left, options, counters)?;
                        left = kept.unwrap_or(left);
                    }
                }
                for filter in filters {
                    left = self.matching(filter, &left, options, counters)?;
                }
                Ok(left)
            }
            Filter::Any(filters) => {
                let (mut left, mut found) = (rows.to_vec(), Vec::new());
                for filter in filters {
                    let matches = self.matching(filter, &left, options, counters)?;
                    let mut taken = matches.iter().peekable();
                    left.retain(|row| taken.next_if_eq(&row).is_none());
                    found.extend(matches);
                }
                found.sort_unstable();
                Ok(found)
            }
            Filter::Compare { column, comparison, value } => {
                let test = Test { comparison: *comparison, constant: value };
                self.compare(column, &test, rows, options, counters)
            }
            Filter::IsNull(column) => self.nulls(column, true, rows),
            Filter::IsNotNull(column) => self.nulls(column, false, rows),
        }
    }

    /// Returns the summary of a column, if it has one that excludes rows from a comparison.
    fn summary_for(
        &self,
        number: usize,
        test: &Test<'_>,
        options: &QueryOptions,
    ) -> Result<Option<&Summary>> {
        match (&self.schema.columns[number].kind, Number::of(test.constant)) {
            (ColumnKind::Object, _) | (_, None) => Ok(None),
            _ => self.summary(number, options.uses_summaries),
        }
    }

    /// Returns the rows that the summary of a column does not exclude; `None` without a summary.
    fn not_excluded(
        &self,
        number: usize,
        test: &Test<'_>,
        rows: &[u64],
        options: &QueryOptions,
        counters: &Counters,
    ) -> Result<Option<Vec<u64>>> {
        let summary = self.summary_for(number, test, options)?;
        let (Some(summary), Some(constant)) = (summary, Number::of(test.constant)) else {
            return Ok(None);
        };
        let (mut rest, mut left) = (rows, Vec::new());
        while let Some(&first) = rest.first() {
            let (can_hold, end) = summary.can_hold(first, test.comparison, constant);
            let (segment, later) = rest.split_at(rest.partition_point(|&row| row < end));
            if can_hold {
                left.extend_from_slice(segment);
            }
            rest = later;
        }
        counters.skipped.fetch_add((rows.len() - left.len()) as u64, Ordering::Relaxed);
        Ok(Some(left))
    }

    fn compare(
        &self,
        column: &str,
        test: &Test<'_>,
        rows: &[u64],
        options: &QueryOptions,
        counters: &Counters,
    ) -> Result<Vec<u64>> {
        let number = self.column(column)?;
        let reader = self.reader(number)?;
        let kept = self.not_excluded(number, test, rows, options, counters)?;
        let left = kept.as_deref().unwrap_or(rows);
        let summary = self.summary_for(number, test, options)?;
        counters.compared.fetch_add(left.len() as u64, Ordering::Relaxed);
        let mut found = Vec::new();
        self.in_steps(left, |rows, budget| {
            let holds = reader.matching(rows, test, summary, budget)?;
            let pairs = rows.iter().zip(holds).filter(|&(_, holds)| holds);
            found.extend(pairs.map(|(&row, _)| row));
            Ok(())
        })?;
        Ok(found)
    }

    fn nulls(&self, column: &str, is_null: bool, rows: &[u64]) -> Result<Vec<u64>> {
        let number = self.column(column)?;
        let description = &self.schema.columns[number];
        let is_fixed = !matches!(
            description.kind,
            ColumnKind::VlString
                | ColumnKind::VlBytes
                | ColumnKind::Object
                | ColumnKind::Struct
                | ColumnKind::List
                | ColumnKind::Dictionary { .. }
        );
        if is_fixed && matches!(description.nulls, Nulls::None) {
            return Ok(if is_null { Vec::new() } else { rows.to_vec() });
        }
        let reader = self.reader(number)?;
        let mut found = Vec::new();
        self.in_steps(rows, |rows, budget| {
            let nulls = reader.nulls(rows, budget)?;
            let pairs = rows.iter().zip(nulls).filter(|&(_, null)| null == is_null);
            found.extend(pairs.map(|(&row, _)| row));
            Ok(())
        })?;
        Ok(found)
    }

    /// Calls `each` with consecutive parts of rows, smaller ones if their values exceed the limit.
    fn in_steps(
        &self,
        rows: &[u64],
        mut each: impl FnMut(&[u64], &mut Budget) -> Result<()>,
    ) -> Result<()> {
        let (mut rest, mut step) = (rows, rows.len().max(STEP));
        while !rest.is_empty() {
            let (part, later) = rest.split_at(step.min(rest.len()));
            match each(part, &mut self.budget()) {
                Err(Error::Limit { .. }) if part.len() > 1 => step = part.len().div_ceil(2),
                Err(error) => return Err(error),
                Ok(()) => rest = later,
            }
        }
        Ok(())
    }
}
