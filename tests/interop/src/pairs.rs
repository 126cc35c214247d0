//! Pairwise test design: few combinations that contain every pair of values of any two dimensions.
//!
//! The algorithm is greedy and deterministic: each combination starts with a missing pair. Each
//! remaining dimension is then set to the value that completes the most missing pairs.

/// Returns combinations (a value index per dimension) that together contain every pair of values.
pub fn all_pairs(sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut missing = Missing::new(sizes);
    let mut combinations = Vec::new();
    while let Some(((d1, v1), (d2, v2))) = missing.first() {
        let mut picks: Vec<Option<usize>> = vec![None; sizes.len()];
        picks[d1] = Some(v1);
        picks[d2] = Some(v2);
        for dimension in 0..sizes.len() {
            if picks[dimension].is_some() {
                continue;
            }
            // Ties rotate through the values, so that values without missing pairs are used as
            // well.
            let turn = combinations.len();
            let best = (0..sizes[dimension])
                .map(|value| (value + turn) % sizes[dimension])
                .max_by_key(|&value| {
                    let gain = missing.gain(&picks, dimension, value);
                    (gain, usize::from(value == turn % sizes[dimension]))
                })
                .expect("a dimension has a value");
            picks[dimension] = Some(best);
        }
        let combination: Vec<usize> = picks.into_iter().flatten().collect();
        missing.remove(&combination);
        combinations.push(combination);
    }
    combinations
}

/// The pairs that no combination contains yet.
struct Missing {
    sizes: Vec<usize>,
    offsets: Vec<usize>,
    pairs: Vec<bool>,
    total: usize,
    first: usize,
}

impl Missing {
    fn new(sizes: &[usize]) -> Missing {
        let mut offsets = Vec::new();
        let mut total = 0;
        for &size in sizes {
            offsets.push(total);
            total += size;
        }
        let mut missing = Missing {
            sizes: sizes.to_vec(),
            offsets,
            pairs: vec![false; total * total],
            total,
            first: 0,
        };
        for d1 in 0..sizes.len() {
            for d2 in d1 + 1..sizes.len() {
                for v1 in 0..sizes[d1] {
                    for v2 in 0..sizes[d2] {
                        let index = missing.index((d1, v1), (d2, v2));
                        missing.pairs[index] = true;
                    }
                }
            }
        }
        missing
    }

    /// Returns the index of a pair, which does not depend on the order of its two values.
    fn index(&self, a: (usize, usize), b: (usize, usize)) -> usize {
        let (a, b) = if a.0 < b.0 { (a, b) } else { (b, a) };
        (self.offsets[a.0] + a.1) * self.total + self.offsets[b.0] + b.1
    }

    fn value_at(&self, flat: usize) -> (usize, usize) {
        let dimension = self.offsets.iter().rposition(|&offset| offset <= flat).expect("in range");
        (dimension, flat - self.offsets[dimension])
    }

    fn first(&mut self) -> Option<((usize, usize), (usize, usize))> {
        while !*self.pairs.get(self.first)? {
            self.first += 1;
        }
        Some((self.value_at(self.first / self.total), self.value_at(self.first % self.total)))
    }

    /// Returns the number of missing pairs that `value` would complete.
    fn gain(&self, picks: &[Option<usize>], dimension: usize, value: usize) -> usize {
        picks
            .iter()
            .enumerate()
            .filter_map(|(other, pick)| Some((other, (*pick)?)))
            .filter(|&other| self.pairs[self.index(other, (dimension, value))])
            .count()
    }

    fn remove(&mut self, combination: &[usize]) {
        for d1 in 0..self.sizes.len() {
            for d2 in d1 + 1..self.sizes.len() {
                let index = self.index((d1, combination[d1]), (d2, combination[d2]));
                self.pairs[index] = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_pair_of_values_appears() {
        let sizes = [5, 10, 3, 4, 2];
        let combinations = all_pairs(&sizes);
        for d1 in 0..sizes.len() {
            for d2 in d1 + 1..sizes.len() {
                let seen: HashSet<_> = combinations.iter().map(|c| (c[d1], c[d2])).collect();
                assert_eq!(seen.len(), sizes[d1] * sizes[d2], "dimensions {d1} and {d2}");
            }
        }
        assert!(combinations.len() < 100, "{} combinations are too many", combinations.len());
    }
}
