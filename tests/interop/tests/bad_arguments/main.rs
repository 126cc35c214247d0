//! Calls with invalid, unusual or borderline arguments: equal codes from both libraries, or those
//! of a decision row.

mod compression;
mod decoding;
mod globals;
mod nulls;
mod raw_shuffles;
