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
    /// Factors on lengths at rest along warp and weft, of each vertex.
    pub(crate) rest_scale: Option<Vec<[f64; 2]>>,
    /// Factor on the stiffness of springs, of each vertex.
    pub(crate) stiffness_scale: Option<Vec<f64>>,
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
        Ok(Self {
            positions,
            rest,
            mesh,
            material: material.checked()?,
            mass_scale: None,
            rest_scale: None,
            stiffness_scale: None,
        })
    }

    /// The same cloth with the mass of each vertex multiplied.
    ///
    /// # Errors
    /// Names the first factor that is not a finite number above 0, or the wrong number of factors.
    pub fn with_mass_scale(mut self, scale: Vec<f64>) -> Result<Self> {
        check_factors("vertex_mass_scale", &scale, self.positions.len(), |factor| [*factor])?;
        self.mass_scale = Some(scale);
        Ok(self)
    }

    /// The same cloth shrunk or lengthened: lengths at rest along warp and weft are multiplied by a pair of factors for
    /// each vertex, of which every element takes the mean (Baraff and Witkin 1998, eq. 10: b_u and b_v).
    ///
    /// # Errors
    /// Names the first factor that is not a finite number above 0, or the wrong number of factors.
    pub fn with_rest_scale(mut self, scale: Vec<[f64; 2]>) -> Result<Self> {
        check_factors("rest_scale", &scale, self.positions.len(), |pair| *pair)?;
        self.rest_scale = Some(scale);
        Ok(self)
    }

    /// The same cloth with the stiffness of every spring multiplied by the mean of the factors at its ends. Only models of
    /// springs take it.
    ///
    /// # Errors
    /// Names the first factor that is not a finite number above 0, or the wrong number of factors.
    pub fn with_stiffness_scale(mut self, scale: Vec<f64>) -> Result<Self> {
        check_factors("stiffness_scale", &scale, self.positions.len(), |factor| [*factor])?;
        self.stiffness_scale = Some(scale);
        Ok(self)
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }
}

/// Refuses factors that are not finite numbers above 0, or not one entry for each vertex.
fn check_factors<T, const N: usize>(
    argument: &str,
    entries: &[T],
    vertex_count: usize,
    factors: impl Fn(&T) -> [f64; N],
) -> Result<()> {
    if entries.len() != vertex_count {
        let found = format!("{} factors", entries.len());
        return Err(Error::value(argument, found, format!("{vertex_count}, one per vertex")));
    }
    for (vertex, entry) in entries.iter().enumerate() {
        for factor in factors(entry) {
            if !(factor.is_finite() && factor > 0.0) {
                let wanted = "a finite number more than 0";
                return Err(Error::element(argument, "vertex", vertex, factor, wanted));
            }
        }
    }
    Ok(())
}
