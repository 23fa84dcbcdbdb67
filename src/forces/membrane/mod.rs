// SPDX-License-Identifier: MIT OR Apache-2.0
//! Orthotropic membrane on linear triangles.
//!
//! With s_u, s_v the derivatives of the position along warp and weft, the Green strains are
//! ε = (½(⟨s_u,s_u⟩ − 1), ½(⟨s_v,s_v⟩ − 1), ⟨s_u,s_v⟩) (Etzmuss 2002, eq. 2.14, shear in the
//! engineering convention), the energy is W = Σ ½ A εᵀCε and the force is exactly −∂W/∂x. The strain is
//! quadratic in x, so force and tangent need no rotation and no factorisation. Yarns that are pushed buckle: see
//! `buckling`.
//!
//! The tangent BᵀCB + G(σ) is made positive definite by dropping the compressive part of σ in G. The σ in G is a
//! separate argument, the *predicted stress*: see [`Membrane::predict_stress`].

mod batch;
mod buckling;
mod internal_variables;
mod laws;
mod tangent;

pub use tangent::TriangleTangent;

use super::{
    inelastic::{DeformationMode, MaterialHistory},
    strain_history::{Strain, StrainHistory},
};
use crate::{
    material::Material,
    mesh::{Incidence, Mesh, ShapeGradients},
    parallel::{BufferPool, reductions},
    simd::dispatch,
    vec3::Vec3,
};
use batch::{StressPoint, Tangents, TriangleBatch};
use laws::{EnergyDensity, InelasticTriangles, ViscoelasticTriangles, factors};
use rayon::prelude::*;
use std::sync::Arc;

/// Tensile part of the stress of a triangle times its area, in N·m.
pub type Tension = [f32; 3];

/// The forces at the second and third corner of a triangle, in N; that at the first one is minus their sum.
type CornerForces = [[f64; 3]; 2];

/// Moduli in N/m, bending rigidities in N·m and Kelvin-Voigt times in s of one cloth.
#[derive(Clone, Copy, Debug)]
struct MembraneModuli {
    /// C₁₁, C₂₂, C₁₂, C₃₃.
    elastic: [f64; 4],
    /// Of strips along warp and weft.
    bending: [f64; 2],
    stretch_damping: f64,
    shear_damping: f64,
}

impl MembraneModuli {
    fn new(material: &Material) -> Self {
        Self {
            elastic: material.membrane_moduli(),
            bending: [material.bend_warp, material.bend_weft],
            stretch_damping: material.stretch_damping,
            shear_damping: material.shear_damping,
        }
    }

    /// Moduli multiplied by the factors on stretch, shear and bending.
    fn scaled(mut self, [stretch, shear, bend]: [f64; 3]) -> Self {
        let [c11, c22, c12, c33] = self.elastic;
        self.bending = self.bending.map(|rigidity| bend * rigidity);
        self.elastic = [stretch * c11, stretch * c22, stretch * c12, shear * c33];
        self
    }

    /// Viscous moduli alone: C·τ/β.
    #[inline(always)]
    fn viscous(&self, inverse_beta: f64) -> [f64; 4] {
        let stretch = self.stretch_damping * inverse_beta;
        let shear = self.shear_damping * inverse_beta;
        let [c11, c22, c12, c33] = self.elastic;
        [stretch * c11, stretch * c22, stretch * c12, shear * c33]
    }
}

/// The membrane of all cloths of a scene.
#[derive(Clone, Debug)]
pub struct Membrane {
    pub(super) triangles: Arc<Vec<[u32; 3]>>,
    gradients: Arc<Vec<ShapeGradients>>,
    areas: Arc<Vec<f64>>,
    cloth_of_triangle: Arc<Vec<u32>>,
    /// Of each cloth; of each triangle where their stiffness differs.
    moduli: Vec<MembraneModuli>,
    law_of_triangle: Arc<Vec<u32>>,
    /// Factors on the moduli of stretch, shear and bending of each triangle; empty where all are 1.
    scales: Vec<[f64; 3]>,
    incidence: Arc<Incidence>,
    /// The shape last evaluated, and the elastic plus viscous stress of each triangle there, in N/m.
    shape: Vec<Vec3>,
    stresses: Vec<Strain>,
    buffers: BufferPool<Vec<f64>>,
    inverse_beta: f64,
    pub(super) history: MaterialHistory,
}

