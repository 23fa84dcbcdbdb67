// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resolution of surfaces that intersect at the start of a step.
//!
//! `intersection_analysis` finds out which components of the cloth are on the wrong side of which
//! bodies (global intersection analysis, Baraff, Witkin and Kass 2003), and filters their pairs.
//! Recovery contacts then displace the vertices, and leave them no speed (see
//! `response::impulses`). Out of solids their force is high at once; between cloths it starts
//! low and grows while an intersection lasts. The direction of a displacement is that of the first
//! rule that applies to an intersected edge (1 to 5); rule 6 applies to whole components.
//!
//! | | rule | applies to | displacement | evidence |
//! | --- | --- | --- | --- | --- |
//! | 1 | layer order (`layer_order`) | two cloths that lie on each other, by a majority vote of all their intersections | wrong ends through the triangle | hostile scene `crossed_layers` |
//! | 2 | wrong end (`containment`, largest component) | an end in a component that has penetrated the body of the triangle | that end, to the side of the other one | hostile scene `sheet_half_in_a_ball`, `test_a_vertex_led_into_a_solid_is_reported_and_comes_free` |
//! | 3 | lift (`edge_intervals`) | an edge that enters a solid and leaves it again, with both ends outside | both ends along the normal, by the depth of the edge | hostile scenes `copied_from_a_ball_and_divided`, `copied_from_a_ball_and_moved` |
//! | 4 | Laplacian smoothing (`laplacian_smoothing`) | a self-intersection that has lasted for a while, alternating with rule 5 | to the one-ring mean, with a growing patch | `test_small_knots_of_squeezed_cloth_are_evened_out`; hostile scene `box_without_room` still intersects without it |
//! | 5 | contour minimization (`contour_minimization`) | all other edges | along the gradient that shortens the contour | `contour_minimization_moves_a_whole_sheet_back_out` |
//! | 6 | layer recovery (`layer_recovery`) | components without an intersected edge at hand, on the wrong side of a cloth or outside of their solid | to the closest point of the body | `the_layer_recovery_force_grows_with_time`, `test_cloth_that_began_inside_is_drawn_back_inside` |
//!
//! Surfaces that coincide at the start of a simulation are separated before the first step (see
//! `coincident`). Overstretched cloth is released (see `overstretch_release`).

mod coincident;
mod containment;
mod contour_minimization;
mod edge_intervals;
mod intersection_analysis;
mod laplacian_smoothing;
mod layer_order;
mod layer_recovery;
mod overstretch_release;
mod recovery_contact;
mod recovery_rules;

pub(crate) use coincident::{coincidence_predicate, separate_coincident};
pub(crate) use containment::find_enclosed_cloths;
pub(crate) use intersection_analysis::IntersectionState;
pub(crate) use overstretch_release::OverstretchRelease;
pub(crate) use recovery_contact::RecoveryContext;

