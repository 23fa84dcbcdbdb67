// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pressure inside cloths: a force along the normals of all triangles, which turns and grows with them.
//!
//! With the volume V = Σ w ⟨a, b × c⟩/6 over the triangles, w a weight of each, the forces of a pressure p(V) are
//! −∂W/∂x of W(V) = −∫p dV, so that they belong to the potential of a stage like all others. The law
//! p = p₀ + K (1 − V/V₀) is that of a given pressure (K = 0) or of a volume that is kept. The Hessian consists of a
//! sparse part −p ∂²V/∂x², with blocks p [c]×/6 of the corners a and b, and of K/V₀ ∇V ∇Vᵀ, which couples all vertices.
//!
//! Corners are relative to an origin near the cloth. V does not depend on it if the surface is closed and all weights
//! are 1. At a rim, and where weights differ, pressure has no potential: there ∇V differs from the areas times the
//! normals, by forces along the rim. They are corrected as they are at the predicted end of the stage, and the volume
//! of the unweighted part is kept as it is there.

#[cfg(test)]
mod tests;

use crate::{mesh::Mesh, vec3::Vec3};
use nalgebra::Matrix3;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, ops::Range};

/// Law of the pressure inside a cloth above that outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PressureLaw {
    /// Pressure at the target volume, in Pa.
    pub pressure: f64,
    /// Pressure for a volume that is missing as a whole, in Pa.
    pub stiffness: f64,
    /// Target volume in m³, more than 0 with a stiffness.
    pub volume: f64,
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
    /// Vertices of the cloth.
    vertices: Range<usize>,
    /// Corners of the triangles, numbered within the cloth.
    triangles: Vec<[u32; 3]>,
    /// Weight of each triangle.
    weights: Vec<f64>,
    /// Whether V does not depend on the origin.
    is_closed: bool,
    origin: Vec3,
    /// Forces at rims in N; empty for a closed surface.
    rim_forces: Vec<Vec3>,
    /// Whole volume less the weighted one at the predicted end of the stage, in m³.
    unweighted_volume: f64,
    /// Positions last evaluated, relative to the origin, in m; ∇V there, in m²; and the pressure, in Pa.
    points: Vec<Vec3>,
    gradient: Vec<Vec3>,
    pressure: f64,
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

    /// Cloths whose forces sum to 0 at best if they stay where they are: with a rim.
    pub(crate) fn vertices_with_rims(&self) -> impl Iterator<Item = usize> {
        let open = self.loads.values().filter(|load| !load.is_closed);
        open.map(|load| load.vertices.start)
    }

    /// Corrects the forces at rims for the predicted end `positions` of a stage, in m.
    pub(crate) fn predict(&mut self, positions: &[Vec3]) {
        self.loads.values_mut().for_each(|load| load.predict(positions));
    }

    /// Adds the forces at `positions` in m to `forces` in N. Returns their potential in J.
    pub(crate) fn evaluate(&mut self, positions: &[Vec3], forces: &mut [Vec3]) -> f64 {
        self.loads.values_mut().map(|load| load.evaluate(positions, forces)).sum()
    }

    /// Visits the off-diagonal blocks of the sparse Hessian at the positions last evaluated: two vertices and a block
    /// in N/m, whose transpose belongs to them in reverse. A pair comes twice, once from each triangle.
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
            first_vertex: load.vertices.start,
            gradient: &load.gradient,
        })
    }
}

impl PressureLoad {
    fn new(mesh: &Mesh, cloth: usize, law: PressureLaw) -> Self {
        let vertices = mesh.vertices_of(cloth);
        let triangles = triangles_of(mesh, cloth);
        let corner_weight = |corner: &u32| law.weights.get(*corner as usize).unwrap_or(&1.0);
        let weight = |corners: &[u32; 3]| corners.iter().map(corner_weight).sum::<f64>() / 3.0;
        let weights: Vec<f64> = triangles.iter().map(weight).collect();
        Self {
            is_closed: law.weights.is_empty() && is_closed(&triangles),
            law,
            vertices,
            triangles,
            weights,
            origin: Vec3::zeros(),
            rim_forces: Vec::new(),
            unweighted_volume: 0.0,
            points: Vec::new(),
            gradient: Vec::new(),
            pressure: 0.0,
        }
    }

    /// Weighted volume at the positions last evaluated, in m³.
    fn weighted_volume(&self) -> f64 {
        let pairs = self.triangles.iter().zip(&self.weights);
        pairs.map(|(corners, weight)| weight * cone_volume(&self.points, corners)).sum()
    }

