//! Reads all items of arrays in threads, segment by segment.
//!
//! Each thread opens the files itself. A segment consists of whole chunks, if the format has chunks
//! of one size, so that no chunk is decompressed twice.

use crate::cat::{array_or_bytes, bytes_of, parse_dtype, reinterpret};
use crate::error::Failure;
use crate::field;
use crate::io::Input;
use crate::items;
use ferroblosc_formats::convert::{self, Detected, Source};
use ferroblosc_formats::numpy::{ArrayInfo, Dtype, Kind};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The approximate size of a segment in bytes, unless a chunk is larger.
const SEGMENT: u64 = 1 << 20;
/// The maximum size of a segment in bytes: that of the slabs of chunks that are read at once.
pub const MAX_SEGMENT: u64 = 64 << 20;

/// An array to scan.
pub struct Scanned<'i> {
    pub input: &'i Input,
    pub found: Detected,
    column: Option<String>,
    /// The type and shape. Data without them are an array of bytes.
    pub info: ArrayInfo,
    /// Whether the data have a type, or one was given.
    pub is_typed: bool,
    /// The size of the data in bytes.
    pub nbytes: u64,
    /// The number of bytes in a chunk, or in a slab of chunks.
    unit: u64,
}

impl<'i> Scanned<'i> {
    /// Opens the data. `dtype` is the type of the items instead of that of the data.
    pub fn open(
        input: &'i Input,
        column: Option<&str>,
        dtype: Option<&str>,
    ) -> Result<Scanned<'i>, Failure> {
        Scanned::open_as(input, input.detect()?, column, dtype)
    }

    /// Opens data of a known format, like [`Scanned::open`].
    pub fn open_as(
        input: &'i Input,
        found: Detected,
        column: Option<&str>,
        dtype: Option<&str>,
    ) -> Result<Scanned<'i>, Failure> {
        let dtype = dtype.map(parse_dtype).transpose()?;
        let source = field::open(input.path(), &found, column, 1);
        let source = source.map_err(|failure| input.error(failure))?;
        let info = match &dtype {
            Some(dtype) => reinterpret(dtype, source.as_ref()),
            None => array_or_bytes(source.as_ref()),
        };
        let info = info.map_err(|failure| input.error(failure))?;
        let content = source.content();
        let unit = match column {
            None => unit_of(input, &found)?,
            Some(_) => content.read_size as u64,
        };
        Ok(Scanned {
            is_typed: content.array.is_some() || dtype.is_some(),
            nbytes: content.nbytes,
            column: column.map(str::to_owned),
            found,
            info,
            unit,
            input,
        })
    }

    /// Opens the data again.
    pub fn source(&self, nthreads: usize) -> Result<Box<dyn Source>, Failure> {
        let column = self.column.as_deref();
        let source = field::open(self.input.path(), &self.found, column, nthreads);
        source.map_err(|failure| self.input.error(failure))
    }

    /// Describes the data as an array of bytes.
    pub fn forget_type(&mut self) -> Result<(), Failure> {
        self.info = bytes_of(self.nbytes)?;
        self.is_typed = false;
        Ok(())
    }

    /// Returns the number of items.
    pub fn items(&self) -> u64 {
        self.nbytes.checked_div(self.info.dtype.itemsize()).unwrap_or(0)
    }

    /// Returns the number of items in a segment.
    pub fn segment(&self) -> u64 {
        let itemsize = self.info.dtype.itemsize().max(1);
        let bytes = if self.unit > MAX_SEGMENT {
            SEGMENT
        } else {
            self.unit * (SEGMENT / self.unit).max(1)
        };
        (bytes / itemsize).max(1)
    }

    /// Reads items into a buffer.
    pub fn read(
        &self,
        source: &mut dyn Source,
        first: u64,
        count: u64,
        dest: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let itemsize = self.info.dtype.itemsize();
        let size = usize::try_from(count * itemsize).map_err(|_| ferroblosc::Error::MemoryAlloc)?;
        dest.try_reserve_exact(size.saturating_sub(dest.len()))
            .map_err(|_| ferroblosc::Error::MemoryAlloc)?;
        dest.resize(size, 0);
        source.read(first * itemsize, dest).map_err(|error| self.input.error(error))
    }

    /// Returns the index of an item in each dimension.
    pub fn index_of(&self, item: u64) -> Vec<u64> {
        let mut rest = item;
        let mut index: Vec<u64> = self
            .info
            .shape
            .iter()
            .rev()
            .map(|&len| {
                let at = rest % len.max(1);
                rest /= len.max(1);
                at
            })
            .collect();
        index.reverse();
        index
    }
}

