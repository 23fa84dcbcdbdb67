// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contact filter: vertices and colliders that the caller excludes from contacts.

/// Excluded vertices, and ignored colliders of each cloth.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactFilter {
    cloth_count: u32,
    /// For every vertex of cloth whether it passes through colliders, and through cloth; empty
    /// where none does.
    excluded_vertices: Vec<[bool; 2]>,
    /// Colliders that each cloth passes through.
    ignored_colliders: Vec<Vec<u32>>,
}

impl ContactFilter {
    /// Filter of `excluded_vertices`, per vertex for colliders and for cloth, or empty;
    /// `ignored_colliders` has one list per cloth.
    pub(crate) fn new(excluded_vertices: Vec<[bool; 2]>, ignored_colliders: Vec<Vec<u32>>) -> Self {
        let cloth_count = ignored_colliders.len() as u32;
        let ignored_colliders = if ignored_colliders.iter().all(Vec::is_empty) {
            Vec::new()
        } else {
            ignored_colliders
        };
        Self { cloth_count, excluded_vertices, ignored_colliders }
    }

    /// Whether nothing is excluded.
    pub(crate) fn is_empty(&self) -> bool {
        self.excluded_vertices.is_empty() && self.ignored_colliders.is_empty()
    }

    /// Whether two features of two bodies never are in contact: all vertices of one are excluded,
    /// or the cloth ignores the collider.
    pub(crate) fn excludes_pair(&self, features: [&[u32]; 2], bodies: [u32; 2]) -> bool {
        if self.is_empty() {
            return false;
        }
        let are_cloth = bodies.map(|body| body < self.cloth_count);
        let partner = usize::from(are_cloth == [true; 2]);
        let is_excluded = |vertex: &u32| {
            self.excluded_vertices.get(*vertex as usize).is_some_and(|excluded| excluded[partner])
        };
        features.into_iter().any(|feature| feature.iter().all(is_excluded))
            || self.ignores_collider(are_cloth, bodies)
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
    fn features_are_excluded_where_all_their_vertices_are() {
        let excluded_vertices = vec![[true, false], [true, false], [false, true]];
        let filter = ContactFilter::new(excluded_vertices, vec![vec![1]]);
        assert!(filter.excludes_pair([&[0, 1], &[7]], [0, 1]));
        assert!(!filter.excludes_pair([&[0, 2], &[7]], [0, 1]));
        assert!(filter.excludes_pair([&[0, 1], &[2]], [0, 0]));
        assert!(!filter.excludes_pair([&[0], &[1]], [0, 0]));
        assert!(filter.excludes_pair([&[2], &[7]], [0, 2]));
        assert!(filter.excludes_pair([&[7], &[2]], [2, 0]));
        assert!(!ContactFilter::default().excludes_pair([&[2], &[7]], [0, 2]));
    }
}
