// SPDX-License-Identifier: MIT OR Apache-2.0
//! SVG: drawings of any vector program in, patterns at 1:1 out.
//!
//! A closed path is a panel; what an element is besides says its `class`, label or id, or that of a group around it: `grain`,
//! `notch`, `cut`, `internal`, `seam`. Seams are drawn over the edges that they sew, two paths with the same `data-seam` (or
//! the same stroke colour), from the end that starts to the end that finishes.

mod page;
mod reading;
mod seams;
mod writing;

pub(super) use reading::parse;
pub(super) use writing::text;

#[cfg(test)]
mod tests;
