//! Containers: written by Bloscpack, written by us, and invalid ones.

mod appending;
mod arrays;
mod common;
mod fixtures;
mod hostile;
mod properties;
mod reading;
mod writing;
