//! All copies of the routines give the same bytes and the same values.

use std::ptr::null_mut;

use ferroblosc_zfp_sys::{
    Routines, ZFP_TYPE_DOUBLE, ZFP_TYPE_FLOAT, all_routines, bitstream, zfp_execution, zfp_field,
    zfp_stream, zfp_stream_set_accuracy, zfp_stream_set_precision, zfp_stream_set_rate,
};

/// Words for the stream of any array here, and what is read ahead of its end.
const ROOM: usize = 8192;
const SHAPES: [[usize; 4]; 4] = [[999, 0, 0, 0], [33, 30, 0, 0], [9, 10, 11, 0], [5, 6, 7, 4]];

/// A walk with the exponents of small and large numbers, and the stretch of zeros that cells can be of.
fn data() -> Vec<f64> {
    let mut state = 1u32;
    let mut step = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / 4096.0 - 2048.0
    };
    let mut value = 0.0;
    let walk = |i: usize| {
        value += step();
        match i % 300 {
            64..128 => value * 1e-12,
            128..192 => 0.0,
            _ => value,
        }
    };
    (0..1000).map(walk).collect()
}

fn parameters(mode: usize, scalar: i32, dims: u32) -> zfp_stream {
    let mut stream = zfp_stream {
        minbits: 1,
        maxbits: 16_658,
        maxprec: 64,
        minexp: -1074,
        stream: null_mut(),
        exec: zfp_execution { policy: 0, params: null_mut() },
    };
    // SAFETY: the stream is valid, of which these functions set the bounds.
    unsafe {
        match mode {
            0 => zfp_stream_set_accuracy(&mut stream, 0.01),
            1 => f64::from(zfp_stream_set_precision(&mut stream, 19)),
            _ => zfp_stream_set_rate(&mut stream, 11.0, scalar, dims, 0),
        };
    }
    stream
}

/// An array compressed, decompressed, and its first cell decoded.
fn worked(routines: &Routines, mode: usize, is_double: bool, shape: [usize; 4]) -> [Vec<u64>; 3] {
    let dims = shape.iter().filter(|&&extent| extent > 0).count();
    let values = data();
    let singles: Vec<f32> = values.iter().map(|&value| value as f32).collect();
    let scalar = [ZFP_TYPE_FLOAT, ZFP_TYPE_DOUBLE][usize::from(is_double)];
    let [nx, ny, nz, nw] = shape;
    let mut field = zfp_field {
        scalar,
        nx,
        ny,
        nz,
        nw,
        sx: 0,
        sy: 0,
        sz: 0,
        sw: 0,
        data: if is_double {
            values.as_ptr().cast_mut().cast()
        } else {
            singles.as_ptr().cast_mut().cast()
        },
    };
    let mut words = vec![0u64; ROOM];
    let (mut decoded, mut cell) = (vec![0u64; 1000], vec![0u64; 256]);
    let begin = words.as_mut_ptr();
    let mut stream = parameters(mode, scalar, dims as u32);
    let open = || bitstream::new(begin, begin.wrapping_add(ROOM));
    // SAFETY: the room is enough for the array, which compression reads and decompression writes, and `cell`
    // for a cell of the most dimensions.
    unsafe {
        let mut bits = open();
        stream.stream = &raw mut bits;
        assert!((routines.compress)(&mut stream, &field) > 0);
        bits = open();
        stream.stream = &raw mut bits;
        field.data = decoded.as_mut_ptr().cast();
        assert!((routines.decompress)(&mut stream, &mut field) > 0);
        bits = open();
        stream.stream = &raw mut bits;
        if is_double {
            routines.decode_block_double[dims - 1](&mut stream, cell.as_mut_ptr().cast())
        } else {
            routines.decode_block_float[dims - 1](&mut stream, cell.as_mut_ptr().cast())
        };
    }
    [words, decoded, cell]
}

#[test]
fn all_copies_give_the_same_bytes() {
    for shape in SHAPES {
        for mode in 0..3 {
            for is_double in [false, true] {
                let mut copies = all_routines().map(|copy| worked(copy, mode, is_double, shape));
                let first = copies.next().expect("there is one");
                assert!(first.iter().all(|part| part.iter().any(|&word| word != 0)));
                for other in copies {
                    assert!(other == first, "mode {mode}, double {is_double}, {shape:?}");
                }
            }
        }
    }
}

#[test]
#[cfg(zfp_bmi2)]
fn a_cpu_with_bmi2_has_two_copies() {
    let has_all = is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt");
    assert_eq!(all_routines().count(), 1 + usize::from(has_all));
}
