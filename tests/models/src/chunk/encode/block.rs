//! An encoder of blocks: block n has n + 5 bytes, and the encoder is preempted while it writes.

use crate::chunk::worker::buffers::Encoded;
use crate::chunk::worker::state::Worker;
use crate::codec::Dictionary;
use crate::{Error, Result};

/// The parameters that the writer uses.
pub(crate) struct Params {
    pub(crate) nthreads: i16,
}

/// The encoder.
pub(crate) struct BlockEncoder<'a> {
    pub(crate) params: &'a Params,
    pub(crate) blocksize: usize,
    pub(crate) nbytes: usize,
    pub(crate) nblocks: usize,
    pub(crate) dictionary: Option<Dictionary>,
    fails_at: Option<usize>,
}

impl<'a> BlockEncoder<'a> {
    pub(crate) fn of_blocks(
        params: &'a Params,
        nblocks: usize,
        fails_at: Option<usize>,
    ) -> BlockEncoder<'a> {
        let (blocksize, nbytes) = (10, 10 * nblocks);
        BlockEncoder { params, blocksize, nbytes, nblocks, dictionary: None, fails_at }
    }

    pub(crate) fn max_encoded_len(&self, nblock: usize) -> usize {
        2 * (nblock + 5)
    }

    pub(crate) fn encode(
        &self,
        worker: &mut Worker,
        nblock: usize,
        _tid: usize,
        dest: &mut [u8],
    ) -> Result<Option<Encoded>> {
        worker.use_alone();
        if self.fails_at == Some(nblock) {
            return Err(Error::Data);
        }
        let len = nblock + 5;
        let Some(dest) = dest.get_mut(..len) else {
            return Ok(None);
        };
        dest[0] = nblock as u8;
        shuttle::thread::yield_now();
        dest[1..].fill(0x10 + nblock as u8);
        Ok(Some(Encoded { len, all_zero: nblock == 0 }))
    }
}
