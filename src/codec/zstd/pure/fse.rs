//! Tables of finite state entropy codes.

use super::bits::BitReader;
use crate::{Error, Result};

/// The largest accuracy of a table, as the base-2 logarithm of its number of states.
pub const MAX_LOG: u32 = 9;
/// The smallest accuracy.
const MIN_LOG: u32 = 5;
/// The largest number of symbols.
const MAX_SYMBOLS: usize = 53;

/// A state: its symbol, and the states that can follow.
#[derive(Clone, Copy, Default)]
pub struct State {
    /// The first of the states that can follow.
    pub base: u16,
    /// The number of bits that select the next state.
    pub bits: u8,
    /// The symbol.
    pub symbol: u8,
}

/// A table of states.
#[derive(Clone)]
pub struct Table {
    states: [State; 1 << MAX_LOG],
    /// The base-2 logarithm of the number of states.
    pub log: u32,
}

impl Table {
    /// Returns a table of one state, whose symbol is 0.
    pub fn new() -> Table {
        Table { states: [State::default(); 1 << MAX_LOG], log: 0 }
    }

    /// Returns a state.
    #[inline(always)]
    pub fn state(&self, number: usize) -> State {
        self.states[number & ((1 << MAX_LOG) - 1)]
    }

    /// Sets a table of one symbol.
    pub fn set_single(&mut self, symbol: u8) {
        self.log = 0;
        self.states[0] = State { base: 0, bits: 0, symbol };
    }

    /// Builds the table of a distribution: the share of each symbol in the states, −1 for a symbol
    /// that has less than one. The shares fill all states.
    pub fn set(&mut self, shares: &[i16], log: u32) {
        let size = 1 << log;
        let mut next = [0_u16; MAX_SYMBOLS];
        let mut high = size;
        for (symbol, &share) in shares.iter().enumerate() {
            if share == -1 {
                high -= 1;
                self.states[high].symbol = symbol as u8;
                next[symbol] = 1;
            } else {
                next[symbol] = share as u16;
            }
        }
        let step = (size >> 1) + (size >> 3) + 3;
        let mut at = 0;
        for (symbol, &share) in shares.iter().enumerate() {
            for _ in 0..share.max(0) {
                self.states[at].symbol = symbol as u8;
                at = (at + step) & (size - 1);
                while at >= high {
                    at = (at + step) & (size - 1);
                }
            }
        }
        for state in &mut self.states[..size] {
            let count = &mut next[usize::from(state.symbol)];
            state.bits = (log - count.ilog2()) as u8;
            state.base = (*count << state.bits) - size as u16;
            *count += 1;
        }
        self.log = log;
    }

    /// Reads the description of a table with symbols below `nsymbols` and an accuracy of at most
    /// `max_log`; returns its length in bytes.
    ///
    /// # Errors
    /// [`Error::Data`]
    pub fn read(&mut self, src: &[u8], nsymbols: usize, max_log: u32) -> Result<usize> {
        // The bits are read from the first byte on; those after the end are zeros.
        let word = |bit: usize| {
            let mut bytes = [0; 4];
            let rest = src.get(bit / 8..).unwrap_or_default();
            let len = rest.len().min(4);
            bytes[..len].copy_from_slice(&rest[..len]);
            u32::from_le_bytes(bytes) >> (bit % 8)
        };
        let log = (word(0) & 15) + MIN_LOG;
        if log > max_log {
            return Err(Error::Data);
        }
        let mut shares = [0_i16; MAX_SYMBOLS];
        let mut bit = 4;
        let mut symbol = 0;
        // One more than the number of states that are left.
        let mut rest = (1_u32 << log) + 1;
        while rest > 1 {
            let share = shares[..nsymbols].get_mut(symbol).ok_or(Error::Data)?;
            // The value is at most `rest`: the smaller ones of these have one bit less.
            let count = 32 - rest.leading_zeros();
            let threshold = 1 << (count - 1);
            let short = 2 * threshold - 1 - rest;
            let value = word(bit) & (2 * threshold - 1);
            let value = if value & (threshold - 1) < short {
                bit += count as usize - 1;
                value & (threshold - 1)
            } else {
                bit += count as usize;
                if value >= threshold { value - short } else { value }
            };
            *share = value as i16 - 1;
            rest = rest.checked_sub(u32::from(share.unsigned_abs())).ok_or(Error::Data)?;
            symbol += 1;
            if value == 1 {
                // Numbers of further symbols without a share follow.
                loop {
                    let repeat = word(bit) & 3;
                    bit += 2;
                    symbol += repeat as usize;
                    if repeat < 3 || symbol > nsymbols {
                        break;
                    }
                }
            }
        }
        let len = bit.div_ceil(8);
        if rest != 1 || symbol > nsymbols || len > src.len() {
            return Err(Error::Data);
        }
        self.set(&shares[..symbol], log);
        Ok(len)
    }
}

/// A decoder of symbols: a table and its state.
pub struct Decoder<'a> {
    table: &'a Table,
    state: State,
}

impl<'a> Decoder<'a> {
    /// Reads the first state.
    #[inline(always)]
    pub fn new(table: &'a Table, bits: &mut BitReader<'_>) -> Decoder<'a> {
        let state = table.state(bits.read(table.log) as usize);
        Decoder { table, state }
    }

    /// Returns the symbol of the state.
    #[inline(always)]
    pub fn symbol(&self) -> u8 {
        self.state.symbol
    }

    /// Reads the next state.
    #[inline(always)]
    pub fn advance(&mut self, bits: &mut BitReader<'_>) {
        let next = usize::from(self.state.base) + bits.read(self.state.bits.into()) as usize;
        self.state = self.table.state(next);
    }
}
