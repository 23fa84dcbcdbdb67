// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interface between a simulation and a cloth model, and elements that several models share.
//!
//! A model is a list of [`Elements`]. Each element measures something of a shape, ε(x), and its force is
//! −∂W/∂x of W(ε) + ½(τ/β)k(ε − ε̂)², elastic and viscous (see [`StrainHistory`]). Of W only positions are asked,
//! so that the sum over all elements, with the inertia of a time step, is the potential that a step minimises.
//!
//! [`Frames`] measure the lengths and the scalar product of two derivatives of the position; [`ElementLoads`]
//! sums forces in a fixed order.

mod blocks;
mod element_loads;
mod frames;
mod scalar_stiffness;

pub(crate) use blocks::{AddBlock, MemberTangents, NoTangents, StoredTangents};
pub use blocks::{BlockCode, BlockContributions, Tangents, block_code};
pub(crate) use element_loads::ElementLoads;
pub(crate) use frames::{Frame, FrameKind, Frames, Warping};
pub use scalar_stiffness::ScalarStiffness;

use super::{
    inelastic::MaterialHistory,
    strain_history::{Strain, StrainHistory},
};
use crate::{material::Material, mesh::Mesh, parallel::BufferPool, vec3::Vec3};
use nalgebra::Matrix3;

/// A 3×3 matrix by columns, in N/m; the fourth row is padding.
pub type BlockColumns = [[f32; 4]; 3];

/// Elastic energies, in J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ElasticEnergy {
    /// Energy of strain along the yarns.
    pub stretch: f64,
    /// Energy of shear.
    pub shear: f64,
    /// Energy of curvature.
    pub bend: f64,
    /// Energy of seams.
    pub sewing: f64,
}

impl ElasticEnergy {
    /// Sum of all energies, in J.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.stretch + self.shear + self.bend + self.sewing
    }
}

impl std::ops::AddAssign for ElasticEnergy {
    fn add_assign(&mut self, other: Self) {
        self.stretch += other.stretch;
        self.shear += other.shear;
        self.bend += other.bend;
        self.sewing += other.sewing;
    }
}

/// Elements of one kind, all with the same number of vertices.
///
/// Stresses and shape of an evaluation are kept for [`Self::predict_stress`] and [`Self::tangents`].
pub trait Elements: Send + Sync {
    /// Vertices of all elements, one element after the other.
    fn vertices(&self) -> &[u32];

    /// Vertices of one element; an element that needs fewer repeats one of them.
    fn corner_count(&self) -> usize;

    /// Number of measures of all elements.
    fn measure_count(&self) -> usize;

    /// Writes every measure of a shape: strains, lengths, angles or curvatures.
    fn measure(&self, positions: &[Vec3], measures: &mut [f64]);

    /// The measure `now + weight·(now − before)`: extrapolation of past measures by a time scheme.
    fn extrapolate(&self, now: f64, before: f64, weight: f64) -> f64 {
        now + weight * (now - before)
    }

    /// [`Self::extrapolate`] for all measures, in place of those before.
    fn extrapolate_all(&self, now: &[f64], before: &mut [f64], weight: f64) {
        for (now, before) in now.iter().zip(before) {
            *before = self.extrapolate(*now, *before, weight);
        }
    }

    /// Adds the forces at `positions` to `forces`, in N, and returns the potential of elastic and viscous forces, in J.
    fn evaluate(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, f64>,
        forces: &mut [Vec3],
    ) -> f64;

    /// Whether the stress at the start of a step follows from the shape there, and may stand for that at the initial
    /// guess in the first tangent.
    fn carries_stress(&self) -> bool {
        false
    }

    /// Predicts for the first tangent of a step the stress at its start, without viscosity.
    fn carry_stress(&mut self, _start: &[Vec3]) {}

    /// Predicts, to first order, the stress after the displacement `direction` from the shape last
    /// evaluated; see [`Membrane::predict_stress`](crate::forces::membrane::Membrane::predict_stress) for the reason.
    fn predict_stress(&mut self, _direction: &[Vec3]) {}

    /// Uses the last predicted stress in the geometric part of the next tangent.
    fn use_predicted_stress(&mut self) {}

    /// Prepares the tangents at the shape last evaluated.
    fn update_tangent(&mut self) {}

    /// Tangent K ⊗ I₃ of elements that have it in the place of [`Self::tangents`].
    fn scalar_stiffness(&self) -> Option<&ScalarStiffness> {
        None
    }

    /// Adds the product of `direction` and the tangent at the shape last evaluated, for elements with a scalar stiffness.
    fn add_tangent_product(&mut self, _direction: &[Vec3], _out: &mut [Vec3]) {}

