// SPDX-License-Identifier: MIT OR Apache-2.0
//! The direction of the warp in each triangle at rest.
//!
//! With UVs the warp follows u: it is the direction in which the rest shape moves when u grows and v
//! stays. Without them it follows the world axis along which the connected cloth is longest (x before
//! y before z where equal), laid into the plane of the triangle.

use super::{
    polygons::{RestPositions, TriangulatedFaces},
    union_find::UnionFind,
};
use crate::{
    error::{Error, Result},
    vec3::Vec3,
};
use nalgebra::Vector2;

/// Texture coordinates in m; u runs along the warp, v along the weft.
#[derive(Clone, Debug)]
pub enum Uv {
    /// One per vertex.
    Vertex(Vec<[f64; 2]>),
    /// One per face corner, in the order of the faces.
    Corner(Vec<[f64; 2]>),
}

impl Uv {
    /// Refuses coordinates that are not finite, or not one per vertex or corner.
    ///
    /// # Errors
    /// Names the first coordinate that is not finite, or the wrong number.
    pub fn check(&self, vertex_count: usize, corner_count: usize) -> Result<()> {
        let (kind, coordinates, wanted) = match self {
            Self::Vertex(coordinates) => ("vertex", coordinates, vertex_count),
            Self::Corner(coordinates) => ("corner", coordinates, corner_count),
        };
        if coordinates.len() != wanted {
            let found = format!("{} coordinates", coordinates.len());
            return Err(Error::value("uv", found, format!("{wanted}, one per {kind}")));
        }
        match coordinates.iter().position(|uv| !(uv[0].is_finite() && uv[1].is_finite())) {
            Some(index) => {
                let found = format!("({}, {})", coordinates[index][0], coordinates[index][1]);
                Err(Error::element("uv", kind, index, found, "finite coordinates"))
            }
            None => Ok(()),
        }
    }

    fn of_triangle(&self, cut: &TriangulatedFaces, triangle: usize) -> [Vector2<f64>; 3] {
        let pick = |coordinates: &[[f64; 2]], indices: [u32; 3]| {
            indices.map(|index| Vector2::from(coordinates[index as usize]))
        };
        match self {
            Self::Vertex(coordinates) => pick(coordinates, cut.triangles[triangle]),
            Self::Corner(coordinates) => pick(coordinates, cut.corners[triangle]),
        }
    }
}

/// Unit warp direction of every triangle. A triangle without usable UVs gets it from the axis rule.
pub(super) fn warp_directions(
    cut: &TriangulatedFaces,
    shape: RestPositions<'_>,
    uv: Option<&Uv>,
) -> Vec<Vec3> {
    let axes = longest_axes(cut, shape);
    let directions = (0..cut.triangles.len()).map(|triangle| {
        let points = shape.of_triangle(cut, triangle);
        uv.and_then(|uv| along_u(&points, &uv.of_triangle(cut, triangle)))
            .unwrap_or_else(|| in_plane(&points, axes[triangle]))
    });
    directions.collect()
}

/// Direction of ∂x/∂u, or `None` where the UVs have no area.
fn along_u(points: &[Vec3; 3], uv: &[Vector2<f64>; 3]) -> Option<Vec3> {
    let (first, second) = (uv[1] - uv[0], uv[2] - uv[0]);
    let determinant = first.perp(&second);
    let extent = first.norm_squared().max(second.norm_squared());
    if determinant.abs() <= 1.0e-9 * extent {
        return None;
    }
    let direction =
        ((points[1] - points[0]) * second.y - (points[2] - points[0]) * first.y) / determinant;
    direction.try_normalize(0.0)
}

/// World axis `first`, or the next one where the triangle faces along it, laid into its plane.
fn in_plane(points: &[Vec3; 3], first: usize) -> Vec3 {
    let normal = (points[1] - points[0]).cross(&(points[2] - points[0])).normalize();
    let laid = |axis: usize| {
        let mut direction = Vec3::zeros();
        direction[axis % 3] = 1.0;
        direction - normal * normal[axis % 3]
    };
    // The angle between axis and normal is less than 8 degrees: the projection onto the plane has no reliable
    // direction.
    let shadow = if normal[first].abs() < 0.99 { laid(first) } else { laid(first + 1) };
    shadow.normalize()
}

/// For each triangle the axis along which its connected piece is longest.
fn longest_axes(cut: &TriangulatedFaces, shape: RestPositions<'_>) -> Vec<usize> {
    let triangles = &cut.triangles;
    let count = triangles.iter().flatten().max().map_or(0, |last| *last as usize + 1);
    let mut pieces = UnionFind::new(count);
    for [a, b, c] in triangles {
        pieces.union(*a, *b);
        pieces.union(*b, *c);
    }
    let mut boxes = vec![[Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)]; count];
    for (triangle, vertices) in triangles.iter().enumerate() {
        let piece = pieces.find(vertices[0]) as usize;
        for point in shape.of_triangle(cut, triangle) {
            boxes[piece] = [boxes[piece][0].inf(&point), boxes[piece][1].sup(&point)];
        }
    }
    let longest = |extent: Vec3| {
        let tie = 1.0e-6 * extent.max();
        (0..3).find(|axis| extent[*axis] >= extent.max() - tie).unwrap_or(0)
    };
    let axis_of = |triangle: &[u32; 3]| {
        let [low, high] = boxes[pieces.find(triangle[0]) as usize];
        longest(high - low)
    };
    triangles.iter().map(axis_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_warp_follows_u_through_any_linear_map() {
        let points = [Vec3::zeros(), Vec3::new(2.0, 0.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
        let uv = [Vector2::new(0.0, 0.0), Vector2::new(0.0, 2.0), Vector2::new(1.0, 0.0)];
        assert!((along_u(&points, &uv).unwrap() - Vec3::z()).norm() < 1e-12);
    }

    #[test]
    fn without_uvs_the_warp_runs_along_the_longest_axis() {
        let cut = TriangulatedFaces {
            triangles: vec![[0, 1, 2]],
            corners: vec![[0, 1, 2]],
            faces: vec![0],
        };
        let points = [Vec3::zeros(), Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 3.0, 0.0)];
        assert_eq!(warp_directions(&cut, RestPositions::Vertex(&points), None), [Vec3::y()]);
    }
}
