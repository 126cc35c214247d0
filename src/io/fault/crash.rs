//! What a power cut leaves.

use super::{Disk, File, SECTOR, State, Tree, is_root};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What is left of changes that were not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survival {
    /// All of them: the process was killed, the system lives.
    All,
    /// None of them.
    Synced,
    /// What the seed decides, sector by sector and name by name.
    Seed(u64),
}

impl Disk {
    /// The disk as the next process finds it when this one is gone, now if not before.
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
            File {
                synced: bytes.clone(),
                bytes,
                changes: Vec::new(),
            }
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
    /// The names after a power cut.
    fn surviving_names(&self, chance: &mut Chance) -> Tree {
        let mut names = self.synced_names.clone();
        let style = chance.style(self.name_changes.len());
        for (place, change) in self.name_changes.iter().enumerate() {
            if chance.moment(style, self.name_changes.len()) > place {
                change.apply(&mut names);
            }
        }
        // What is in a directory that isn't there isn't there either.
        let there: BTreeSet<PathBuf> = names
            .iter()
            .filter(|(_, file)| file.is_none())
            .map(|(path, _)| path.clone())
            .collect();
        names.retain(|path, _| {
            let mut above = path.ancestors().skip(1).filter(|it| !is_root(it));
            above.all(|directory| there.contains(directory))
        });
        names
    }
}

impl File {
    /// The bytes after a power cut.
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

/// How a power cut chooses moments.
#[derive(Clone, Copy)]
enum Style {
    /// The same one everywhere: changes got to the disk in their order.
    Same(usize),
    /// Before all changes or after all.
    Ends,
    /// Any.
    Any,
}

/// Chance that can be repeated: the generator SplitMix64.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `last`.
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

    /// A moment: after how many of `last` changes.
    fn moment(&mut self, style: Style, last: usize) -> usize {
        match style {
            Style::Same(moment) => moment,
            Style::Ends => last * self.up_to(1),
            Style::Any => self.up_to(last),
        }
    }
}
