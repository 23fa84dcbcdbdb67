// SPDX-License-Identifier: MIT OR Apache-2.0
//! Geometry without state: AABB trees, the swept BVH, continuous collision detection (CCD), closest points, exact
//! predicates. Knows points, segments and triangles only; every proof of conservative rounding is here.

mod aabb_tree;
mod ccd;
mod closest_point;
mod orthonormal_basis;
mod roundoff;
mod segment_triangle;
mod swept_bvh;
mod winding_number;

pub use aabb_tree::{BoundingBox, BoundingTree, Nearest};
pub use ccd::{
    Impact, Path, edge_edge_impact, edges_stay_apart, point_stays_apart, point_triangle_impact,
};
pub use closest_point::{
    ClosestOnSegments, ClosestOnTriangle, Feature, closest_on_segments, closest_on_triangle,
};
pub(crate) use orthonormal_basis::Basis;
pub(crate) use roundoff::rounding;
pub use segment_triangle::segment_crosses_triangle;
pub use swept_bvh::{MovingBox, MovingTree, RoundedBox};
pub(crate) use winding_number::{Solid, is_closed};
