// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pressure inside cloths: a force along the normals of all triangles, which turns and grows with them.
//!
//! Every corner of a triangle gets p w n/6, n = (b − a) × (c − a), w a weight of the triangle. The work of the pressure
//! is ∫p dV with the volume that the triangles sweep, so that on a closed surface the forces are −∂W/∂x of
//! W(V) = −∫p dV and belong to the potential of a stage like all others. The law p = p₀ + K (1 − V/V₀) is that of a
//! given pressure (K = 0) or of a volume that is kept. The Hessian consists of a sparse part, with a block
//! p w [c − (a + b)/2]×/6 of the corners a and b, and of K/V₀ ∇V ∇Vᵀ, which couples all vertices.
//!
//! At a rim, and where weights differ, pressure has no potential: its work depends on the path. There W is that of the
//! straight paths from one Newton iterate to the next, and the blocks are the symmetric part of the change of forces
//! (the rest of it is along the rim). The forces are exact, and implicit like those of a closed surface.
//!
//! A fluid adds a pressure that grows with the depth, see `hydrostatic`.

mod hydrostatic;
mod surface;
#[cfg(test)]
mod tests;

pub(crate) use surface::enclosed_volume;

use crate::{mesh::Mesh, vec3::Vec3};
use hydrostatic::HydrostaticPressure;
use nalgebra::Matrix3;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use surface::{Surface, doubled_area, swept_volume, volume};

/// Law of the pressure inside a cloth above that outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PressureLaw {
    /// Pressure at the target volume, in Pa.
    pub pressure: f64,
    /// Pressure for a volume that is missing as a whole, in Pa.
    pub stiffness: f64,
    /// Target volume in m³, more than 0 with a stiffness.
    pub volume: f64,
    /// Density of the fluid inside less that of the fluid outside, in kg/m³.
    pub fluid_density: f64,
    /// Factor on the pressure at each vertex of the cloth; empty if all are 1.
    pub weights: Vec<f64>,
}

impl PressureLaw {
    /// Pressure at a volume in m³, in Pa.
    fn pressure_at(&self, volume: f64) -> f64 {
        self.pressure - self.slope() * (volume - self.volume)
    }

    /// Decrease of the pressure with the volume, in Pa/m³.
    fn slope(&self) -> f64 {
        if self.stiffness > 0.0 { self.stiffness / self.volume } else { 0.0 }
    }

    /// Potential at a volume in m³, in J.
    fn potential(&self, volume: f64) -> f64 {
        let excess = volume - self.volume;
        (0.5 * self.slope() * excess - self.pressure) * excess
    }
}

/// Pressures inside all cloths.
#[derive(Clone, Debug)]
pub(crate) struct PressureLoads {
    /// Volume of each cloth at the start, in m³.
    initial_volumes: Vec<f64>,
    loads: BTreeMap<usize, PressureLoad>,
}

/// Rank-one term of the Hessian, `factor` · ∇V ∇Vᵀ.
pub(crate) struct VolumeStiffness<'a> {
    /// In Pa/m³.
    pub(crate) factor: f64,
    /// First vertex of the gradient.
    pub(crate) first_vertex: usize,
    /// ∇V by vertices, in m².
    pub(crate) gradient: &'a [Vec3],
}

/// Pressure inside one cloth.
#[derive(Clone, Debug)]
struct PressureLoad {
    law: PressureLaw,
    surface: Surface,
    hydrostatic: HydrostaticPressure,
    /// Iterate from which volume and potential are counted on.
    iterate: PathPoint,
    /// Point of the last evaluation.
    last: PathPoint,
    /// ∇V at the last evaluation, in m², and the pressure, in Pa.
    gradient: Vec<Vec3>,
    pressure: f64,
}

/// Point on the path of the iterates of a stage.
#[derive(Clone, Debug, Default)]
struct PathPoint {
    /// In m.
    positions: Vec<Vec3>,
    /// In m³.
    volume: f64,
    /// In J.
    potential: f64,
}

impl PressureLoads {
    /// No pressures inside cloths that start at `positions`, in m.
    pub(crate) fn new(mesh: &Mesh, positions: &[Vec3]) -> Self {
        let cloths = 0..mesh.cloth_starts.len() - 1;
        let initial_volumes = cloths.map(|cloth| enclosed_volume(mesh, cloth, positions)).collect();
        Self { initial_volumes, loads: BTreeMap::new() }
    }

    /// Volume inside a cloth at the start, in m³.
    pub(crate) fn initial_volume(&self, cloth: usize) -> f64 {
        self.initial_volumes[cloth]
    }

    /// Sets the pressure inside a cloth; `None` for the same as outside.
    pub(crate) fn set(&mut self, mesh: &Mesh, cloth: usize, law: Option<PressureLaw>) {
        let Some(law) = law else {
            self.loads.remove(&cloth);
            return;
        };
        match self.loads.get_mut(&cloth) {
            Some(load) if load.law.weights == law.weights => load.law = law,
            _ => {
                self.loads.insert(cloth, PressureLoad::new(mesh, cloth, law));
            }
        }
    }

    /// Law of the pressure inside a cloth.
    pub(crate) fn law(&self, cloth: usize) -> Option<&PressureLaw> {
        self.loads.get(&cloth).map(|load| &load.law)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.loads.is_empty()
    }

    /// A vertex of each cloth whose forces have no potential. Those of the others sum to the weight of the fluid.
    pub(crate) fn vertices_of_open_cloths(&self) -> impl Iterator<Item = usize> {
        let open = self.loads.values().filter(|load| !load.has_potential());
        open.map(|load| load.surface.vertices.start)
    }