/// Energies of a membrane, in J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MembraneEnergy {
    /// Of the strains along warp and weft.
    pub stretch: f64,
    /// Of the shear angle.
    pub shear: f64,
}

impl Membrane {
    /// The membrane of a mesh with one material per cloth.
    #[must_use]
    pub fn new(mesh: &Mesh, materials: &[Material]) -> Self {
        let count = mesh.topology.triangles.len();
        Self {
            triangles: Arc::clone(&mesh.topology.triangles),
            gradients: Arc::clone(&mesh.rest.gradients),
            areas: Arc::clone(&mesh.rest.areas),
            cloth_of_triangle: Arc::clone(&mesh.cloth_of_triangle),
            moduli: materials.iter().map(MembraneModuli::new).collect(),
            law_of_triangle: Arc::clone(&mesh.cloth_of_triangle),
            scales: Vec::new(),
            incidence: Arc::clone(&mesh.topology.incidence),
            shape: Vec::new(),
            stresses: vec![[0.0; 3]; count],
            buffers: BufferPool::new(1),
            inverse_beta: 0.0,
            history: MaterialHistory::new(
                vec![DeformationMode::Membrane],
                materials,
                Arc::clone(&mesh.cloth_of_triangle),
            ),
        }
    }

    /// Returns the membrane with the moduli of stretch, shear and bending of each triangle multiplied.
    #[must_use]
    pub fn with_scales(mut self, scales: Vec<[f64; 3]>) -> Self {
        self.law_of_triangle = Arc::new((0..scales.len() as u32).collect());
        let cloths = self.cloth_of_triangle.iter().map(|cloth| self.moduli[*cloth as usize]);
        self.moduli = cloths.zip(&scales).map(|(moduli, scale)| moduli.scaled(*scale)).collect();
        self.scales = scales;
        self
    }

    /// Returns the membrane with a shared buffer.
    #[must_use]
    pub(crate) fn with_buffers(self, buffers: BufferPool<Vec<f64>>) -> Self {
        Self { buffers, ..self }
    }

    pub(super) fn buffers(&self) -> &BufferPool<Vec<f64>> {
        &self.buffers
    }

    /// New moduli for a cloth.
    pub fn set_material(&mut self, cloth: usize, material: &Material) {
        let moduli = MembraneModuli::new(material);
        if self.scales.is_empty() {
            self.moduli[cloth] = moduli;
        }
        for (triangle, scale) in self.scales.iter().enumerate() {
            if self.cloth_of_triangle[triangle] as usize == cloth {
                self.moduli[triangle] = moduli.scaled(*scale);
            }
        }
        self.history.set_material(cloth, material);
    }

    /// Gradients of shape functions over scaled lengths at rest, for each triangle, in 1/m.
    pub fn set_gradients(&mut self, gradients: Arc<Vec<ShapeGradients>>) {
        self.gradients = gradients;
    }

    /// Number of triangles.
    #[must_use]
    pub fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// Strain of every triangle at `positions`.
    pub fn strains(&self, positions: &[Vec3], strains: &mut [Strain]) {
        self.batch().measure(positions, strains);
    }

