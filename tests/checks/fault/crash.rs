//! The state of a disk after a power cut.

use super::{Disk, File, SECTOR, State, Tree, is_root};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The unsynced changes that survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survival {
    /// All of them: the process was killed, the system keeps running.
    All,
    /// None of them.
    Synced,
    /// A random choice by this seed, for each sector and each name.
    Seed(u64),
}

impl Disk {
    /// Returns the disk that the next process finds after a crash at this point, or at the injected
    /// crash if there was one.
    pub fn after_crash(&self, survival: Survival) -> Disk {
        let state = self.state();
        let mut chance = Chance(match survival {
            Survival::Seed(seed) => seed,
            Survival::All | Survival::Synced => 0,
        });
        let names = match survival {
            Survival::All => state.names.clone(),
            Survival::Synced => state.synced_names.clone(),
            Survival::Seed(_) => state.surviving_names(&mut chance),
        };
        let files = state.files.iter().map(|file| {
            let bytes = match survival {
                Survival::All => file.bytes.clone(),
                Survival::Synced => file.synced.clone(),
                Survival::Seed(_) => file.surviving(&mut chance),
            };
            File { synced: bytes.clone(), bytes, changes: Vec::new() }
        });
        Disk(Arc::new(Mutex::new(State {
            files: files.collect(),
            synced_names: names.clone(),
            names,
            ..State::default()
        })))
    }
}

impl State {
    /// Returns the names after a power cut.
    fn surviving_names(&self, chance: &mut Chance) -> Tree {
        let mut names = self.synced_names.clone();
        let style = chance.style(self.name_changes.len());
        for (place, change) in self.name_changes.iter().enumerate() {
            if chance.moment(style, self.name_changes.len()) > place {
                change.apply(&mut names);
            }
        }
        // A missing directory has no entries.
        let there: BTreeSet<PathBuf> =
            names.iter().filter(|(_, file)| file.is_none()).map(|(path, _)| path.clone()).collect();
        names.retain(|path, _| {
            let mut above = path.ancestors().skip(1).filter(|it| !is_root(it));
            above.all(|directory| there.contains(directory))
        });
        names
    }
}

impl File {
    /// Returns the bytes after a power cut.
    fn surviving(&self, chance: &mut Chance) -> Vec<u8> {
        let mut moments = vec![self.synced.clone()];
        for change in &self.changes {
            let mut next = moments[moments.len() - 1].clone();
            change.apply(&mut next);
            moments.push(next);
        }
        let last = self.changes.len();
        let style = chance.style(last);
        let mut bytes = vec![0; moments[chance.moment(style, last)].len()];
        for (number, sector) in bytes.chunks_mut(SECTOR).enumerate() {
            let then = &moments[chance.moment(style, last)];
            let there = then.get(number * SECTOR..).unwrap_or_default();
            let len = there.len().min(sector.len());
            sector[..len].copy_from_slice(&there[..len]);
        }
        bytes
    }
}

/// Distribution of the moments whose state survives a power cut.
#[derive(Clone, Copy)]
enum Style {
    /// The same moment everywhere: changes reached the disk in order.
    Same(usize),
    /// The moment before or after all changes.
    Ends,
    /// Any moment.
    Any,
}

/// The reproducible random generator SplitMix64.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number in `0..=last`.
    fn up_to(&mut self, last: usize) -> usize {
        (self.next() % (last as u64 + 1)) as usize
    }

    fn style(&mut self, last: usize) -> Style {
        match self.up_to(3) {
            0 => Style::Same(self.up_to(last)),
            1 | 2 => Style::Ends,
            _ => Style::Any,
        }
    }

    /// Returns a moment: the number of applied changes out of `last`.
    fn moment(&mut self, style: Style, last: usize) -> usize {
        match style {
            Style::Same(moment) => moment,
            Style::Ends => last * self.up_to(1),
            Style::Any => self.up_to(last),
        }
    }
}
