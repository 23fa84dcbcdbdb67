// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contacts of the collision mesh: broad phase, narrow phase, contact law and contact history.
//!
//! `broad_phase` finds candidate pairs by swept BVHs, `trajectory_culling` and `primitive_pair` are the narrow phase
//! down to CCD and to the linearised contact, `contact` is the law of its normal force and friction,
//! `contact_history` what it passes on to the next step, and `displacement_bound` certifies pairs of a Verlet list
//! without a test.

mod broad_phase;
mod cloth_components;
mod contact;
mod contact_history;
mod displacement_bound;
mod intersection;
mod primitive_pair;
mod renumbering;
mod trajectory_culling;

pub(crate) use broad_phase::{BroadPhase, CandidateQuery, FeatureSubset};
pub(crate) use cloth_components::ClothComponents;
pub(crate) use contact::{Contact, ContactForce};
pub(crate) use contact_history::{ContactHistory, PriorContact};
pub(crate) use displacement_bound::DisplacementBound;
pub(crate) use intersection::{Intersection, is_intersecting};
pub(crate) use primitive_pair::{
    DetectionBounds, DetectionRange, LinearisedContact, PairKind, PrimitivePair, Trajectories,
    turned_with_partner,
};
pub(crate) use renumbering::{FeatureNumbers, Renumbering};
