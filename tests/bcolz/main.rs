//! Directories of bcolz: what it wrote, what we write, and what nobody should have written.

mod b2nd;
mod common;
mod converting;
mod crash;
mod fixtures;
mod properties;
mod rows;
mod tables;
mod verifying;
mod writing;
mod zipline;
