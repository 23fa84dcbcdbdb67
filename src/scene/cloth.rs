// SPDX-License-Identifier: MIT OR Apache-2.0
//! A sheet of cloth as a caller describes it, checked when built.

use super::{settings::check_positive, springs::Springs};
use crate::{
    error::{Error, Result},
    material::Material,
    mesh::{AlternativeTriangles, Mesh, Polygons, RestPositions, Uv, check_positions},
    vec3::Vec3,
};
use std::{collections::HashSet, sync::Arc};

/// Vertices of one cloth that are sewn together: input of a seam.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sewing {
    /// Both vertices of each pair.
    pub pairs: Vec<[u32; 2]>,
    /// Closing time, in s.
    pub time: f64,
    /// Largest force of a pair, in N; `None`: the force that stretches the cloth beside it by a quarter.
    pub force: Option<f64>,
}

/// A sheet of cloth: initial positions, mesh with undeformed shape, and fabric.
#[derive(Clone, Debug)]
pub struct Cloth {
    pub(crate) positions: Vec<Vec3>,
    /// Shared with the simulations of this cloth alone.
    pub(crate) mesh: Arc<Mesh>,
    /// Triangles that the faces may be drawn as beside those of the mesh.
    pub(crate) alternatives: Arc<AlternativeTriangles>,
    pub(crate) material: Material,
    pub(crate) mass_scale: Option<Vec<f64>>,
    /// Factors on lengths at rest along warp and weft, of each vertex.
    pub(crate) rest_scale: Option<Vec<[f64; 2]>>,
    /// Factor on the stiffness of springs, of each vertex.
    pub(crate) stiffness_scale: Option<Vec<f64>>,
    pub(crate) sewing: Option<Sewing>,
    pub(crate) springs: Option<Springs>,
    /// Factors on the stiffness against stretch, shear and bending, of each vertex.
    pub(crate) property_scale: Option<Vec<[f64; 3]>>,
    pub(crate) friction_scale: Option<Vec<f64>>,
    /// Whether each vertex passes through colliders, and through cloth.
    pub(crate) free_vertices: Option<Vec<[bool; 2]>>,
    /// Colliders that it passes through.
    pub(crate) ignored_colliders: Vec<u32>,
    /// Place in the order of garments, from the body outwards.
    pub(crate) layer: usize,
}

