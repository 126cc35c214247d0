//! Runs the models for loom.

use ferroblosc_models::loom_models as models;

/// Makes a test of each model.
macro_rules! tests {
    ($($model:ident)*) => {
        $(#[test]
        fn $model() {
            models::$model();
        })*
    };
}

tests! {
    a_helper_joins_runs_of_a_slot
    two_helpers_join_runs_of_a_slot
    two_helpers_compete_for_one_share
    one_panic_of_a_run_reaches_its_owner
    a_box_has_one_owner
    a_full_pointer_refuses_a_box
    a_number_of_a_set_has_one_owner
}
