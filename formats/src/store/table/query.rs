//! Finding the rows that satisfy a condition.
//!
//! Parts of the table are examined by several threads. In each part, a condition is evaluated for
//! the live rows that the preceding ones left, and segments whose extrema exclude a match are not
//! read. The rows and errors are those of one thread, which examines the parts in their order.

use std::ops::Range;
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
#[derive(Default)]
struct Found {
    /// The number of live rows.
    live: u64,
    /// The positions of the matches among the live rows.
    positions: Vec<u64>,
    counters: Counters,
}

/// The numbers of values, as in [`Matches`].
#[derive(Clone, Copy, Default)]
struct Counters {
    compared: u64,
    skipped: u64,
}

/// A part of the table.
struct Part {
    rows: Range<u64>,
    window: usize,
    /// Whether all rows are live.
    is_live: bool,
}

/// The results of the parts, which threads start in order and finish in any order. The result of
/// the query is that of one thread that examines one part after the other.
struct Results {
    all: Vec<Option<Result<Found>>>,
    /// The number of parts that were started.
    started: usize,
    /// The number of parts before the first one that is not finished.
    complete: usize,
    /// The number of matches in the complete parts.
    count: u64,
    /// The number of matches in all finished parts.
    total: u64,
    /// Whether a part failed.
    has_failed: bool,
    /// The number of matches that end the query.
    limit: u64,
    /// The number of matches that fit in memory.
    most: u64,
}

impl Results {
    fn new(parts: usize, limit: u64, most: u64) -> Result<Results> {
        let mut all = Vec::new();
        all.try_reserve_exact(parts)?;
        all.resize_with(parts, || None);
        let (limit, most) = (limit.min(most.saturating_add(1)), most);
        let (started, complete, count, total, has_failed) = (0, 0, 0, 0, false);
        Ok(Results { all, started, complete, count, total, has_failed, limit, most })
    }

    /// Whether no other part is needed. Parts before a failed one were all started.
    fn is_done(&self) -> bool {
        self.started == self.all.len() || self.has_failed || self.count >= self.limit
    }

    /// Returns the number of the next part; `None` if no other part is needed, or if the matches of
    /// parts after an unfinished one fill the memory: only its thread continues then.
    fn start(&mut self) -> Option<usize> {
        if self.is_done() || self.total > self.most {
            return None;
        }
        self.started += 1;
        Some(self.started - 1)
    }

    fn finish(&mut self, number: usize, found: Result<Found>) {
        match &found {
            Ok(found) => self.total += found.positions.len() as u64,
            Err(_) => self.has_failed = true,
        }
        self.all[number] = Some(found);
        while let Some(Some(Ok(found))) = self.all.get(self.complete) {
            self.count += found.positions.len() as u64;
            self.complete += 1;
        }
    }

    /// Returns the matches of the parts up to that in which the query ended.
    ///
    /// # Errors
    /// The error of the first part that failed before; [`Error::Limit`].
    fn into_found(self, what: impl FnOnce() -> String) -> Result<Vec<Found>> {
        let mut parts = Vec::new();
        let mut count = 0;
        for found in self.all.into_iter().map_while(|found| found) {
            if count >= self.limit {
                break;
            }
            let found = found?;
            count += found.positions.len() as u64;
            parts.try_reserve(1)?;
            parts.push(found);
        }
        if count.min(self.limit) > self.most {
            return Err(Error::Limit { what: what(), limit: self.most });
        }
        Ok(parts)
    }
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
        let parts = self.parts()?;
        let available = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if options.threads == 0 { available() } else { options.threads };
        let threads = threads.min(parts.len()).max(1);
        let most = self.store.options().max_message / 8;
        let results = Mutex::new(Results::new(parts.len(), options.limit, most)?);
        threads::run("query", threads, || {
            let locked = || results.lock().unwrap_or_else(PoisonError::into_inner);
            let next = || locked().start();
            while let Some(number) = next() {
                let found = self.find_in(&parts[number], filter, options);
                locked().finish(number, found);
            }
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let found = results.into_found(|| format!("{}: too many rows are found", self.key))?;
        self.check_live(&parts, &found)?;
        let count = found.iter().map(|found| found.positions.len() as u64).sum::<u64>();
        let wanted = usize::try_from(count.min(options.limit)).map_err(|_| Error::Memory)?;
        let mut matches = Matches::default();
        matches.rows.try_reserve_exact(wanted)?;
        let mut before = 0;
        for found in &found {
            let missing = wanted - matches.rows.len();
            let rows = found.positions.iter().take(missing).map(|position| before + position);
            matches.rows.extend(rows);
            before += found.live;
            matches.compared += found.counters.compared;
            matches.skipped += found.counters.skipped;
        }
        Ok(matches)
    }

    /// Returns the parts of the table in which rows are live.
    fn parts(&self) -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        for (window, live) in self.live_before.windows(2).enumerate() {
            let live = live[1] - live[0];
            if live == 0 {
                continue;
            }
            let rows = self.windows.rows(window as u64);
            let is_live = live == rows.end - rows.start;
            let mut start = rows.start;
            while start < rows.end {
                let end = (start + PART).min(rows.end);
                parts.try_reserve(1)?;
                parts.push(Part { rows: start..end, window, is_live });
                start = end;
            }
        }
        Ok(parts)
    }