/// Returns the number of bytes that are read without decompressing a chunk twice.
fn unit_of(input: &Input, found: &Detected) -> Result<u64, Failure> {
    let summary = convert::summarise(input.path(), found).map_err(|error| input.error(error))?;
    let slab = match (&summary.partitions, &summary.array) {
        (Some((chunks, Some(_))), Some(info)) => {
            let rows = chunks.first().copied().unwrap_or(1);
            let inner = info.shape.iter().skip(1);
            let items = inner.fold(rows, |items: u64, &len| items.saturating_mul(len));
            Some(items.saturating_mul(info.dtype.itemsize()))
        }
        _ => None,
    };
    Ok(slab.or(summary.chunksize).unwrap_or(SEGMENT).max(1))
}

/// The number of segments, for each thread, that may be scanned before their results are used.
const AHEAD: u64 = 4;

/// The segments that are scanned, in order.
struct Order<T, F> {
    /// The number of the next segment to scan.
    next: u64,
    /// The number of the next segment whose result is used.
    used: u64,
    /// The results of later segments.
    waiting: BTreeMap<u64, T>,
    /// Uses a result.
    fold: F,
    /// The first segment that failed.
    failed: Option<(u64, Failure)>,
}

impl<T, F> Order<T, F> {
    fn fail(&mut self, number: u64, failure: Failure) {
        if self.failed.as_ref().is_none_or(|(known, _)| number < *known) {
            self.failed = Some((number, failure));
        }
    }
}

/// The segments to scan, shared by threads.
struct Segments<T, F> {
    count: u64,
    /// The maximum number of segments whose results are not used yet.
    most: u64,
    order: Mutex<Order<T, F>>,
    /// Notified when a result was used, and at the end.
    progress: Condvar,
    stop: AtomicBool,
}

impl<T, F: FnMut(T)> Segments<T, F> {
    fn order(&self) -> MutexGuard<'_, Order<T, F>> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of the next segment to scan. Waits while too many results are not used.
    fn next(&self) -> Option<u64> {
        let mut order = self.order();
        while !self.stop.load(Ordering::Relaxed) && order.next < self.count {
            if order.next < order.used + self.most {
                order.next += 1;
                return Some(order.next - 1);
            }
            order = self.progress.wait(order).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// Uses the result of a segment, and the following ones, in order.
    fn add(&self, number: u64, result: T) {
        let mut order = self.order();
        let order = &mut *order;
        order.waiting.insert(number, result);
        while let Some(result) = order.waiting.remove(&order.used) {
            (order.fold)(result);
            order.used += 1;
        }
        self.progress.notify_all();
    }

    fn fail(&self, number: u64, failure: Failure) {
        let mut order = self.order();
        self.stop.store(true, Ordering::Relaxed);
        order.fail(number, failure);
        self.progress.notify_all();
    }
}

/// Ends the other threads if this one panics.
struct PanicGuard<'s, T, F: FnMut(T)>(&'s Segments<T, F>);

impl<T, F: FnMut(T)> Drop for PanicGuard<'_, T, F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _order = self.0.order();
            self.0.stop.store(true, Ordering::Relaxed);
            self.0.progress.notify_all();
        }
    }
}

