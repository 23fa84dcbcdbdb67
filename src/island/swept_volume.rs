// SPDX-License-Identifier: MIT OR Apache-2.0
//! Space that a cloth sweeps in a frame, as boxes around runs of its triangles. Cloths whose boxes stay apart by the
//! thickness of both have neither touched nor crossed, since vertices move along straight lines within a step.

use crate::{geometry::Aabb, mesh::Mesh, scene::Cloth, vec3::Vec3};
use std::{ops::Range, sync::Arc};

/// Triangles of whole faces, one after the other, about as many as there are runs: however Blender cuts a face, it is within the box of its corners.
#[derive(Clone, Debug)]
struct Run {
    triangles: Range<usize>,
    bounds: Aabb,
}

/// Space that a cloth has swept.
#[derive(Clone, Debug)]
pub(crate) struct SweptVolume {
    /// The cloth alone.
    mesh: Arc<Mesh>,
    /// Around all vertices.
    whole: Aabb,
    /// Empty where only the whole counts: strips of open seams and vertices without triangles are in no run.
    runs: Vec<Run>,
}

impl SweptVolume {
    /// Swept volume of a cloth that has not been anywhere yet.
    pub(crate) fn new(cloth: &Cloth) -> Self {
        let mesh = Arc::clone(&cloth.mesh);
        let has_loose_vertices = || {
            (0..mesh.vertex_count())
                .any(|one| mesh.topology.incidence.elements_of(one).next().is_none())
        };
        let is_one_piece = cloth.sewing.is_some() || has_loose_vertices();
        let runs = if is_one_piece { Vec::new() } else { runs(&mesh.topology.face_of_triangle) };
        Self { mesh, whole: Aabb::EMPTY, runs }
    }

    /// Begins anew.
    pub(crate) fn clear(&mut self) {
        self.whole = Aabb::EMPTY;
        for run in &mut self.runs {
            run.bounds = Aabb::EMPTY;
        }
    }

    /// Adds the space around the cloth with its vertices at `positions` in m.
    pub(crate) fn extend(&mut self, positions: &[Vec3]) {
        self.whole = self.whole.merged(&Aabb::from_points(positions));
        for Run { triangles, bounds } in &mut self.runs {
            let corners = self.mesh.topology.triangles[triangles.clone()].iter().flatten();
            let around = Aabb::from_points(corners.map(|vertex| &positions[*vertex as usize]));
            *bounds = bounds.merged(&around);
        }
    }

    /// Whether it comes nearer to another one than twice a distance in m, as far as boxes tell.
    pub(crate) fn meets(&self, other: &Self, distance: f64) -> bool {
        let [own, others] = [(self, other), (other, self)]
            .map(|(one, another)| one.near(&another.whole.inflated(distance), distance));
        own.iter().any(|one| others.iter().any(|other| one.overlaps(other)))
    }

    /// Boxes, enlarged by a distance in m, that overlap a box.
    fn near(&self, bounds: &Aabb, distance: f64) -> Vec<Aabb> {
        let enlarged = self.runs.iter().map(|run| run.bounds.inflated(distance));
        let whole = self.whole.inflated(distance);
        match (whole.overlaps(bounds), self.runs.is_empty()) {
            (false, _) => Vec::new(),
            (true, true) => vec![whole],
            (true, false) => enlarged.filter(|one| one.overlaps(bounds)).collect(),
        }
    }
}

/// Runs of triangles, given the face of each, without a box.
fn runs(face_of_triangle: &[u32]) -> Vec<Run> {
    let length = face_of_triangle.len().isqrt();
    let mut runs: Vec<Run> = Vec::new();
    let mut start = 0;
    for faces in face_of_triangle.chunk_by(|one, next| one == next) {
        let end = start + faces.len();
        match runs.last_mut() {
            Some(run) if run.triangles.len() < length => run.triangles.end = end,
            _ => runs.push(Run { triangles: start..end, bounds: Aabb::EMPTY }),
        }
        start = end;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{material::Material, mesh::Polygons};

    /// A strip of quads of 1 m along x.
    fn strip(length: usize) -> Cloth {
        let corner = |index: usize| Vec3::new((index / 2) as f64, (index % 2) as f64, 0.0);
        let corners: Vec<usize> =
            (0..length).flat_map(|one| [2 * one, 2 * one + 2, 2 * one + 3, 2 * one + 1]).collect();
        let positions: Vec<Vec3> = (0..2 * length + 2).map(corner).collect();
        let polygons = Polygons::new(&vec![4; length], &corners, positions.len()).unwrap();
        Cloth::new(positions, &polygons, Material::default(), None, None).unwrap()
    }

    fn swept(cloth: &Cloth, shape: impl Fn(&Vec3) -> Vec3) -> SweptVolume {
        let mut volume = SweptVolume::new(cloth);
        volume.extend(&cloth.positions.iter().map(shape).collect::<Vec<_>>());
        volume
    }

    #[test]
    fn runs_are_whole_faces_and_hold_every_triangle() {
        let faces = [vec![0; 3], vec![1; 8], vec![2; 2], vec![3; 3]].concat();
        let ranges: Vec<_> = runs(&faces).into_iter().map(|run| run.triangles).collect();
        assert_eq!(ranges, [0..11, 11..16]);
    }

    #[test]
    fn boxes_that_overlap_as_wholes_alone_do_not_meet() {
        let cloth = strip(200);
        let diagonal = |height: f64| swept(&cloth, move |x| Vec3::new(x.x, x.y, x.x + height));
        // The box of a run is 10 m high.
        assert!(!diagonal(0.0).meets(&diagonal(100.0), 10.0));
        assert!(diagonal(0.0).meets(&diagonal(100.0), 40.0));
        assert!(diagonal(0.0).meets(&diagonal(1.0), 0.0));
        // Half of the distance is around each.
        let [below, above] =
            [0.0, 0.3].map(|height| swept(&cloth, move |x| x + Vec3::z() * height));
        assert!(below.meets(&above, 0.151) && !below.meets(&above, 0.149));
    }

    #[test]
    fn what_has_been_swept_counts_until_the_frame_is_begun_anew() {
        let cloth = strip(3);
        let mut moving = swept(&cloth, |x| *x);
        let there = swept(&cloth, |x| x + Vec3::z() * 5.0);
        moving.extend(&cloth.positions.iter().map(|x| x + Vec3::z() * 10.0).collect::<Vec<_>>());
        assert!(moving.meets(&there, 0.0));
        moving.clear();
        assert!(!moving.meets(&there, 1.0e3));
    }
}