    fn batch(&self) -> TriangleBatch<'_> {
        let Self { triangles, gradients, areas, .. } = self;
        TriangleBatch { triangles, gradients, areas }
    }

    /// The law without internal variables, its viscosity for derivatives alone.
    fn viscoelastic(&self, inverse_beta: f64) -> ViscoelasticTriangles<'_> {
        let Self { moduli, law_of_triangle, areas, .. } = self;
        ViscoelasticTriangles { moduli, law_of_triangle, areas, reference: &[], inverse_beta }
    }

    /// Adds the forces at `positions` to `forces`, in N, and returns the potential of elastic and viscous forces, in J.
    /// Stresses and shape are kept for [`Self::predict_stress`] and [`Self::tangent`].
    pub fn evaluate(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, Strain>,
        forces: &mut [Vec3],
    ) -> f64 {
        let StrainHistory { reference, inverse_beta } = history;
        self.inverse_beta = inverse_beta;
        self.shape.clear();
        self.shape.extend_from_slice(positions);
        let mut numbers = self.buffers.take_numbers(6 * self.triangles.len());
        let loads = numbers.as_chunks_mut().0.as_chunks_mut().0;
        let Self { triangles, gradients, areas, moduli, law_of_triangle, scales, .. } = self;
        let stresses = &mut self.stresses;
        let batch = TriangleBatch { triangles, gradients, areas };
        let law = ViscoelasticTriangles { moduli, law_of_triangle, areas, reference, inverse_beta };
        let potential = match self.history.inelastic() {
            None => batch.evaluate(positions, stresses, loads, &law),
            Some(inelastic) => {
                let law = InelasticTriangles { inelastic, scales, viscous: law };
                batch.evaluate(positions, stresses, loads, &law)
            }
        };
        self.gather(loads, forces);
        self.buffers.give(numbers);
        potential
    }

    /// Adds the forces at all corners.
    fn gather(&self, corner_forces: &[CornerForces], forces: &mut [Vec3]) {
        let each =
            forces.par_iter_mut().enumerate().with_min_len(reductions::MIN_VERTICES_PER_TASK);
        each.for_each(|(vertex, force)| {
            for (triangle, corner) in self.incidence.elements_of(vertex) {
                let [second, third] = corner_forces[triangle as usize].map(Vec3::from);
                *force += match corner {
                    0 => -second - third,
                    1 => second,
                    _ => third,
                };
            }
        });
    }

    /// Predicts the stress after the displacement `direction`, to first order: σ + C·B·d. Returns the part that enters
    /// the tangents.
    ///
    /// The geometric stiffness of the *next* tangent is taken at this stress instead of at the stress
    /// found there. In a stiff sheet the latter is dominated by the second-order stretch that a finite
    /// rotation leaves behind, which the next correction removes at once; taking it for tension would
    /// make the sheet appear stiff against bending away. This is Newton's method with displacements and
    /// stresses as independent unknowns (Magisano, Leonetti and Garcea, "How to improve efficiency and
    /// robustness of the Newton method in geometrically non-linear structural problem discretized via
    /// displacement-based finite elements", 2017).
    pub fn predict_stress(&self, direction: &[Vec3], predicted_stress: &mut [Tension]) {
        let Self { shape, stresses, scales, .. } = self;
        let at = StressPoint::After { shape, stresses, displacement: direction };
        let law = self.viscoelastic(self.inverse_beta);
        match self.history.inelastic() {
            None => self.batch().tensions(at, predicted_stress, &law),
            Some(inelastic) => {
                let law = InelasticTriangles { inelastic, scales, viscous: law };
                self.batch().tensions(at, predicted_stress, &law);
            }
        }
    }

    /// The part of the stress at `positions` that enters the tangents, without viscosity or internal variables.
    pub fn elastic_stress(&self, positions: &[Vec3], tensions: &mut [Tension]) {
        let law = self.viscoelastic(0.0);
        self.batch().tensions(StressPoint::At(positions), tensions, &law);
    }

    /// The tangents of some triangles at the last evaluation. Their geometric part is that of the `predicted` stress, or
    /// of the stress there is.
    #[must_use]
    pub fn tangents(&self, members: &[u32], predicted: Option<&[Tension]>) -> Vec<TriangleTangent> {
        let Self { shape, stresses, scales, .. } = self;
        let (batch, law) = (self.batch(), self.viscoelastic(self.inverse_beta));
        match self.history.inelastic() {
            None => dispatch(Tangents { batch, members, shape, stresses, predicted, law: &law }),
            Some(inelastic) => {
                let law = &InelasticTriangles { inelastic, scales, viscous: law };
                dispatch(Tangents { batch, members, shape, stresses, predicted, law })
            }
        }
    }

    /// The tangent of a triangle at the last evaluation.
    #[must_use]
    pub fn tangent(&self, triangle: usize) -> TriangleTangent {
        self.tangents(&[triangle as u32], None)[0]
    }

    /// Elastic energy at `positions`.
    #[must_use]
    pub fn energy(&self, positions: &[Vec3]) -> MembraneEnergy {
        let (mut energy, law) = (MembraneEnergy::default(), self.viscoelastic(0.0));
        for (t, corners) in self.triangles.iter().enumerate() {
            let strain = green_strain(&derivatives(corners, &self.gradients[t], positions));
            let area = self.areas[t];
            if let Some(inelastic) = self.history.inelastic() {
                let [warp, weft, shear] =
                    inelastic.law(t).stored_energy(&strain, inelastic.internal_variables(t));
                let [by_stretch, by_shear] = factors(&self.scales, t);
                energy.stretch += area * by_stretch * (warp + weft);
                energy.shear += area * by_shear * shear;
                continue;
            }
            let (density, shear) = dispatch(EnergyDensity { law: &law, triangle: t, strain });
            energy.stretch += area * (density - shear);
            energy.shear += area * shear;
        }
        energy
    }
}

