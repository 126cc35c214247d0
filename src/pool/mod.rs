//! Floor 1: the worker pool.
