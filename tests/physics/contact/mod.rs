// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cloth on solids: rest, impact, friction, constraints.

mod constraints;
mod friction;
mod pinched;
mod reaction;
mod recovery;
mod solids;