    /// Checks that the live rows are those that were counted when the table was opened. The last
    /// part can be inside a window.
    fn check_live(&self, parts: &[Part], found: &[Found]) -> Result<()> {
        let mut live = 0;
        for (number, (part, found)) in parts.iter().zip(found).enumerate() {
            live += found.live;
            let next = parts.get(number + 1);
            let counted = self.live_before[part.window + 1] - self.live_before[part.window];
            let is_whole = next.is_none_or(|next| next.window != part.window);
            if live > counted || (is_whole && live < counted) {
                return Err(Error::Changed(self.store.path().to_owned()));
            }
            if is_whole {
                live = 0;
            }
        }
        Ok(())
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

    /// Returns the matches in a part.
    fn find_in(&self, part: &Part, filter: &Filter, options: &QueryOptions) -> Result<Found> {
        let live: Vec<u64> = if part.is_live {
            part.rows.clone().collect()
        } else {
            let mask = self.mask(part.rows.clone())?;
            let pairs = mask.iter().zip(part.rows.clone()).filter(|&(&byte, _)| byte != 0);
            pairs.map(|(_, row)| row).collect()
        };
        let mut counters = Counters::default();
        let matches = self.matching(filter, &live, options, &mut counters)?;
        let mut positions = Vec::new();
        let mut at = 0;
        for row in &matches {
            while live[at] != *row {
                at += 1;
            }
            positions.push(at as u64);
        }
        Ok(Found { live: live.len() as u64, positions, counters })
    }

    /// Returns the rows of `rows` that satisfy a condition. They are stored rows, ascending.
    fn matching(
        &self,
        filter: &Filter,
        rows: &[u64],
        options: &QueryOptions,
        counters: &mut Counters,
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
        counters: &mut Counters,
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
        counters.skipped += (rows.len() - left.len()) as u64;
        Ok(Some(left))
    }

    fn compare(
        &self,
        column: &str,
        test: &Test<'_>,
        rows: &[u64],
        options: &QueryOptions,
        counters: &mut Counters,
    ) -> Result<Vec<u64>> {
        let number = self.column(column)?;
        let reader = self.reader(number)?;
        let kept = self.not_excluded(number, test, rows, options, counters)?;
        let left = kept.as_deref().unwrap_or(rows);
        let summary = self.summary_for(number, test, options)?;
        counters.compared += left.len() as u64;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::store_of_ten_rows;

    fn found(count: u64) -> Result<Found> {
        let positions = (0..count).collect();
        Ok(Found { live: count, positions, counters: Counters::default() })
    }

    fn failed(row: u64) -> Result<Found> {
        Err(Error::Row { column: "c".to_owned(), row, why: "bad".to_owned() })
    }

    /// Returns the number of matches in each part after four parts, of a query for three matches
    /// with memory for five, finished in an order.
    fn ended(order: &[usize], result: impl Fn(usize) -> Result<Found>) -> Result<Vec<usize>> {
        let mut results = Results::new(order.len(), 3, 5)?;
        while results.start().is_some() {}
        order.iter().for_each(|&number| results.finish(number, result(number)));
        let found = results.into_found(|| "rows".to_owned())?;
        Ok(found.iter().map(|found| found.positions.len()).collect())
    }

    #[test]
    fn the_order_in_which_parts_finish_does_not_matter() {
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1], [1, 0, 3, 2]] {
            // The limit is reached before the parts with many matches, and with an error.
            assert_eq!(ended(&order, |number| found([1, 2, 9, 9][number])), Ok(vec![1, 2]));
            let late = |number| if number < 2 { found(2) } else { failed(number as u64) };
            assert_eq!(ended(&order, late), Ok(vec![2, 2]));
            // The first error in order.
            let early = |number| if number == 0 { found(2) } else { failed(number as u64) };
            assert_eq!(ended(&order, early).err(), failed(1).err());
        }
    }

    #[test]
    fn matches_beyond_the_memory_are_an_error_unless_the_limit_is_reached() {
        let run = |limit, counts: [u64; 3]| {
            let mut results = Results::new(3, limit, 5)?;
            let mut started = 0;
            while let Some(number) = results.start() {
                results.finish(number, found(counts[number]));
                started += 1;
            }
            results.into_found(|| "rows".to_owned()).map(|_| started)
        };
        assert_eq!(run(u64::MAX, [2, 2, 1]), Ok(3));
        assert_eq!(run(5, [2, 4, 1]), Ok(2));
        let beyond = Error::Limit { what: "rows".to_owned(), limit: 5 };
        for (limit, counts) in [(u64::MAX, [2, 4, 1]), (7, [6, 9, 9]), (6, [2, 4, 1])] {
            assert_eq!(run(limit, counts), Err(beyond.clone()), "{limit}");
        }
    }

    #[test]
    fn parts_after_an_unfinished_one_do_not_fill_the_memory() {
        let mut results = Results::new(4, 3, 5).unwrap();
        assert_eq!((results.start(), results.start()), (Some(0), Some(1)));
        results.finish(1, found(6));
        assert_eq!(results.start(), None);
        // The thread of the first part ends the query.
        results.finish(0, found(0));
        assert_eq!(results.start(), None);
        let found = results.into_found(|| "rows".to_owned()).unwrap();
        assert_eq!(found.len(), 2);
    }

    /// The mask is read twice: to count the live rows, and to number the matches.
    #[test]
    fn other_live_rows_than_those_that_were_counted_are_an_error() {
        let folder = crate::testing::tempdir();
        let path = folder.path().join("t.b2z");
        let store = store_of_ten_rows(&path);
        let mut table = store.table("/t").unwrap();
        let filter = Filter::parse("a >= 5").unwrap();
        let options = QueryOptions::default();
        assert_eq!(table.find(&filter, &options).unwrap().rows, [4, 5, 6, 7]);
        for counted in [1, 7, 9] {
            table.live_before = vec![0, counted];
            let changed = Error::Changed(table.store.path().to_owned());
            assert_eq!(table.find(&filter, &options), Err(changed), "{counted}");
        }
    }
}
