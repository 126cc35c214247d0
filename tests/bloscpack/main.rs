//! Containers: what others wrote, what we write, and what nobody should have written.

mod appending;
mod arrays;
mod common;
mod fixtures;
mod hostile;
mod properties;
mod reading;
mod writing;
