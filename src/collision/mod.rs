// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collision detection, and what contacts do.
//!
//! [`MovingTree`], [`closest_on_triangle`] and [`point_triangle_impact`] and their like answer questions of geometry. `surfaces`
//! joins cloths and colliders, `broad_phase` finds features that may meet, `pair` says how two of
//! them touch, `contact` what forces that makes, `impulse` what it makes of velocities; `response` leads the
//! contacts of a scene through the corrections of a step and keeps what it promises.

mod basis;
mod bounding_tree;
mod broad_phase;
mod carry;
mod closest_point;
mod coincidence;
mod collider;
mod contact;
mod contours;
mod crossing;
mod deviations;
mod evening;
mod exclusions;
mod impulse;
mod insides;
mod intersection;
mod layers;
mod loose;
mod memory;
mod moving_tree;
mod obstacle;
mod outward;
mod pair;
mod passages;
mod pieces;
mod pull;
mod response;
mod retreat;
mod rounding;
mod seams;
mod solid;
mod surfaces;
mod tangle;
mod time_of_impact;
mod ways;

pub(crate) use basis::Basis;
pub use bounding_tree::{BoundingBox, BoundingTree, Nearest};
pub use closest_point::{
    ClosestOnSegments, ClosestOnTriangle, Feature, closest_on_segments, closest_on_triangle,
};
pub use collider::Collider;
pub(crate) use contact::Contact;
pub use crossing::segment_crosses_triangle;
pub(crate) use exclusions::Exclusions;
pub(crate) use impulse::inverse_mass;
pub(crate) use memory::Memory;
pub use moving_tree::{MovingBox, MovingTree, RoundedBox};
pub(crate) use obstacle::Obstacle;
pub(crate) use response::{ActiveSet, Multiplier, Response};
pub(crate) use retreat::Retreated;
pub(crate) use surfaces::{ClothSurfaces, Surface, Surfaces};
pub use time_of_impact::{
    Impact, Path, edge_edge_impact, edges_stay_apart, point_stays_apart, point_triangle_impact,
};
