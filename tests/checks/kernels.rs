//! Checks of the kernels: every SIMD level of this CPU against the definition of each transform.
//!
//! Shared by `tests/kernels.rs`, which runs each check as a test, and `tests/arm.rs`, which runs
//! them all on the main thread of an emulated machine. The definitions here are written from the
//! chunk format, byte by byte, and share no code with the library.

use ferroblosc::kernels::{Level, bitshuffle, bytedelta, copy, delta, run, shuffle, trunc_prec};

/// A name and a check.
pub type Check = (&'static str, fn(Level));

/// All checks.
pub const CHECKS: &[Check] = &[
    ("shuffle_follows_its_definition", shuffle_follows_its_definition),
    ("ranges_are_shuffled_like_the_whole", ranges_are_shuffled_like_the_whole),
    ("shuffle_stays_inside_its_slices", shuffle_stays_inside_its_slices),
    (
        "scattered_planes_unshuffle_like_contiguous_ones",
        scattered_planes_unshuffle_like_contiguous_ones,
    ),
    ("streamed_planes_unshuffle_like_others", streamed_planes_unshuffle_like_others),
    ("bitshuffle_follows_its_definition", bitshuffle_follows_its_definition),
    ("bitshuffle_stays_inside_its_slices", bitshuffle_stays_inside_its_slices),
    ("cache_set_conflicts_do_not_change_bytes", cache_set_conflicts_do_not_change_bytes),
    ("large_rows_do_not_change_bytes", large_rows_do_not_change_bytes),
    ("delta_follows_its_definition", delta_follows_its_definition),
    ("truncation_follows_its_definition", truncation_follows_its_definition),
    ("bytedelta_follows_its_definition", bytedelta_follows_its_definition),
    ("differences_of_items_are_those_of_planes", differences_of_items_are_those_of_planes),
    ("streams_stay_inside_their_slices", streams_stay_inside_their_slices),
    ("only_runs_are_found", only_runs_are_found),
    ("copies_equal_their_sources", copies_equal_their_sources),
];

/// Item counts around every vector width and tile size.
const COUNTS: &[usize] = &[
    0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 96, 127, 128, 129, 136, 191, 192,
    193, 200,
];

/// Item counts at which the offsets of planes modulo 1 KiB are nearly equal, or quite different.
const CONFLICTING_COUNTS: &[usize] = &[1009, 1023, 1024, 1039, 1040, 1041, 2047, 2048];

/// Item counts around the tiles of the bit shuffle.
const BIT_COUNTS: &[usize] = &[
    0, 1, 7, 8, 9, 64, 120, 127, 128, 129, 136, 255, 256, 264, 384, 511, 512, 513, 520, 768, 1024,
    1032, 1100, 1543,
];

/// Returns all small typesizes, and some large ones of each kind.
fn typesizes() -> impl Iterator<Item = usize> {
    (1..=65).chain([79, 80, 96, 100, 127, 128, 131, 255, 256, 257, 300])
}

/// Returns pseudo-random bytes, the same for each call.
pub fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ len as u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// Returns a buffer that `write` has filled; its previous contents are not zero.
fn filled(len: usize, write: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut dest = vec![0xa5; len];
    write(&mut dest);
    dest
}

/// Calls `check` with slices of `len` bytes at many addresses, including directly after and before
/// inaccessible memory.
fn at_many_addresses(len: usize, check: impl Fn(&[u8], &mut [u8])) {
    let data = noise(len);
    for source_offset in [0, 1, 16, 33] {
        for dest_offset in 0..32 {
            let mut source = vec![0; source_offset + len];
            source[source_offset..].copy_from_slice(&data);
            let mut dest = vec![0xa5; dest_offset + len + 80];
            check(&source[source_offset..], &mut dest[dest_offset..][..len]);
            assert!(dest[..dest_offset].iter().all(|&byte| byte == 0xa5), "wrote before the slice");
            assert!(
                dest[dest_offset + len..].iter().all(|&byte| byte == 0xa5),
                "wrote after the slice"
            );
        }
    }
    let (mut source, mut dest) = (Guarded::new(len), Guarded::new(len));
    for at_end in [false, true] {
        source.slice(len, at_end).copy_from_slice(&data);
        check(source.slice(len, at_end), dest.slice(len, at_end));
    }
}

/// Memory between two inaccessible pages.
struct Guarded {
    map: *mut u8,
    inside: usize,
}

/// Upper bound on the page size in bytes.
const PAGE: usize = 65536;

impl Guarded {
    fn new(len: usize) -> Guarded {
        let inside = len.next_multiple_of(PAGE).max(PAGE);
        #[cfg(windows)]
        // SAFETY: new pages, whose middle alone is made accessible.
        unsafe {
            use windows_sys::Win32::System::Memory::{
                MEM_COMMIT, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc,
            };
            let reserved =
                VirtualAlloc(std::ptr::null(), inside + 2 * PAGE, MEM_RESERVE, PAGE_READWRITE);
            assert!(!reserved.is_null());
            let map = reserved.cast::<u8>();
            let middle = map.add(PAGE).cast();
            assert!(!VirtualAlloc(middle, inside, MEM_COMMIT, PAGE_READWRITE).is_null());
            Guarded { map, inside }
        }
        #[cfg(not(windows))]
        // SAFETY: a new private mapping, whose middle alone is made accessible.
        unsafe {
            let map = libc::mmap(
                std::ptr::null_mut(),
                inside + 2 * PAGE,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(map, libc::MAP_FAILED);
            let map = map.cast::<u8>();
            let middle = map.add(PAGE).cast();
            assert_eq!(libc::mprotect(middle, inside, libc::PROT_READ | libc::PROT_WRITE), 0);
            Guarded { map, inside }
        }
    }

    /// Returns the first or the last `len` bytes.
    fn slice(&mut self, len: usize, at_end: bool) -> &mut [u8] {
        let start = PAGE + if at_end { self.inside - len } else { 0 };
        // SAFETY: inside the accessible middle, which is initialised (with zeros) and borrowed with
        // `self`.
        unsafe { std::slice::from_raw_parts_mut(self.map.add(start), len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        #[cfg(windows)]
        // SAFETY: this value owns the pages, and no slice of them is left.
        unsafe {
            use windows_sys::Win32::System::Memory::{MEM_RELEASE, VirtualFree};
            VirtualFree(self.map.cast(), 0, MEM_RELEASE);
        }
        #[cfg(not(windows))]
        // SAFETY: this value owns the mapping, and no slice of it is left.
        unsafe {
            libc::munmap(self.map.cast(), self.inside + 2 * PAGE)
        };
    }
}

/// Moves byte `j` of item `i` to byte `i` of plane `j`.
fn shuffled(typesize: usize, src: &[u8]) -> Vec<u8> {
    let items = src.len() / typesize;
    let mut dest = src.to_vec();
    for i in 0..items {
        for j in 0..typesize {
            dest[j * items + i] = src[i * typesize + j];
        }
    }
    dest
}

/// Moves bit `k` of byte `j` of item `i` to bit `i % 8` of byte `i / 8` of row `8 j + k`.
fn bitshuffled(typesize: usize, src: &[u8]) -> Vec<u8> {
    let row = src.len() / typesize / 8;
    let mut dest = src.to_vec();
    dest[..row * 8 * typesize].fill(0);
    for i in 0..8 * row {
        for j in 0..typesize {
            for k in 0..8 {
                let bit = src[i * typesize + j] >> k & 1;
                dest[(8 * j + k) * row + i / 8] |= bit << (i % 8);
            }
        }
    }
    dest
}

fn shuffle_follows_its_definition(level: Level) {
    for typesize in typesizes() {
        for &items in COUNTS.iter().chain(CONFLICTING_COUNTS) {
            for tail in [0, typesize / 2, typesize - 1] {
                let src = noise(items * typesize + tail);
                let expected = shuffled(typesize, &src);
                let dest =
                    filled(src.len(), |dest| shuffle::shuffle_at(level, typesize, &src, dest));
                assert!(dest == expected, "shuffle: typesize {typesize}, {items} items + {tail}");
                let back =
                    filled(src.len(), |back| shuffle::unshuffle_at(level, typesize, &dest, back));
                assert!(back == src, "unshuffle: typesize {typesize}, {items} items + {tail}");
            }
        }
    }
}

fn ranges_are_shuffled_like_the_whole(level: Level) {
    for typesize in typesizes() {
        // Bursts are used for at least 512 items of at least 16 bytes, if planes are 1 KiB or more
        // apart.
        for (first, items, after) in [
            (0, 1, 5),
            (3, 63, 0),
            (64, 64, 64),
            (17, 200, 30),
            (0, 512, 512),
            (200, 683, 141),
            (512, 1024, 512),
        ] {
            let src = noise(items * typesize);
            let stride = first + items + after;
            let planes = shuffled(typesize, &src);
            let mut expected = vec![0xa5; stride * typesize];
            for (plane, part) in expected.chunks_mut(stride).zip(planes.chunks(items)) {
                plane[first..][..items].copy_from_slice(part);
            }
            let dest = filled(stride * typesize, |dest| {
                shuffle::shuffle_range_at(level, typesize, &src, first, dest);
            });
            assert!(
                dest == expected,
                "typesize {typesize}, {items} items after {first}, {after} more"
            );
        }
    }
    shuffle::shuffle_range_at(level, 8, &[], 0, &mut []);
}

fn shuffle_stays_inside_its_slices(level: Level) {
    for (typesize, len) in [
        (1, 77),
        (2, 1243),
        (3, 1800),
        (4, 2500),
        (7, 4000),
        (8, 4600),
        (12, 6900),
        (16, 9203),
        (17, 9700),
        (20, 11_500),
        (24, 13_799),
        (28, 16_100),
        (32, 9221),
        (33, 18_800),
        (40, 23_001),
        (48, 13_900),
        (56, 16_200),
        (64, 18_500),
        (64, 65_536),
    ] {
        at_many_addresses(len, |src, dest| {
            shuffle::shuffle_at(level, typesize, src, dest);
            assert!(dest == shuffled(typesize, src), "shuffle: typesize {typesize}");
        });
        at_many_addresses(len, |src, dest| {
            shuffle::unshuffle_at(level, typesize, src, dest);
            assert!(shuffled(typesize, dest) == src, "unshuffle: typesize {typesize}");
        });
    }
}

fn scattered_planes_unshuffle_like_contiguous_ones(level: Level) {
    for typesize in typesizes() {
        for &items in COUNTS {
            let src = noise(items * typesize);
            let planes = shuffled(typesize, &src);
            // Each plane in its own buffer, at a different offset, without slack.
            let buffers: Vec<Vec<u8>> = (0..typesize)
                .map(|j| [&vec![0; j % 19], &planes[j * items..][..items]].concat())
                .collect();
            let scattered: Vec<&[u8]> =
                buffers.iter().enumerate().map(|(j, buffer)| &buffer[j % 19..]).collect();
            let dest =
                filled(src.len(), |dest| shuffle::unshuffle_planes_at(level, &scattered, dest));
            assert!(dest == src, "typesize {typesize}, {items} items");
        }
    }
    shuffle::unshuffle_planes_at(level, &[], &mut []);
}

fn streamed_planes_unshuffle_like_others(level: Level) {
    const MORE: [usize; 5] = [511, 512, 513, 4096, 9001];
    for typesize in 1..=18 {
        for &items in COUNTS.iter().chain(&MORE) {
            let src = noise(items * typesize);
            let planes = shuffled(typesize, &src);
            let planes: Vec<&[u8]> = (0..typesize).map(|j| &planes[j * items..][..items]).collect();
            // A different alignment each time, with a guard byte before and after.
            let at = 1 + (items + typesize) % 64;
            let dest = filled(at + src.len() + 1, |dest| {
                let after = at + src.len();
                (dest[at - 1], dest[after]) = (0xA5, 0x5A);
                shuffle::unshuffle_planes_streamed_at(level, &planes, &mut dest[at..after]);
                assert_eq!((dest[at - 1], dest[after]), (0xA5, 0x5A));
            });
            assert!(dest[at..][..src.len()] == src, "typesize {typesize}, {items} items");
        }
    }
}

fn bitshuffle_follows_its_definition(level: Level) {
    for typesize in typesizes() {
        for &items in BIT_COUNTS {
            for tail in [0, typesize - 1] {
                let src = noise(items * typesize + tail);
                let expected = filled(src.len(), |dest| {
                    bitshuffle::bitshuffle_at(Level::Generic, typesize, &src, dest);
                });
                if typesize < 10 || items < 200 {
                    assert!(
                        expected == bitshuffled(typesize, &src),
                        "the generic level differs from the definition"
                    );
                }
                let dest = filled(src.len(), |dest| {
                    bitshuffle::bitshuffle_at(level, typesize, &src, dest);
                });
                assert!(
                    dest == expected,
                    "bitshuffle: typesize {typesize}, {items} items + {tail}"
                );
                let back = filled(src.len(), |back| {
                    bitshuffle::bitunshuffle_at(level, typesize, &dest, back);
                });
                assert!(back == src, "bitunshuffle: typesize {typesize}, {items} items + {tail}");
                let (group, groups) = (8 * typesize, items / 8);
                for first in [0, 1, groups / 3, groups] {
                    for count in [0, 1, 16, 33, 70, groups / 2, groups - first.min(groups)] {
                        if first + count > groups {
                            continue;
                        }
                        let part = filled(count * group, |part| {
                            bitshuffle::bitunshuffle_groups_at(level, typesize, &dest, first, part);
                        });
                        assert!(
                            part == src[first * group..][..count * group],
                            "{count} groups from {first} of {items} items of {typesize} bytes"
                        );
                    }
                }
            }
        }
    }
}

fn bitshuffle_stays_inside_its_slices(level: Level) {
    // With 512 groups tiles are aligned; fewer run faster.
    for (typesize, len) in [
        (1, 4300),
        (2, 8603),
        (3, 3000),
        (4, 17_203),
        (5, 4000),
        (7, 29_000),
        (9, 5000),
        (8, 34_000),
        (16, 8400),
        (17, 9000),
        (24, 17_000),
        (33, 17_000),
    ] {
        at_many_addresses(len, |src, dest| {
            bitshuffle::bitshuffle_at(level, typesize, src, dest);
            let mut back = vec![0; src.len()];
            bitshuffle::bitunshuffle_at(Level::Generic, typesize, dest, &mut back);
            assert!(back == src, "bitshuffle: typesize {typesize}");
        });
        at_many_addresses(len, |src, dest| {
            bitshuffle::bitunshuffle_at(level, typesize, src, dest);
            let mut again = vec![0; src.len()];
            bitshuffle::bitshuffle_at(Level::Generic, typesize, dest, &mut again);
            assert!(again == src, "bitunshuffle: typesize {typesize}");
        });
    }
}

/// Distances in bytes of planes and rows at which many share cache sets; at the last two, few do.
const STRIDES: [usize; 7] = [1023, 1024, 1027, 2048, 2050, 4096, 4100];

/// Typesizes and bit rows that exceed L2 or L3.
const LARGE_ROWS: &[(usize, usize)] =
    &[(16, 8192), (4, 98_304), (5, 80_001), (16, 24_576), (33, 12_000)];

/// Typesizes and planes that exceed L3.
const LARGE_PLANES: &[(usize, usize)] = &[(8, 400_001), (20, 160_000), (32, 98_304), (48, 65_551)];

fn cache_set_conflicts_do_not_change_bytes(level: Level) {
    for stride in STRIDES {
        for typesize in [16, 17, 31, 32, 48, 64, 80] {
            check_planes(level, typesize, stride);
        }
        for typesize in [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 24] {
            check_bit_rows(level, typesize, stride);
        }
    }
}

fn large_rows_do_not_change_bytes(level: Level) {
    for &(typesize, stride) in LARGE_ROWS {
        check_bit_rows(level, typesize, stride);
    }
    for &(typesize, stride) in LARGE_PLANES {
        check_planes(level, typesize, stride);
    }
}

/// Shuffles items of `typesize` bytes into planes of `stride` bytes, and back.
fn check_planes(level: Level, typesize: usize, stride: usize) {
    let src = noise(stride * typesize + typesize / 2);
    let planes = shuffled(typesize, &src);
    let mut guarded = Guarded::new(src.len());
    for at_end in [false, true] {
        let dest = guarded.slice(src.len(), at_end);
        shuffle::shuffle_at(level, typesize, &src, dest);
        assert!(dest == planes, "shuffle: typesize {typesize}, {stride} items");
        shuffle::unshuffle_at(level, typesize, &planes, dest);
        assert!(dest == src, "unshuffle: typesize {typesize}, {stride} items");
    }
}

/// Shuffles the bits of items of `typesize` bytes into rows of `stride` bytes, and back.
fn check_bit_rows(level: Level, typesize: usize, stride: usize) {
    let src = noise(stride * typesize * 8 + typesize / 2);
    let mut guarded = Guarded::new(src.len());
    let mut expected = vec![0; src.len()];
    bitshuffle::bitshuffle_at(Level::Generic, typesize, &src, &mut expected);
    for at_end in [false, true] {
        let dest = guarded.slice(src.len(), at_end);
        bitshuffle::bitshuffle_at(level, typesize, &src, dest);
        assert!(dest == expected, "bitshuffle: typesize {typesize}, rows of {stride} bytes");
        bitshuffle::bitunshuffle_at(level, typesize, &expected, dest);
        assert!(dest == src, "bitunshuffle: typesize {typesize}, rows of {stride} bytes");
    }
    let (first, count, group) = (5, stride / 2, typesize * 8);
    let part = filled(count * group, |part| {
        bitshuffle::bitunshuffle_groups_at(level, typesize, &expected, first, part);
    });
    assert!(
        part == src[first * group..][..count * group],
        "{count} groups: typesize {typesize}, rows of {stride} bytes"
    );
}

fn delta_follows_its_definition(level: Level) {
    for word in [1, 2, 4, 8] {
        for len in 0..300 {
            let src = noise(len);
            let whole = len - len % word;

            let mut expected = src.clone();
            for i in word..whole {
                expected[i] = src[i] ^ src[i - word];
            }
            let dest = filled(len, |dest| delta::encode_first_at(level, word, &src, dest));
            assert!(dest == expected, "encode_first: words of {word}, {len} bytes");
            let back = filled(len, |back| delta::decode_first_at(level, word, &dest, back));
            assert!(back == src, "decode_first: words of {word}, {len} bytes");
            for part in [0, word, 3 * word, whole / word / 2 * word] {
                let (before, after) = match part {
                    0 => (&[0; 8][..word], 0),
                    _ if part > whole => continue,
                    _ => (&src[part - word..part], part),
                };
                let mut buffer = dest[after..].to_vec();
                delta::decode_first_in_place_at(level, before, &mut buffer);
                assert!(
                    buffer == src[after..],
                    "decode_first_in_place: words of {word}, {len} bytes from {after} on"
                );
            }

            let reference = noise(len + 3);
            let mut expected = src.clone();
            for i in 0..whole {
                expected[i] ^= reference[i];
            }
            let dest =
                filled(len, |dest| delta::encode_against_at(level, word, &src, &reference, dest));
            assert!(dest == expected, "encode_against: words of {word}, {len} bytes");
            let mut buffer = dest;
            delta::decode_against_in_place_at(level, word, &mut buffer, &reference);
            assert!(buffer == src, "decode_against_in_place: words of {word}, {len} bytes");
        }
    }
}

fn truncation_follows_its_definition(level: Level) {
    for word in [1, 2, 4, 8] {
        for zeroed_bits in 0..=8 * word as u32 {
            for len in [0, 1, 7, 8, 15, 16, 31, 33, 63, 64, 65, 100, 127, 129, 200] {
                let src = noise(len);
                let mut expected = src.clone();
                for (i, byte) in expected[..len - len % word].iter_mut().enumerate() {
                    let lowest = 8 * (i % word) as u32;
                    let cleared = zeroed_bits.saturating_sub(lowest).min(8);
                    *byte &= (0xff_u16 << cleared) as u8;
                }
                let dest = filled(len, |dest| {
                    trunc_prec::truncate_at(level, word, zeroed_bits, &src, dest);
                });
                assert!(dest == expected, "{zeroed_bits} bits of words of {word}, {len} bytes");
            }
        }
    }
}

fn bytedelta_follows_its_definition(level: Level) {
    for channels in [1, 2, 3, 4, 8, 15, 255] {
        for len in (0..260).chain([1000, 1023, 1024]) {
            let src = noise(len);
            let length = len / channels;
            let whole = channels * length;
            for legacy in [false, true] {
                let mut expected = src.clone();
                for i in 0..whole {
                    let at = i % length;
                    if at > 0 && !(legacy && at == length - length % 16) {
                        expected[i] = src[i].wrapping_sub(src[i - 1]);
                    }
                }
                let (encode, decode): (fn(_, _, &_, &mut _), fn(_, _, &_, &mut _)) = if legacy {
                    (bytedelta::encode_legacy_at, bytedelta::decode_legacy_at)
                } else {
                    (bytedelta::encode_at, bytedelta::decode_at)
                };
                let dest = filled(len, |dest| encode(level, channels, &src[..], dest));
                assert!(dest == expected, "encode: {channels} channels, {len} bytes, {legacy}");
                let back = filled(len, |back| decode(level, channels, &dest[..], back));
                assert!(back == src, "decode: {channels} channels, {len} bytes, {legacy}");
            }
        }
    }
}

fn differences_of_items_are_those_of_planes(level: Level) {
    for typesize in 1..=17 {
        for &items in &COUNTS[1..] {
            let src = noise(items * typesize);
            let planes = shuffled(typesize, &src);
            let expected = filled(src.len(), |dest| {
                bytedelta::encode_at(Level::Generic, typesize, &planes, dest);
            });
            let earlier = [&vec![0; typesize], &src[..src.len() - typesize]].concat();
            let differences =
                filled(src.len(), |dest| bytedelta::encode_items_at(level, &src, &earlier, dest));
            assert!(shuffled(typesize, &differences) == expected, "{items} items of {typesize}");
            if !matches!(typesize, 1 | 2 | 4 | 8 | 16) {
                continue;
            }
            for first in [0, items / 2, items - 1] {
                let at = first * typesize;
                let mut part = differences[at..].to_vec();
                let before = &earlier[at..][..typesize];
                bytedelta::decode_items_in_place_at(level, before, &mut part);
                assert!(part == src[at..], "{items} items of {typesize} from {first} on");
            }
        }
    }
}

fn streams_stay_inside_their_slices(level: Level) {
    for len in [1, 16, 65, 129, 200] {
        at_many_addresses(len, |src, dest| delta::encode_first_at(level, 4, src, dest));
        at_many_addresses(len, |src, dest| delta::decode_first_at(level, 2, src, dest));
        at_many_addresses(len, |src, dest| delta::encode_against_at(level, 8, src, src, dest));
        at_many_addresses(len, |src, dest| {
            trunc_prec::truncate_at(level, 4, 9, src, dest);
            let cleared =
                filled(len, |dest| trunc_prec::truncate_at(Level::Generic, 4, 9, src, dest));
            assert!(dest == cleared, "{len} bytes");
        });
        at_many_addresses(len, |src, dest| bytedelta::encode_at(level, 2, src, dest));
        at_many_addresses(len, |src, dest| bytedelta::decode_at(level, 2, src, dest));
        at_many_addresses(len, |src, dest| bytedelta::encode_items_at(level, src, src, dest));
        at_many_addresses(len / 4 * 4, |_, dest| {
            bytedelta::decode_items_in_place_at(level, &[1; 4], dest);
        });
        at_many_addresses(len, |_, dest| delta::decode_first_in_place_at(level, &[1; 4], dest));
        at_many_addresses(len, |src, _| {
            let first = src[0];
            let expected = src.iter().all(|&byte| byte == first).then_some(first);
            assert_eq!(run::constant_at(level, src), expected);
        });
    }
}

fn only_runs_are_found(level: Level) {
    assert_eq!(run::constant_at(level, &[]), None);
    for len in 1..300 {
        let mut stream = vec![0x5a; len];
        assert_eq!(run::constant_at(level, &stream), Some(0x5a), "{len} bytes");
        if len == 1 {
            continue;
        }
        for at in 0..len {
            stream[at] ^= 0x80;
            assert_eq!(run::constant_at(level, &stream), None, "{len} bytes, one differs at {at}");
            stream[at] ^= 0x80;
        }
    }
}

fn copies_equal_their_sources(level: Level) {
    // Lengths around each vector, four of them, and the threshold from which `copy` uses them.
    for len in [0, 1, 15, 16, 17, 33, 63, 64, 65, 100, 130, 257, 300, 2047, 2048, 2100, 5000] {
        let data = noise(len);
        at_many_addresses(len, |src, dest| {
            dest.fill(0);
            copy::copy_at(level, src, dest);
            assert!(dest == data, "{len} bytes");
        });
        at_many_addresses(len, |src, dest| {
            dest.fill(0);
            copy::copy(src, dest);
            assert!(dest == data, "{len} bytes");
        });
        at_many_addresses(len, |src, dest| {
            dest.fill(0);
            copy::copy_streamed(src, dest);
            assert!(dest == data, "{len} bytes streamed");
        });
    }
    // From 16 MiB on, AMD's CPUs bypass the caches.
    let data = noise((16 << 20) + 77);
    let mut dest = vec![0; data.len()];
    copy::copy(&data[3..], &mut dest[1..data.len() - 2]);
    assert!(dest[1..data.len() - 2] == data[3..], "{} bytes", data.len() - 3);
}
