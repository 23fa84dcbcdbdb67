// SPDX-License-Identifier: MIT OR Apache-2.0
//! The surface: topology and undeformed shape.
//!
//! [`Polygons`] checks polygons and triangulates them; [`Topology`] orients the triangles consistently and finds the
//! edges; [`RestShape`] measures them in yarn axes; [`Quads`] finds the faces of four corners again. [`Mesh`] holds the
//! last two, for one cloth or, joined, for all cloths of a scene.

mod atan2;
mod incidence;
mod orientation;
mod polygons;
mod quads;
mod rest_shape;
mod topology;
mod triangle;
mod union_find;
mod yarn_axes;

pub use incidence::Incidence;
pub(crate) use polygons::RestPositions;
pub use polygons::{AlternativeTriangles, Polygons, check_positions};
pub use quads::{Fan, QuadCorner, Quads};
#[cfg(test)]
pub(crate) use rest_shape::shape_gradients;
pub use rest_shape::{RestShape, ShapeGradients, gradients_of_all_corners};
pub use topology::{Edge, Topology};
pub(crate) use triangle::{angle_between_lanes, hinge_angle, hinge_angle_lanes};
pub(crate) use union_find::UnionFind;
pub use yarn_axes::Uv;

use crate::{error::Result, vec3::Vec3};
use std::sync::Arc;

/// No triangle, corner or vertex: the index that is none.
pub(crate) const NO_INDEX: u32 = u32::MAX;

/// A triangulated surface with its rest shape; several cloths joined keep their vertex order.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// Triangles and edges.
    pub topology: Topology,
    /// Areas, yarn axes and angles at rest.
    pub rest: RestShape,
    /// Which cloth each triangle belongs to.
    pub cloth_of_triangle: Arc<Vec<u32>>,
    /// First vertex of each cloth, and the number of all vertices last.
    pub cloth_starts: Vec<usize>,
}

impl Mesh {
    /// Builds the mesh of one cloth from its polygons and `rest_positions` in m, one per vertex.
    ///
    /// # Errors
    /// Names the face or vertex that is malformed: a third face at an
    /// edge, a face without area, a vertex in no face.
    pub fn new(polygons: &Polygons, rest_positions: &[Vec3], uv: Option<&Uv>) -> Result<Self> {
        Self::of_shape(polygons, RestPositions::Vertex(rest_positions), rest_positions, uv)
    }

    /// Builds the mesh of one cloth whose faces have a shape at rest each for itself. `positions` in m, one for each
    /// vertex, are those of a shape that is nearly so long everywhere.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn of_shape(
        polygons: &Polygons,
        shape: RestPositions<'_>,
        positions: &[Vec3],
        uv: Option<&Uv>,
    ) -> Result<Self> {
        let cut = polygons.triangulate(shape)?;
        let topology = Topology::new(&cut, positions.len())?;
        let rest = RestShape::new(&topology, &cut, shape, positions, uv)?;
        Ok(Self {
            cloth_of_triangle: Arc::new(vec![0; topology.triangles.len()]),
            cloth_starts: vec![0, positions.len()],
            topology,
            rest,
        })
    }

    /// All meshes as one, vertices in the order given.
    #[must_use]
    pub fn join(meshes: &[&Self]) -> Self {
        let mut joined = Self {
            topology: Topology::default(),
            rest: RestShape::default(),
            cloth_of_triangle: Arc::default(),
            cloth_starts: vec![0],
        };
        let cloths = Arc::make_mut(&mut joined.cloth_of_triangle);
        for (cloth, mesh) in meshes.iter().enumerate() {
            let count = mesh.topology.triangles.len();
            cloths.extend(std::iter::repeat_n(cloth as u32, count));
            joined.topology.append(&mesh.topology);
            joined.rest.append(&mesh.rest);
            joined.cloth_starts.push(joined.topology.vertex_count);
        }
        joined
    }

    /// Leaves only a part of the cloth at each face corner: `part` of a face and of a vertex of it.
    pub(crate) fn cover(&mut self, part: impl Fn(usize, u32) -> f64) {
        let each = self.topology.triangles.iter().zip(self.topology.face_of_triangle.iter());
        let parts = each.map(|(corners, face)| corners.map(|vertex| part(*face as usize, vertex)));
        let coverage = parts.collect();
        self.rest.cover(&self.topology, coverage);
    }

    /// Part of each triangle that is cloth; empty where all is. Both halves of a quad share the corners at its diagonal, so
    /// that their areas add up to that of the quad.
    #[must_use]
    pub fn triangle_coverage(&self) -> Vec<f64> {
        let topology = &self.topology;
        let is_at_diagonal = |triangle: usize, vertex: u32| {
            let beside = [triangle.wrapping_sub(1), triangle + 1];
            beside.into_iter().any(|other| {
                topology.face_of_triangle.get(other) == Some(&topology.face_of_triangle[triangle])
                    && topology.triangles[other].contains(&vertex)
            })
        };
        let part = |(triangle, parts): (usize, &[f64; 3])| {
            let weight = |corner: usize| {
                let vertex = topology.triangles[triangle][corner];
                if is_at_diagonal(triangle, vertex) { 0.5 } else { 1.0 }
            };
            let weights = [0, 1, 2].map(weight);
            let sum: f64 = weights.iter().zip(parts).map(|(weight, part)| weight * part).sum();
            sum / weights.iter().sum::<f64>()
        };
        self.rest.coverage.iter().enumerate().map(part).collect()
    }

    /// The unit vector along the warp of a triangle at rest.
    ///
    /// # Panics
    /// If there is no such triangle.
    #[must_use]
    pub fn warp(&self, triangle: usize) -> Vec3 {
        let gradients = gradients_of_all_corners(&self.rest.gradients[triangle]);
        let corners = self.topology.triangles[triangle].iter().zip(gradients);
        corners.map(|(vertex, along)| self.rest.positions[*vertex as usize] * along[0]).sum()
    }

    /// Mean length of the edges at rest, in m.
    #[must_use]
    pub fn mean_edge_length(&self) -> f64 {
        let edges = &self.topology.edges;
        let sum: f64 = edges.iter().map(|edge| self.rest.edge_length(edge)).sum();
        sum / edges.len().max(1) as f64
    }

    /// Mean length of the edges of each cloth at rest, in m.
    #[must_use]
    pub fn mean_edge_lengths(&self) -> Vec<f64> {
        let mut sums = vec![(0.0, 0_usize); self.cloth_starts.len() - 1];
        for edge in &self.topology.edges {
            let (sum, count) =
                &mut sums[self.cloth_of_triangle[edge.triangles[0] as usize] as usize];
            *sum += self.rest.edge_length(edge);
            *count += 1;
        }
        sums.into_iter().map(|(sum, count)| sum / count.max(1) as f64).collect()
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.topology.vertex_count
    }

    /// Number of cloths.
    #[must_use]
    pub fn cloth_count(&self) -> usize {
        self.cloth_starts.len() - 1
    }

    /// The vertices of a cloth.
    ///
    /// # Panics
    /// If there is no such cloth.
    #[must_use]
    pub fn vertices_of(&self, cloth: usize) -> std::ops::Range<usize> {
        self.cloth_starts[cloth]..self.cloth_starts[cloth + 1]
    }

    /// The cloth a vertex belongs to, and its index there.
    #[must_use]
    pub fn cloth_of_vertex(&self, vertex: usize) -> (usize, usize) {
        let cloth = self.cloth_starts.partition_point(|start| *start <= vertex) - 1;
        (cloth, vertex - self.cloth_starts[cloth])
    }
}
