//! The main loop of a helper: search for a run, do a share of it, spin, park; end at a shutdown.

use super::helpers::Pool;

/// Runs helper number `helper`, which `pool` already counts as searching. Returns when the helper
/// is idle and the number of shutdowns differs from `epoch`.
pub(super) fn run_helper(pool: &'static Pool, helper: usize, epoch: usize) {
    loop {
        while let Some((slot, share)) = pool.enter(helper) {
            share.run();
            if pool.is_inherited() {
                // The job forked on this thread, which is the only thread of the pool in the child.
                return;
            }
            pool.leave(slot, share);
        }
        if pool.shutdowns() != epoch {
            return pool.retire(helper);
        }
        if !pool.spin_wait(epoch) {
            pool.park(helper, epoch);
        }
    }
}
