// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wind, drag, lift and the resistance of air at rest.
//!
//! Etzmuss 2002, eq. 2.35–2.37, made physical: the force on an area A with normal n, met by air of density ρ at the
//! relative velocity u = wind − v, is ½ρA‖u‖(c_drag·u_n + c_lift·u_t) with u_n, u_t its components normal and
//! tangential to the face. Air at rest resists by the same law.
//!
//! ‖u‖ and n are taken at the velocity and shape the time scheme predicts for the end of the step, which
//! leaves the force linear in the velocity and the scheme second order:
//! f_i = D_i (wind − v_i), the gradient of a dissipation potential.

use crate::{
    material::Material,
    mesh::{Incidence, Mesh},
    parallel::{BufferPool, reductions},
    vec3::Vec3,
};
use nalgebra::Matrix3;
use rayon::prelude::*;
use std::sync::Arc;

/// Aerodynamic coefficients of one cloth.
#[derive(Clone, Copy, Debug)]
struct Coefficients {
    drag: f64,
    lift: f64,
}

impl Coefficients {
    /// Those of a face of which a part is there.
    fn of_part(self, part: f64) -> Self {
        Self { drag: part * self.drag, lift: part * self.lift }
    }
}

/// Contribution of a face to D of its corners, along·I + beyond·nnᵀ: n, along and beyond.
type FaceResistance = [f64; 5];

/// Air around all cloths of a scene.
#[derive(Clone, Debug)]
pub struct Air {
    triangles: Arc<Vec<[u32; 3]>>,
    cloth_of_triangle: Arc<Vec<u32>>,
    incidence: Arc<Incidence>,
    coefficients: Vec<Coefficients>,
    /// Part of each triangle that is cloth; empty where all is.
    coverage: Vec<f64>,
    /// D of every vertex, in N·s/m: xx, yy, zz, xy, xz and yz.
    resistance: Vec<[f64; 6]>,
    wind: Vec3,
    density: f64,
    buffers: BufferPool<Vec<f64>>,
}

impl Air {
    /// Air of `density` in kg/m³, blowing with `wind` in m/s.
    #[must_use]
    pub fn new(mesh: &Mesh, materials: &[Material], density: f64, wind: Vec3) -> Self {
        Self {
            triangles: Arc::clone(&mesh.topology.triangles),
            cloth_of_triangle: Arc::clone(&mesh.cloth_of_triangle),
            incidence: Arc::clone(&mesh.topology.incidence),
            coefficients: materials.iter().map(coefficients).collect(),
            coverage: mesh.triangle_coverage(),
            resistance: vec![[0.0; 6]; mesh.vertex_count()],
            wind,
            density,
            buffers: BufferPool::new(1),
        }
    }

    /// Sets a shared buffer.
    pub(crate) fn set_buffers(&mut self, buffers: BufferPool<Vec<f64>>) {
        self.buffers = buffers;
    }

    /// New coefficients for a cloth.
    pub fn set_material(&mut self, cloth: usize, material: &Material) {
        self.coefficients[cloth] = coefficients(material);
    }

    /// New wind, in m/s.
    pub fn set_wind(&mut self, wind: Vec3) {
        self.wind = wind;
    }

    /// New density, in kg/m³.
    pub fn set_density(&mut self, density: f64) {
        self.density = density;
    }

    /// Wind, in m/s.
    #[must_use]
    pub fn wind(&self) -> Vec3 {
        self.wind
    }

    /// Whether the density is not 0 and any cloth has an aerodynamic coefficient.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.density > 0.0 && self.coefficients.iter().any(|c| c.drag > 0.0 || c.lift > 0.0)
    }

    /// Takes normals and flow speeds from the predicted `positions` and `velocities`.
    pub fn set_predicted_state(&mut self, positions: &[Vec3], velocities: &[Vec3]) {
        let mut numbers = self.buffers.take_numbers(5 * self.triangles.len());
        let faces: &mut [FaceResistance] = numbers.as_chunks_mut().0;
        let each = (faces, self.triangles.as_slice(), self.cloth_of_triangle.as_slice());
        let each = each.into_par_iter().with_min_len(reductions::MIN_ELEMENTS_PER_TASK);
        each.enumerate().for_each(|(triangle, (face, corners, cloth))| {
            let coefficients = self.coefficients[*cloth as usize];
            let covered = coefficients.of_part(*self.coverage.get(triangle).unwrap_or(&1.0));
            *face = self.face_resistance(corners, covered, positions, velocities);
        });
        let faces: &[FaceResistance] = numbers.as_chunks().0;
        let incidence = &self.incidence;
        let each = self
            .resistance
            .par_iter_mut()
            .enumerate()
            .with_min_len(reductions::MIN_VERTICES_PER_TASK);
        each.for_each(|(vertex, resistance)| {
            let (mut along, mut products) = (0.0, [0.0; 6]);
            for (face, _) in incidence.elements_of(vertex) {
                let [x, y, z, own, beyond] = faces[face as usize];
                along += own;
                let dyad = [x * x, y * y, z * z, x * y, x * z, y * z];
                for (sum, entry) in products.iter_mut().zip(dyad) {
                    *sum += beyond * entry;
                }
            }
            let [a, b, c, d, e, f] = products;
            *resistance = [along + a, along + b, along + c, d, e, f];
        });
        self.buffers.give(numbers);
    }

    /// A third of ½ρA‖u‖ times c_lift, and times c_drag − c_lift.
    #[inline]
    fn face_resistance(
        &self,
        corners: &[u32; 3],
        coefficients: Coefficients,
        positions: &[Vec3],
        velocities: &[Vec3],
    ) -> FaceResistance {
        let [a, b, c] = corners.map(|vertex| positions[vertex as usize]);
        let [u, v, w] = corners.map(|vertex| velocities[vertex as usize]);
        let speed = (self.wind - (u + v + w) / 3.0).norm();
        let doubled = (b - a).cross(&(c - a));
        let length = doubled.norm();
        if length == 0.0 {
            return FaceResistance::default();
        }
        let scale = self.density * length * speed / 12.0;
        let Coefficients { drag, lift } = coefficients;
        let [x, y, z] = (doubled / length).into();
        [x, y, z, lift * scale, (drag - lift) * scale]
    }

    /// D of a vertex, in N·s/m: symmetric and positive semidefinite.
    #[must_use]
    pub fn resistance(&self, vertex: usize) -> Matrix3<f64> {
        let [xx, yy, zz, xy, xz, yz] = self.resistance[vertex];
        Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
    }

    /// Force on a vertex that moves with `velocity` in m/s, in N.
    #[must_use]
    pub fn force(&self, vertex: usize, velocity: &Vec3) -> Vec3 {
        self.resistance(vertex) * (self.wind - velocity)
    }
}

fn coefficients(material: &Material) -> Coefficients {
    Coefficients { drag: material.air_drag, lift: material.air_lift }
}
