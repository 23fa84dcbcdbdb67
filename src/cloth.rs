// SPDX-License-Identifier: MIT OR Apache-2.0
//! A sheet of cloth as a caller describes it, checked when built.

use crate::{
    Material, Vec3,
    error::{Error, Result},
    mesh::{Mesh, Polygons, Uv, check_positions},
};

/// A sheet of cloth: where it starts, how it is connected, its undeformed shape and its fabric.
#[derive(Clone, Debug)]
pub struct Cloth {
    pub(crate) positions: Vec<Vec3>,
    /// Undeformed positions, in m.
    pub(crate) rest: Vec<Vec3>,
    pub(crate) mesh: Mesh,
    pub(crate) material: Material,
    pub(crate) mass_scale: Option<Vec<f64>>,
}

impl Cloth {
    /// A cloth of `polygons` over `positions` in m. `rest_positions` is its undeformed shape (`None`:
    /// `positions`), `uv` gives the yarn axes.
    ///
    /// # Errors
    /// Names the vertex or face that is malformed.
    pub fn new(
        positions: Vec<Vec3>,
        polygons: &Polygons,
        material: Material,
        rest_positions: Option<&[Vec3]>,
        uv: Option<&Uv>,
    ) -> Result<Self> {
        check_positions("positions", &positions)?;
        let rest = rest_positions.unwrap_or(&positions);
        if rest.len() != positions.len() {
            let found = format!("{} vertices", rest.len());
            return Err(Error::value("rest_positions", found, format!("{}", positions.len())));
        }
        check_positions("rest_positions", rest)?;
        if let Some(uv) = uv {
            uv.check(positions.len(), polygons.corner_count())?;
        }
        let mesh = Mesh::new(polygons, rest, uv)?;
        let rest = rest.to_vec();
        Ok(Self { positions, rest, mesh, material: material.checked()?, mass_scale: None })
    }

    /// The same cloth with the mass of each vertex multiplied.
    ///
    /// # Errors
    /// Names the first factor that is not a finite number above 0, or the wrong number of factors.
    pub fn with_mass_scale(mut self, scale: Vec<f64>) -> Result<Self> {
        if scale.len() != self.positions.len() {
            let found = format!("{} factors", scale.len());
            let wanted = format!("{}, one per vertex", self.positions.len());
            return Err(Error::value("vertex_mass_scale", found, wanted));
        }
        if let Some(vertex) = scale.iter().position(|factor| !(factor.is_finite() && *factor > 0.0))
        {
            let wanted = "a finite number more than 0";
            return Err(Error::element(
                "vertex_mass_scale",
                "vertex",
                vertex,
                scale[vertex],
                wanted,
            ));
        }
        self.mass_scale = Some(scale);
        Ok(self)
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }
}