    fn predict(&mut self, positions: &[Vec3]) {
        let own = &positions[self.vertices.clone()];
        self.origin = own.iter().sum::<Vec3>() / own.len() as f64;
        if self.is_closed {
            return;
        }
        self.rim_forces.clear();
        self.set_points(positions);
        let whole: f64 = self.triangles.iter().map(|one| cone_volume(&self.points, one)).sum();
        self.unweighted_volume = whole - self.weighted_volume();
        let pressure = self.law.pressure_at(whole);
        let mut rim_forces: Vec<Vec3> = self.gradient.iter().map(|area| area * -pressure).collect();
        for (corners, weight) in self.triangles.iter().zip(&self.weights) {
            let [a, b, c] = corners.map(|vertex| self.points[vertex as usize]);
            let force = (b - a).cross(&(c - a)) * (pressure * weight / 6.0);
            corners.iter().for_each(|vertex| rim_forces[*vertex as usize] += force);
        }
        self.rim_forces = rim_forces;
    }

    /// Sets the positions relative to the origin, and ∇V there.
    fn set_points(&mut self, positions: &[Vec3]) {
        let Self { points, gradient, origin, .. } = self;
        points.clear();
        points.extend(positions[self.vertices.clone()].iter().map(|position| position - *origin));
        gradient.clear();
        gradient.resize(points.len(), Vec3::zeros());
        for (corners, weight) in self.triangles.iter().zip(&self.weights) {
            let [a, b, c] = corners.map(|vertex| points[vertex as usize]);
            let opposite = [b.cross(&c), c.cross(&a), a.cross(&b)];
            for (vertex, product) in corners.iter().zip(opposite) {
                gradient[*vertex as usize] += product * (weight / 6.0);
            }
        }
    }

    fn evaluate(&mut self, positions: &[Vec3], forces: &mut [Vec3]) -> f64 {
        self.set_points(positions);
        let volume = self.weighted_volume() + self.unweighted_volume;
        self.pressure = self.law.pressure_at(volume);
        let own = forces[self.vertices.clone()].iter_mut();
        for (force, area) in own.zip(&self.gradient) {
            *force += area * self.pressure;
        }
        let mut potential = self.law.potential(volume);
        let own = forces[self.vertices.clone()].iter_mut();
        for (force, (rim_force, point)) in own.zip(self.rim_forces.iter().zip(&self.points)) {
            *force += rim_force;
            potential -= rim_force.dot(point);
        }
        potential
    }

    fn for_each_block(&self, visit: &mut impl FnMut([usize; 2], Matrix3<f64>)) {
        let first = self.vertices.start;
        for (corners, weight) in self.triangles.iter().zip(&self.weights) {
            for k in 0..3 {
                let [a, b, c] = [0, 1, 2].map(|shift| corners[(k + shift) % 3] as usize);
                let block = self.points[c].cross_matrix() * (self.pressure * weight / 6.0);
                visit([first + a, first + b], block);
            }
        }
    }
}

/// Volume enclosed by a cloth, as seen from the mean of its vertices at `positions` of all cloths in m; positive if
/// the triangles turn around outward normals.
pub(crate) fn enclosed_volume(mesh: &Mesh, cloth: usize, positions: &[Vec3]) -> f64 {
    let own = &positions[mesh.vertices_of(cloth)];
    let origin = own.iter().sum::<Vec3>() / own.len() as f64;
    let points: Vec<Vec3> = own.iter().map(|position| position - origin).collect();
    triangles_of(mesh, cloth).iter().map(|corners| cone_volume(&points, corners)).sum()
}

/// Corners of the triangles of a cloth, numbered within it.
fn triangles_of(mesh: &Mesh, cloth: usize) -> Vec<[u32; 3]> {
    let first = mesh.vertices_of(cloth).start as u32;
    let all = mesh.topology.triangles.iter().zip(mesh.cloth_of_triangle.iter());
    let own = all.filter(|(_, owner)| **owner as usize == cloth);
    own.map(|(corners, _)| corners.map(|vertex| vertex - first)).collect()
}

/// Volume of the cone from the origin to a triangle, in m³.
fn cone_volume(points: &[Vec3], corners: &[u32; 3]) -> f64 {
    let [a, b, c] = corners.map(|vertex| points[vertex as usize]);
    a.dot(&b.cross(&c)) / 6.0
}

/// Whether every edge is passed as often in one direction as in the other.
fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let mut passes: BTreeMap<[u32; 2], i32> = BTreeMap::new();
    for [a, b, c] in triangles {
        for [from, to] in [[*a, *b], [*b, *c], [*c, *a]] {
            *passes.entry([from.min(to), from.max(to)]).or_default() +=
                if from < to { 1 } else { -1 };
        }
    }
    passes.values().all(|sum| *sum == 0)
}
