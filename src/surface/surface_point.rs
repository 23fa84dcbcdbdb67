// SPDX-License-Identifier: MIT OR Apache-2.0
//! Material points of surfaces, and the gap between two of them.

use super::{CollisionMesh, Configuration};
use crate::{geometry::closest_point_on_triangle, vec3::Vec3};

/// Material point of a triangle of a collider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SurfacePoint {
    pub(crate) triangle: u32,
    /// Barycentric coordinates.
    weights: [f64; 3],
    /// Side of the triangle: 1 or −1.
    pub(crate) side: f64,
}

/// Gap between two surface points.
pub(crate) struct Gap {
    /// Unit vector from the first surface to the second.
    pub(crate) axis: Vec3,
    /// Distance of the second point from the first along the axis, in m; negative where the surfaces overlap.
    pub(crate) width: f64,
}

impl SurfacePoint {
    /// Point of a surface closest to a point in m, found by descent from a triangle: another sheet of the
    /// surface that is closer is none of its concern.
    pub(crate) fn closest(
        configuration: Configuration<'_>,
        mut triangle: u32,
        side: f64,
        point: &Vec3,
    ) -> Self {
        let closest =
            |one: u32| closest_point_on_triangle(point, &configuration.triangle_corners(one));
        let mut found = closest(triangle);
        loop {
            let nearer = triangles_around(configuration.mesh, triangle)
                .map(|other| (other, closest(other)))
                .filter(|(_, other)| other.distance_squared < found.distance_squared)
                .min_by(|a, b| a.1.distance_squared.total_cmp(&b.1.distance_squared));
            let Some((next, closer)) = nearer else { break };
            (triangle, found) = (next, closer);
        }
        Self { triangle, weights: found.weights, side }
    }

    /// Corner of a triangle.
    pub(crate) fn corner(triangle: u32, corner: usize, side: f64) -> Self {
        let mut weights = [0.0; 3];
        weights[corner] = 1.0;
        Self { triangle, weights, side }
    }

    /// Position, in m.
    pub(crate) fn position(&self, configuration: Configuration<'_>) -> Vec3 {
        let corners = configuration.triangle_corners(self.triangle);
        corners.iter().zip(self.weights).map(|(corner, weight)| corner * weight).sum()
    }

    /// Normal of its side, interpolated between the corners; not normalized.
    pub(crate) fn normal(&self, configuration: Configuration<'_>) -> Vec3 {
        let corners = configuration.mesh.triangles[self.triangle as usize];
        let normals = corners.map(|vertex| vertex_normal(configuration, vertex));
        let sum: Vec3 = normals.iter().zip(self.weights).map(|(one, weight)| one * weight).sum();
        sum * self.side
    }
}

impl Gap {
    /// Gap between two points that face each other; `None` where their normals cancel.
    pub(crate) fn between(
        points: &[SurfacePoint; 2],
        configuration: Configuration<'_>,
    ) -> Option<Self> {
        let [first, second] = points.each_ref().map(|one| one.normal(configuration));
        let axis = (first - second).try_normalize(f64::MIN_POSITIVE)?;
        let [first, second] = points.each_ref().map(|one| one.position(configuration));
        Some(Self { axis, width: (second - first).dot(&axis) })
    }
}

/// Triangles in use with a corner in common with a triangle.
fn triangles_around(mesh: &CollisionMesh, triangle: u32) -> impl Iterator<Item = u32> {
    let corners = mesh.triangles[triangle as usize].into_iter();
    let around = corners.flat_map(|corner| mesh.vertex_triangles.elements_of(corner as usize));
    around.map(|(other, _)| other)
}

/// Unit normal of a vertex, from the areas of the triangles around it; zero where they cancel.
pub(crate) fn vertex_normal(configuration: Configuration<'_>, vertex: u32) -> Vec3 {
    let around = configuration.mesh.vertex_triangles.elements_of(vertex as usize);
    let areas = around.map(|(triangle, _)| {
        let [a, b, c] = configuration.triangle_corners(triangle);
        (b - a).cross(&(c - a))
    });
    areas.sum::<Vec3>().try_normalize(f64::MIN_POSITIVE).unwrap_or_else(Vec3::zeros)
}
