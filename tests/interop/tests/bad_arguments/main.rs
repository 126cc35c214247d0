//! Calls with wrong, odd or borderline arguments: the same codes from both libraries, or those of
//! a decision row.

mod compression;
mod decoding;
mod globals;
mod nulls;
mod raw_shuffles;
