//! The types that threads may share, or pass to each other.

use ferroblosc::b2nd::{self, Array, AxisRange, Geometry, Slice, View};
use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
use ferroblosc::item::{DateTime64, FixedBytes, FixedStr, TimeDelta64, unit};
use ferroblosc::schunk::{self, SChunk, Storage};
use ferroblosc::{Buffer, Error, ErrorKind};
use std::panic::{RefUnwindSafe, UnwindSafe};

fn is_send<T: Send>() {}
fn is_sync<T: Sync>() {}
fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}

macro_rules! shared {
    ($($type:ty),* $(,)?) => {
        $(
            is_send::<$type>();
            is_sync::<$type>();
        )*
    };
}

#[test]
fn threads_share_all_types() {
    shared!(Array, View<'_>, b2nd::Transaction<'_>, b2nd::Parts<'_, f32>);
    shared!(SChunk, schunk::Transaction<'_>, schunk::Chunks<'_>, schunk::Blocks<'_>);
    shared!(schunk::Reader<'_>, schunk::Writer<'_>, schunk::FinishError);
    shared!(Storage, CParams, DParams, Geometry, Slice, AxisRange);
    shared!(Buffer, Error, ErrorKind, Compressor, Decompressor);
    shared!(DateTime64<unit::Day>, TimeDelta64<unit::Day>, FixedBytes<3>, FixedStr<3>);
}

#[test]
fn errors_can_be_returned_from_threads_and_boxed() {
    fn is_error<T: std::error::Error + Send + Sync + 'static>() {}
    is_error::<Error>();
    is_error::<schunk::FinishError>();
    is_unwind_safe::<ErrorKind>();
}
