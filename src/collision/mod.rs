// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collision detection, and what contacts do.
//!
//! [`MovingTree`], [`closest_on_triangle`] and [`point_triangle_impact`] and their like answer questions of geometry. `surfaces`
//! joins cloths and colliders, `broad_phase` finds features that may meet, `pair` says how two of
//! them touch, `contact` what forces that makes, `impulse` what it makes of velocities; `response` leads the
//! contacts of a scene through the corrections of a step and keeps what it promises.

mod broad_phase;
mod contact;
mod contact_history;
mod displacement_bound;
mod intersection;
mod primitive_pair;
mod trajectory_culling;

pub(crate) use broad_phase::{BroadPhase, FeatureSubset};
pub(crate) use contact::{Contact, ContactForce};
pub(crate) use contact_history::{ContactHistory, PriorContact};
pub(crate) use displacement_bound::DisplacementBound;
pub(crate) use intersection::{Intersection, is_intersecting};
pub(crate) use primitive_pair::{
    DetectionBounds, LinearisedContact, PairKind, PrimitivePair, Trajectories,
};
