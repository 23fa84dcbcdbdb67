// SPDX-License-Identifier: MIT OR Apache-2.0
//! Physics: what the simulation is held to, by closed forms.

mod scenes;
