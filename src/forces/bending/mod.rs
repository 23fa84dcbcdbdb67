// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bending as a thin orthotropic plate, exact on every triangulation.
//!
//! The energy is ½ θ̂ᵀSθ̂ in the deviations θ̂ = θ − θ⁰ of the hinge angles from the rest shape, S being Morley's plate
//! element (1968) with the rotations of its edges, ψ = Pθ̂, fixed in advance so that every state of constant curvature
//! has exactly the energy ½ κᵀDκ per area. S is constant; all that is nonlinear is the angle. Angles are known modulo
//! 2π: θ̂ is taken the short way round, so that for a flat rest shape the moment changes sign where the cloth is folded
//! onto itself, whichever side it came from.
//!
//! Viscosity (see [`StrainHistory`]) adds ½ (τ/β) dᵀSd for the changes d = θ − reference, again the short
//! way round.
//!
//! `hinges` has the edges that fold, `plate` M of each triangle, `curvature` and `geometric_correction` P, `stiffness`
//! S, `stabilisation` a further energy of waves of two to four edges, `moment_passes` the moments, `hinge_angles` the
//! angles and their gradients.
//!
//! A free edge carries no bending moment; that of the outermost half cell along it is left out, as in any theory of
//! hinges (the error is of second order). An edge between a triangle with three pinned vertices and one that moves is a
//! clamp: the pinned one prescribes the normal at the edge.

mod angle;
mod curvature;
mod four_hinges;
mod geometric_correction;
mod hinge_angles;
mod hinge_matrix;
mod hinges;
mod inelastic;
mod moment_passes;
mod plate;
mod scalar_stiffness;
mod stabilisation;
mod stiffness;
#[cfg(test)]
mod tests;

pub use angle::extrapolate_angle;
pub(crate) use angle::wrap_angle;
pub(super) use scalar_stiffness::scalar_stiffness;

use super::strain_history::StrainHistory;
use crate::{
    material::{Material, PlateRigidity},
    mesh::{Mesh, hinge_angle_lanes},
    parallel::{BufferPool, reductions},
    simd::{Kernel, Lanes, dispatch, lane_indices, write_lanes},
    vec3::Vec3,
};
use hinge_angles::{AngleReferences, HingeAngles};
use hinges::Hinges;
use inelastic::InelasticPlates;
use moment_passes::{MomentFactors, MomentPasses};
use rayon::prelude::*;
use stabilisation::Stabilisation;
use std::sync::Arc;
use stiffness::Stiffness;

/// Bending parameters of one cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BendingLaw {
    /// The plate matrix.
    pub rigidity: PlateRigidity,
    /// Kelvin-Voigt time τ in s: viscous moment = τ · D · rate of curvature.
    pub damping: f64,
}

impl From<&Material> for BendingLaw {
    fn from(material: &Material) -> Self {
        Self { rigidity: material.plate_rigidity(), damping: material.bend_damping }
    }
}

/// τ of each cloth, and the first of its hinges.
#[derive(Clone, Debug)]
struct Dampings {
    times: Vec<f64>,
    starts: Vec<usize>,
}

impl Dampings {
    fn new(mesh: &Mesh, hinges: &Hinges, laws: &[BendingLaw]) -> Self {
        let starts = (0..laws.len()).map(|cloth| hinges.range_of_cloth(mesh, cloth).start);
        Self { times: laws.iter().map(|law| law.damping).collect(), starts: starts.collect() }
    }

    /// τ of a hinge, in s.
    fn of(&self, hinge: usize) -> f64 {
        self.times[self.starts.partition_point(|start| *start <= hinge) - 1]
    }

    /// τ of four hinges, in s.
    #[inline]
    fn of_four(&self, hinges: &[usize; 4]) -> [f64; 4] {
        if let [time] = self.times.as_slice() { [*time; 4] } else { hinges.map(|one| self.of(one)) }
    }
}

/// Bending of all cloths of a scene. Hinges are the edges with two triangles, in the order of the mesh.
#[derive(Clone, Debug)]
pub struct Bending {
    hinges: Hinges,
    stiffness: Stiffness,
    /// `None` for the plate alone.
    stabilisation: Option<Stabilisation>,
    hinge_angles: HingeAngles,
    rest_angles: Arc<Vec<f64>>,
    laws: Vec<BendingLaw>,
    /// Factor on the rigidity of each triangle; empty where all are 1.
    scales: Vec<f64>,
    dampings: Dampings,
    /// 1/β of the last evaluation.
    inverse_beta: f64,
    buffers: BufferPool<Vec<f64>>,
    materials: Vec<Material>,
    /// Inelastic part; `None` if no material is inelastic.
    plates: Option<InelasticPlates>,
}

