//! Known answers: outputs of C-Blosc2 for fixed inputs, compared at every level.

use super::{Level, bitshuffle, bytedelta, delta, shuffle, trunc_prec};

/// Parses hexadecimal digits; blanks are ignored.
fn bytes(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    let pair = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// Returns ten 4-byte words, `0x01020304 * (i + 1)`, followed by `tail`.
fn words(tail: &str) -> Vec<u8> {
    let words = (1..=10_u32).flat_map(|i| (0x0102_0304 * i).to_le_bytes());
    words.chain(bytes(tail)).collect()
}

/// Checks at every level that `forward` turns `plain` into `coded` and `backward` inverts it.
#[track_caller]
fn both_ways(
    plain: &[u8],
    coded: &str,
    forward: impl Fn(Level, &[u8], &mut [u8]),
    backward: impl Fn(Level, &[u8], &mut [u8]),
) {
    for level in Level::available() {
        let mut dest = vec![0; plain.len()];
        forward(level, plain, &mut dest);
        assert_eq!(dest, bytes(coded), "forward at {}", level.name());
        let mut back = vec![0; plain.len()];
        backward(level, &dest, &mut back);
        assert_eq!(back, plain, "backward at {}", level.name());
    }
}

#[test]
fn shuffle_makes_the_known_planes() {
    let check = |typesize: usize, plain: &[u8], coded: &str| {
        both_ways(
            plain,
            coded,
            |level, src, dest| shuffle::shuffle_at(level, typesize, src, dest),
            |level, src, dest| shuffle::unshuffle_at(level, typesize, src, dest),
        );
    };
    let by_four =
        "04080c1014181c202428 0306090c0f1215181b1e 020406080a0c0e101214 0102030405060708090a";
    check(4, &words(""), by_four);
    check(4, &words("aabb"), &[by_four, "aabb"].concat());
    check(
        3,
        &words(""),
        "0401040910040a121c07101b28 030802060c14050c152008121e 02060c03080f18060e18240914 0a",
    );
    check(
        2,
        &words(""),
        "040208040c061008140a180c1c0e201024122814 0301060209030c040f051206150718081b091e0a",
    );
}

#[test]
fn bitshuffle_makes_the_known_rows() {
    let check = |typesize: usize, plain: &[u8], coded: &str| {
        both_ways(
            plain,
            coded,
            |level, src, dest| bitshuffle::bitshuffle_at(level, typesize, src, dest),
            |level, src, dest| bitshuffle::bitunshuffle_at(level, typesize, src, dest),
        );
    };
    let by_four =
        "000055667880000055335a9ce0000000005566788000000055667880 00000000 241b1209281e140a";
    check(4, &words(""), by_four);
    check(4, &words("aabb"), &[by_four, "aabb"].concat());
    let other = bytes("0102040810204080ff00ff00f00faa55");
    check(1, &other, "01a5026504a508651095205540958055");
    check(2, &other, "31b032b074f078f0c041c04280048008");
    check(1, &other[..7], "01020408102040");
}

#[test]
fn delta_makes_the_known_words() {
    let coded = [
        (1, "04070103090e02060e050f05131c040c101b050f1d0a1e0a1a091b09273808182c3f091b21360a1e"),
        (
            2,
            "0403 0602 0a07 0c04 080b 0a0a 160f 1808 1c0b 1e0a 1217 1414 1013 1212 2e1f 3010 3413 3612 3a17 3c14",
        ),
        (
            4,
            "04030201 0c050603 040f0201 1c050e07 04030201 0c1d0603 04070201 3c0d1e0f 04030201 0c050603",
        ),
        (8, "0403020108060402 080a0402180a0c06 18060c06081e0402 081a0402380a1c0e 380e1c0e08060402"),
    ];
    for (word, coded) in coded {
        both_ways(
            &words(""),
            coded,
            |level, src, dest| delta::encode_first_at(level, word, src, dest),
            |level, src, dest| delta::decode_first_at(level, word, src, dest),
        );
    }
    let reference = words("");
    let reversed: Vec<u8> = reference.iter().rev().copied().collect();
    both_ways(
        &reversed,
        "0e171c2901141f2604191e2317021d181203181d1d180312181d0217231e1904261f1401291c170e",
        |level, src, dest| delta::encode_against_at(level, 4, src, &reference, dest),
        |level, src, dest| delta::encode_against_at(level, 4, src, &reference, dest),
    );
}

#[test]
fn row_c31_delta_copies_the_bytes_after_the_last_word() {
    let src = words("aabb");
    for level in Level::available() {
        let mut dest = vec![0; src.len()];
        delta::encode_first_at(level, 4, &src, &mut dest);
        assert_eq!(dest[40..], [0xaa, 0xbb]);
        delta::encode_against_at(level, 8, &src, &src, &mut dest);
        assert_eq!(dest[40..], [0xaa, 0xbb]);
        trunc_prec::truncate_at(level, 8, 64, &src, &mut dest);
        assert_eq!(dest[40..], [0xaa, 0xbb]);
    }
}

#[test]
fn truncation_keeps_the_known_bits() {
    // The known words are little-endian.
    let in_native_order = |bytes: &[u8], word: usize| {
        let mut bytes = bytes.to_vec();
        if cfg!(target_endian = "big") {
            bytes.chunks_exact_mut(word).for_each(<[u8]>::reverse);
        }
        bytes
    };
    let check = |word: usize, zeroed_bits: u32, src: &[u8], coded: &str| {
        let src = &in_native_order(src, word);
        let coded = in_native_order(&bytes(coded), word);
        for level in Level::available() {
            let mut dest = vec![0; src.len()];
            trunc_prec::truncate_at(level, word, zeroed_bits, src, &mut dest);
            assert_eq!(dest, coded, "at {}", level.name());
        }
    };
    // 1.1, 2.2, 3.3, -4.4, 1e10, 1e-10, 0, 3.14159, 100.5, -7.125
    let floats = bytes(
        "cdcc8c3f cdcc0c40 33335340 cdcc8cc0 f9021550 ffe6db2e 00000000 d00f4940 0000c942 0000e4c0",
    );
    check(
        4,
        23 - 10,
        &floats,
        "00c08c3f 00c00c40 00205340 00c08cc0 00001550 00e0db2e 00000000 00004940 0000c942 0000e4c0",
    );
    check(
        4,
        10,
        &floats,
        "00cc8c3f 00cc0c40 00305340 00cc8cc0 00001550 00e4db2e 00000000 000c4940 0000c942 0000e4c0",
    );
    check(
        4,
        22,
        &floats,
        "0000803f 00000040 00004040 000080c0 00000050 0000c02e 00000000 00004040 0000c042 0000c0c0",
    );
    let doubles: Vec<u8> = [1.1_f64, 2.2, 3.3, -4.4].iter().flat_map(|x| x.to_le_bytes()).collect();
    check(
        8,
        52 - 20,
        &doubles,
        "000000009999f13f 0000000099990140 0000000066660a40 00000000999911c0",
    );
    check(8, 40, &doubles, "000000000099f13f 0000000000990140 0000000000660a40 00000000009911c0");
    check(
        2,
        5,
        &words(""),
        "0003 0001 0006 0002 0009 0003 000c 0004 000f 0005 0012 0006 0015 0007 2018 0008 201b 0009 201e 000a",
    );
    check(
        8,
        64 - 20,
        &words(""),
        "0000000000000402 0000000000000804 0000000000100c06 0000000000101008 000000000010140a",
    );
}

#[test]
fn bytedelta_makes_the_known_channels() {
    both_ways(
        &words("aabb"),
        "04ffffff07fefefe0afd 06fd0dfcfcfc10fbfbfb 18fafafa16f9f9f919f8 10f81cf7f7f71ff6f6f6 aabb",
        |level, src, dest| bytedelta::encode_at(level, 4, src, dest),
        |level, src, dest| bytedelta::decode_at(level, 4, src, dest),
    );
}

#[test]
fn row_c34_legacy_bytedelta_restarts_at_the_last_multiple_of_16() {
    let items: Vec<u8> = (0..160_usize).map(|i| (7 * i + i * i / 5) as u8).collect();
    let mut planes = vec![0; 160];
    shuffle::shuffle(4, &items, &mut planes);
    let modern = [
        "001f252c33393f454c53595f656c73797f858c93999fa5acb3b9bfc5ccd3d9dfe5ecf3f9ff050c13",
        "0721272d343b41474d545b61676d747b81878d949ba1a7adb4bbc1c7cdd4dbe1e7edf4fb01070d14",
        "0e23292f353c43494f555c63696f757c83898f959ca3a9afb5bcc3c9cfd5dce3e9eff5fc03090f15",
        "16242b31373d444b51575d646b71777d848b91979da4abb1b7bdc4cbd1d7dde4ebf1f7fd040b1117",
    ];
    let mut legacy = modern.map(bytes);
    for (channel, byte_32) in legacy.iter_mut().zip([0x4c, 0x87, 0xc2, 0xfd]) {
        channel[32] = byte_32;
    }
    for level in Level::available() {
        let mut dest = vec![0; 160];
        bytedelta::encode_at(level, 4, &planes, &mut dest);
        assert_eq!(dest, bytes(&modern.concat()));
        bytedelta::encode_legacy_at(level, 4, &planes, &mut dest);
        assert_eq!(dest, legacy.concat());
        let mut back = vec![0; 160];
        bytedelta::decode_legacy_at(level, 4, &dest, &mut back);
        assert_eq!(back, planes);
    }
}
