//! Random changes of an array, compared with a vector.

use crate::common::{Scratch, rows, spec};
use ferroblosc_formats::bcolz::{Carray, Mode, Options};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Append(Vec<u16>),
    Set(usize, Vec<u16>),
    Trim(usize),
    Resize(usize),
    Threads(i32),
    Flush,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let items = || prop::collection::vec(any::<u16>(), 0..40);
    let step = prop_oneof![
        4 => items().prop_map(Step::Append),
        2 => (0..60_usize, items()).prop_map(|(start, items)| Step::Set(start, items)),
        1 => (0..40_usize).prop_map(Step::Trim),
        1 => (0..80_usize).prop_map(Step::Resize),
        1 => (1..5).prop_map(Step::Threads),
        1 => Just(Step::Flush),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..20)
}

fn bytes(items: &[u16]) -> Vec<u8> {
    items.iter().flat_map(|item| item.to_le_bytes()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn an_array_behaves_like_a_vector(chunklen in 1..17_u64, nthreads in 1..4_i32, steps in steps()) {
        let scratch = Scratch::new();
        let root = scratch.path("a");
        let options = Options { nthreads, ..Options::default() };
        let mut array =
            Carray::create(&root, &spec("uint16", chunklen), Mode::Append, &options).unwrap();
        let mut model: Vec<u16> = Vec::new();
        for step in steps {
            match step {
                Step::Append(items) => {
                    array.append(&bytes(&items)).unwrap();
                    model.extend(items);
                }
                Step::Set(start, items) => {
                    let fits = start + items.len() <= model.len();
                    prop_assert_eq!(array.set(start as u64, &bytes(&items)).is_ok(), fits);
                    if fits {
                        model[start..start + items.len()].copy_from_slice(&items);
                    }
                }
                Step::Trim(count) => {
                    let fits = count <= model.len();
                    prop_assert_eq!(array.trim(count as u64).is_ok(), fits);
                    if fits {
                        model.truncate(model.len() - count);
                    }
                }
                Step::Resize(len) => {
                    array.resize(len as u64).unwrap();
                    model.resize(len, 0);
                }
                Step::Threads(count) => array.set_threads(count),
                Step::Flush => {
                    array.flush().unwrap();
                    prop_assert_eq!(rows(&root), bytes(&model));
                }
                Step::Reopen => {
                    array.close().unwrap();
                    array = Carray::open(&root, Mode::Append, &options).unwrap();
                }
            }
            prop_assert_eq!(array.read(0..model.len() as u64).unwrap(), bytes(&model));
        }
        array.close().unwrap();
        prop_assert_eq!(rows(&root), bytes(&model));
        let files = std::fs::read_dir(root.join("data")).unwrap().count();
        prop_assert_eq!(files, model.len().div_ceil(chunklen as usize));
    }
}
