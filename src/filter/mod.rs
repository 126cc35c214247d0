//! Floor 1: filters.
