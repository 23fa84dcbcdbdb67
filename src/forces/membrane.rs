// SPDX-License-Identifier: MIT OR Apache-2.0
//! Orthotropic membrane on linear triangles.
//!
//! With s_u, s_v the derivatives of the position along warp and weft, the Green strains are
//! ε = (½(⟨s_u,s_u⟩ − 1), ½(⟨s_v,s_v⟩ − 1), ⟨s_u,s_v⟩) (Etzmuss 2002, eq. 2.14, shear in the engineering
//! convention of ERRATA), the energy is W = Σ ½ A εᵀCε and the force is exactly −∂W/∂x. The strain is
//! quadratic in x, so force and tangent need no rotation and no factorisation.
//!
//! The tangent BᵀCB + G(σ) is made positive definite by dropping the compressive part of σ in G. The σ in G is an
//! argument of its own, the *predicted stress*: see [`Membrane::predict_stress`].

mod memory;

use super::{
    StrainHistory,
    inelastic::{Inelastic, Part},
};
use crate::{
    Material, Vec3,
    mesh::{Incidence, Mesh},
    parallel,
};
use rayon::prelude::*;

/// Green strains along warp and weft, and the shear angle ⟨s_u,s_v⟩.
pub type Strain = [f64; 3];

/// Moduli in N/m and Kelvin-Voigt times in s of one cloth.
#[derive(Clone, Copy, Debug)]
struct Moduli {
    /// C₁₁, C₂₂, C₁₂, C₃₃.
    elastic: [f64; 4],
    stretch_damping: f64,
    shear_damping: f64,
}

impl Moduli {
    fn new(material: &Material) -> Self {
        Self {
            elastic: material.membrane_moduli(),
            stretch_damping: material.stretch_damping,
            shear_damping: material.shear_damping,
        }
    }

    /// Those of a fabric so many times as stiff in stretch and in shear.
    fn scaled(mut self, [stretch, shear]: [f64; 2]) -> Self {
        let [c11, c22, c12, c33] = self.elastic;
        self.elastic = [stretch * c11, stretch * c22, stretch * c12, shear * c33];
        self
    }

    /// Elastic plus viscous moduli: C·(1 + τ/β).
    fn tangent(&self, inverse_beta: f64) -> [f64; 4] {
        let stretch = 1.0 + self.stretch_damping * inverse_beta;
        let shear = 1.0 + self.shear_damping * inverse_beta;
        let [c11, c22, c12, c33] = self.elastic;
        [stretch * c11, stretch * c22, stretch * c12, shear * c33]
    }

    /// Viscous moduli alone: C·τ/β.
    fn viscous(&self, inverse_beta: f64) -> [f64; 4] {
        let stretch = self.stretch_damping * inverse_beta;
        let shear = self.shear_damping * inverse_beta;
        let [c11, c22, c12, c33] = self.elastic;
        [stretch * c11, stretch * c22, stretch * c12, shear * c33]
    }
}

/// One triangle at its current shape.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    /// Derivatives along warp and weft.
    s: [Vec3; 2],
    /// Elastic plus viscous stress, in N/m.
    stress: Strain,
    /// Stress that the geometric part of the tangent is taken at, in N/m.
    predicted: Strain,
}

/// The tangent stiffness of one triangle, ready to be asked for its 3×3 blocks.
#[derive(Clone, Copy, Debug)]
pub struct TriangleTangent {
    s: [[f32; 4]; 2],
    /// Area times C₁₁, C₂₂, C₁₂, C₃₃.
    moduli: [f32; 4],
    /// Area times the tensile part of the predicted stress.
    stress: [f32; 3],
    gradients: [[f32; 2]; 3],
}

