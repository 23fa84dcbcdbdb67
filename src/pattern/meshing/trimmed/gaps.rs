// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gaps of a panel that its grid is too coarse for: cells that both sides of a gap share would join them.
//!
//! At the end of a gap both sides share cells whatever the grid is; there they are connected beside it. So the parts of
//! the panel in the cells around a corner have to be connected within a few cells.

use super::{TrimmedParameters, cut::VisibleVertex, grid_triangle::Corner};
use std::collections::{BTreeMap, BTreeSet};

/// Visible triangles by the cells that they lie in.
pub(super) struct Cells {
    pub(super) triangles: BTreeMap<[i64; 2], Vec<[VisibleVertex; 3]>>,
    /// Cells that the outline touches.
    pub(super) touched: BTreeSet<[i64; 2]>,
}

impl Cells {
    /// A corner at which parts of the panel would be joined that a gap divides.
    pub(super) fn first_narrow_gap(&self) -> Option<Corner> {
        let corners: BTreeSet<Corner> = (self.touched.iter())
            .flat_map(|[column, row]| super::grid_triangle::cell_corners([*column, *row]))
            .collect();
        corners.into_iter().find(|corner| !self.is_connected_around(*corner))
    }

    fn is_connected_around(&self, corner: Corner) -> bool {
        let own = self.within(corner, 1);
        let near = self.within(corner, TrimmedParameters::DEFAULT.gap_end);
        let Some(start) = own.first() else { return true };
        let mut by_side: BTreeMap<[VisibleVertex; 2], Vec<usize>> = BTreeMap::new();
        for (index, triangle) in near.iter().enumerate() {
            for side in sides(triangle) {
                by_side.entry(side).or_default().push(index);
            }
        }
        let mut is_reached = vec![false; near.len()];
        let mut waiting: Vec<usize> =
            near.iter().position(|one| one == start).into_iter().collect();
        while let Some(index) = waiting.pop() {
            if !std::mem::replace(&mut is_reached[index], true) {
                waiting.extend(sides(&near[index]).iter().flat_map(|side| &by_side[side]));
            }
        }
        let reached: BTreeSet<[VisibleVertex; 3]> = near
            .iter()
            .zip(is_reached)
            .filter(|(_, reached)| *reached)
            .map(|(one, _)| *one)
            .collect();
        own.iter().all(|triangle| reached.contains(triangle))
    }

    /// Visible triangles in the cells up to some cells away from a corner.
    fn within(&self, (column, row): Corner, cells: i64) -> Vec<[VisibleVertex; 3]> {
        let range = |middle: i64| middle - cells..middle + cells;
        let places = range(column).flat_map(|column| range(row).map(move |row| [column, row]));
        places.filter_map(|place| self.triangles.get(&place)).flatten().copied().collect()
    }
}

fn sides([a, b, c]: &[VisibleVertex; 3]) -> [[VisibleVertex; 2]; 3] {
    [[*a, *b], [*b, *c], [*c, *a]].map(|[from, to]| [from.min(to), from.max(to)])
}
