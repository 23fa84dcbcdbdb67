// SPDX-License-Identifier: MIT OR Apache-2.0
//! The particle system that follows from the continuum: Etzmuss 2002, sections 2.3 to 2.5, on quads.
//!
//! Strains are (‖s_u‖ − 1, ‖s_v‖ − 1, ⟨s_u,s_v⟩) (eq. 2.17), stresses C times these (eq. 2.18 and 2.22), with C in N/m and the
//! plate matrix D in N·m the matrices of the material, [`crate::material::Material::membrane_moduli`] and
//! [`crate::material::Material::plate_rigidity`]: nothing depends on the resolution. Forces are gradients of the energies and
//! therefore have the signs of M ẍ = F, where the document has them reversed, and viscous stresses are τC times the rates of the same strains
//! (eq. 2.28), viscous moments τD times the rates of the curvatures (eq. 2.30).
//!
//! `membrane` has tension, contraction and shear, `plate` bending; `vertex_neighbourhood` and `stencil` prepare it.
//! Measured curves (section 2.1.3) and memory (section 2.4.2) act on the strains of the corners and middles of quads,
//! and on the curvatures of quads at each particle: `inelastic_bending`.
//!
//! The other bending of the document, the membrane energy of eq. 2.25, is a constant tension of the yarns: see
//! [`BendingKind::Membrane`] and [`BendingKind::ProjectedMembrane`].

mod inelastic_bending;
mod membrane;
mod plate;
mod projected_membrane;
mod stencil;
#[cfg(test)]
mod tests;
mod vertex_neighbourhood;

use crate::{
    forces::{
        elements::{Elements, FrameKind, Frames},
        model_input::ModelInput,
    },
    mesh::Quads,
};
use plate::ParticlePlate;
use projected_membrane::ProjectedMembrane;

/// Heuristic parameters of particle systems.
struct ParticleParameters {
    /// Regularization δ² of the squared length of a particle's normal (1, at rest the length is 1). Effect: larger
    /// softens the bending of crushed quads; smaller makes their forces larger. Evidence: particles on a ball (10⁻¹²:
    /// other bits, no other figure); no unit test fails with 10⁻¹² or 0.1.
    normal_regularization: f64,
    /// Smallest ratio of the singular values of three measures that determine a curvature (1). Effect: larger uses the
    /// general stencil at more particles; smaller amplifies rounding in the curvature. Evidence: no scene or test
    /// changes with 0; no unit test fails with 0.5.
    min_singular_value_ratio: f64,
    /// Rigidity that is added before a missing measure is eliminated (fraction of the mean rigidity). Effect: larger
    /// changes the rigidity of plates without twist; 0 leaves singular matrices. Evidence:
    /// `a_free_edge_bends_as_a_strip` (fails with 0.01, passes with 0).
    min_rigidity_fraction: f64,
}

impl ParticleParameters {
    const DEFAULT: Self = Self {
        normal_regularization: 4.0e-4,
        min_singular_value_ratio: 0.02,
        min_rigidity_fraction: 1.0e-6,
    };
}

/// Bending model of a particle system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BendingKind {
    /// As a thin plate (Etzmuss 2002, eq. 2.26).
    ThinPlate,
    /// As a membrane (eq. 2.25): the force B_m s_uu, per area, along the normal.
    ///
    /// Its only energy is that of a constant tension B_m in N/m of both yarns: it flattens a sheet that is pinned at
    /// its boundary, while a free sheet shrinks by B_m/C₁₁ and has no resistance to bending. There is no bending of
    /// a membrane in N·m. B_m = B(π/L)², with L² the area of the cloth, gives both kinds the same energy in the lowest
    /// mode of a square sheet supported at two opposite edges.
    Membrane,
    /// The same force projected on normals, as algorithm 3 has it: `projected_membrane`.
    ProjectedMembrane,
}

/// The elements of a particle system, and the area of each vertex in m². Faces other than quads are left out: see
/// [`Quads::first_other_face`].
#[must_use]
pub fn particles(
    input: &ModelInput<'_>,
    bending: BendingKind,
) -> (Vec<Box<dyn Elements>>, Vec<f64>) {
    let ModelInput { mesh, materials, .. } = *input;
    let quads = Quads::new(mesh);
    let constant_tensions = match bending {
        BendingKind::ThinPlate | BendingKind::ProjectedMembrane => vec![0.0; materials.len()],
        BendingKind::Membrane => line_tensions(input),
    };
    let none = vec![0.0; materials.len()];
    let corners = membrane::corners(input, &quads);
    let centres = membrane::centres(input, &quads);
    let tension = Frames::new(mesh, FrameKind::Tension, corners, materials, constant_tensions);
    let shear = Frames::new(mesh, FrameKind::Shear, centres, materials, none);
    let areas = membrane::vertex_areas(mesh, &quads);
    let mut elements: Vec<Box<dyn Elements>> = vec![Box::new(tension), Box::new(shear)];
    match bending {
        BendingKind::ThinPlate => elements.push(Box::new(ParticlePlate::new(input, quads))),
        BendingKind::ProjectedMembrane => {
            elements.push(Box::new(ProjectedMembrane::new(input, &quads, &line_tensions(input))));
        }
        BendingKind::Membrane => {}
    }
    (elements, areas)
}

/// π² over the area of each cloth, in 1/m².
fn line_tensions(input: &ModelInput<'_>) -> Vec<f64> {
    let mut areas = vec![0.0; input.materials.len()];
    let coverage = input.mesh.triangle_coverage();
    let each = input.mesh.rest.areas.iter().zip(input.mesh.cloth_of_triangle.as_slice());
    for (triangle, (area, cloth)) in each.enumerate() {
        areas[*cloth as usize] += area * coverage.get(triangle).unwrap_or(&1.0);
    }
    areas.iter().map(|area| std::f64::consts::PI.powi(2) / area).collect()
}
