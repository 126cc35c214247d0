//! Floor 2: the chunk.
