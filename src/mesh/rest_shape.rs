// SPDX-License-Identifier: MIT OR Apache-2.0
//! The undeformed surface, measured once: areas, yarn axes and angles.

use super::{
    polygons::{RestPositions, TriangulatedFaces},
    topology::{Edge, Topology},
    triangle,
    yarn_axes::{Uv, warp_directions},
};
use crate::{
    error::{Error, Result},
    vec3::Vec3,
};
use std::sync::Arc;

/// Gradients of the shape functions of a triangle's second and third corner along warp and weft, in 1/m; that of the
/// first one is minus their sum.
pub type ShapeGradients = [[f64; 2]; 2];

/// The gradients of all three corners.
#[must_use]
#[inline(always)]
pub fn gradients_of_all_corners([second, third]: &ShapeGradients) -> [[f64; 2]; 3] {
    [[-second[0] - third[0], -second[1] - third[1]], *second, *third]
}

/// Areas, yarn axes and angles at rest; lists with several users are shared.
#[derive(Clone, Debug, Default)]
pub struct RestShape {
    /// Positions of the vertices at rest, in m.
    pub positions: Arc<Vec<Vec3>>,
    /// Area of each triangle, in m².
    pub areas: Arc<Vec<f64>>,
    /// Gradients of the shape functions of each triangle, in 1/m.
    pub gradients: Arc<Vec<ShapeGradients>>,
    /// A third of the area of the triangles around each vertex, in m².
    pub vertex_areas: Arc<Vec<f64>>,
    /// Angle between the triangles at each edge that has two, in rad: 0 where flat, positive where the
    /// opposite corners rise along the normals.
    pub angles: Arc<Vec<f64>>,
    /// Part of the cloth at each corner of each triangle that is there, more than 0 and at most 1; empty where all is.
    pub coverage: Arc<Vec<[f64; 3]>>,
}

impl RestShape {
    /// Measures a surface at rest: its shape, and `positions` in m, one for each vertex.
    ///
    /// # Errors
    /// A vertex that no face uses is refused by index: it would have no mass.
    pub(super) fn new(
        topology: &Topology,
        cut: &TriangulatedFaces,
        shape: RestPositions<'_>,
        positions: &[Vec3],
        uv: Option<&Uv>,
    ) -> Result<Self> {
        let warps = warp_directions(cut, shape, uv);
        let count = topology.triangles.len();
        let mut vertex_areas = vec![0.0; topology.vertex_count];
        let mut areas = Vec::with_capacity(count);
        let mut gradients = Vec::with_capacity(count);
        let points: Vec<[Vec3; 3]> =
            (0..count).map(|triangle| wound_points(topology, cut, shape, triangle)).collect();
        for ((vertices, points), warp) in topology.triangles.iter().zip(&points).zip(warps) {
            let corners = lay_flat(points, &warp);
            let doubled = doubled_area(&corners);
            areas.push(0.5 * doubled);
            gradients.push(shape_gradients(&corners));
            for vertex in vertices {
                vertex_areas[*vertex as usize] += doubled / 6.0;
            }
        }
        if let Some(vertex) = vertex_areas.iter().position(|area| *area == 0.0) {
            let wanted = "a vertex that belongs to a face";
            return Err(Error::element("positions", "vertex", vertex, "in no face", wanted));
        }
        let hinges = || topology.edges.iter().filter(|edge| !edge.is_boundary());
        let mut angles = Vec::with_capacity(hinges().count());
        angles.extend(hinges().map(|edge| rest_angle(edge, &points)));
        Ok(Self {
            positions: Arc::new(positions.to_vec()),
            areas: Arc::new(areas),
            gradients: Arc::new(gradients),
            vertex_areas: Arc::new(vertex_areas),
            angles: Arc::new(angles),
            coverage: Arc::default(),
        })
    }