impl TriangleTangent {
    /// Columns of the block that couples corners `i` and `j`, in N/m; the fourth row is padding.
    #[must_use]
    #[inline(always)]
    pub fn block(&self, i: usize, j: usize) -> [[f32; 4]; 3] {
        let [a, b] = self.gradients[i];
        let [c, d] = self.gradients[j];
        let [c11, c22, c12, c33] = self.moduli;
        let [s11, s22, s12] = self.stress;
        let uu = c11 * a * c + c33 * b * d;
        let uv = c12 * a * d + c33 * b * c;
        let vu = c12 * b * c + c33 * a * d;
        let vv = c22 * b * d + c33 * a * c;
        let geometric = s11 * a * c + s22 * b * d + s12 * (a * d + b * c);
        let [su, sv] = &self.s;
        let along_u: [f32; 4] = std::array::from_fn(|row| su[row] * uu + sv[row] * vu);
        let along_v: [f32; 4] = std::array::from_fn(|row| su[row] * uv + sv[row] * vv);
        let mut columns = [0, 1, 2]
            .map(|k| std::array::from_fn(|row| along_u[row] * su[k] + along_v[row] * sv[k]));
        for (k, column) in columns.iter_mut().enumerate() {
            column[k] += geometric;
        }
        columns
    }
}

