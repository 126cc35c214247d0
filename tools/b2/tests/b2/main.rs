//! Tests of `b2` as a program. They are one test program, because linking many takes minutes.

mod append;
mod bench;
mod cat;
mod common;
mod compress;
mod containers;
mod convert;
mod csv;
mod diff;
mod draw;
mod hdf5;
mod inspect;
mod join;
mod manual;
mod matrix;
mod messages;
mod meta;
mod plugins;
mod repair;
mod schema;
mod stats;
mod store;
mod system_errors;
mod tour;
mod view;