/// Calls `scan` for each segment of `items` items, in `nthreads` threads, with a state that each
/// thread makes once. Passes the results to `fold` in the order of the segments; only a few results
/// are in memory. `scan` receives the first item and the number of items, and may set the flag to
/// skip the remaining segments.
pub fn segments<S, T: Send>(
    (items, segment): (u64, u64),
    nthreads: usize,
    make: impl Fn() -> Result<S, Failure> + Sync,
    scan: impl Fn(&mut S, u64, u64, &AtomicBool) -> Result<T, Failure> + Sync,
    fold: impl FnMut(T) + Send,
) -> Result<(), Failure> {
    let count = items.div_ceil(segment);
    let workers = usize::try_from(count).unwrap_or(usize::MAX).min(nthreads).max(1);
    let shared = Segments {
        count,
        most: (workers as u64).saturating_mul(AHEAD),
        order: Mutex::new(Order { next: 0, used: 0, waiting: BTreeMap::new(), fold, failed: None }),
        progress: Condvar::new(),
        stop: AtomicBool::new(false),
    };
    let work = || {
        let _guard = PanicGuard(&shared);
        let mut state = match make() {
            Ok(state) => state,
            Err(failure) => return shared.fail(u64::MAX, failure),
        };
        while let Some(number) = shared.next() {
            let first = number * segment;
            match scan(&mut state, first, segment.min(items - first), &shared.stop) {
                Ok(result) => shared.add(number, result),
                Err(failure) => return shared.fail(number, failure),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            // If the system starts no more threads, the others do the work.
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let order = shared.order.into_inner().unwrap_or_else(PoisonError::into_inner);
    order.failed.map_or(Ok(()), |(_, failure)| Err(failure))
}

/// The maximum number of scalar fields of an item.
const MAX_LEAVES: usize = 1 << 16;

/// A scalar field of an item: the item itself, unless it is a record.
pub struct Leaf {
    /// The name, such as `c.x`, or an empty text.
    pub name: String,
    pub dtype: Dtype,
    /// The offset in the item in bytes.
    pub offset: u64,
    /// The number of scalars, more than one in a subarray.
    pub count: u64,
}

impl Leaf {
    /// Returns the scalar fields of items of a type.
    ///
    /// # Errors
    /// If there are more than [`MAX_LEAVES`].
    pub fn all(dtype: &Dtype) -> Result<Vec<Leaf>, Failure> {
        let mut leaves = Vec::new();
        Leaf::add(dtype, "", (0, 1), &mut leaves)?;
        Ok(leaves)
    }

    fn add(
        dtype: &Dtype,
        name: &str,
        (offset, count): (u64, u64),
        leaves: &mut Vec<Leaf>,
    ) -> Result<(), Failure> {
        if dtype.kind() != Kind::Record {
            if leaves.len() == MAX_LEAVES {
                return Err(Failure::new(format!("a record has more than {MAX_LEAVES} fields")));
            }
            leaves.push(Leaf { name: name.to_owned(), dtype: dtype.clone(), offset, count });
            return Ok(());
        }
        for field in items::fields_with_scalars(dtype) {
            let name =
                if name.is_empty() { field.name.clone() } else { format!("{name}.{}", field.name) };
            let inner: u64 = field.shape.iter().product();
            if field.dtype.kind() == Kind::Record {
                // Each record of a subarray has its own scalar fields.
                for number in 0..inner {
                    let name = if field.shape.is_empty() {
                        name.clone()
                    } else {
                        format!("{name}[{number}]")
                    };
                    let at = offset + field.offset + number * field.dtype.itemsize();
                    Leaf::add(&field.dtype, &name, (at, 1), leaves)?;
                }
            } else {
                Leaf::add(&field.dtype, &name, (offset + field.offset, inner), leaves)?;
            }
        }
        Ok(())
    }

    /// Returns the size of the field in bytes.
    pub fn size(&self) -> usize {
        (self.dtype.itemsize() * self.count) as usize
    }

    /// Returns the bytes of the field in an item.
    pub fn of<'b>(&self, item: &'b [u8]) -> &'b [u8] {
        &item[self.offset as usize..][..self.size()]
    }
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    /// Returns the number of an item, or none for texts and other items. Times are integers.
    pub fn of(dtype: &Dtype, bytes: &[u8]) -> Option<Number> {
        let order = dtype.is_big_endian();
        Some(match dtype.kind() {
            Kind::Bool => Number::Int(i128::from(bytes != [0])),
            Kind::Int | Kind::Datetime | Kind::Timedelta => {
                Number::Int(items::signed(bytes, order).into())
            }
            Kind::Uint => Number::Int(items::unsigned(bytes, order).into()),
            Kind::Float => Number::Float(items::float_value(bytes, order)),
            _ => return None,
        })
    }

    /// Returns the number as a float.
    pub fn as_float(self) -> f64 {
        match self {
            Number::Int(number) => number as f64,
            Number::Float(number) => number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn segments_are_scanned_once_and_returned_in_order() {
        for (items, segment, threads) in [(0, 5, 3), (1, 5, 3), (23, 5, 1), (23, 5, 4), (20, 5, 9)]
        {
            let mut next = 0;
            segments(
                (items, segment),
                threads,
                || Ok(()),
                |(), first, count, _| Ok((first, count)),
                |(first, count)| {
                    assert_eq!(first, next);
                    next += count;
                },
            )
            .unwrap();
            assert_eq!(next, items);
        }
        let failed = segments(
            (100, 1),
            4,
            || Ok(()),
            |(), first, _, _| {
                if first < 7 { Ok(()) } else { Err(Failure::new(format!("{first}"))) }
            },
            |()| {},
        );
        assert!(failed.is_err());
    }

    #[test]
    fn a_panic_ends_all_threads() {
        let scanned = std::panic::catch_unwind(|| {
            segments(
                (1000, 1),
                4,
                || Ok(()),
                |(), first, _, _| {
                    assert!(first > 0, "the first segment panics");
                    Ok(())
                },
                |()| {},
            )
        });
        assert!(scanned.is_err());
    }

    #[test]
    fn only_a_few_results_are_in_memory() {
        let (alive, most) = (AtomicU64::new(0), AtomicU64::new(0));
        let used = AtomicU64::new(0);
        segments(
            (300, 1),
            3,
            || Ok(()),
            |(), first, _, _| {
                if first == 0 {
                    // The others continue with later segments.
                    std::thread::sleep(std::time::Duration::from_millis(200));
                }
                let count = alive.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(count, Ordering::SeqCst);
                Ok(())
            },
            |()| {
                alive.fetch_sub(1, Ordering::SeqCst);
                used.fetch_add(1, Ordering::SeqCst);
            },
        )
        .unwrap();
        assert_eq!(used.into_inner(), 300);
        let most = most.into_inner();
        assert!(most <= 3 * AHEAD, "{most}");
    }

    #[test]
    fn records_have_scalar_fields() {
        let descr = "[('a', '<f8'), ('b', '|S4', (2,)), ('c', [('d', '<i2')], (2,))]";
        let leaves = Leaf::all(&Dtype::parse(descr).unwrap()).unwrap();
        let found: Vec<(&str, u64, u64)> =
            leaves.iter().map(|leaf| (leaf.name.as_str(), leaf.offset, leaf.count)).collect();
        let many = "[('a', '<i4'), ('c', [('d', '|i1')], (1000000000,))]";
        assert!(Leaf::all(&Dtype::parse(many).unwrap()).is_err());
        // Records with nothing but padding.
        assert!(Leaf::all(&items::tests::padding()).unwrap().is_empty());
        assert_eq!(found, [("a", 0, 1), ("b", 8, 2), ("c[0].d", 16, 1), ("c[1].d", 18, 1)]);
    }
}
