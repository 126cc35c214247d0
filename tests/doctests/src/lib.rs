//! The Rust examples in documents, which run as documentation tests. The documents are not in the
//! published crates, so the crates cannot include them.

#![cfg(doctest)]
#![forbid(unsafe_code)]

#[doc = include_str!("../../../README.md")]
pub struct Readme;

#[doc = include_str!("../../../docs/crate.md")]
pub struct Crate;

#[doc = include_str!("../../../docs/durability.md")]
pub struct Durability;

#[doc = include_str!("../../../docs/stores.md")]
pub struct Stores;

#[doc = include_str!("../../../docs/blpk.md")]
pub struct Bloscpack;
