// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collision detection, and response by constraints (Etzmuss 2002, section 4.4).
//!
//! [`BoundingTree`], [`closest_on_triangle`] and [`point_triangle_impact`] answer questions of geometry.
//! `plane` turns the answers into planes that a vertex must stay in front of, `contact` holds one vertex to its
//! planes with friction, `response` keeps the contacts of a scene through the corrections of a step.

mod bounding_tree;
mod closest_point;
mod collider;
mod contact;
mod crossing;
mod moving_tree;
mod plane;
mod response;
mod time_of_impact;

pub use bounding_tree::{BoundingBox, BoundingTree, Nearest};
pub use closest_point::{
    ClosestOnSegments, ClosestOnTriangle, Feature, closest_on_segments, closest_on_triangle,
};
pub use collider::Collider;
pub(crate) use collider::Obstacle;
pub(crate) use contact::Basis;
pub use crossing::segment_crosses_triangle;
pub use moving_tree::{MovingBox, MovingTree};
pub(crate) use response::{Memory, Response, Surface};
pub use time_of_impact::{Impact, Path, edge_edge_impact, point_triangle_impact};
