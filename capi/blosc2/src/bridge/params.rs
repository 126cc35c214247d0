//! Conversions of compression parameters between the C struct, the core and a super-chunk's fields.

use super::parent::CParent;
use super::plugins;
use crate::constants::limits::BLOSC2_MAX_FILTERS;
use crate::defaults;
use crate::types::flag::is_set;
use crate::types::params::blosc2_cparams;
use ferroblosc::chunk::{CParams, SplitMode};
use ferroblosc::filter::Slot;
use ferroblosc::frame::StoredParams;
use std::ffi::c_int;

/// Converts C parameters to those of the core, without callbacks and tuner.
///
/// # Safety
/// `cparams.schunk` is NULL or a super-chunk that outlives the result.
pub unsafe fn core_cparams(cparams: &blosc2_cparams) -> CParams {
    plugins::install();
    let mut params = CParams::default();
    params.compcode = c_int::from(cparams.compcode);
    params.compcode_meta = cparams.compcode_meta;
    params.clevel = c_int::from(cparams.clevel);
    params.use_dict = cparams.use_dict != 0;
    params.typesize = cparams.typesize;
    params.nthreads = cparams.nthreads;
    params.blocksize = cparams.blocksize;
    params.splitmode = SplitMode(cparams.splitmode);
    params.filters = slots(cparams.filters, cparams.filters_meta);
    params.instrument = is_set(cparams.instr_codec);
    params.parent = CParent::from_schunk(cparams.schunk).map(|parent| parent as _);
    params
}

/// Copies the parameters that the environment may have changed to the C struct.
pub fn store_cparams(core: &CParams, cparams: &mut blosc2_cparams) {
    // An unknown codec is -1 in the core; the C field holds its low 8 bits.
    cparams.compcode = core.compcode as u8;
    cparams.clevel = core.clevel as u8;
    cparams.typesize = core.typesize;
    cparams.nthreads = core.nthreads;
    cparams.blocksize = core.blocksize;
    cparams.splitmode = core.splitmode.0;
    cparams.filters = core.filters.map(|slot| slot.id);
}

/// Returns filters from their ids and metadata bytes.
pub fn slots(
    ids: [u8; BLOSC2_MAX_FILTERS],
    metas: [u8; BLOSC2_MAX_FILTERS],
) -> [Slot; BLOSC2_MAX_FILTERS] {
    std::array::from_fn(|i| Slot { id: ids[i], meta: metas[i] })
}

/// Returns the parameters that a super-chunk stores.
pub fn stored_params(cparams: &blosc2_cparams) -> StoredParams {
    StoredParams {
        compcode: cparams.compcode,
        compcode_meta: cparams.compcode_meta,
        clevel: cparams.clevel,
        splitmode: cparams.splitmode as u8,
        typesize: cparams.typesize,
        use_dict: cparams.use_dict != 0,
        filters: slots(cparams.filters, cparams.filters_meta),
    }
}

/// Returns the C parameters of a super-chunk: those that it stores, and otherwise the defaults.
/// `blocksize` is in bytes.
pub fn cparams_of_stored(stored: &StoredParams, blocksize: i32) -> blosc2_cparams {
    blosc2_cparams {
        compcode: stored.compcode,
        compcode_meta: stored.compcode_meta,
        clevel: stored.clevel,
        use_dict: c_int::from(stored.use_dict),
        typesize: stored.typesize,
        blocksize,
        splitmode: i32::from(stored.splitmode),
        filters: stored.filters.map(|slot| slot.id),
        filters_meta: stored.filters.map(|slot| slot.meta),
        ..defaults::CPARAMS
    }
}
