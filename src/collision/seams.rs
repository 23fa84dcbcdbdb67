// SPDX-License-Identifier: MIT OR Apache-2.0
//! What contacts have to know of seams: vertices sewn together are one, and what is near them is near through the seam.

use crate::Vec3;
use std::collections::BTreeMap;

/// Seams, by vertex.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seams {
    /// For every vertex, those it is sewn to, directly or by others; no lists where nothing is sewn.
    sewn: Vec<Vec<u32>>,
    /// For every vertex, the pairs of a sewn vertex in its triangles and what that is sewn to.
    near: Vec<Vec<[u32; 2]>>,
}

impl Seams {
    /// Seams of `pairs` between the first `vertex_count` vertices.
    pub(crate) fn new(pairs: &[[u32; 2]], triangles: &[[u32; 3]], vertex_count: usize) -> Self {
        if pairs.is_empty() {
            return Self::default();
        }
        let sewn = sewn(pairs, vertex_count);
        let mut near: Vec<Vec<[u32; 2]>> = vec![Vec::new(); vertex_count];
        for corners in triangles {
            for here in corners {
                for there in &sewn[*here as usize] {
                    for corner in corners {
                        near[*corner as usize].push([*here, *there]);
                    }
                }
            }
        }
        for pairs in &mut near {
            pairs.sort_unstable();
            pairs.dedup();
        }
        Self { sewn, near }
    }

    /// Whether a vertex of one feature is sewn to one of another.
    pub(crate) fn join(&self, one: &[u32], other: &[u32]) -> bool {
        one.iter().any(|vertex| {
            let sewn = self.sewn.get(*vertex as usize);
            sewn.is_some_and(|sewn| sewn.iter().any(|vertex| other.contains(vertex)))
        })
    }

    /// The way at rest between two features through a seam beside the first, in m; infinite where there is none.
    pub(crate) fn distance(
        &self,
        (one, other): (&[u32], &[u32]),
        rest: impl Fn(u32) -> Vec3,
    ) -> f64 {
        let mut shortest = f64::INFINITY;
        for vertex in one {
            let Some(pairs) = self.near.get(*vertex as usize) else { continue };
            for [here, there] in pairs {
                let near = (rest(*vertex) - rest(*here)).norm();
                for end in other {
                    shortest = shortest.min(near + (rest(*there) - rest(*end)).norm());
                }
            }
        }
        shortest
    }
}

/// For every vertex, all others that come together with it.
fn sewn(pairs: &[[u32; 2]], vertex_count: usize) -> Vec<Vec<u32>> {
    let mut first: Vec<u32> = (0..vertex_count as u32).collect();
    let find = |first: &[u32], mut vertex: u32| {
        while first[vertex as usize] != vertex {
            vertex = first[vertex as usize];
        }
        vertex
    };
    for [a, b] in pairs {
        let ends = [find(&first, *a), find(&first, *b)];
        first[ends[0].max(ends[1]) as usize] = ends[0].min(ends[1]);
    }
    let mut together: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for vertex in 0..vertex_count as u32 {
        together.entry(find(&first, vertex)).or_default().push(vertex);
    }
    let mut sewn = vec![Vec::new(); vertex_count];
    for members in together.into_values().filter(|members| members.len() > 1) {
        for vertex in &members {
            let others = members.iter().copied().filter(|other| other != vertex);
            sewn[*vertex as usize] = others.collect();
        }
    }
    sewn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_that_are_sewn_in_a_row_come_together() {
        let sewn = sewn(&[[4, 2], [0, 4]], 5);
        assert_eq!(sewn, [vec![2, 4], vec![], vec![0, 4], vec![], vec![0, 2]]);
    }

    #[test]
    fn what_is_sewn_joins_features_and_shortens_ways() {
        // Two triangles 5 m apart, sewn at vertices 2 and 3.
        let points = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [6.0, 0.0], [7.0, 0.0], [7.0, 1.0]];
        let rest = |vertex: u32| {
            let [x, y] = points[vertex as usize];
            Vec3::new(x, y, 0.0)
        };
        let seams = Seams::new(&[[2, 3]], &[[0, 2, 1], [3, 4, 5]], 6);
        assert!(seams.join(&[2], &[3, 4, 5]) && seams.join(&[0, 3], &[1, 2]));
        assert!(!seams.join(&[0], &[3, 4, 5]) && !seams.join(&[9], &[9, 8]));
        assert!((seams.distance((&[0], &[4, 5]), rest) - 2.0).abs() < 1.0e-12);
        assert!(Seams::default().distance((&[0], &[4, 5]), rest).is_infinite());
    }
}
