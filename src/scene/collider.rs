// SPDX-License-Identifier: MIT OR Apache-2.0
//! Colliders: moving triangle meshes that cloth must not pass through. Other shapes would each need a CCD with its proof and a
//! normal cone of their own: see *Decisions* in docs/architecture.md.

use crate::{
    error::{Error, Result},
    mesh::{AlternativeTriangles, Polygons, RestPositions, check_positions},
    vec3::Vec3,
};

/// Triangle mesh with prescribed motion. It may be open, and it may intersect itself.
#[derive(Clone, Debug)]
pub struct Collider {
    positions: Vec<Vec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Triangles that its faces may be drawn as beside these.
    pub(crate) alternatives: AlternativeTriangles,
    /// Coulomb coefficient of friction.
    pub(crate) friction: f64,
    /// Contact thickness, in m.
    pub(crate) thickness: f64,
}

impl Collider {
    /// A collider of `triangles` over `positions` in m.
    ///
    /// # Errors
    /// Names the vertex that is not finite, the triangle with an index that is no vertex, or a negative
    /// coefficient.
    pub fn new(
        positions: Vec<Vec3>,
        triangles: &[[usize; 3]],
        friction: f64,
        thickness: f64,
    ) -> Result<Self> {
        check_positions("positions", &positions)?;
        if triangles.is_empty() {
            return Err(Error::value("triangles", "no triangles", "one triangle or more"));
        }
        for (index, corners) in triangles.iter().enumerate() {
            if let Some(vertex) = corners.iter().find(|vertex| **vertex >= positions.len()) {
                let wanted = format!("an index below the {} vertices", positions.len());
                let found = format!("vertex {vertex}");
                return Err(Error::element("triangles", "triangle", index, found, wanted));
            }
        }
        for (name, value) in [("friction", friction), ("thickness", thickness)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Error::value(name, value, "a finite number, 0 or more"));
            }
        }
        let triangles =
            triangles.iter().map(|corners| corners.map(|vertex| vertex as u32)).collect();
        let alternatives = AlternativeTriangles::default();
        Ok(Self { positions, triangles, alternatives, friction, thickness })
    }

    /// Returns the collider with the faces that its triangles are cut from, those of each face together and in the
    /// order of the faces: cloth does not pass through any triangle that these may be cut into.
    ///
    /// # Errors
    /// Names the first triangle that is none of its face, or overlaps another, or the wrong number of triangles.
    pub fn with_faces(mut self, faces: Polygons) -> Result<Self> {
        let triangles: Vec<[usize; 3]> =
            self.triangles.iter().map(|corners| corners.map(|vertex| vertex as usize)).collect();
        let faces = faces.with_triangles(&triangles)?;
        self.alternatives =
            faces.alternatives(RestPositions::Vertex(&self.positions), &self.triangles);
        Ok(self)
    }

    /// Initial positions, in m.
    pub(crate) fn initial_positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// Corners of its triangles where they start, in m.
    pub(crate) fn corners(&self) -> impl Iterator<Item = [Vec3; 3]> + '_ {
        let corner = |vertex: u32| self.positions[vertex as usize];
        self.triangles.iter().map(move |triangle| triangle.map(corner))
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }
}
