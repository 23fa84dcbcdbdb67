// SPDX-License-Identifier: MIT OR Apache-2.0
//! From vertices to the elements around them, so that sums over elements are gathered in a fixed order.

/// For every vertex the elements that touch it, each with the corner it is there.
#[derive(Clone, Debug, Default)]
pub struct Incidence {
    starts: Vec<u32>,
    entries: Vec<(u32, u8)>,
}

impl Incidence {
    /// Turns the corner lists of elements round. Elements come in ascending order at every vertex.
    #[must_use]
    pub fn new<const CORNERS: usize>(elements: &[[u32; CORNERS]], vertex_count: usize) -> Self {
        Self::of_list(elements.as_flattened(), CORNERS, vertex_count)
    }

    /// The same for elements of `corner_count` corners in one list.
    ///
    /// # Panics
    /// If `corner_count` is 0.
    #[must_use]
    pub fn of_list(corners: &[u32], corner_count: usize, vertex_count: usize) -> Self {
        let mut starts = vec![0_u32; vertex_count + 1];
        for vertex in corners {
            starts[*vertex as usize + 1] += 1;
        }
        for vertex in 0..vertex_count {
            starts[vertex + 1] += starts[vertex];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0); corners.len()];
        for (index, vertex) in corners.iter().enumerate() {
            let slot = &mut next[*vertex as usize];
            entries[*slot as usize] = ((index / corner_count) as u32, (index % corner_count) as u8);
            *slot += 1;
        }
        Self { starts, entries }
    }

    /// Appends that of other elements over other vertices; `element_count` is the number of those here.
    pub(super) fn append(&mut self, other: &Self, element_count: u32) {
        let end = self.starts.pop().unwrap_or(0);
        self.starts.extend(other.starts.iter().map(|start| end + start));
        let others = other.entries.iter();
        self.entries.extend(others.map(|(element, corner)| (element + element_count, *corner)));
    }

    /// Elements around a vertex, each with the vertex's corner in it.
    #[must_use]
    pub fn around(&self, vertex: usize) -> &[(u32, u8)] {
        &self.entries[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }
}
