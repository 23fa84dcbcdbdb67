// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collision geometry and response by constraints.
