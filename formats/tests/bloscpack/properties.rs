//! Properties of random data, packing options and appends.

use crate::common::{Scratch, unpacked};
use ferroblosc_formats::bloscpack::{
    self, AppendArgs, BloscArgs, BloscpackArgs, PackArgs, Reserve,
};
use ferroblosc_formats::blpk::{Archive, Checksum};
use proptest::prelude::*;

fn args() -> impl Strategy<Value = PackArgs> {
    (1..5000_u64, 1..=255_i64, 0..=9_i64, any::<bool>(), 0..9_u8, 0..20_u64, 1..4_usize).prop_map(
        |(chunk_size, typesize, clevel, offsets, checksum, room, nthreads)| PackArgs {
            chunk_size,
            blosc: BloscArgs { typesize, clevel, ..BloscArgs::default() },
            bloscpack: BloscpackArgs {
                offsets,
                checksum: Checksum::from_id(checksum).unwrap(),
                max_app_chunks: Reserve::Exactly(room),
            },
            nthreads,
            ..PackArgs::default()
        },
    )
}

/// Returns a strategy for data with and without repetitions.
fn data() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..3000),
        prop::collection::vec(0..4_u8, 0..20_000),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn unpacking_restores_packed_data(data in data(), args in args()) {
        let container = bloscpack::pack_bytes_to_bytes(&data, &args).unwrap();
        prop_assert_eq!(&unpacked(&container).unwrap(), &data);
        let alone = PackArgs { nthreads: 1, ..args };
        prop_assert_eq!(bloscpack::pack_bytes_to_bytes(&data, &alone).unwrap(), container);
    }

    #[test]
    fn any_range_equals_that_of_the_data(data in data(), args in args(), from in 0..20_000_usize, len in 0..9000_usize) {
        let container = bloscpack::pack_bytes_to_bytes(&data, &args).unwrap();
        let (start, end) = (from.min(data.len()), (from + len).min(data.len()));
        let mut part = vec![0; end - start];
        Archive::open(container).unwrap().read_range(start as u64, &mut part).unwrap();
        prop_assert_eq!(&part[..], &data[start..end]);
    }

    #[test]
    fn appending_equals_packing_at_once(data in data(), args in args(), cuts in prop::collection::vec(0..20_000_usize, 1..4)) {
        let args = PackArgs {
            bloscpack: BloscpackArgs { offsets: true, ..args.bloscpack.clone() },
            ..args
        };
        let scratch = Scratch::new();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(data.len())).collect();
        cuts.sort_unstable();
        cuts.push(data.len());
        let container = bloscpack::pack_bytes_to_bytes(&data[..cuts[0]], &args).unwrap();
        let path = scratch.file("x.blp", &container);
        let append_args = AppendArgs { nthreads: args.nthreads, clevel: args.blosc.clevel, ..AppendArgs::default() };
        let mut there = cuts[0];
        for pair in cuts.windows(2) {
            let before = std::fs::read(&path).unwrap();
            let new = &data[pair[0]..pair[1]];
            match bloscpack::append(&path, new, Some(new.len() as u64), &append_args, &mut ()) {
                Ok(_) => there = pair[1],
                Err(error) => {
                    prop_assert!(matches!(error, bloscpack::Error::NotEnoughSpace));
                    prop_assert_eq!(std::fs::read(&path).unwrap(), before);
                    break;
                }
            }
        }
        let appended = std::fs::read(&path).unwrap();
        prop_assert_eq!(&unpacked(&appended).unwrap()[..], &data[..there]);
        let report = bloscpack::verify(&path, 1).unwrap();
        prop_assert!(report.faults.is_empty() && report.trailing == 0);
    }
}