/// The membrane of all cloths of a scene.
#[derive(Clone, Debug)]
pub struct Membrane {
    triangles: Vec<[u32; 3]>,
    gradients: Vec<[[f64; 2]; 3]>,
    areas: Vec<f64>,
    cloth_of_triangle: Vec<u32>,
    /// Of each cloth; of each triangle where their stiffness differs.
    moduli: Vec<Moduli>,
    law_of_triangle: Vec<u32>,
    /// Factors on the moduli of stretch and shear of each triangle; empty where all are 1.
    scales: Vec<[f64; 2]>,
    incidence: Incidence,
    shapes: Vec<Shape>,
    corner_forces: Vec<[Vec3; 3]>,
    inverse_beta: f64,
    materials: Vec<Material>,
    /// Where the past matters.
    inelastic: Option<Inelastic>,
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
        let new = || Inelastic::new(Part::Membrane, materials, &mesh.cloth_of_triangle);
        Self {
            triangles: mesh.topology.triangles.clone(),
            gradients: mesh.rest.gradients.clone(),
            areas: mesh.rest.areas.clone(),
            cloth_of_triangle: mesh.cloth_of_triangle.clone(),
            moduli: materials.iter().map(Moduli::new).collect(),
            law_of_triangle: mesh.cloth_of_triangle.clone(),
            scales: Vec::new(),
            incidence: Incidence::new(&mesh.topology.triangles, mesh.vertex_count()),
            shapes: vec![Shape::default(); count],
            corner_forces: vec![[Vec3::zeros(); 3]; count],
            inverse_beta: 0.0,
            inelastic: materials.iter().any(Material::is_inelastic).then(new),
            materials: materials.to_vec(),
        }
    }

    /// The same membrane with the moduli of stretch and shear of each triangle multiplied.
    #[must_use]
    pub fn with_scales(mut self, scales: Vec<[f64; 2]>) -> Self {
        self.law_of_triangle = (0..scales.len() as u32).collect();
        let cloths = self.cloth_of_triangle.iter().map(|cloth| self.moduli[*cloth as usize]);
        self.moduli = cloths.zip(&scales).map(|(moduli, scale)| moduli.scaled(*scale)).collect();
        self.scales = scales;
        self
    }

    /// New moduli for a cloth.
    pub fn set_material(&mut self, cloth: usize, material: &Material) {
        let moduli = Moduli::new(material);
        if self.scales.is_empty() {
            self.moduli[cloth] = moduli;
        }
        for (triangle, scale) in self.scales.iter().enumerate() {
            if self.cloth_of_triangle[triangle] as usize == cloth {
                self.moduli[triangle] = moduli.scaled(*scale);
            }
        }
        self.materials[cloth] = material.clone();
        if let Some(inelastic) = &mut self.inelastic {
            inelastic.set_material(cloth, material);
        } else if material.is_inelastic() {
            self.inelastic = Some(self.new_inelastic());
        }
    }

    /// Gradients of shape functions over scaled lengths at rest, for each triangle, in 1/m.
    pub fn set_gradients(&mut self, gradients: Vec<[[f64; 2]; 3]>) {
        self.gradients = gradients;
    }

    /// Number of triangles.
    #[must_use]
    pub fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// Strain of every triangle at `positions`.
    pub fn strains(&self, positions: &[Vec3], strains: &mut [Strain]) {
        let each = (strains, &self.triangles, &self.gradients).into_par_iter();
        each.with_min_len(parallel::ELEMENTS).for_each(|(strain, corners, gradients)| {
            *strain = green_strain(&derivatives(corners, gradients, positions));
        });
    }

    /// Adds the forces at `positions` to `forces`, in N, and gives the potential of elastic and viscous
    /// forces, in J. What is found here serves [`Self::predict_stress`] and [`Self::tangent`].
    pub fn evaluate(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, Strain>,
        forces: &mut [Vec3],
    ) -> f64 {
        let StrainHistory { reference, inverse_beta } = history;
        self.inverse_beta = inverse_beta;
        let Self { triangles, gradients, areas, moduli, law_of_triangle, inelastic, .. } = self;
        let results = (self.shapes.as_mut_slice(), self.corner_forces.as_mut_slice());
        let sheet = Sheet { triangles, gradients, areas };
        let law = |t: usize| &moduli[law_of_triangle[t] as usize];
        let potential = match inelastic {
            None => sheet.evaluate(positions, results, |t, strain| {
                respond(law(t), strain, &reference[t], inverse_beta)
            }),
            Some(inelastic) => sheet.evaluate(positions, results, |t, strain| {
                let inner = inelastic.respond(t, strain);
                let (viscous, potential) = resist(law(t), strain, &reference[t], inverse_beta);
                let stress = [0, 1, 2].map(|k| inner.stress[k] + viscous[k]);
                (stress, inner.potential + potential)
            }),
        };
        self.gather(forces);
        potential
    }

    fn gather(&self, forces: &mut [Vec3]) {
        let each = forces.par_iter_mut().enumerate().with_min_len(parallel::VERTICES);
        each.for_each(|(vertex, force)| {
            for (triangle, corner) in self.incidence.around(vertex) {
                *force += self.corner_forces[*triangle as usize][*corner as usize];
            }
        });
    }

    /// Predicts the stress after the displacement `direction`, to first order: σ + C·B·d.
    ///
    /// The geometric stiffness of the *next* tangent is taken at this stress instead of at the stress
    /// found there. In a stiff sheet the latter is dominated by the second-order stretch that a finite
    /// rotation leaves behind, which the next correction removes at once; taking it for tension would
    /// make the sheet appear stiff against bending away. This is Newton's method with displacements and
    /// stresses as independent unknowns (Magisano, Leonetti and Garcea, "How to improve efficiency and
    /// robustness of the Newton method in geometrically non-linear structural problem discretized via
    /// displacement-based finite elements", 2017).
    pub fn predict_stress(&self, direction: &[Vec3], predicted: &mut [Strain]) {
        match &self.inelastic {
            None => self.predict_by(direction, predicted, |t| self.viscoelastic(t)),
            Some(inelastic) => {
                self.predict_by(direction, predicted, |t| self.remembering(inelastic, t));
            }
        }
    }

    /// The same for the derivatives of the stress of each triangle by its strain.
    fn predict_by(
        &self,
        direction: &[Vec3],
        predicted: &mut [Strain],
        moduli: impl Fn(usize) -> [f64; 4] + Sync,
    ) {
        let each = predicted.par_iter_mut().enumerate().with_min_len(parallel::ELEMENTS);
        each.for_each(|(t, predicted)| {
            let change = derivatives(&self.triangles[t], &self.gradients[t], direction);
            let [su, sv] = &self.shapes[t].s;
            let [du, dv] = &change;
            let strain = [su.dot(du), sv.dot(dv), su.dot(dv) + sv.dot(du)];
            let step = apply(&moduli(t), &strain);
            let stress = &self.shapes[t].stress;
            *predicted = [0, 1, 2].map(|k| stress[k] + step[k]);
        });
    }

    /// Takes the stress of the geometric stiffness from a prediction.
    pub fn set_predicted_stress(&mut self, predicted: &[Strain]) {
        for (shape, predicted) in self.shapes.iter_mut().zip(predicted) {
            shape.predicted = *predicted;
        }
    }

    /// The tangents of all triangles at the last evaluation.
    pub fn tangents(&self, tangents: &mut Vec<TriangleTangent>) {
        let each = (0..self.triangle_count()).into_par_iter().with_min_len(parallel::ELEMENTS);
        match &self.inelastic {
            None => {
                each.map(|t| self.tangent_by(t, self.viscoelastic(t))).collect_into_vec(tangents);
            }
            Some(inelastic) => each
                .map(|t| self.tangent_by(t, self.remembering(inelastic, t)))
                .collect_into_vec(tangents),
        }
    }

    /// The tangent of a triangle at the last evaluation.
    #[must_use]
    pub fn tangent(&self, triangle: usize) -> TriangleTangent {
        let moduli = match &self.inelastic {
            None => self.viscoelastic(triangle),
            Some(inelastic) => self.remembering(inelastic, triangle),
        };
        self.tangent_by(triangle, moduli)
    }

    #[inline]
    fn tangent_by(&self, triangle: usize, moduli: [f64; 4]) -> TriangleTangent {
        let shape = &self.shapes[triangle];
        let area = self.areas[triangle];
        let scaled = |value: f64| (area * value) as f32;
        TriangleTangent {
            s: shape.s.map(|s| [s.x as f32, s.y as f32, s.z as f32, 0.0]),
            moduli: moduli.map(scaled),
            stress: tensile_part(&shape.predicted).map(scaled),
            gradients: self.gradients[triangle].map(|g| g.map(|value| value as f32)),
        }
    }

    /// Derivatives of the stress of a triangle by its strain where the past does not matter.
    #[inline]
    fn viscoelastic(&self, triangle: usize) -> [f64; 4] {
        self.moduli[self.law_of_triangle[triangle] as usize].tangent(self.inverse_beta)
    }

    /// The same where it does.
    fn remembering(&self, inelastic: &Inelastic, triangle: usize) -> [f64; 4] {
        let moduli = &self.moduli[self.law_of_triangle[triangle] as usize];
        let strain = green_strain(&self.shapes[triangle].s);
        let inner = inelastic.respond(triangle, &strain).moduli;
        let viscous = moduli.viscous(self.inverse_beta);
        std::array::from_fn(|k| inner[k] + viscous[k])
    }

    /// Elastic energy at `positions`.
    #[must_use]
    pub fn energy(&self, positions: &[Vec3]) -> MembraneEnergy {
        let mut energy = MembraneEnergy::default();
        for (t, corners) in self.triangles.iter().enumerate() {
            let strain = green_strain(&derivatives(corners, &self.gradients[t], positions));
            let area = self.areas[t];
            if let Some(inelastic) = &self.inelastic {
                let [stretch, shear] = inelastic.law(t).stored(&strain, inelastic.memory(t));
                energy.stretch += area * stretch;
                energy.shear += area * shear;
                continue;
            }
            let stress = apply(&self.moduli[self.law_of_triangle[t] as usize].elastic, &strain);
            energy.stretch += 0.5 * area * (strain[0] * stress[0] + strain[1] * stress[1]);
            energy.shear += 0.5 * area * strain[2] * stress[2];
        }
        energy
    }
}