    /// Begins the path of a stage at `positions` in m, with gravity in m/s².
    pub(crate) fn begin_path(&mut self, positions: &[Vec3], gravity: &Vec3) {
        self.loads.values_mut().for_each(|load| load.begin_path(positions, gravity));
    }

    /// Continues the path from the point of the last evaluation, the present iterate.
    pub(crate) fn continue_path(&mut self) {
        self.loads.values_mut().for_each(PressureLoad::continue_path);
    }

    /// Adds the forces at `positions` in m to `forces` in N. Returns their potential in J.
    pub(crate) fn evaluate(&mut self, positions: &[Vec3], forces: &mut [Vec3]) -> f64 {
        self.loads.values_mut().map(|load| load.evaluate(positions, forces)).sum()
    }

    /// Adds forces at `positions` in m to `forces` in N whose sum over each connected piece of a cloth is that of all
    /// forces of its pressure, where that has a potential.
    pub(crate) fn add_fluid_weights(&self, positions: &[Vec3], forces: &mut [Vec3]) {
        for load in self.loads.values() {
            let own = load.surface.vertices.clone();
            load.hydrostatic.add_forces(&load.surface, &positions[own.clone()], &mut forces[own]);
        }
    }

    /// Visits the blocks of the sparse Hessian at the iterate: two vertices and a block in N/m, whose transpose belongs
    /// to them in reverse if they differ. A place comes several times, once from each triangle.
    pub(crate) fn for_each_block(&self, mut visit: impl FnMut([usize; 2], Matrix3<f64>)) {
        for load in self.loads.values() {
            load.for_each_block(&mut visit);
        }
    }

    /// Rank-one terms of the Hessian at the positions last evaluated.
    pub(crate) fn volume_stiffness(&self) -> impl Iterator<Item = VolumeStiffness<'_>> {
        let stiff = self.loads.values().filter(|load| load.law.stiffness > 0.0);
        stiff.map(|load| VolumeStiffness {
            factor: load.law.slope(),
            first_vertex: load.surface.vertices.start,
            gradient: &load.gradient,
        })
    }
}

impl PressureLoad {
    fn new(mesh: &Mesh, cloth: usize, law: PressureLaw) -> Self {
        let surface = Surface::new(mesh, cloth, &law.weights);
        Self {
            hydrostatic: HydrostaticPressure::new(mesh, &surface),
            law,
            surface,
            iterate: PathPoint::default(),
            last: PathPoint::default(),
            gradient: Vec::new(),
            pressure: 0.0,
        }
    }

    fn has_potential(&self) -> bool {
        self.law.weights.is_empty() && self.surface.is_closed()
    }

    fn begin_path(&mut self, positions: &[Vec3], gravity: &Vec3) {
        let own = &positions[self.surface.vertices.clone()];
        let Self { iterate, surface, .. } = self;
        iterate.positions.clear();
        iterate.positions.extend_from_slice(own);
        iterate.volume = volume(own, &surface.triangles);
        iterate.potential = 0.0;
        self.hydrostatic.begin_path(own, gravity * self.law.fluid_density);
    }

    fn continue_path(&mut self) {
        std::mem::swap(&mut self.iterate, &mut self.last);
        self.iterate.volume = volume(&self.iterate.positions, &self.surface.triangles);
    }

    /// Sets the point of the last evaluation, and ∇V and the pressure there.
    fn move_to(&mut self, own: &[Vec3]) {
        let Self { surface, hydrostatic, iterate, last, gradient, law, .. } = self;
        gradient.clear();
        gradient.resize(own.len(), Vec3::zeros());
        let mut swept = 0.0;
        for (corners, weight) in surface.weighted_triangles() {
            let [start, end] = [&iterate.positions, own]
                .map(|positions| corners.map(|vertex| positions[vertex as usize]));
            swept += weight * swept_volume(&start, &end);
            let area = doubled_area(&end) * (weight / 6.0);
            for vertex in corners {
                gradient[*vertex as usize] += area;
            }
        }
        last.volume = iterate.volume + swept;
        last.potential = iterate.potential + law.potential(last.volume)
            - law.potential(iterate.volume)
            - hydrostatic.work(surface, &iterate.positions, own);
        last.positions.clear();
        last.positions.extend_from_slice(own);
        self.pressure = law.pressure_at(last.volume);
    }

    fn evaluate(&mut self, positions: &[Vec3], forces: &mut [Vec3]) -> f64 {
        let vertices = self.surface.vertices.clone();
        let (own, forces) = (&positions[vertices.clone()], &mut forces[vertices]);
        self.move_to(own);
        for (force, area) in forces.iter_mut().zip(&self.gradient) {
            *force += area * self.pressure;
        }
        self.hydrostatic.add_forces(&self.surface, own, forces);
        self.last.potential
    }

    fn for_each_block(&self, visit: &mut impl FnMut([usize; 2], Matrix3<f64>)) {
        let (first, positions) = (self.surface.vertices.start, &self.iterate.positions);
        let mut visit = |pair: [usize; 2], block| visit(pair.map(|own| first + own), block);
        self.hydrostatic.for_each_block(&self.surface, positions, &mut visit);
        for (corners, weight) in self.surface.weighted_triangles() {
            for k in 0..3 {
                let [a, b, c] = [0, 1, 2].map(|shift| corners[(k + shift) % 3] as usize);
                let height = positions[c] - (positions[a] + positions[b]) * 0.5;
                let block = height.cross_matrix() * (self.pressure * weight / 6.0);
                visit([a, b], block);
            }
        }
    }
}
