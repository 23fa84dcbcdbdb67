// SPDX-License-Identifier: MIT OR Apache-2.0
use super::{begin, runner, step};
use crate::collision::DetectionBounds;
use proptest::prelude::*;
use std::cell::Cell;

#[test]
fn no_pair_that_is_told_apart_would_be_a_contact() {
    let (apart, near) = (Cell::new(0), Cell::new(0));
    let mut runner = runner(300);
    let result = runner.run(&step(), |step| {
        let [starts, predicted] = step.start_and_predicted_positions();
        let mut response = step.response(&starts);
        begin(&mut response, &starts, &predicted);
        for iterate in &step.iterates {
            response.set_trial_trajectories(&step.iterate_positions(&predicted, iterate));
            let distant = response.candidates.distant_pairs(|_| 1.0);
            for (index, pair) in response.candidates.pairs.iter().enumerate() {
                let bounds =
                    DetectionBounds { detection_distance: pair.thickness, max_normal_tilt: 1.0 };
                let (mesh, trajectories) = (&response.scene.mesh, response.step.trajectories());
                let is_distant = distant.contains(index);
                let counter = if is_distant { &apart } else { &near };
                counter.set(counter.get() + 1);
                let contact = pair.linearised_contact(mesh, trajectories, bounds);
                prop_assert!(!is_distant || contact.is_none(), "{pair:?}: {contact:?}");
            }
        }
        Ok(())
    });
    result.unwrap();
    assert!(apart.get() > 1000 && near.get() > 1000, "{apart:?} {near:?}");
}