/// Triangles at rest.
struct Sheet<'a> {
    triangles: &'a [[u32; 3]],
    gradients: &'a [[[f64; 2]; 3]],
    areas: &'a [f64],
}

impl Sheet<'_> {
    /// Finds shapes and forces at all corners from the stress, and its potential per area, that `respond` gives
    /// for a triangle and its strain. Gives the potential, in J.
    fn evaluate(
        &self,
        positions: &[Vec3],
        (shapes, corner_forces): (&mut [Shape], &mut [[Vec3; 3]]),
        respond: impl Fn(usize, &Strain) -> (Strain, f64) + Sync,
    ) -> f64 {
        let one = |t: usize, shape: &mut Shape, corner_forces: &mut [Vec3; 3]| {
            let s = derivatives(&self.triangles[t], &self.gradients[t], positions);
            let (stress, potential) = respond(t, &green_strain(&s));
            *corner_forces = forces_at_corners(&s, &stress, &self.gradients[t], self.areas[t]);
            *shape = Shape { s, stress, predicted: stress };
            self.areas[t] * potential
        };
        parallel::sum2(shapes, corner_forces, parallel::ELEMENTS, one)
    }
}

/// The largest principal stretch of any triangle of a mesh, less 1.
#[must_use]
pub fn largest_stretch(mesh: &Mesh, positions: &[Vec3]) -> f64 {
    let triangles = mesh.topology.triangles.par_iter().zip(&mesh.rest.gradients);
    let each = triangles.with_min_len(parallel::ELEMENTS);
    let stretch = |(corners, gradients): (&[u32; 3], &[[f64; 2]; 3])| {
        let [e11, e22, e12] = green_strain(&derivatives(corners, gradients, positions));
        let largest = 0.5 * (e11 + e22) + (0.25 * (e11 - e22).powi(2) + 0.25 * e12.powi(2)).sqrt();
        (1.0 + 2.0 * largest).max(0.0).sqrt() - 1.0
    };
    each.map(stretch).reduce(|| -1.0, f64::max)
}