    /// Leaves only a part of the cloth at each corner of each triangle.
    pub(super) fn cover(&mut self, topology: &Topology, coverage: Vec<[f64; 3]>) {
        let mut vertex_areas = vec![0.0; topology.vertex_count];
        for ((corners, area), parts) in
            topology.triangles.iter().zip(self.areas.iter()).zip(&coverage)
        {
            for (vertex, part) in corners.iter().zip(parts) {
                vertex_areas[*vertex as usize] += part * area / 3.0;
            }
        }
        self.vertex_areas = Arc::new(vertex_areas);
        self.coverage = Arc::new(coverage);
    }

    /// Appends the measures of another surface.
    pub(super) fn append(&mut self, other: &Self) {
        let counts = [self.areas.len(), self.areas.len() + other.areas.len()];
        if !(self.coverage.is_empty() && other.coverage.is_empty()) {
            let coverage = Arc::make_mut(&mut self.coverage);
            coverage.resize(counts[0], [1.0; 3]);
            coverage.extend_from_slice(&other.coverage);
            coverage.resize(counts[1], [1.0; 3]);
        }
        Arc::make_mut(&mut self.positions).extend_from_slice(&other.positions);
        Arc::make_mut(&mut self.areas).extend_from_slice(&other.areas);
        Arc::make_mut(&mut self.gradients).extend_from_slice(&other.gradients);
        Arc::make_mut(&mut self.vertex_areas).extend_from_slice(&other.vertex_areas);
        Arc::make_mut(&mut self.angles).extend_from_slice(&other.angles);
    }

    /// Corners of a triangle in its plane, in m: first coordinate along the warp, second along the weft,
    /// counter-clockwise, from the first corner.
    ///
    /// # Panics
    /// If there is no such triangle.
    #[must_use]
    pub fn corners(&self, triangle: usize) -> [[f64; 2]; 3] {
        let [[a, b], [c, d]] = self.gradients[triangle];
        let doubled = 1.0 / (a * d - b * c);
        [[0.0; 2], [d * doubled, -c * doubled], [-b * doubled, a * doubled]]
    }

    /// Length of an edge, in m.
    ///
    /// # Panics
    /// If its triangle is not in the mesh.
    #[must_use]
    pub fn edge_length(&self, edge: &Edge) -> f64 {
        let (corners, opposite) =
            (self.corners(edge.triangles[0] as usize), usize::from(edge.corners[0]));
        let [from, to] = [1, 2].map(|step| corners[(opposite + step) % 3]);
        (to[0] - from[0]).hypot(to[1] - from[1])
    }
}

/// Corners in the plane of the triangle, axes along warp and weft.
fn lay_flat(points: &[Vec3; 3], warp: &Vec3) -> [[f64; 2]; 3] {
    let normal = (points[1] - points[0]).cross(&(points[2] - points[0])).normalize();
    let weft = normal.cross(warp);
    points.map(|point| {
        let offset = point - points[0];
        [offset.dot(warp), offset.dot(&weft)]
    })
}

