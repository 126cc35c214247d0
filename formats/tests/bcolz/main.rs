//! bcolz directories: written by bcolz, written by us, and invalid ones.

mod b2nd;
mod common;
mod converting;
mod crash;
mod errors;
mod fixtures;
mod hooks;
mod locking;
mod properties;
mod races;
mod rows;
mod tables;
mod verifying;
mod writing;
mod zipline;