/// Derivatives of `field` along warp and weft in a triangle.
#[inline(always)]
fn derivatives(corners: &[u32; 3], gradients: &[[f64; 2]; 3], field: &[Vec3]) -> [Vec3; 2] {
    let [x, y, z] = corners.map(|vertex| field[vertex as usize]);
    [0, 1].map(|axis| x * gradients[0][axis] + y * gradients[1][axis] + z * gradients[2][axis])
}

#[inline(always)]
fn green_strain([su, sv]: &[Vec3; 2]) -> Strain {
    [0.5 * (su.norm_squared() - 1.0), 0.5 * (sv.norm_squared() - 1.0), su.dot(sv)]
}

#[inline(always)]
fn apply([c11, c22, c12, c33]: &[f64; 4], [e11, e22, e12]: &Strain) -> Strain {
    [c11 * e11 + c12 * e22, c12 * e11 + c22 * e22, c33 * e12]
}

#[inline(always)]
fn dot(a: &Strain, b: &Strain) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Elastic plus viscous stress in N/m, and their potential per area in J/m².
#[inline(always)]
fn respond(
    moduli: &Moduli,
    strain: &Strain,
    reference: &Strain,
    inverse_beta: f64,
) -> (Strain, f64) {
    let elastic = apply(&moduli.elastic, strain);
    let change = [0, 1, 2].map(|k| strain[k] - reference[k]);
    let viscous = apply(&moduli.viscous(inverse_beta), &change);
    let potential = 0.5 * (dot(strain, &elastic) + dot(&change, &viscous));
    ([0, 1, 2].map(|k| elastic[k] + viscous[k]), potential)
}

/// Viscous stress in N/m, and its potential per area in J/m².
fn resist(
    moduli: &Moduli,
    strain: &Strain,
    reference: &Strain,
    inverse_beta: f64,
) -> (Strain, f64) {
    let change = [0, 1, 2].map(|k| strain[k] - reference[k]);
    let stress = apply(&moduli.viscous(inverse_beta), &change);
    (stress, 0.5 * dot(&change, &stress))
}

#[inline(always)]
fn forces_at_corners(
    [su, sv]: &[Vec3; 2],
    [s11, s22, s12]: &Strain,
    gradients: &[[f64; 2]; 3],
    area: f64,
) -> [Vec3; 3] {
    let along_warp = (su * *s11 + sv * *s12) * -area;
    let along_weft = (sv * *s22 + su * *s12) * -area;
    gradients.map(|[a, b]| along_warp * a + along_weft * b)
}

/// The stress with its compressive principal values set to 0.
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
