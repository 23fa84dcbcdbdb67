// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checksum of what a simulation is made of, and never changes: where it is another, a checkpoint would not go on with
//! the same bits, and is refused.
//!
//! What a checkpoint holds is left out, as are initial positions, whose only trace is in it as well. So is
//! `self_collision`: a checkpoint keeps the contacts even where nothing can meet, so that cloth may go on with it switched.

use crate::scene::{Cloth, Collider, Settings};

/// A checksum, and the length of each list in it, so that nothing moves from one list to the next unseen.
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
        self.add_numbers([settings.time_step, settings.tolerance].into_iter());
    }

    fn add_cloth(&mut self, cloth: &Cloth) {
        let (topology, rest) = (&cloth.mesh.topology, &cloth.mesh.rest);
        self.add_indices(topology.triangles.iter().flatten());
        self.add_indices(topology.face_of_triangle.iter());
        self.add_numbers(rest.positions.iter().flatten().copied());
        self.add_numbers(rest.gradients.iter().flatten().flatten().copied());
        self.add_scalars(cloth.mass_scale.as_ref());
        self.add_scalars(cloth.stiffness_scale.as_ref());
        self.add_scalars(cloth.friction_scale.as_ref());
        self.add_factors(cloth.rest_scale.as_ref());
        self.add_factors(cloth.property_scale.as_ref());
        let free = cloth.free_vertices.iter().flatten();
        self.add(free.map(|free| free.map(u8::from)));
        self.add_indices(cloth.ignored_colliders.iter());
        self.add_indices(cloth.sewing.iter().flat_map(|sewing| sewing.pairs.iter().flatten()));
        let times = cloth.sewing.iter().map(|sewing| Some(sewing.time));
        let forces = cloth.sewing.iter().map(|sewing| sewing.force);
        self.add_numbers(times.chain(forces).flatten());
    }

    fn add_collider(&mut self, collider: &Collider) {
        self.add_indices([collider.vertex_count() as u32].iter());
        self.add_indices(collider.triangles.iter().flatten());
    }
}

/// The checksum of what a simulation is made of.
pub(crate) fn fingerprint(cloths: &[Cloth], colliders: &[Collider], settings: &Settings) -> u32 {
    let mut checksum = Checksum::default();
    checksum.add_settings(settings);
    for cloth in cloths {
        checksum.add_cloth(cloth);
    }
    for collider in colliders {
        checksum.add_collider(collider);
    }
    checksum.0.finalize()
}
