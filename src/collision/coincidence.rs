// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cloth that begins on the very surface of something else, but for rounding.
//!
//! A garment may be made of faces of the body, or of another garment, copied, divided, and moved by other matrices.
//! Its vertices are then around where they should be by the last digits, each to another side, and its edges go in and
//! out of what they lie on at every vertex. No direction can be told from ways so small, and to keep them open takes
//! steps as small. But what is exactly in one place can be told apart by the sides that it faces. So vertices are put
//! there: on vertices of the other surface, or else on its edges, or on its faces.

use super::{
    BoundingBox, BoundingTree, closest_on_segments, closest_on_triangle, surfaces::Surfaces,
    tangle::Crossing,
};
use crate::Vec3;
use std::collections::BTreeSet;

/// Nearer than this part of the distance that both keep, and of the edges there, things are in one place: much more than
/// rounding moves a garment, and nothing that can be seen.
const PART: f64 = 1.0 / 40.0;

/// Puts vertices of cloth that coincide with what their cloth crosses where that is, with all vertices at `positions` in
/// m. Of two cloths the latter gives way.
pub(super) fn join(surfaces: &Surfaces, positions: &mut [Vec3], crossings: &[Crossing]) {
    let is_cloth = |body: u32| (body as usize) < surfaces.cloth_count;
    // Colliders come first, then cloths, which may have been moved by then.
    let rank = |body: u32| (is_cloth(body), body);
    let ranked = |crossing: &Crossing| {
        let [one, other] = crossing.bodies(surfaces).map(rank);
        [one.min(other), one.max(other)]
    };
    let met: BTreeSet<_> =
        crossings.iter().map(ranked).filter(|[one, other]| one != other).collect();
    let mut is_joined = vec![false; surfaces.cloth_vertices];
    for with_one in Vec::from_iter(met).chunk_by(|pair, next| pair[0] == next[0]) {
        let body = Body::new(surfaces, positions, with_one[0][0].1);
        for vertex in with_one.iter().flat_map(|[_, (_, cloth)]| surfaces.vertices_of(*cloth)) {
            if !is_joined[vertex]
                && let Some(place) = body.at(surfaces, &positions[vertex], vertex)
            {
                positions[vertex] = place;
                is_joined[vertex] = true;
            }
        }
    }
}

/// The vertices, edges and triangles of a body.
struct Body {
    thickness: f64,
    features: [Features; 3],
}

/// Features of one kind, by their corners in m: the last one again and again where there are less than three.
struct Features {
    corners: Vec<[Vec3; 3]>,
    tree: BoundingTree,
}

impl Body {
    fn new(surfaces: &Surfaces, positions: &[Vec3], body: u32) -> Self {
        let vertices = surfaces.vertices_of(body);
        let thickness = surfaces.kinds[vertices.start].thickness;
        let is_own = |corners: &[u32; 3]| surfaces.bodies[corners[0] as usize] == body;
        let points = vertices.map(|vertex| [vertex as u32; 3]).collect();
        let edges = surfaces.edges.iter().map(|[start, end]| [*start, *end, *end]);
        let edges = edges.filter(is_own).collect();
        let triangles = surfaces.triangles.iter().copied().filter(is_own).collect();
        let features = [points, edges, triangles].map(|corners: Vec<[u32; 3]>| {
            let place = |vertex: u32| positions[vertex as usize];
            Features::new(corners.into_iter().map(|three| three.map(place)).collect())
        });
        Self { thickness, features }
    }

    /// Where this body is that a vertex at `point` coincides with, if it does.
    fn at(&self, surfaces: &Surfaces, point: &Vec3, vertex: usize) -> Option<Vec3> {
        let kept = surfaces.kinds[vertex].thickness + self.thickness;
        let radius = PART * kept.min(surfaces.edge_lengths[vertex]);
        self.features.iter().find_map(|features| features.nearest(point, radius))
    }
}

impl Features {
    fn new(corners: Vec<[Vec3; 3]>) -> Self {
        let boxes: Vec<BoundingBox> = corners.iter().map(BoundingBox::around).collect();
        Self { corners, tree: BoundingTree::new(&boxes) }
    }

    /// The nearest place on any of them that is not farther than `radius`, all in m.
    fn nearest(&self, point: &Vec3, radius: f64) -> Option<Vec3> {
        let found = self.tree.nearest(point, radius, |number| {
            let corners = &self.corners[number];
            let [a, b, c] = corners;
            let offset = if b == c {
                closest_on_segments(&[*point; 2], &[*a, *b]).offset
            } else {
                closest_on_triangle(point, corners).offset
            };
            (offset.norm_squared(), if a == b { *a } else { point - offset })
        })?;
        Some(found.measured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::tangle::crosses;

    /// Where a triangle of cloth in the plane z = 0 ends up that begins with its corners at these places, and crosses the triangle
    /// of a cloth before it. The distance that both keep is 2 m.
    fn joined(places: [Vec3; 3]) -> Vec<Vec3> {
        let mut positions = [corners(), places].concat();
        let mut surfaces =
            Surfaces::of_thin_cloths((&[[0, 1, 2], [3, 4, 5]], &[0, 3, 6]), positions.clone(), &[]);
        surfaces.kinds.iter_mut().for_each(|kind| kind.thickness = 1.0);
        let all = (0..6).flat_map(|edge| [0, 1].map(|triangle| Crossing { edge, triangle }));
        let crossings: Vec<Crossing> =
            all.filter(|crossing| crosses(&surfaces, &positions, *crossing)).collect();
        assert!(!crossings.is_empty());
        join(&surfaces, &mut positions, &crossings);
        assert_eq!(positions[..3], corners());
        positions.split_off(3)
    }

    fn corners() -> [Vec3; 3] {
        [Vec3::zeros(), Vec3::x() * 9.0, Vec3::y() * 9.0]
    }

    /// The corners, each moved to another side by about so much in m.
    fn moved(shift: f64) -> [Vec3; 3] {
        let shifts = [Vec3::z(), -Vec3::z(), Vec3::new(0.3, 0.2, 0.9)];
        [0, 1, 2].map(|corner| corners()[corner] + shifts[corner] * shift)
    }

    #[test]
    fn what_coincides_but_for_rounding_is_put_in_one_place() {
        assert_eq!(joined(moved(0.02)), corners());
    }

    #[test]
    fn what_is_on_an_edge_or_a_face_is_put_there() {
        let on_edge = Vec3::new(4.0, 0.01, 0.02);
        let on_face = Vec3::new(2.0, 2.0, -0.02);
        let far = Vec3::new(4.0, 4.0, 3.0);
        let found = joined([on_edge, on_face, far]);
        let wanted = [Vec3::new(4.0, 0.0, 0.0), Vec3::new(2.0, 2.0, 0.0), far];
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!((found - wanted).norm() < 1e-12, "{found} for {wanted}");
        }
    }

    #[test]
    fn what_is_apart_stays_where_it_is() {
        assert_eq!(joined(moved(0.1)), moved(0.1));
    }
}