    /// Tangents of some elements.
    fn tangents<'a>(&'a self, members: &'a [u32]) -> Box<dyn Tangents + 'a>;

    /// Pool of the buffers that are used only while forces are evaluated.
    fn buffers(&self) -> Option<&BufferPool<Vec<f64>>> {
        None
    }

    /// Elastic energy of a shape.
    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy;

    /// Sets the material of a cloth.
    fn set_material(&mut self, mesh: &Mesh, cloth: usize, material: &Material);

    /// Other factors on the lengths at rest along warp and weft of each vertex, from now on; without any, all are 1.
    fn set_rest_scale(&mut self, _mesh: &Mesh, _scale: &[[f64; 2]]) {}

    /// Sets the pinned vertices. An element with all vertices pinned clamps its neighbours.
    fn set_pinned(&mut self, _mesh: &Mesh, _held: &[bool]) {}

    /// Starts the material history at a shape: everything is relaxed there.
    fn start_history(&mut self, positions: &[Vec3]) {
        if self.is_inelastic() {
            let strains = self.inelastic_strains(positions);
            if let Some(history) = self.material_history_mut() {
                history.start(|| strains);
            }
        }
    }

    /// Strains of a shape that the material history keeps.
    fn inelastic_strains(&self, _positions: &[Vec3]) -> Vec<Strain> {
        Vec::new()
    }

    /// Whether any material has a history.
    fn is_inelastic(&self) -> bool {
        self.material_history().is_some_and(|history| history.inelastic().is_some())
    }

    /// History of the material; the default methods work on it.
    fn material_history(&self) -> Option<&MaterialHistory> {
        None
    }

    /// Mutable [`Self::material_history`].
    fn material_history_mut(&mut self) -> Option<&mut MaterialHistory> {
        None
    }

    /// Prepares for evaluations at the end of a stage, `duration` in s after the last accepted step.
    fn begin_stage(&mut self, duration: f64) {
        if let Some(history) = self.material_history_mut() {
            history.begin_step(duration);
        }
    }

    /// Updates the internal variables after an accepted step of `duration` in s that ended at `positions`.
    fn end_step(&mut self, positions: &[Vec3], duration: f64) {
        if self.is_inelastic() {
            let strains = self.inelastic_strains(positions);
            if let Some(history) = self.material_history_mut() {
                history.end_step(|_| strains, duration);
            }
        }
    }

    /// Switches between the stiffest tangents that the internal variables allow, those of sudden reversals, and the
    /// current ones.
    fn set_stiffest_tangent(&mut self, is_stiffest: bool) {
        if let Some(history) = self.material_history_mut() {
            history.set_stiffest_tangent(is_stiffest);
        }
    }

    /// Resets all internal variables to 0.
    fn clear_internal_variables(&mut self) {
        if let Some(history) = self.material_history_mut() {
            history.clear();
        }
    }

    /// Whether stiffness and viscosity change with time, whatever the shape is.
    fn is_time_dependent(&self) -> bool {
        false
    }

    /// Internal variables as a list of numbers for each cloth, the same whatever the other cloths are; empty for a cloth
    /// in which stress depends on strain and its rate alone. No lists if no cloth has any.
    fn internal_variables(&self, _mesh: &Mesh) -> Vec<Vec<f64>> {
        self.material_history().map_or_else(Vec::new, MaterialHistory::values)
    }

    /// Length of each list of [`Self::internal_variables`] if it is not empty. No counts if these elements never have
    /// internal variables.
    fn internal_variable_counts(&self, _mesh: &Mesh) -> Vec<usize> {
        self.material_history().map_or_else(Vec::new, MaterialHistory::counts)
    }

    /// Restores the internal variables from the lists of [`Self::internal_variables`], one for each cloth:
    /// [`Self::internal_variable_counts`] numbers or none. Without numbers an elastic cloth has no past any more, and
    /// any other keeps its own.
    fn set_internal_variables(&mut self, _mesh: &Mesh, of_cloths: &[&[f64]]) {
        if let Some(history) = self.material_history_mut() {
            history.set_values(of_cloths);
        }
    }
}

/// Adds `scale` times a block to another.
#[inline(always)]
pub(crate) fn add_scaled(sum: &mut BlockColumns, scale: f32, block: &BlockColumns) {
    for (sum, column) in sum.iter_mut().zip(block) {
        for (sum, entry) in sum.iter_mut().zip(column) {
            *sum += scale * entry;
        }
    }
}

/// A matrix by columns, rounded.
pub(crate) fn columns(matrix: &Matrix3<f64>) -> BlockColumns {
    [0, 1, 2].map(|k| [matrix[(0, k)] as f32, matrix[(1, k)] as f32, matrix[(2, k)] as f32, 0.0])
}
