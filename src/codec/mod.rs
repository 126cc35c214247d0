//! Floor 1: codecs.