impl Cloth {
    /// A cloth of `polygons` over `positions` in m. `rest_positions` is its undeformed shape (`None`:
    /// `positions`), one for each vertex, `uv` gives the yarn axes.
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
        let (mesh, alternatives) = shaped(polygons, RestPositions::Vertex(rest), rest, uv)?;
        Self::of_mesh(positions, mesh, alternatives, material)
    }

    /// A cloth welded from panels: each face has an undeformed shape of its own, `corners` in m, one for each face
    /// corner in the order of the faces. An edge at which two faces differ is a seam, flat at rest. Distances of other
    /// features at rest are those of `positions`.
    ///
    /// # Errors
    /// Names the vertex, corner or face that is malformed.
    pub fn of_panels(
        positions: Vec<Vec3>,
        polygons: &Polygons,
        material: Material,
        corners: &[Vec3],
        uv: Option<&Uv>,
    ) -> Result<Self> {
        check_positions("positions", &positions)?;
        if corners.len() != polygons.corner_count() {
            let found = format!("{} corners", corners.len());
            let wanted = format!("{}", polygons.corner_count());
            return Err(Error::value("rest_positions", found, wanted));
        }
        check_positions("rest_positions", corners)?;
        let (mesh, alternatives) =
            shaped(polygons, RestPositions::Corner(corners), &positions, uv)?;
        Self::of_mesh(positions, mesh, alternatives, material)
    }

    fn of_mesh(
        positions: Vec<Vec3>,
        mesh: Mesh,
        alternatives: AlternativeTriangles,
        material: Material,
    ) -> Result<Self> {
        Ok(Self {
            positions,
            mesh: Arc::new(mesh),
            alternatives: Arc::new(alternatives),
            material: material.checked()?,
            mass_scale: None,
            rest_scale: None,
            stiffness_scale: None,
            sewing: None,
            springs: None,
            property_scale: None,
            friction_scale: None,
            free_vertices: None,
            ignored_colliders: Vec::new(),
            layer: 0,
        })
    }

    /// Returns the cloth with the mass of each vertex multiplied.
    ///
    /// # Errors
    /// Names the first factor that is not a finite number above 0, or the wrong number of factors.
    pub fn with_mass_scale(mut self, scale: Vec<f64>) -> Result<Self> {
        check_factors("vertex_mass_scale", &scale, self.positions.len(), |factor| [*factor])?;
        self.mass_scale = Some(scale);
        Ok(self)
    }

    /// Returns the cloth shrunk or lengthened: lengths at rest along warp and weft are multiplied by a pair of factors
    /// for each vertex, of which every element takes the mean (Baraff and Witkin 1998, eq. 10: b_u and b_v).
    ///
    /// # Errors
    /// Names the first factor that is not a finite number above 0, or the wrong number of factors.
    pub fn with_rest_scale(mut self, scale: Vec<[f64; 2]>) -> Result<Self> {
        check_factors("rest_scale", &scale, self.positions.len(), |pair| *pair)?;
        self.rest_scale = Some(scale);
        Ok(self)
    }

    /// Returns the cloth with the stiffness of every spring multiplied by the mean of the factors at its ends. For
    /// mass-spring models only.
    ///
    /// # Errors
    /// Names the first factor that is not a finite number above 0, or the wrong number of factors.
    pub fn with_stiffness_scale(mut self, scale: Vec<f64>) -> Result<Self> {
        check_factors("stiffness_scale", &scale, self.positions.len(), |factor| [*factor])?;
        self.stiffness_scale = Some(scale);
        Ok(self)
    }

    /// Returns the cloth with its stiffness against stretch, shear and bending multiplied by three factors for each
    /// vertex, of which every element takes the mean over its own. Curves are multiplied as moduli are.
    ///
    /// # Errors
    /// Names the first factor that is not a finite number above 0, or the wrong number of factors.
    pub fn with_property_scale(mut self, scale: Vec<[f64; 3]>) -> Result<Self> {
        let [stretch, shear, bend] = [0, 1, 2].map(|kind| scale.iter().map(move |all| all[kind]));
        for (argument, factors) in
            [("stretch_scale", stretch), ("shear_scale", shear), ("bend_scale", bend)]
        {
            let factors: Vec<f64> = factors.collect();
            check_factors(argument, &factors, self.positions.len(), |factor| [*factor])?;
        }
        self.property_scale = Some(scale);
        Ok(self)
    }

    /// Returns the cloth with the friction of each vertex multiplied.
    ///
    /// # Errors
    /// Names the first factor that is not a finite number of 0 or more, or the wrong number of factors.
    pub fn with_friction_scale(mut self, scale: Vec<f64>) -> Result<Self> {
        // A factor of 0 is a surface without friction.
        let shifted = |factor: &f64| [if *factor == 0.0 { 1.0 } else { *factor }];
        check_factors("friction_scale", &scale, self.positions.len(), shifted)?;
        self.friction_scale = Some(scale);
        Ok(self)
    }

    /// Returns the cloth with vertices that pass through colliders, and vertices that pass through cloth. An edge or a
    /// triangle passes through if all its vertices do.
    ///
    /// # Errors
    /// The wrong number of entries.
    pub fn with_free_vertices(mut self, free: Vec<[bool; 2]>) -> Result<Self> {
        check_factors("free_vertices", &free, self.positions.len(), |_| [1.0])?;
        self.free_vertices = Some(free);
        Ok(self)
    }

    /// Returns the cloth passing through some colliders, by their indices in the simulation.
    #[must_use]
    pub fn with_ignored_colliders(mut self, colliders: Vec<u32>) -> Self {
        self.ignored_colliders = colliders;
        self
    }

    /// Returns the cloth with a place in the order of garments, from the body outwards. Where it intersects a cloth of
    /// a lower layer it comes to lie on the side of the normals of that one; with one of its own layer on the side
    /// where most of it is.
    #[must_use]
    pub fn with_layer(mut self, layer: usize) -> Self {
        self.layer = layer;
        self
    }

    /// Returns the cloth with pairs of vertices that are pulled together and then joined.
    ///
    /// # Errors
    /// Names the first pair with an index that is no vertex, with one vertex twice, of an edge, or that is there twice; a time or a
    /// force that is not a finite number above 0.
    pub fn with_sewing(mut self, sewing: Sewing) -> Result<Self> {
        check_positive("sewing_time", sewing.time)?;
        if let Some(force) = sewing.force {
            check_positive("sewing_force", force)?;
        }
        let mut known = HashSet::new();
        let edges: HashSet<[u32; 2]> =
            self.mesh.topology.edges.iter().map(|edge| sorted_ends(edge.vertices)).collect();
        for (index, [a, b]) in sewing.pairs.iter().enumerate() {
            let refused =
                |found, wanted: &str| Error::element("sewing", "pair", index, found, wanted);
            let count = self.positions.len();
            if let Some(vertex) = [a, b].into_iter().find(|vertex| **vertex as usize >= count) {
                let wanted = format!("indices below the {count} vertices");
                return Err(refused(format!("vertex {vertex}"), &wanted));
            }
            if a == b {
                return Err(refused(format!("vertex {a} twice"), "two vertices"));
            }
            if edges.contains(&sorted_ends([*a, *b])) {
                let wanted = "two vertices that no face joins";
                return Err(refused(format!("vertices {a} and {b} of an edge"), wanted));
            }
            if !known.insert(sorted_ends([*a, *b])) {
                return Err(refused(format!("vertices {a} and {b} again"), "each pair once"));
            }
        }
        self.sewing = (!sewing.pairs.is_empty()).then_some(sewing);
        Ok(self)
    }

    /// Returns the cloth with only a part of each face corner, as where an outline cuts through a grid: more than 0 and at
    /// most 1, one for each face corner in the order of the faces. Mass, elasticity, contact and resistance of the air
    /// are those of that part. `polygons` are the faces that it was built of. For particle systems only.
    ///
    /// # Errors
    /// Names the first part that is not above 0 and at most 1, or the wrong number of parts.
    pub fn with_corner_coverage(mut self, polygons: &Polygons, coverage: &[f64]) -> Result<Self> {
        let argument = "corner_coverage";
        if coverage.len() != polygons.corner_count() {
            let found = format!("{} parts", coverage.len());
            let wanted = format!("{}, one per face corner", polygons.corner_count());
            return Err(Error::value(argument, found, wanted));
        }
        if let Some(corner) = coverage.iter().position(|part| !(*part > 0.0 && *part <= 1.0)) {
            let wanted = "a part more than 0 and at most 1";
            return Err(Error::element(argument, "corner", corner, coverage[corner], wanted));
        }
        Arc::make_mut(&mut self.mesh).cover(|face, vertex| {
            let place = polygons.face(face).iter().position(|own| *own == vertex);
            place.map_or(1.0, |corner| coverage[polygons.first_corner(face) + corner])
        });
        Ok(self)
    }

    /// Returns the cloth with springs between any two of its vertices, beside its fabric.
    ///
    /// # Errors
    /// See [`Springs::checked`].
    pub fn with_springs(mut self, springs: Springs) -> Result<Self> {
        let springs = springs.checked(self.positions.len())?;
        self.springs = (!springs.pairs.is_empty()).then_some(springs);
        Ok(self)
    }

    /// Triangles of the simulation, in the order of the faces.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.mesh.topology.triangles
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }
}

