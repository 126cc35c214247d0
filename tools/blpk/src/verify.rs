//! `verify`.

use crate::CORRUPT;
use crate::files::Place;
use crate::show;
use crate::voice::{Failure, Voice};
use crate::words::Call;
use ferroblosc::bloscpack::{self, Report, double_pretty_size};
use serde_json::json;

pub fn run(call: &Call, voice: &Voice) -> Result<(), Failure> {
    let path = call.file()?;
    Place::File(path.clone()).check_exists("file")?;
    match bloscpack::verify(&path, call.globals.nthreads) {
        Ok(report) => {
            let faults: Vec<String> = report.faults.iter().map(ToString::to_string).collect();
            if call.flag("json") {
                show::print_json(&as_json(Some(&report), &faults));
            } else {
                tell(voice, &report);
            }
            end(call, voice, &faults)
        }
        Err(error) if error.is_corruption() => {
            let faults = [error.to_string()];
            if call.flag("json") {
                show::print_json(&as_json(None, &faults));
            }
            end(call, voice, &faults)
        }
        Err(other) => Err(other.into()),
    }
}

fn end(call: &Call, voice: &Voice, faults: &[String]) -> Result<(), Failure> {
    if faults.is_empty() {
        return Ok(());
    }
    if !call.flag("json") {
        for fault in faults {
            voice.error(fault);
        }
    }
    Err(Failure::Said(CORRUPT))
}

fn tell(voice: &Voice, report: &Report) {
    voice.say(&format!("chunks: {}", report.chunks));
    voice.say(&format!(
        "plain size: {}",
        double_pretty_size(report.plain_size)
    ));
    if report.header.checksum == ferroblosc::blpk::Checksum::None {
        voice.say("there are no checksums: only what can't be decompressed shows");
    }
    if report.without_offset > 0 {
        voice.say(&format!(
            "chunks without an offset: {}",
            report.without_offset
        ));
    }
    if report.trailing > 0 {
        voice.say(&format!(
            "unused bytes behind the last chunk: {}",
            report.trailing
        ));
    }
    if report.faults.is_empty() {
        voice.say("everything is right");
    }
}

fn as_json(report: Option<&Report>, faults: &[String]) -> serde_json::Value {
    json!({
        "right": faults.is_empty(),
        "faults": faults,
        "header": report.map(|report| show::header_json(&report.header)),
        "chunks": report.map(|report| report.chunks),
        "plain_size": report.map(|report| report.plain_size),
        "unused_bytes": report.map(|report| report.trailing),
        "chunks_without_offset": report.map(|report| report.without_offset),
    })
}