impl Bending {
    /// Prepares a mesh: `laws` one per cloth, `pinned` one per vertex.
    ///
    /// # Panics
    /// If there are fewer laws than cloths, or not one `pinned` for each vertex.
    #[must_use]
    pub fn new(mesh: &Mesh, laws: &[BendingLaw], pinned: &[bool]) -> Self {
        assert_eq!(pinned.len(), mesh.vertex_count(), "one pinned flag per vertex");
        assert_eq!(laws.len(), mesh.cloth_starts.len() - 1, "one bending law per cloth");
        let hinges = Hinges::new(mesh, pinned);
        let mut bending = Self {
            rest_angles: Arc::clone(&mesh.rest.angles),
            stiffness: Stiffness::new(mesh, &hinges),
            stabilisation: None,
            hinge_angles: HingeAngles::new(mesh, &hinges),
            laws: laws.to_vec(),
            scales: Vec::new(),
            dampings: Dampings::new(mesh, &hinges, laws),
            inverse_beta: 0.0,
            buffers: BufferPool::new(1),
            materials: Vec::new(),
            plates: None,
            hinges,
        };
        bending.set_plates(mesh);
        bending
    }

    /// Sets the bending law of a cloth. A change of the rigidity costs about as much as ten evaluations.
    ///
    /// # Panics
    /// If there is no such cloth.
    pub fn set_law(&mut self, mesh: &Mesh, cloth: usize, law: BendingLaw) {
        let before = std::mem::replace(&mut self.laws[cloth], law);
        self.dampings.times[cloth] = law.damping;
        if before.rigidity != law.rigidity {
            let Self { hinges, scales, .. } = self;
            self.stiffness.set_plate(mesh, hinges, cloth, &law.rigidity, scales);
        }
    }

    /// Multiplies the rigidity of each triangle.
    pub fn set_scales(&mut self, mesh: &Mesh, scales: Vec<f64>) {
        self.scales = scales;
        self.set_plates(mesh);
        if let Some(plates) = &mut self.plates {
            plates.set_forms(mesh, &self.hinges, &self.laws, &self.scales);
        }
    }

    /// Sets the pinned vertices; a triangle with three pinned vertices clamps its neighbours. Rebuilds the geometric
    /// correction, in linear time, if that changes any triangle. Returns whether it does.
    ///
    /// # Panics
    /// If there is not one flag for each vertex.
    pub fn set_pinned(&mut self, mesh: &Mesh, pinned: &[bool]) -> bool {
        assert_eq!(pinned.len(), mesh.vertex_count(), "one pinned flag per vertex");
        let has_changed = self.hinges.set_pinned(mesh, pinned);
        if has_changed {
            self.stiffness = Stiffness::new(mesh, &self.hinges);
            self.set_plates(mesh);
            if let Some(plates) = &mut self.plates {
                plates.set_forms(mesh, &self.hinges, &self.laws, &self.scales);
                plates.remeasure(&self.stiffness, &self.hinges);
            }
            self.rebuild_stabilisation(mesh);
        }
        has_changed
    }

    /// Material of a cloth.
    pub(in crate::forces) fn material(&self, cloth: usize) -> &Material {
        &self.materials[cloth]
    }

    /// Sets shared buffers.
    pub(crate) fn set_buffers(&mut self, buffers: BufferPool<Vec<f64>>) {
        self.buffers = buffers;
    }

    fn set_plates(&mut self, mesh: &Mesh) {
        for (cloth, law) in self.laws.iter().enumerate() {
            let Self { hinges, scales, .. } = self;
            self.stiffness.set_plate(mesh, hinges, cloth, &law.rigidity, scales);
        }
    }

    /// Writes the angle of each hinge, in rad between −π and π.
    ///
    /// # Panics
    /// If `out` has not one place for each hinge.
    pub fn angles(&self, positions: &[Vec3], out: &mut [f64]) {
        assert_eq!(out.len(), self.hinge_count(), "one angle per hinge");
        let chunks = out.par_chunks_mut(reductions::MIN_ELEMENTS_PER_TASK);
        chunks
            .zip(self.hinges.vertices.par_chunks(reductions::MIN_ELEMENTS_PER_TASK))
            .for_each(|(angles, vertices)| dispatch(MeasureAngles { positions, vertices, angles }));
    }

    /// Elastic energy of a shape, in J.
    #[must_use]
    pub fn energy(&self, positions: &[Vec3]) -> f64 {
        let mut passes = MomentPasses::new(self.hinges.count());
        passes.set_angles(&self.angle_deviations(positions));
        let linear = 0.5 * self.factors().side_moments(&mut passes, |_| [0.0; 4]);
        let beyond =
            |plates: &InelasticPlates| plates.nonlinear_energy(passes.split_angles_of_sides());
        linear + self.plates.as_ref().map_or(0.0, beyond)
    }

