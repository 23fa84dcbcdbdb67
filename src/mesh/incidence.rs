// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vertex-to-element incidence: sums over elements are gathered in a fixed order.

use sprs::CsStructureI;

/// For every vertex the elements that touch it, each with the corner it is there.
#[derive(Clone, Debug, Default)]
pub struct Incidence {
    starts: Vec<u32>,
    /// Elements with corners: see [`pack`].
    entries: Vec<u32>,
}

/// Bits of a corner: elements have up to 16.
const CORNER_BITS: u32 = 4;

fn pack(element: usize, corner: usize) -> u32 {
    ((element << CORNER_BITS) | corner) as u32
}

impl Incidence {
    /// Inverts the corner lists of elements. Elements come in ascending order at every vertex.
    #[must_use]
    pub fn new<const CORNERS: usize>(elements: &[[u32; CORNERS]], vertex_count: usize) -> Self {
        Self::of_list(elements.as_flattened(), CORNERS, vertex_count)
    }

    /// Incidence of elements with `corner_count` corners each in one list.
    ///
    /// # Panics
    /// If `corner_count` is 0 or more than 16, or there are more than 268 million elements.
    #[must_use]
    pub fn of_list(corners: &[u32], corner_count: usize, vertex_count: usize) -> Self {
        assert!(corner_count <= 1 << CORNER_BITS, "{corner_count} corners");
        assert!(
            corners.len() / corner_count <= 1 << (u32::BITS - CORNER_BITS),
            "too many elements"
        );
        // A row for each corner of each element, with its vertex; by vertices it is the incidence.
        let shape = (corners.len(), vertex_count);
        let rows = (0..=corners.len() as u32).collect();
        let vertices = CsStructureI::<u32>::new(shape, rows, corners.to_vec(), vec![(); shape.0]);
        let (starts, mut entries, _) = vertices.to_csc().into_raw_storage();
        for index in &mut entries {
            let place = *index as usize;
            *index = pack(place / corner_count, place % corner_count);
        }
        Self { starts, entries }
    }

    /// Appends that of other elements over other vertices; `element_count` is the number of those here.
    pub(super) fn append(&mut self, other: &Self, element_count: u32) {
        let end = self.starts.pop().unwrap_or(0);
        self.starts.extend(other.starts.iter().map(|start| end + start));
        let others = other.entries.iter();
        self.entries.extend(others.map(|other| other + pack(element_count as usize, 0)));
    }

    /// Incidence of those elements alone that are `kept`.
    #[must_use]
    pub fn filtered(&self, kept: impl Fn(u32) -> bool) -> Self {
        let mut filtered = Self { starts: vec![0], entries: Vec::new() };
        for own in self.starts.windows(2) {
            let entries = self.entries[own[0] as usize..own[1] as usize].iter();
            filtered.entries.extend(entries.filter(|entry| kept(*entry >> CORNER_BITS)));
            filtered.starts.push(filtered.entries.len() as u32);
        }
        filtered.entries.shrink_to_fit();
        filtered
    }

    /// Elements around a vertex, each with the vertex's corner in it.
    #[inline]
    pub fn elements_of(&self, vertex: usize) -> impl Iterator<Item = (u32, u8)> {
        let own = self.starts[vertex] as usize..self.starts[vertex + 1] as usize;
        let corner = (1 << CORNER_BITS) - 1;
        self.entries[own].iter().map(move |entry| (entry >> CORNER_BITS, (entry & corner) as u8))
    }
}
