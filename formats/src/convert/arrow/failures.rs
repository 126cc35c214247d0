//! Errors of the Arrow crates as errors of conversion. Damage, features that are not supported and
//! errors of the system differ.

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

use crate::convert::error::Error;

/// Returns the error of a damaged file.
pub fn damaged(why: impl Into<String>) -> Error {
    Error::Arrow { why: why.into(), is_damaged: true }
}

/// Returns the error of a file, or of a value, that is not supported.
pub fn unsupported(why: impl Into<String>) -> Error {
    Error::Arrow { why: why.into(), is_damaged: false }
}

/// Returns the error of reading an IPC file.
pub fn ipc_error(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
            error.into()
        }
        ArrowError::IoError(..) => damaged("the file is truncated"),
        ArrowError::NotYetImplemented(why) => unsupported(why),
        ArrowError::ParquetError(why) => parquet_text(why),
        ArrowError::ExternalError(error) => match error.downcast::<std::io::Error>() {
            Ok(error) => (*error).into(),
            Err(error) => damaged(error.to_string()),
        },
        error => damaged(error.to_string()),
    }
}

/// Returns the error of reading a Parquet file.
pub fn parquet_error(error: ParquetError) -> Error {
    match error {
        ParquetError::External(error) => match error.downcast::<std::io::Error>() {
            Ok(error) => (*error).into(),
            Err(error) => damaged(error.to_string()),
        },
        ParquetError::NYI(why) => unsupported(why),
        ParquetError::General(why) => parquet_text(why),
        error => damaged(error.to_string()),
    }
}

/// Returns the error for a text of the crate `parquet`. A codec that is not compiled in has no
/// error of its own.
fn parquet_text(why: String) -> Error {
    match why.split_once("Disabled feature at compile time: ") {
        Some((_, codec)) => unsupported(format!("the codec {codec} is not supported")),
        None if why.contains("not supported") => unsupported(why),
        None => damaged(why),
    }
}

/// Returns the error of writing an IPC file.
pub fn written(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => error.into(),
        error => unsupported(error.to_string()),
    }
}

/// Returns the error of writing a Parquet file.
pub fn parquet_written(error: ParquetError) -> Error {
    match parquet_error(error) {
        Error::Arrow { why, .. } => unsupported(why),
        error => error,
    }
}
