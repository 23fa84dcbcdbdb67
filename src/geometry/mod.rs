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
mod triangle_rotation;
mod winding_number;

pub use aabb_tree::{Aabb, AabbTree, NearestPrimitive};
pub use ccd::{
    CcdHit, Trajectory, edge_edge_ccd, edge_edge_stay_separated, point_triangle_ccd,
    point_triangle_stay_separated,
};
pub use closest_point::{
    ClosestPointOnTriangle, ClosestPointsOfSegments, TriangleFeature, closest_point_on_triangle,
    closest_points_of_segments,
};
pub(crate) use orthonormal_basis::OrthonormalBasis;
pub(crate) use roundoff::{coordinate_error, to_f32_clamped};
pub use segment_triangle::segment_intersects_triangle;
pub(crate) use swept_bvh::{
    NODE_WIDTH, Node8, PairExclusions, PairVisitor, SweptBounds, for_each_box,
};
pub use swept_bvh::{SweptAabb, SweptAabbF32, SweptBvh};
pub(crate) use triangle_rotation::triangle_rotation;
pub(crate) use winding_number::{ClosedSurface, is_closed_surface};
