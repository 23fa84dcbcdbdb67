// SPDX-License-Identifier: MIT OR Apache-2.0
//! A frame of all islands.

use super::{groups::ClothGroup, islands::Islands};
use crate::{
    error::{Error, Result},
    scene::Report,
};
use rayon::prelude::*;

impl ClothGroup {
    /// Advances the island by a frame of a `duration` in s, or an only step of it, unless that is done.
    fn advance(&mut self, duration: f64, is_one_step: bool) {
        if self.outcome.is_none() {
            self.island.begin_swept_volumes();
            self.outcome = Some(self.island.run_frame(duration, is_one_step));
        }
    }
}

impl Islands {
    /// Simulates a frame of a `duration` in s, or an only step of it.
    pub(super) fn run_frame(&mut self, duration: f64, is_one_step: bool) -> Result<Report> {
        self.begin_frame(duration);
        self.groups.par_iter_mut().for_each(|group| group.advance(duration, is_one_step));
        while self.unite_groups_that_met() {
            self.groups.par_iter_mut().for_each(|group| group.advance(duration, is_one_step));
        }
        self.end_frame()
    }

    /// Groups the cloths that are about to meet, and keeps the states in which the groups begin the frame.
    fn begin_frame(&mut self, duration: f64) {
        if self.has_changing_groups() {
            self.regroup(&self.predicted_partition(duration));
        }
        if self.groups.len() > 1 {
            for group in &mut self.groups {
                group.frame_start = Some(group.island.snapshot());
            }
        }
    }

    /// Unites groups whose cloths have met, in the state in which they began the frame. Returns whether there were any.
    fn unite_groups_that_met(&mut self) -> bool {
        if !self.has_changing_groups() || self.groups.len() == 1 {
            return false;
        }
        let partition = self.partition_of_those_that_met();
        let have_met = partition.len() < self.groups.len();
        if have_met {
            self.regroup(&partition);
        }
        have_met
    }

    /// Ends the frame of all islands, and reports it. By an error in one of several all return to where they began.
    fn end_frame(&mut self) -> Result<Report> {
        let has_failed = self.groups.iter().any(|group| matches!(group.outcome, Some(Err(_))));
        let mut report: Option<Report> = None;
        let mut error: Option<Error> = None;
        for group in &mut self.groups {
            if let Some(start) = group.frame_start.take().filter(|_| has_failed) {
                group.island.return_to_start_of_frame(start);
            }
            group.island.end_frame();
            match group.outcome.take() {
                Some(Ok(own)) => {
                    let own = group.renumbered_report(own);
                    report = Some(match report {
                        Some(sum) => sum.and(&own),
                        None => own,
                    });
                }
                Some(Err(one)) if error.is_none() => error = Some(group.renumbered_error(one)),
                _ => {}
            }
        }
        let mut report = report.unwrap_or_default();
        report.pinched_vertices.sort_unstable_by_key(|one| (one.cloth, one.vertex));
        error.map_or(Ok(report), Err)
    }
}