    /// What turns angles into moments.
    fn factors(&self) -> MomentFactors<'_> {
        MomentFactors {
            hinges: &self.hinges,
            stiffness: &self.stiffness,
            stabilisation: self.stabilisation.as_ref().filter(|own| own.is_active()),
        }
    }

    /// Adds the forces at `positions` to `forces`, in N, and returns the potential of elastic and viscous forces, in J.
    /// `history` has one angle per hinge, formed with [`extrapolate_angle`], unless it switches viscosity off.
    ///
    /// # Panics
    /// If `history` has a rate but not one angle for each hinge, or there is not one force for each
    /// position.
    pub fn evaluate(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, f64>,
        forces: &mut [Vec3],
    ) -> f64 {
        assert_eq!(forces.len(), positions.len(), "one force per position");
        self.inverse_beta = history.inverse_beta;
        let mut passes = self.passes();
        let StrainHistory { reference, inverse_beta } = history;
        let is_viscous = inverse_beta > 0.0;
        let rest = self.rest_angles.as_slice();
        assert!(!is_viscous || reference.len() == rest.len(), "one past angle per hinge");
        let references = AngleReferences { rest, past: is_viscous.then_some(reference) };
        self.hinge_angles.update(positions, &self.hinges, references, passes.angles_mut());
        let mut work = self.moments(&mut passes);
        if let Some(plates) = &mut self.plates {
            work += 2.0 * plates.add_nonlinear_moments(&self.hinges, &mut passes);
        }
        self.gather_forces(passes, -1.0, forces);
        0.5 * work
    }

    /// First half of the moments, see [`MomentFactors::side_moments`].
    fn moments(&self, passes: &mut MomentPasses) -> f64 {
        let viscosity = |hinges: &[usize; 4]| {
            self.dampings.of_four(hinges).map(|time| time * self.inverse_beta)
        };
        self.factors().side_moments(passes, viscosity)
    }

    /// Adds the product of `direction` and the Gauss-Newton matrix BᵀSB at the shape last evaluated,
    /// viscosity included. It is symmetric and positive semidefinite.
    pub fn add_gauss_newton_product(&mut self, direction: &[Vec3], out: &mut [Vec3]) {
        let passes = self.moments_of_rates(direction);
        self.gather_forces(passes, 1.0, out);
    }

    /// First half of the moments of the rates at which hinges fold along `direction`.
    fn moments_of_rates(&mut self, direction: &[Vec3]) -> MomentPasses {
        let mut passes = self.passes();
        self.hinge_angles.fold_rates(direction, &self.hinges, passes.angles_mut());
        self.moments(&mut passes);
        passes
    }

    /// Arrays for the passes, in the shared buffer.
    fn passes(&self) -> MomentPasses {
        let count = self.hinges.count();
        let numbers = self.buffers.take_numbers(MomentPasses::length_for(&self.hinges));
        MomentPasses::from_buffer(numbers, count)
    }

    /// Adds `sign` · Bᵀ𝓜 for the moments of the last pass, and returns the buffer.
    fn gather_forces(&self, mut passes: MomentPasses, sign: f64, out: &mut [Vec3]) {
        let Self { hinges, hinge_angles, .. } = self;
        self.factors().hinge_moments(&mut passes, hinge_angles.inverse_lengths());
        let (loads, room) = passes.loads_and_room();
        hinge_angles.gather(loads, room, hinges, sign, out);
        self.buffers.give(passes.into_buffer());
    }

    /// Number of hinges.
    #[must_use]
    pub fn hinge_count(&self) -> usize {
        self.hinges.count()
    }

    /// Ends a, b of a hinge and the opposite corners c (left of a→b) and d (right).
    #[must_use]
    pub fn hinge_vertices(&self, hinge: usize) -> [u32; 4] {
        self.hinges.vertices[hinge]
    }

    /// Ends and opposite corners of all hinges.
    pub(super) fn all_hinge_vertices(&self) -> &[[u32; 4]] {
        &self.hinges.vertices
    }

    /// Gradients of the angle of a hinge with respect to its vertices, at the shape last evaluated.
    #[must_use]
    pub fn gradients(&self, hinge: usize) -> [Vec3; 4] {
        self.hinge_angles.gradients(hinge, &self.hinges)
    }
}

/// Measures the angles of some hinges.
struct MeasureAngles<'a> {
    positions: &'a [Vec3],
    vertices: &'a [[u32; 4]],
    angles: &'a mut [f64],
}

impl Kernel for MeasureAngles<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { positions, vertices, angles } = self;
        for (batch, angles) in angles.chunks_mut(4).enumerate() {
            let own = lane_indices(4 * batch, vertices.len());
            let corner = |c: usize| lanes.vectors(|k| &positions[vertices[own[k]][c] as usize]);
            let found = lanes.to_numbers(hinge_angle_lanes(
                lanes,
                &[corner(0), corner(1), corner(2), corner(3)],
            ));
            write_lanes(angles, &found);
        }
    }
}
