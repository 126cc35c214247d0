//! What a helper does with its life: look for a run, do a share of it, look again for a moment,
//! sleep; and end when dismissed.

use super::helpers::Pool;

/// The life of helper number `helper`, which `pool` already counts as looking. It ends, when idle,
/// once the number of dismissals is no longer `epoch`.
pub(super) fn run_helper(pool: &'static Pool, helper: usize, epoch: usize) {
    loop {
        while let Some((slot, share)) = pool.enter(helper) {
            share.run();
            if pool.is_inherited() {
                // The job forked on this thread, which is all there is of the crew in the child.
                return;
            }
            pool.leave(slot, share);
        }
        if pool.shutdowns() != epoch {
            return pool.retire(helper);
        }
        if !pool.spin_wait(epoch) {
            pool.sleep(helper, epoch);
        }
    }
}
