// SPDX-License-Identifier: MIT OR Apache-2.0
//! The collision mesh: vertices, edges and triangles of all cloths and colliders in one numbering, and which of them
//! may touch.

mod collision_mesh;
mod configuration;
mod contact_filter;
mod edge_convexity;
mod outward_winding;
mod seam_adjacency;

pub(crate) use collision_mesh::{ClothCollisionData, CollisionMesh, SurfaceProperties};
pub(crate) use configuration::Configuration;
pub(crate) use contact_filter::ContactFilter;
pub(crate) use edge_convexity::EdgeConvexity;
