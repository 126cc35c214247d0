//! What a helper does with its life: look for a run, do a share of it, look again for a moment,
//! sleep; and end when dismissed.

use super::crew::Crew;

/// The life of helper number `helper`, which `crew` already counts as looking. It ends, when idle,
/// once the number of dismissals is no longer `term`.
pub(super) fn serve(crew: &'static Crew, helper: usize, term: usize) {
    loop {
        while let Some((slot, share)) = crew.enter(helper) {
            share.run();
            if crew.is_inherited() {
                // The job forked on this thread, which is all there is of the crew in the child.
                return;
            }
            crew.leave(slot, share);
        }
        if crew.dismissals() != term {
            return crew.sign_off(helper);
        }
        if !crew.linger(term) {
            crew.sleep(helper, term);
        }
    }
}
