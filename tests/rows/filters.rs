//! Filters: tails, the old BYTEDELTA, lossy filters, and user filters.

use std::sync::Arc;

use ferroblosc::chunk::{CParams, DParams, Decompressor};
use ferroblosc::filter::{self, Filter, FilterCall};
use ferroblosc::{Error, Result};

use crate::common::*;

#[test]
fn row_c31_bytes_after_the_last_whole_item_are_kept() {
    let pipelines = [
        (vec![DELTA], 4),
        (vec![DELTA], 8),
        (vec![DELTA], 24),
        (vec![slot(filter::id::TRUNC_PREC, 23)], 4),
        (vec![slot(filter::id::TRUNC_PREC, 52)], 8),
        (vec![slot(filter::id::INT_TRUNC, 32)], 4),
        (vec![slot(filter::id::INT_TRUNC, 16)], 2),
        (vec![slot(filter::id::BYTEDELTA_BUGGY, 24)], 4),
        (vec![slot(filter::id::BYTEDELTA, 24)], 4),
        (vec![SHUFFLE], 7),
        (vec![BITSHUFFLE], 7),
    ];
    for (filters, typesize) in pipelines {
        for nbytes in (400..440).chain([522]) {
            for blocksize in [0, 96] {
                let params = lz4(typesize, &filters).blocksize(blocksize);
                let chunk = compress_into(&params, &ramp(nbytes), 2000).unwrap();
                assert_eq!(chunk[at::FLAGS] & flags::MEMCPYED, 0);
                assert_eq!(decompress(&chunk, nbytes), Ok(ramp(nbytes)));
            }
        }
    }
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

#[test]
fn row_c34_the_old_bytedelta_restarts_after_whole_vectors() {
    let data: Vec<u8> = (0..160u32).map(|i| (7 * i + i * i / 5) as u8).collect();
    let new = hex(concat!(
        "001f252c33393f454c53595f656c73797f858c93999fa5acb3b9bfc5ccd3d9dfe5ecf3f9ff050c13",
        "0721272d343b41474d545b61676d747b81878d949ba1a7adb4bbc1c7cdd4dbe1e7edf4fb01070d14",
        "0e23292f353c43494f555c63696f757c83898f959ca3a9afb5bcc3c9cfd5dce3e9eff5fc03090f15",
        "16242b31373d444b51575d646b71777d848b91979da4abb1b7bdc4cbd1d7dde4ebf1f7fd040b1117",
    ));
    let mut old = new.clone();
    for (channel, byte) in [0x4C, 0x87, 0xC2, 0xFD].into_iter().enumerate() {
        old[40 * channel + 32] = byte;
    }
    for (id, filtered) in [(filter::id::BYTEDELTA, new), (filter::id::BYTEDELTA_BUGGY, old)] {
        let mut made = Made::new(4, 160, 160);
        made.filters[4..].copy_from_slice(&[SHUFFLE, slot(id, 4)]);
        let made = made.block(&[raw_stream(&filtered)]);
        assert_eq!(decompress(&made.chunk(), 160).as_ref(), Ok(&data));
        round_trip(&lz4(4, &[SHUFFLE, slot(id, 4)]), &data);
    }
}

#[test]
fn row_c35_lossy_filters_leave_stored_chunks_exact() {
    let lossy = [slot(filter::id::TRUNC_PREC, 22), slot(filter::id::INT_TRUNC, -3i8 as u8)];
    for lossy in lossy {
        let params = lz4(4, &[lossy]);
        round_trip(&params.clone().level(0), &ramp(1000));
        round_trip(&params, &noise(28));
        let stored = round_trip(&params, &noise(1000));
        assert_ne!(stored[at::FLAGS] & flags::MEMCPYED, 0);
        let chunk = compress(&params, &text(4000)).unwrap();
        assert_ne!(decompress(&chunk, 4000), Ok(text(4000)), "the filter changed nothing");
    }
}

#[test]
fn lossy_filters_check_their_parameter() {
    for (id, typesize, meta) in [
        (filter::id::TRUNC_PREC, 4, 0),
        (filter::id::TRUNC_PREC, 4, 24),
        (filter::id::TRUNC_PREC, 2, 1),
        (filter::id::TRUNC_PREC, 300, 1),
        (filter::id::INT_TRUNC, 4, 33),
        (filter::id::INT_TRUNC, 3, 1),
        (filter::id::BYTEDELTA, 4, 0),
    ] {
        let params = lz4(typesize, &[slot(id, meta)]);
        assert_eq!(compress(&params, &ramp(1000)), Err(Error::FilterPipeline));
    }
}

#[test]
fn array_filters_fail_without_a_super_chunk() {
    for id in
        [filter::id::NDCELL, filter::id::NDMEAN, filter::id::BYTEDELTA, filter::id::BYTEDELTA_BUGGY]
    {
        let mut made = Made::new(4, 100, 100).block(&[raw_stream(&noise(100))]);
        made.filters[5].id = id;
        assert!(decompress(&made.chunk(), 100).is_err());
        assert_eq!(compress(&lz4(4, &[slot(id, 0)]), &ramp(1000)), Err(Error::FilterPipeline));
    }
}

#[test]
fn the_parameter_of_shuffle_is_its_element_size() {
    for (typesize, meta) in [(4, 2), (4, 7), (1, 4), (16, 255), (4, 4)] {
        for nbytes in [400, 1003] {
            let params = lz4(typesize, &[slot(filter::id::SHUFFLE, meta)]);
            let chunk = round_trip(&params, &ramp(nbytes));
            let items = nbytes / typesize as usize;
            assert_eq!(
                getitem(&chunk, 1, items as i32 - 2, nbytes).as_deref(),
                Ok(&ramp(nbytes)[typesize as usize..(items - 1) * typesize as usize])
            );
        }
    }
}

/// XORs every byte with the parameter, or returns an error.
struct Xor {
    forward: Result<()>,
    backward: Result<()>,
}

impl Xor {
    fn run(call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) {
        for (to, from) in dest.iter_mut().zip(src) {
            *to = from ^ call.meta;
        }
    }
}

impl Filter for Xor {
    fn forward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        Xor::run(call, src, dest);
        self.forward.clone()
    }

    fn backward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        Xor::run(call, src, dest);
        self.backward.clone()
    }
}

