//! `resize`: another shape for an array, in place.

use crate::cli::{Cli, ResizeArgs};
use crate::error::{Failure, Outcome};
use crate::fill::shape_text;
use crate::inplace::FrameToChange;
use crate::json;
use crate::plural::counted;
use ferroblosc::b2nd::Array;
use ferroblosc_formats::convert::Format;
use serde_json::json;

pub fn run(args: &ResizeArgs, cli: &Cli) -> Outcome {
    let target = FrameToChange::open(&args.file)?;
    if target.found().format != Format::B2nd {
        return Err(target.error(Failure::new("a super-chunk has no shape")));
    }
    let mut array = target.array(cli.nthreads())?;
    let before: Vec<u64> = array.shape().iter().map(|len| len.unsigned_abs()).collect();
    let shape = &args.shape.0;
    if shape.len() != before.len() {
        let (wanted, shown) = (counted(shape.len(), "extent"), shape_text(&before));
        return Err(target.error(Failure::usage(format!(
            "SHAPE has {wanted}, the shape of the array is {shown}"
        ))));
    }
    if !args.shrink && shape.iter().zip(&before).any(|(new, old)| new < old) {
        let (from, to) = (shape_text(&before), shape_text(shape));
        return Err(target.error(
            Failure::new(format!("items would be removed: the shape {from} would become {to}"))
                .with_hint("'--shrink' removes them"),
        ));
    }
    check_nchunks(&array, shape).map_err(|failure| target.error(failure))?;
    let signed: Vec<i64> =
        shape.iter().map(|&len| i64::try_from(len).unwrap_or(i64::MAX)).collect();
    array.resize(&signed, None).map_err(|error| match error.kind() {
        ferroblosc::ErrorKind::InvalidParam => {
            let shown = shape_text(shape);
            target.error(Failure::new(format!("an array cannot have the shape {shown}")))
        }
        _ => target.error(error),
    })?;
    array.close().map_err(|error| target.error(error))?;
    if args.json {
        json::print(&json!({
            "path": target.name().to_string_lossy(),
            "shape_before": before,
            "shape": shape,
        }))?;
    }
    Ok(())
}

/// Fails if an array would have more chunks than a super-chunk can have.
fn check_nchunks(array: &Array, shape: &[u64]) -> Outcome {
    let geometry = array.geometry();
    let extents = shape.iter().zip(geometry.chunkshape());
    let chunks = extents.map(|(&len, &chunk)| len.div_ceil(u64::from(chunk.unsigned_abs()).max(1)));
    let count = chunks.fold(1, |count: u128, chunks| count.saturating_mul(chunks.into()));
    if count <= i32::MAX as u128 {
        return Ok(());
    }
    let count = match count {
        u128::MAX => "too many".to_owned(),
        count => count.to_string(),
    };
    let text = format!("the array would have {count} chunks, and can have {}", i32::MAX);
    Err(Failure::new(text).with_hint("'b2 recompress --chunks' makes them larger"))
}
