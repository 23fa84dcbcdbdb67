// SPDX-License-Identifier: MIT OR Apache-2.0
//! Internal and external forces, each the exact gradient of an energy or a dissipation.
