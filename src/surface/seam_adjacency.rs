// SPDX-License-Identifier: MIT OR Apache-2.0
//! Seams as seen by contact detection: sewn vertices count as one, and features next to a seam are
//! near each other through it.

use crate::{
    mesh::{NO_INDEX, UnionFind},
    vec3::Vec3,
};

/// Seams by number. All vertices sewn to one another, directly or through others, form one seam.
/// Each vertex stores only the number of its seam: memory stays linear where many vertices are
/// gathered to one place.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeamAdjacency {
    /// Seam of every vertex, or [`NO_INDEX`]; empty without seams.
    seam_of_vertex: Vec<u32>,
    /// Vertices of every seam.
    vertices_of_seam: Vec<Vec<u32>>,
    /// For every vertex the sewn vertices of its triangles.
    adjacent_sewn_vertices: Vec<Vec<u32>>,
}

impl SeamAdjacency {
    /// Seams of sewn `pairs` among the first `vertex_count` vertices.
    pub(crate) fn new(pairs: &[[u32; 2]], triangles: &[[u32; 3]], vertex_count: usize) -> Self {
        if pairs.is_empty() {
            return Self::default();
        }
        let members = seam_components(pairs, vertex_count);
        let mut of = vec![NO_INDEX; vertex_count];
        for (seam, members) in members.iter().enumerate() {
            for vertex in members {
                of[*vertex as usize] = seam as u32;
            }
        }
        let mut near: Vec<Vec<u32>> = vec![Vec::new(); vertex_count];
        for corners in triangles {
            for here in corners.iter().filter(|vertex| of[**vertex as usize] != NO_INDEX) {
                for corner in corners {
                    near[*corner as usize].push(*here);
                }
            }
        }
        for sewn in &mut near {
            sewn.sort_unstable();
            sewn.dedup();
        }
        Self { seam_of_vertex: of, vertices_of_seam: members, adjacent_sewn_vertices: near }
    }

    /// Seam of a vertex.
    fn seam_of(&self, vertex: u32) -> Option<u32> {
        self.seam_of_vertex.get(vertex as usize).copied().filter(|seam| *seam != NO_INDEX)
    }

    /// Whether a vertex of one feature is sewn to one of the other.
    pub(crate) fn connects(&self, one: &[u32], other: &[u32]) -> bool {
        one.iter().any(|vertex| {
            let seam = self.seam_of(*vertex);
            let is_sewn = |end: &u32| end != vertex && self.seam_of(*end) == seam;
            seam.is_some() && other.iter().any(is_sewn)
        })
    }

    /// Rest length of the shortest path between two features through a seam next to the first, in
    /// m; infinite without such a seam.
    pub(crate) fn rest_distance_through_seams(
        &self,
        one: &[u32],
        other: &[u32],
        rest: impl Fn(u32) -> Vec3,
    ) -> f64 {
        let mut shortest = f64::INFINITY;
        for vertex in one {
            let near =
                self.adjacent_sewn_vertices.get(*vertex as usize).map_or(&[][..], Vec::as_slice);
            for (here, seam) in near.iter().filter_map(|here| Some((here, self.seam_of(*here)?))) {
                let length = (rest(*vertex) - rest(*here)).norm();
                for there in
                    self.vertices_of_seam[seam as usize].iter().filter(|there| *there != here)
                {
                    for end in other {
                        shortest = shortest.min(length + (rest(*there) - rest(*end)).norm());
                    }
                }
            }
        }
        shortest
    }
}

/// Vertices of each seam: connected components of the sewn pairs.
fn seam_components(pairs: &[[u32; 2]], vertex_count: usize) -> Vec<Vec<u32>> {
    let mut groups = UnionFind::new(vertex_count);
    for [a, b] in pairs {
        groups.union(*a, *b);
    }
    let mut together = vec![Vec::new(); vertex_count];
    for (vertex, name) in groups.roots().into_iter().enumerate() {
        together[name as usize].push(vertex as u32);
    }
    together.retain(|members| members.len() > 1);
    together.shrink_to_fit();
    together
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_sewn_in_a_row_form_one_seam() {
        assert_eq!(seam_components(&[[4, 2], [0, 4]], 5), [[0, 2, 4]]);
        let seams = SeamAdjacency::new(&[[4, 2], [0, 4], [1, 5]], &[], 7);
        assert_eq!(seams.seam_of_vertex, [0, 1, 0, NO_INDEX, 0, 1, NO_INDEX]);
    }

    /// Memory is linear in the number of vertices gathered to one, at the vertices and at the corners of their triangles.
    #[test]
    fn vertices_gathered_to_one_place_take_linear_memory() {
        let count = 20_000;
        let pairs: Vec<[u32; 2]> = (1..count).map(|vertex| [0, vertex]).collect();
        let triangles: Vec<[u32; 3]> = (0..count - 2).map(|k| [k, k + 1, k + 2]).collect();
        let seams = SeamAdjacency::new(&pairs, &triangles, count as usize);
        let entries = |lists: &[Vec<u32>]| lists.iter().map(Vec::len).sum::<usize>();
        assert_eq!(entries(&seams.vertices_of_seam), count as usize);
        assert!(entries(&seams.adjacent_sewn_vertices) <= 5 * count as usize);
        assert!(seams.connects(&[7], &[8, 9]) && !seams.connects(&[7], &[7]));
    }

    #[test]
    fn seams_connect_features_and_shorten_rest_distances() {
        // Two triangles 5 m apart, sewn at vertices 2 and 3.
        let points = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [6.0, 0.0], [7.0, 0.0], [7.0, 1.0]];
        let rest = |vertex: u32| {
            let [x, y] = points[vertex as usize];
            Vec3::new(x, y, 0.0)
        };
        let seams = SeamAdjacency::new(&[[2, 3]], &[[0, 2, 1], [3, 4, 5]], 6);
        assert!(seams.connects(&[2], &[3, 4, 5]) && seams.connects(&[0, 3], &[1, 2]));
        assert!(!seams.connects(&[0], &[3, 4, 5]) && !seams.connects(&[9], &[9, 8]));
        assert!((seams.rest_distance_through_seams(&[0], &[4, 5], rest) - 2.0).abs() < 1.0e-12);
        assert!(
            SeamAdjacency::default().rest_distance_through_seams(&[0], &[4, 5], rest).is_infinite()
        );
    }
}
