// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collision mesh: vertices, edges and triangles of all cloths and colliders in one numbering, the pairs of them that are
//! excluded from contact, and configurations of the mesh.

mod alternative_features;
mod collision_mesh;
mod configuration;
mod contact_filter;
mod edge_adjacency;
mod edge_convexity;
mod internal_springs;
mod outward_winding;
mod seam_adjacency;
mod seam_strips;
mod surface_point;

pub(crate) use collision_mesh::{ClothCollisionData, CollisionMesh, SurfaceProperties};
pub(crate) use configuration::Configuration;
pub(crate) use contact_filter::ContactFilter;
pub(crate) use edge_convexity::EdgeConvexity;
pub use internal_springs::{InternalSprings, internal_springs};
pub(crate) use seam_strips::append_seam_strips;
pub(crate) use surface_point::{Gap, SurfacePoint, vertex_normal};
