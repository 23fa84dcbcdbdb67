// SPDX-License-Identifier: MIT OR Apache-2.0
//! Surfaces that intersect at the start of a step (Baraff, Witkin and Kass 2003): which side each vertex belongs on, and the
//! recovery contacts that take it there.

mod coincident;
mod connected_pieces;
mod containment;
mod contour_minimization;
mod edge_intervals;
mod intersection_analysis;
mod laplacian_smoothing;
mod layer_order;
mod overstretch_release;
mod recovery_contact;

pub(crate) use coincident::{coincidence_predicate, separate_coincident};
pub(crate) use containment::find_enclosed_cloths;
pub(crate) use intersection_analysis::IntersectionState;
pub(crate) use overstretch_release::OverstretchRelease;
