// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fingerprint of a simulation: checksums of the meshes, colliders and settings that never change. A checkpoint with
//! another fingerprint would not continue with the same bits, and is refused. The rest shape has a checksum of its own,
//! so that a caller may continue with another one, and so has the accuracy: a draft may be continued closely.
//!
//! Data of checkpoints are left out, as are initial positions, which affect nothing else. So is `self_collision`: a
//! checkpoint keeps contacts even with collision disabled, so that a simulation may continue with the setting changed.

use crate::scene::{Cloth, Collider, Settings};
use serde::{Deserialize, Serialize};

/// Checksum of lists with their lengths, so that a value cannot move from one list to the next undetected.
#[derive(Default)]
struct Checksum(crc32fast::Hasher);

impl Checksum {
    fn add<const N: usize>(&mut self, values: impl Iterator<Item = [u8; N]>) {
        let bytes: Vec<u8> = values.flatten().collect();
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(&bytes);
    }

    fn add_numbers(&mut self, values: impl Iterator<Item = f64>) {
        self.add(values.map(f64::to_le_bytes));
    }

    fn add_indices<'a>(&mut self, values: impl Iterator<Item = &'a u32>) {
        self.add(values.map(|value| value.to_le_bytes()));
    }

    fn add_factors<const N: usize>(&mut self, factors: Option<&Vec<[f64; N]>>) {
        self.add_numbers(factors.into_iter().flatten().flatten().copied());
    }

    fn add_scalars(&mut self, factors: Option<&Vec<f64>>) {
        self.add_numbers(factors.into_iter().flatten().copied());
    }

    fn add_settings(&mut self, settings: &Settings) {
        let Settings { model, integrator, solver, preconditioner, .. } = settings;
        let names = [model.name(), integrator.name(), solver.name(), preconditioner.name()];
        for name in names {
            self.add(name.bytes().map(|byte| [byte]));
        }
        let Settings { stokes_drag, mass_damping, stiffness_damping, .. } = *settings;
        self.add_numbers([stokes_drag, mass_damping, stiffness_damping].into_iter());
    }

    fn add_accuracy(&mut self, settings: &Settings) {
        self.add_numbers([settings.time_step, settings.tolerance].into_iter());
        let Settings { growth_factor, shrink_factor, linear_tolerance, .. } = *settings;
        self.add_numbers([growth_factor, shrink_factor, linear_tolerance].into_iter());
        self.add_indices([settings.min_iterations as u32].iter());
    }

    fn add_cloth(&mut self, cloth: &Cloth) {
        let (topology, rest) = (&cloth.mesh.topology, &cloth.mesh.rest);
        self.add_indices(topology.triangles.iter().flatten());
        self.add_indices(topology.face_of_triangle.iter());
        self.add_indices(cloth.alternatives.triangles.iter().flatten());
        if !rest.coverage.is_empty() {
            self.add_numbers(rest.coverage.iter().flatten().copied());
        }
        self.add_scalars(cloth.mass_scale.as_ref());
        self.add_scalars(cloth.stiffness_scale.as_ref());
        self.add_scalars(cloth.friction_scale.as_ref());
        self.add_factors(cloth.rest_scale.as_ref());
        self.add_factors(cloth.property_scale.as_ref());
        let free = cloth.free_vertices.iter().flatten();
        self.add(free.map(|free| free.map(u8::from)));
        self.add_indices(cloth.ignored_colliders.iter());
        self.add_numbers((cloth.layer > 0).then_some(cloth.layer as f64).into_iter());
        self.add_indices(cloth.sewing.iter().flat_map(|sewing| sewing.pairs.iter().flatten()));
        let times = cloth.sewing.iter().map(|sewing| Some(sewing.time));
        let forces = cloth.sewing.iter().map(|sewing| sewing.force);
        self.add_numbers(times.chain(forces).flatten());
    }

    fn add_rest_shape(&mut self, cloth: &Cloth) {
        let rest = &cloth.mesh.rest;
        self.add_numbers(rest.positions.iter().flatten().copied());
        self.add_numbers(rest.gradients.iter().flatten().flatten().copied());
    }

    fn add_collider(&mut self, collider: &Collider) {
        self.add_indices([collider.vertex_count() as u32].iter());
        self.add_indices(collider.triangles.iter().flatten());
        self.add_indices(collider.alternatives.triangles.iter().flatten());
    }
}

/// Fingerprint of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    /// Of all but the following.
    pub(super) scene: u32,
    pub(super) rest_shapes: u32,
    /// Of the settings that say how closely the equations are solved.
    pub(super) accuracy: u32,
}

impl Fingerprint {
    /// Whether all but the accuracy is the same.
    pub(super) fn has_shapes_of(self, other: Self) -> bool {
        (self.scene, self.rest_shapes) == (other.scene, other.rest_shapes)
    }

    pub(crate) fn new(cloths: &[Cloth], colliders: &[Collider], settings: &Settings) -> Self {
        let [mut scene, mut rest_shapes, mut accuracy]: [Checksum; 3] = Default::default();
        scene.add_settings(settings);
        accuracy.add_accuracy(settings);
        for cloth in cloths {
            scene.add_cloth(cloth);
            rest_shapes.add_rest_shape(cloth);
        }
        for collider in colliders {
            scene.add_collider(collider);
        }
        let [scene, rest_shapes, accuracy] =
            [scene, rest_shapes, accuracy].map(|checksum| checksum.0.finalize());
        Self { scene, rest_shapes, accuracy }
    }
}
