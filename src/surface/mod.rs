// SPDX-License-Identifier: MIT OR Apache-2.0
//! The collision mesh: vertices, edges and triangles of all cloths and colliders in one numbering, and which of them
//! may touch.

mod collision_mesh;
mod contact_filter;
mod outward_winding;
mod seam_adjacency;

pub(crate) use collision_mesh::{
    ClothCollisionData, CollisionMesh, Configuration, EdgeConvexity, SurfaceProperties,
};
pub(crate) use contact_filter::ContactFilter;