/// Parameters of the untangling.
struct UntanglingParameters {
    /// Initial compression of recovery contacts between cloths whose layer order is known (1).
    /// Effect: larger throws layers apart; smaller resolves them later. Evidence:
    /// `test_interleaved_sheets_are_not_thrown_apart`; at 0.1 Newton iterations of `crossed_layers`
    /// rise by 11 % (noise 11 %).
    initial_layer_compression: f64,
    /// Compression of recovery contacts out of solids (1), which do not yield. Effect: smaller
    /// recovers the cloth later. Evidence:
    /// `test_what_was_pressed_through_the_floor_comes_back_at_once`; at 0.1 no figure of the short
    /// hostile suite changes.
    initial_solid_compression: f64,
    /// Initial compression of all other recovery contacts (1); it lifts many times the weight of the
    /// cloth. Effect: larger throws cloth away; smaller resolves intersections later. Evidence:
    /// hostile scenes `folded_through_itself` and `crossed_layers` (Newton iterations +38 % at 1).
    initial_compression: f64,
    /// Time in which the minimum compression doubles during an intersection (s). Effect: larger
    /// resolves intersections under load later; smaller loses the low initial force. Evidence:
    /// `the_layer_recovery_force_grows_with_time`; hostile scene `folded_through_itself` (Newton
    /// iterations +43 % at 0.05).
    compression_doubling_time: f64,
    /// Gain of the compression of recovery contacts: compression per displacement over squared
    /// duration (s²/m); three times the gain that displaces 0.2 kg/m² of cloth within the step. Many
    /// ends are displaced at once, and stiff contacts rotate large triangles. Effect: larger leads
    /// to unconverged steps; smaller resolves intersections later. Evidence: hostile scene
    /// `crossed_layers` (Newton iterations −19 % at 0).
    compression_per_acceleration: f64,
    /// Largest rate of a recovery displacement (edge lengths per s). Effect: larger distorts the
    /// cloth; smaller resolves intersections later. Evidence: hostile scenes `crossed_layers`,
    /// `armpit` and `sheet_half_in_a_ball` (Newton iterations +20 % without a bound).
    max_edge_rate: f64,
    /// Largest recovery displacement of a step (edge lengths). Effect: larger distorts the cloth in
    /// long steps; smaller resolves intersections later. Evidence: none.
    max_edge_fraction: f64,
    /// Largest speed of a recovery displacement (m/s). Effect: larger throws cloth of large
    /// triangles; smaller resolves its intersections later. Evidence: hostile scenes `armpit` and
    /// `sleeve_through_a_torso` (Newton iterations +10 % without a bound, noise 6 %).
    max_speed: f64,
    /// Time in which a penetrated component returns (s). Effect: larger returns it later; smaller
    /// drags it along violently. Evidence: hostile scene `crossed_layers` (Newton iterations +339 %
    /// and rejected steps 4 to 12 at 0.2).
    layer_recovery_time: f64,
    /// Number of intersections adjacent to both features of a cloth–cloth pair above which the pair
    /// is filtered. Effect: larger costs time, as all pairs of crushed cloth are searched; smaller
    /// removes guarantees that hold. Evidence:
    /// `crushed_cloth_pairs_are_filtered_but_collider_pairs_are_not`; hostile scene
    /// `folded_through_itself` (Newton iterations +13 % at 0).
    max_adjacent_intersections: usize,
    /// Mean cosine between the normals of two cloths at their intersections, above which they lie on
    /// each other (1). Effect: larger leaves more cloths to the other rules; smaller applies a layer
    /// order to cloths that pierce each other. Evidence: none; without any layer order Newton
    /// iterations of `crossed_layers` rise by 8 % (noise 5 %).
    min_layer_alignment: f64,
    /// Intersection time before self-intersections are smoothed (s): most are resolved earlier.
    /// Effect: larger resolves small folds later; smaller flattens cloth needlessly. Evidence:
    /// hostile scene `box_without_room` (3 pairs still intersect without smoothing),
    /// `test_small_knots_of_squeezed_cloth_are_evened_out`.
    smoothing_delay: f64,
    /// Duration of a phase of smoothing (s). Effect: larger resolves small folds earlier and
    /// flattens more cloth; smaller leaves the work to contour minimization. Evidence:
    /// `smoothing_alternates_with_contour_minimization`; the short hostile suite keeps its bits
    /// without a bound.
    smoothing_time: f64,
    /// Duration of a phase of contour minimization between two phases of smoothing (s). Effect:
    /// larger resolves small folds later; smaller moves whole sheets later. Evidence:
    /// `smoothing_alternates_with_contour_minimization`; the short hostile suite keeps its bits at
    /// 0.
    contour_time: f64,
    /// Rings around self-intersections that join the smoothed patch (1/s of intersection time).
    /// Effect: larger flattens more cloth; smaller leaves hems that are folded to both sides.
    /// Evidence: `the_smoothed_patch_grows_with_time`; hostile scene `folded_through_itself` (Newton
    /// iterations +6 % if all rings join at once).
    rings_per_second: f64,
    /// Bound of the rings of the smoothed patch. Effect: larger flattens more cloth; smaller leaves
    /// wide folds. Evidence: `the_smoothed_patch_grows_with_time`; hostile scene
    /// `folded_through_itself` (Newton iterations +12 % at 0).
    max_rings: u32,
    /// Stretch at which an edge is overstretched (scaled rest lengths). Effect: larger leaves cloth
    /// hooked on pins for longer; smaller removes contacts that can bear their tension. Evidence:
    /// `test_pins_that_have_crossed_let_cloth_go`; hostile scene `pins_cross_each_other` (4.1 times
    /// the Newton iterations without a bound).
    max_stretch: f64,
}

impl UntanglingParameters {
    const DEFAULT: Self = Self {
        initial_layer_compression: 0.01,
        initial_solid_compression: 1.0,
        initial_compression: 0.1,
        compression_doubling_time: 0.1,
        compression_per_acceleration: 6.0e-4,
        max_edge_rate: 24.0,
        max_edge_fraction: 0.5,
        max_speed: 2.0,
        layer_recovery_time: 0.1,
        max_adjacent_intersections: 64,
        min_layer_alignment: 0.5,
        smoothing_delay: 0.3,
        smoothing_time: 0.3,
        contour_time: 0.1,
        rings_per_second: 5.0,
        max_rings: 8,
        max_stretch: 2.0,
    };
}

const UNTANGLING: UntanglingParameters = UntanglingParameters::DEFAULT;