/// Mesh of a cloth with `positions` at rest in m, and the other triangles that its faces may be drawn as.
fn shaped(
    polygons: &Polygons,
    shape: RestPositions<'_>,
    positions: &[Vec3],
    uv: Option<&Uv>,
) -> Result<(Mesh, AlternativeTriangles)> {
    if let Some(uv) = uv {
        uv.check(positions.len(), polygons.corner_count())?;
    }
    let mesh = Mesh::of_shape(polygons, shape, positions, uv)?;
    let alternatives = polygons.alternatives(shape, &mesh.topology.triangles);
    Ok((mesh, alternatives))
}

#[cfg(test)]
impl Cloth {
    /// A flat cloth of three triangles at a height of 0.
    pub(crate) fn of_three_triangles(material: Material) -> Self {
        let polygons = Polygons::new(&[3; 3], &[0, 1, 2, 1, 3, 2, 1, 4, 3], 5).unwrap();
        let corners = [[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [0.1, 0.1], [0.19, 0.03]];
        let corners = corners.map(|[x, y]| Vec3::new(x, y, 0.0)).to_vec();
        Self::new(corners, &polygons, material, None, None).unwrap()
    }
}

/// The ends of an edge, the smaller one first.
fn sorted_ends([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// Refuses factors that are not finite numbers above 0, or not one entry for each vertex.
pub(crate) fn check_factors<T, const N: usize>(
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
