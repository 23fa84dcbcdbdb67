// SPDX-License-Identifier: MIT OR Apache-2.0
//! The edges that can fold, and how their angle is divided between the triangles beside them.

use crate::mesh::{Edge, Mesh};
use std::ops::Range;

/// Sides of a hinge that take its angle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AngleShare {
    /// Half to each side, shifted by the correction.
    Shared,
    /// All of it on one side (0 left, 1 right): the triangle on the other side is pinned, and its normal is prescribed
    /// at the edge.
    Clamped(u8),
    /// Both triangles are pinned.
    Idle,
}

impl AngleShare {
    /// Fraction of the angle for each side that takes part.
    pub(super) fn share(self) -> f64 {
        match self {
            Self::Shared => 0.5,
            Self::Clamped(_) => 1.0,
            Self::Idle => 0.0,
        }
    }
}

/// The edges with two triangles, in the order of the mesh's edges.
///
/// A *half* is one side of a hinge, numbered 2·hinge + side; a *slot* is one corner of a triangle or the edge opposite
/// it, numbered 3·triangle + corner. Indices of boundary edges point one past the last hinge, where all arrays over
/// hinges have a 0.
#[derive(Clone, Debug)]
pub(super) struct Hinges {
    /// Ends a and b, opposite corners c and d, of each hinge.
    pub(super) vertices: Vec<[u32; 4]>,
    /// Slot of the hinge in its left and right triangle.
    pub(super) slots: Vec<[u32; 2]>,
    /// Halves of the other two edges of the left triangle, and of the right one.
    pub(super) neighbours: Vec<[u32; 4]>,
    /// Hinge of each slot.
    pub(super) of_triangle: Vec<[u32; 3]>,
    pub(super) angle_shares: Vec<AngleShare>,
    /// Whether the three vertices of a triangle are pinned.
    pub(super) is_pinned: Vec<bool>,
}

impl Hinges {
    pub(super) fn new(mesh: &Mesh, pinned: &[bool]) -> Self {
        let topology = &mesh.topology;
        let folding = || topology.edges.iter().filter(|edge| !edge.is_boundary());
        let mut slots = Vec::with_capacity(folding().count());
        slots.extend(folding().map(slots_of));
        let mut halves = vec![2 * slots.len() as u32; 3 * topology.triangles.len()];
        for (hinge, [left, right]) in slots.iter().enumerate() {
            halves[*left as usize] = 2 * hinge as u32;
            halves[*right as usize] = 2 * hinge as u32 + 1;
        }
        let mut vertices = Vec::with_capacity(slots.len());
        vertices.extend(folding().map(|edge| {
            let [a, b] = edge.vertices;
            [a, b, topology.opposite(edge, 0), topology.opposite(edge, 1)]
        }));
        let mut hinges = Self {
            vertices,
            neighbours: slots
                .iter()
                .map(|[left, right]| {
                    let near = [next(*left), next(next(*left)), next(*right), next(next(*right))];
                    near.map(|slot| halves[slot as usize])
                })
                .collect(),
            of_triangle: halves
                .as_chunks::<3>()
                .0
                .iter()
                .map(|corners| corners.map(|half| half / 2))
                .collect(),
            slots,
            angle_shares: Vec::new(),
            is_pinned: Vec::new(),
        };
        hinges.set_pinned(mesh, pinned);
        hinges
    }

    /// Updates the shares of the angles to the `pinned` vertices. Returns whether any has changed.
    pub(super) fn set_pinned(&mut self, mesh: &Mesh, pinned: &[bool]) -> bool {
        let corners = mesh.topology.triangles.iter();
        let is_pinned = corners.map(|three| three.iter().all(|v| pinned[*v as usize])).collect();
        if self.is_pinned == is_pinned {
            return false;
        }
        self.is_pinned = is_pinned;
        let is_pinned = |slot: u32| self.is_pinned[slot as usize / 3];
        let role = |slots: &[u32; 2]| match slots.map(is_pinned) {
            [false, false] => AngleShare::Shared,
            [false, true] => AngleShare::Clamped(0),
            [true, false] => AngleShare::Clamped(1),
            [true, true] => AngleShare::Idle,
        };
        self.angle_shares = self.slots.iter().map(role).collect();
        true
    }

    /// Fraction of the angle of a hinge for each side that takes part.
    #[inline]
    pub(super) fn share(&self, hinge: usize) -> f64 {
        self.angle_shares[hinge].share()
    }

    pub(super) fn count(&self) -> usize {
        self.slots.len()
    }

    /// The hinges of one cloth.
    pub(super) fn range_of_cloth(&self, mesh: &Mesh, cloth: usize) -> Range<usize> {
        let cloth_of = |slots: &[u32; 2]| mesh.cloth_of_triangle[slots[0] as usize / 3];
        range_of_cloth(&self.slots, cloth_of, cloth)
    }

    /// Which edges of a triangle have no triangle beyond.
    pub(super) fn free_edges(&self, triangle: usize) -> [bool; 3] {
        self.of_triangle[triangle].map(|hinge| hinge as usize == self.count())
    }
}

/// Range of the items of one cloth in a list sorted by cloth.
pub(super) fn range_of_cloth<T>(
    items: &[T],
    cloth_of: impl Fn(&T) -> u32,
    cloth: usize,
) -> Range<usize> {
    let start = items.partition_point(|item| (cloth_of(item) as usize) < cloth);
    start..items.partition_point(|item| cloth_of(item) as usize <= cloth)
}

fn slots_of(edge: &Edge) -> [u32; 2] {
    [0, 1].map(|side| 3 * edge.triangles[side] + u32::from(edge.corners[side]))
}

/// The next slot of the same triangle.
fn next(slot: u32) -> u32 {
    if slot % 3 == 2 { slot - 2 } else { slot + 1 }
}