fn register(id: u8, forward: Result<()>, backward: Result<()>) -> CParams {
    let filter = Xor { forward, backward };
    filter::register_entry(id, &format!("xor {id}"), Some(Arc::new(filter))).unwrap();
    lz4(4, &[slot(id, 0x55), SHUFFLE])
}

#[test]
fn a_user_filter_works_in_any_slot() {
    let data = mixed(5000);
    let _ = register(201, Ok(()), Ok(()));
    for filters in [
        vec![slot(201, 1)],
        vec![slot(201, 9), DELTA, SHUFFLE],
        vec![DELTA, slot(201, 9)],
        vec![slot(201, 1), slot(201, 2), slot(201, 4), BITSHUFFLE],
    ] {
        round_trip(&lz4(4, &filters).blocksize(512), &data);
    }
}

#[test]
fn row_c76_data_that_a_filter_of_the_program_maps_to_zeros_are_kept() {
    let _ = register(206, Ok(()), Ok(()));
    for filters in [vec![slot(206, 0x5A)], vec![slot(206, 0x5A), DELTA, SHUFFLE]] {
        for blocksize in [0, 512] {
            for nthreads in [1, 3] {
                let params = lz4(4, &filters).blocksize(blocksize).threads(nthreads);
                for byte in [0x5A, 0] {
                    let data = [byte; 5000];
                    let chunk = round_trip(&params, &data);
                    assert_eq!(chunk[at::BLOSC2_FLAGS], 0, "a regular chunk");
                    assert_eq!(getitem(&chunk, 600, 2, 8).as_deref(), Ok(&data[..8]));
                }
            }
        }
    }
}

#[test]
fn a_negative_result_of_a_backward_filter_is_returned() {
    let params = register(203, Ok(()), Err(Error::from_code(-5)));
    let chunk = compress(&params, &ramp(5000)).unwrap();
    assert_eq!(decompress(&chunk, 5000), Err(Error::ReadBuffer));
}

#[test]
fn any_failure_of_a_forward_filter_fails_the_compression() {
    for (id, code) in [(204, 7), (205, -5)] {
        let params = register(id, Err(Error::from_code(code)), Ok(()));
        assert_eq!(compress(&params, &ramp(5000)), Err(Error::FilterPipeline));
    }
}

#[test]
fn row_c37_a_positive_result_of_a_backward_filter_is_an_error() {
    let params = register(202, Ok(()), Err(Error::from_code(7)));
    let chunk = compress(&params, &ramp(5000)).unwrap();
    for nthreads in [1, 4] {
        let reader = DParams::default().threads(nthreads);
        assert_eq!(decompress_with(reader, &chunk, 5000), Err(Error::FilterPipeline));
    }
    let mut dest = [0; 8];
    assert_eq!(
        Decompressor::new(DParams::default()).getitem(&chunk, 3, 2, &mut dest),
        Err(Error::FilterPipeline)
    );
}
