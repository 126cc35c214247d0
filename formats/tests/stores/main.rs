//! Stores: written by python-blosc2 of several versions, varied and damaged.

mod common;
mod fixtures;
