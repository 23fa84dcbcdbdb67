// SPDX-License-Identifier: MIT OR Apache-2.0
//! Net force balance of free bodies.
//!
//! Newton's method ends with a residual. Its sum over a body is momentum that no force has brought: the velocities of a
//! scheme follow from the positions, (x − x̂)/β. Forces within cloth and between cloths do not change with a translation
//! and sum to zero, so that the net residual of a body without contact to solids and without prescribed vertices is a
//! linear function of its translation: r(d) = r − (Σ m/β² + Σ D/β) d, with the resistance D of the air. One translation
//! makes it zero, and momentum exact for whatever tolerance.

use super::Objective;
use crate::{mesh::UnionFind, time_integration::Stage, vec3::Vec3};
use nalgebra::Matrix3;

/// Net residual of a body and its change with a translation.
#[derive(Clone, Copy, Debug, Default)]
struct NetForce {
    /// In N.
    residual: Vec3,
    /// In N/m.
    stiffness: Matrix3<f64>,
}

impl NetForce {
    /// Translation that balances a body, in m.
    fn translation(&self) -> Vec3 {
        let inverse = self.stiffness.try_inverse();
        inverse.map_or_else(Vec3::zeros, |inverse| inverse * self.residual)
    }
}

impl Objective<'_> {
    /// Translates free bodies so that their net forces balance at the end `positions` of the stage, in m. `pieces` are
    /// the connected pieces of the cloths.
    pub(super) fn balance_net_forces(&self, pieces: &UnionFind, positions: &mut [Vec3]) {
        if self.quadratic_model.is_some() {
            return;
        }
        let roots = self.bodies(pieces).roots();
        let is_held = self.held_bodies(&roots);
        if roots.iter().all(|root| is_held[*root as usize]) {
            return;
        }
        let forces = self.net_forces(&roots, positions);
        let factor = self.stage.extrapolation_factor;
        let translation = |(force, is_held): (&NetForce, bool)| {
            if is_held { Vec3::zeros() } else { force.translation() * factor }
        };
        let translations: Vec<Vec3> = forces.iter().zip(is_held).map(translation).collect();
        for (position, root) in positions.iter_mut().zip(&roots) {
            *position += translations[*root as usize];
        }
    }

    /// Whether each body is held, by the root of the body.
    fn held_bodies(&self, roots: &[u32]) -> Vec<bool> {
        let mut is_held = vec![false; roots.len()];
        self.held_vertices().for_each(|vertex| is_held[roots[vertex] as usize] = true);
        is_held
    }

    /// Pieces of cloth joined where they are in contact.
    pub(super) fn bodies(&self, pieces: &UnionFind) -> UnionFind {
        let mut bodies = pieces.clone();
        for contact in self.response.contact_set.all() {
            let [first, second] = contact.pair.representative_vertices();
            if self.response.step.is_cloth(first) && self.response.step.is_cloth(second) {
                bodies.union(first, second);
            }
        }
        bodies
    }

    /// Net force of each body at the end `positions` of the stage in m, by the root of the body.
    fn net_forces(&self, roots: &[u32], positions: &[Vec3]) -> Vec<NetForce> {
        let (stage, dynamics) = (self.stage, &*self.dynamics);
        let points = stage.evaluation_points(positions);
        let mut residuals = vec![Vec3::zeros(); points.len()];
        dynamics.add_point_forces(stage, &points, &mut residuals);
        dynamics.external_forces.pressures.add_fluid_weights(&points, &mut residuals);
        let mut forces = vec![NetForce::default(); points.len()];
        for (vertex, (root, residual)) in roots.iter().zip(&residuals).enumerate() {
            let force = &mut forces[*root as usize];
            force.residual += residual;
            force.stiffness += self.translational_stiffness(stage, vertex);
        }
        forces
    }

    /// Change of the residual of a vertex against its translation, in N/m.
    fn translational_stiffness(&self, stage: &Stage, vertex: usize) -> Matrix3<f64> {
        let inertia = self.dynamics.masses.vertices[vertex] / (stage.beta * stage.beta);
        let inertia = Matrix3::from_diagonal_element(inertia);
        let air = &self.dynamics.external_forces.air;
        if air.is_active() { inertia + air.resistance(vertex) / stage.beta } else { inertia }
    }

    /// Vertices with prescribed motion or a spring target.
    pub(super) fn prescribed_vertices(&self) -> impl Iterator<Item = usize> {
        let dynamics = &*self.dynamics;
        let on_springs =
            (0..dynamics.vertex_count()).filter(|vertex| dynamics.spring_target(*vertex).is_some());
        let prescribed = self.prescribed_displacements.iter().map(|prescribed| prescribed.vertex);
        prescribed.chain(on_springs)
    }

    /// Vertices with prescribed motion or a spring target, in contact with a solid, or of open cloths under pressure.
    fn held_vertices(&self) -> impl Iterator<Item = usize> {
        let step = &self.response.step;
        let on_solids = self.response.contact_set.all().filter_map(|contact| {
            let [first, second] = contact.pair.representative_vertices();
            let is_mixed = step.is_cloth(first) != step.is_cloth(second);
            let cloth = if step.is_cloth(first) { first } else { second };
            is_mixed.then_some(cloth as usize)
        });
        self.prescribed_vertices()
            .chain(on_solids)
            .chain(self.dynamics.external_forces.pressures.vertices_of_open_cloths())
    }
}
