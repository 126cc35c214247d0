//! `verify`.

use crate::args::Call;
use crate::error::Failure;
use crate::io::FileArg;
use crate::log::Logger;
use crate::show;
use ferroblosc_formats::bloscpack::{self, Report, double_pretty_size};
use ferroblosc_tools_common::status::CORRUPT;
use serde_json::json;

pub fn run(call: &Call, logger: &Logger) -> Result<(), Failure> {
    let path = call.file()?;
    FileArg::Path(path.clone()).check_exists("file")?;
    match bloscpack::verify(&path, call.globals.nthreads) {
        Ok(report) => {
            let faults: Vec<String> = report.faults.iter().map(ToString::to_string).collect();
            if call.flag("json") {
                show::print_json(&as_json(Some(&report), &faults));
            } else {
                show_report(logger, &report);
            }
            finish(call, logger, &faults)
        }
        Err(error) if error.is_corruption() => {
            let faults = [error.to_string()];
            if call.flag("json") {
                show::print_json(&as_json(None, &faults));
            }
            finish(call, logger, &faults)
        }
        Err(other) => Err(other.into()),
    }
}

fn finish(call: &Call, logger: &Logger, faults: &[String]) -> Result<(), Failure> {
    if faults.is_empty() {
        return Ok(());
    }
    if !call.flag("json") {
        for fault in faults {
            logger.error(fault);
        }
    }
    Err(Failure::Reported(CORRUPT))
}

fn show_report(logger: &Logger, report: &Report) {
    logger.info(&format!("chunks: {}", report.chunks));
    logger.info(&format!("plain size: {}", double_pretty_size(report.plain_size)));
    if report.header.checksum == ferroblosc_formats::blpk::Checksum::None {
        logger.info("there are no checksums: only damage that prevents decompression is found");
    }
    if report.without_offset > 0 {
        logger.info(&format!("chunks without an offset: {}", report.without_offset));
    }
    if report.trailing > 0 {
        logger.info(&format!("unused bytes after the last chunk: {}", report.trailing));
    }
    if report.faults.is_empty() {
        logger.info("no faults found");
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
