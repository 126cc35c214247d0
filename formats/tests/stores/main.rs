//! Stores: written by python-blosc2 of several versions, varied and damaged.

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "arrow")]
mod arrow_types;
mod build;
mod common;
mod conflicts;
mod copies;
mod crash;
mod fixtures;
mod hostile;
mod interop;
mod limits;
mod locations;
mod odd_containers;
mod odd_tables;
mod queries;
mod refusals;
mod rows;
mod table_model;
mod tables;
mod writing;
mod zip_files;