fn doubled_area(corners: &[[f64; 2]; 3]) -> f64 {
    let [a, b, c] = corners;
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// For corners in the plane of a triangle, in m.
pub(crate) fn shape_gradients(corners: &[[f64; 2]; 3]) -> ShapeGradients {
    let ([a, b, c], doubled) = (corners, doubled_area(corners));
    [
        [(c[1] - a[1]) / doubled, (a[0] - c[0]) / doubled],
        [(a[1] - b[1]) / doubled, (b[0] - a[0]) / doubled],
    ]
}

/// Corners of a triangle at rest, in m, as the topology winds it.
fn wound_points(
    topology: &Topology,
    cut: &TriangulatedFaces,
    shape: RestPositions<'_>,
    triangle: usize,
) -> [Vec3; 3] {
    let points = shape.of_triangle(cut, triangle);
    let is_turned = topology.triangles[triangle] != cut.triangles[triangle];
    if is_turned { [points[0], points[2], points[1]] } else { points }
}

/// Angle at an edge between triangles with corners at `points`, in rad. A seam, at which both sides are not one edge at
/// rest, is pressed open: flat.
fn rest_angle(edge: &Edge, points: &[[Vec3; 3]]) -> f64 {
    let [[c, a, b], [d, other_b, other_a]] = [0, 1].map(|side| {
        let (corners, first) =
            (&points[edge.triangles[side] as usize], usize::from(edge.corners[side]));
        [0, 1, 2].map(|step| corners[(first + step) % 3])
    });
    if a != other_a || b != other_b {
        return 0.0;
    }
    triangle::hinge_angle(&a, &b, &c, &d)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Mesh, polygons::Polygons};

    #[test]
    fn corners_and_lengths_come_back_from_gradients() {
        let points = [[0.0, 0.0, 0.1], [2.0, 0.3, 0.0], [2.2, 1.1, 0.4], [-0.1, 0.9, 0.2]];
        let positions = points.map(Vec3::from);
        let polygons = Polygons::new(&[3, 3], &[0, 1, 2, 0, 2, 3], 4).unwrap();
        let mesh = Mesh::new(&polygons, &positions, None).unwrap();
        let distance = |a: u32, b: u32| (positions[a as usize] - positions[b as usize]).norm();
        for edge in &mesh.topology.edges {
            let [from, to] = edge.vertices;
            assert!((mesh.rest.edge_length(edge) - distance(from, to)).abs() < 1e-14);
        }
        for (triangle, vertices) in mesh.topology.triangles.iter().enumerate() {
            let corners = mesh.rest.corners(triangle);
            for (k, corner) in corners.iter().enumerate() {
                let way = corner[0].hypot(corner[1]);
                assert!((way - distance(vertices[0], vertices[k])).abs() < 1e-14);
            }
            let found = shape_gradients(&corners);
            for (found, wanted) in
                found.iter().flatten().zip(mesh.rest.gradients[triangle].iter().flatten())
            {
                assert!((found - wanted).abs() < 1e-12, "{found} for {wanted}");
            }
            // The shape functions add up to 1 everywhere, and the first one is 1 at the first corner.
            let [first, ..] = gradients_of_all_corners(&mesh.rest.gradients[triangle]);
            for (corner, wanted) in [(1, -1.0), (2, -1.0)] {
                let along = first[0] * corners[corner][0] + first[1] * corners[corner][1];
                assert!((along - wanted).abs() < 1e-12);
            }
        }
    }

    /// Two squares at right angles, welded at an edge, each flat where it was cut out.
    #[test]
    fn faces_of_a_welded_surface_have_shapes_of_their_own() {
        let square = |x: f64, side: f64| {
            [[x, 0.0, 0.0], [x + side, 0.0, 0.0], [x + side, 1.0, 0.0], [x, 1.0, 0.0]]
        };
        let corners: Vec<Vec3> =
            square(0.0, 1.0).into_iter().chain(square(5.0, 2.0)).map(Vec3::from).collect();
        let positions = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [1.0, 1.0, 0.0],
            [0.0, 1.0, 0.0],
            [1.0, 0.0, 1.0],
            [1.0, 1.0, 1.0],
        ]
        .map(Vec3::from);
        // The second square is wound against the first: it is turned over, not made another.
        let polygons = Polygons::new(&[4, 4], &[0, 1, 2, 3, 1, 4, 5, 2], 6).unwrap();
        let shape = RestPositions::Corner(&corners);
        let mesh = Mesh::of_shape(&polygons, shape, &positions, None).unwrap();
        assert_eq!(*mesh.rest.areas, [0.5, 0.5, 1.0, 1.0]);
        assert!(mesh.rest.angles.iter().all(|angle| *angle == 0.0), "{:?}", mesh.rest.angles);
        let lengths: f64 = mesh.topology.edges.iter().map(|edge| mesh.rest.edge_length(edge)).sum();
        let diagonals = 2.0_f64.sqrt() + 5.0_f64.sqrt();
        assert!((lengths - (4.0 + 5.0 + diagonals)).abs() < 1e-12, "{lengths}");
        let own = Mesh::new(&polygons, &positions, None).unwrap();
        assert_eq!(own.rest.angles.iter().filter(|angle| angle.abs() > 1.5).count(), 1);
    }
}
