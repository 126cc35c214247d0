//! Runs the models for shuttle.

use ferroblosc_models::chunk::{encode as writer, worker as cache};
use ferroblosc_models::pool::{gate_models as gate, models as pool};

/// Makes a test of each model.
macro_rules! tests {
    ($($module:ident: $($model:ident)*;)*) => {
        $($(#[test]
        fn $model() {
            $module::$model();
        })*)*
    };
}

tests! {
    pool:
        two_callers_share_a_pool
        no_notification_is_lost
        no_notification_is_lost_to_another_caller
        a_single_caller_of_two_threads_has_one_helper
        a_shutdown_ends_helpers_and_no_run
        runs_may_be_nested
        a_panic_reaches_the_caller
        the_pool_of_the_process_is_created_once
        a_forked_child_makes_a_pool
        a_job_may_fork
        a_backend_outlives_its_runs
        changes_of_a_shared_list_are_all_kept;
    gate:
        writers_are_alone
        calls_are_not_waited_for
        a_callback_may_read
        a_forked_child_finds_the_gate_free;
    cache:
        a_worker_has_one_user_and_is_freed
        a_release_frees_no_worker_in_use
        a_forked_child_uses_the_cache;
    writer:
        threads_write_the_chunk_of_one_thread
        threads_fill_a_short_destination_like_one_thread
        a_failure_is_reported_in_block_order
        two_contexts_write_at_the_same_time;
}
