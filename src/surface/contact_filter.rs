// SPDX-License-Identifier: MIT OR Apache-2.0
//! What callers leave out of contacts: vertices, and colliders for some cloths.

/// What is left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactFilter {
    cloth_count: u32,
    /// For every vertex of cloth whether it passes through colliders, and through cloth; empty where none does.
    excluded_vertices: Vec<[bool; 2]>,
    /// For every cloth the colliders that it passes through.
    ignored_colliders: Vec<Vec<u32>>,
}

impl ContactFilter {
    /// `free` as in the fields, or empty; `ignored` has one list of colliders for each cloth.
    pub(crate) fn new(excluded_vertices: Vec<[bool; 2]>, ignored: Vec<Vec<u32>>) -> Self {
        let cloth_count = ignored.len() as u32;
        let ignored_colliders =
            if ignored.iter().all(Vec::is_empty) { Vec::new() } else { ignored };
        Self { cloth_count, excluded_vertices, ignored_colliders }
    }

    /// Whether nothing is left out.
    pub(crate) fn is_empty(&self) -> bool {
        self.excluded_vertices.is_empty() && self.ignored_colliders.is_empty()
    }

    /// Whether two features of two bodies are never in contact: all vertices of one are left out, or the cloth ignores
    /// the collider.
    pub(crate) fn excludes_pair(&self, features: [&[u32]; 2], bodies: [u32; 2]) -> bool {
        if self.is_empty() {
            return false;
        }
        let are_cloth = bodies.map(|body| body < self.cloth_count);
        let kind = usize::from(are_cloth == [true; 2]);
        let is_free = |feature: &[u32]| {
            feature
                .iter()
                .all(|vertex| self.excluded_vertices.get(*vertex as usize).is_some_and(|f| f[kind]))
        };
        features.into_iter().any(is_free) || self.ignores_collider(are_cloth, bodies)
    }

    fn ignores_collider(&self, are_cloth: [bool; 2], [first, second]: [u32; 2]) -> bool {
        let (cloth, collider) = match are_cloth {
            [true, false] => (first, second),
            [false, true] => (second, first),
            _ => return false,
        };
        let ignored = self.ignored_colliders.get(cloth as usize);
        ignored.is_some_and(|ignored| ignored.contains(&(collider - self.cloth_count)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_part_where_all_their_vertices_are_left_out() {
        let free = vec![[true, false], [true, false], [false, true]];
        let exclusions = ContactFilter::new(free, vec![vec![1]]);
        assert!(exclusions.excludes_pair([&[0, 1], &[7]], [0, 1]));
        assert!(!exclusions.excludes_pair([&[0, 2], &[7]], [0, 1]));
        assert!(exclusions.excludes_pair([&[0, 1], &[2]], [0, 0]));
        assert!(!exclusions.excludes_pair([&[0], &[1]], [0, 0]));
        assert!(
            exclusions.excludes_pair([&[2], &[7]], [0, 2])
                && exclusions.excludes_pair([&[7], &[2]], [2, 0])
        );
        assert!(!ContactFilter::default().excludes_pair([&[2], &[7]], [0, 2]));
    }
}
