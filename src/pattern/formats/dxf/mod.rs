// SPDX-License-Identifier: MIT OR Apache-2.0
//! DXF-AAMA, ASTM D6673: one block a piece, in inches or millimetres.
//!
//! Layers: 1 outline, 2 turn points, 4 and 80 to 83 notches, 6 mirror line, 7 grain, 8 internal lines, 11 cut-outs, 14 sewing
//! line. Where there is a sewing line it is the outline: the one of layer 1 includes the seam allowance then. Edges run
//! between turn points, or between sharp turns where a piece has none. A piece with a mirror line is half of the panel.

mod entities;
mod groups;
mod mirror;
mod piece;

pub(super) use piece::parse;

#[cfg(test)]
mod tests;