/// The largest principal stretch of any triangle of a mesh, less 1, with the `gradients` of their shape functions.
#[must_use]
pub fn largest_stretch(mesh: &Mesh, gradients: &[ShapeGradients], positions: &[Vec3]) -> f64 {
    let triangles = mesh.topology.triangles.par_iter().zip(gradients);
    let each = triangles.with_min_len(reductions::MIN_ELEMENTS_PER_TASK);
    each.map(|(corners, gradients)| stretch(corners, gradients, positions))
        .reduce(|| -1.0, f64::max)
}

/// The largest principal stretch of a triangle, less 1.
#[must_use]
pub fn stretch(corners: &[u32; 3], gradients: &ShapeGradients, positions: &[Vec3]) -> f64 {
    let [e11, e22, e12] = green_strain(&derivatives(corners, gradients, positions));
    let largest = 0.5 * (e11 + e22) + (0.25 * (e11 - e22).powi(2) + 0.25 * e12.powi(2)).sqrt();
    (1.0 + 2.0 * largest).max(0.0).sqrt() - 1.0
}

/// Derivatives of `field` along warp and weft in a triangle.
#[inline(always)]
fn derivatives(corners: &[u32; 3], [b, c]: &ShapeGradients, field: &[Vec3]) -> [Vec3; 2] {
    let [x, y, z] = corners.map(|vertex| &field[vertex as usize]);
    let (y, z) = (y - x, z - x);
    [y * b[0] + z * c[0], y * b[1] + z * c[1]]
}

#[inline(always)]
fn green_strain([su, sv]: &[Vec3; 2]) -> Strain {
    [0.5 * (su.norm_squared() - 1.0), 0.5 * (sv.norm_squared() - 1.0), su.dot(sv)]
}

/// The stress with its compressive principal values set to 0.
#[inline(always)]
pub(super) fn tensile_part([s11, s22, s12]: &Strain) -> Strain {
    let mean = 0.5 * (s11 + s22);
    let half = 0.5 * (s11 - s22);
    let radius = (half * half + s12 * s12).sqrt();
    if mean >= radius {
        return [*s11, *s22, *s12];
    }
    if mean <= -radius {
        return [0.0; 3];
    }
    // One tensile principal value, mean + radius, along its direction.
    let value = 0.5 * (mean + radius);
    let (cosine, sine) = (half / radius, s12 / radius);
    [value * (1.0 + cosine), value * (1.0 - cosine), value * sine]
}
