// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linear triangles with the strains of Huber 2018, section 2.2.1, in place of Green's: the linear strain ½(∇u + ∇uᵀ) (eq.
//! 2.66) and the co-rotational one, U − I (eq. 2.67 as corrected: as printed it does not remove rotations).
//!
//! With F = (s_u, s_v) both are sym(RᵀF) − I. R is that of the rest shape for the linear strain, which therefore takes
//! rotations for stretch and does not resist displacements normal to the shape at rest; for the co-rotational one it is
//! that of F = RU. The stress σ = Cε is linear in tension and compression alike.
//!
//! The force is the gradient of ½ A εᵀCε. In F that is P = R(S + aJ) with J = ((0, 1), (−1, 0)) and a = −S:(JU)/tr U: RS alone, the
//! force that is commonly used, turns the triangle unless the material is isotropic. Here P = Σ_k σ_k ∂ε_k/∂F, in which ∂U/∂F
//! contains a.
//!
//! The tangent is the positive part of the second derivative by F: in the plane a matrix of 4 × 4, BᵀCB + Σ_k σ_k ∂²ε_k/∂F² with
//! B = ∂ε/∂F, whose second part alone is indefinite in tension, too; along the normal the tensile part of the second
//! Piola-Kirchhoff stress U⁻¹(S + aJ). The linear strain has BᵀCB alone.

use crate::{
    forces::{
        Strain,
        elements::{
            AddBlock, BlockColumns, ElasticEnergy, ElementLoads, Elements, MemberTangents,
            StoredTangents, Tangents, add_scaled, columns,
        },
        fem::plate_bending,
        inelastic::{DeformationMode, MaterialHistory, apply},
        membrane::tensile_part,
        model_input::{ModelInput, scaled_gradients},
        strain_history::StrainHistory,
    },
    material::Material,
    mesh::{Mesh, ShapeGradients, gradients_of_all_corners},
    parallel::{BufferPool, reductions},
    vec3::Vec3,
};
use nalgebra::Matrix4;
use rayon::prelude::*;
use std::sync::Arc;

/// Ratio of the area of a triangle to that at rest down to which its rotation is exact; below it divisions are by this
/// ratio. Evidence: none; a guard against division by 0.
const MIN_AREA_RATIO: f64 = 1.0e-6;

/// Triangles with linear strain, bent as those of the default model.
#[must_use]
pub fn fem_linear(input: &ModelInput<'_>) -> Vec<Box<dyn Elements>> {
    vec![Box::new(StrainTriangles::new(input, false)), plate_bending(input, BufferPool::new(1))]
}

/// Triangles with co-rotational strain, bent as those of the default model.
#[must_use]
pub fn fem_corotational(input: &ModelInput<'_>) -> Vec<Box<dyn Elements>> {
    vec![Box::new(StrainTriangles::new(input, true)), plate_bending(input, BufferPool::new(1))]
}

/// Two directions in the plane of a triangle.
type Axes = [Vec3; 2];

/// Derivatives of the three strains by s_u and s_v.
type StrainRates = [[Vec3; 2]; 3];

/// A triangle at the shape last evaluated.
#[derive(Clone, Copy, Debug, Default)]
struct TriangleShape {
    /// Derivatives of the strains by each corner.
    rates: [[Vec3; 3]; 3],
    /// Elastic and viscous, in N/m.
    stress: Strain,
    predicted_stress: Strain,
    /// The one in the geometric part of the next tangent.
    tangent_stress: Strain,
    /// U₁₁, U₂₂, U₁₂.
    stretch: Strain,
    axes: Axes,
    /// Area times the derivatives of the stress by the strain, in N·m.
    moduli: [f64; 4],
    /// Area times the tensile stress along the normal, in N·m.
    tension: Strain,
    /// In-plane part of the tangent: the sum of the products of these vectors of each corner.
    in_plane: [[Vec3; 4]; 3],
}

/// Moduli in N/m and Kelvin-Voigt times of stretch and shear in s of one cloth.
#[derive(Clone, Copy, Debug)]
struct TriangleLaw {
    moduli: [f64; 4],
    damping: [f64; 2],
}

impl TriangleLaw {
    fn new(material: &Material) -> Self {
        Self {
            moduli: material.membrane_moduli(),
            damping: [material.stretch_damping, material.shear_damping],
        }
    }
}

#[derive(Clone, Debug)]
struct StrainTriangles {
    is_corotational: bool,
    gradients: Arc<Vec<ShapeGradients>>,
    areas: Arc<Vec<f64>>,
    cloth_of_triangle: Arc<Vec<u32>>,
    /// Warp and weft of each triangle at rest.
    axes: Vec<Axes>,
    /// Factors on the moduli of stretch and shear of each triangle.
    factors: Vec<[f64; 2]>,
    laws: Vec<TriangleLaw>,
    loads: ElementLoads<3>,
    shapes: Vec<TriangleShape>,
    history: MaterialHistory,
    inverse_beta: f64,
}

impl StrainTriangles {
    fn new(input: &ModelInput<'_>, is_corotational: bool) -> Self {
        let ModelInput { mesh, materials, .. } = *input;
        let triangles = &mesh.topology.triangles;
        let axes = |triangle: usize| {
            let gradients = gradients_of_all_corners(&mesh.rest.gradients[triangle]);
            [0, 1].map(|axis| {
                let corners = triangles[triangle].iter().zip(&gradients);
                corners.map(|(v, along)| mesh.rest.positions[*v as usize] * along[axis]).sum()
            })
        };
        let factors = |corners: &[u32; 3]| {
            let [stretch, shear, _] = input.mean_property_scale(corners);
            [stretch, shear]
        };
        Self {
            is_corotational,
            gradients: scaled_gradients(mesh, input.rest_scale),
            areas: Arc::clone(&mesh.rest.areas),
            cloth_of_triangle: Arc::clone(&mesh.cloth_of_triangle),
            axes: (0..triangles.len()).map(axes).collect(),
            factors: triangles.iter().map(factors).collect(),
            laws: materials.iter().map(TriangleLaw::new).collect(),
            loads: ElementLoads::new(triangles.to_vec(), mesh.vertex_count()),
            shapes: vec![TriangleShape::default(); triangles.len()],
            history: MaterialHistory::new(
                vec![DeformationMode::Membrane],
                materials,
                Arc::clone(&mesh.cloth_of_triangle),
            ),
            inverse_beta: 0.0,
        }
    }

    /// C of a triangle, and C·τ/β.
    fn moduli(&self, triangle: usize) -> [[f64; 4]; 2] {
        let law = &self.laws[self.cloth_of_triangle[triangle] as usize];
        let [plane, shear] = self.factors[triangle];
        let [c11, c22, c12, c33] = law.moduli;
        let elastic = [plane * c11, plane * c22, plane * c12, shear * c33];
        let [stretch, sheared] = law.damping.map(|time| time * self.inverse_beta);
        let [e11, e22, e12, e33] = elastic;
        [elastic, [stretch * e11, stretch * e22, stretch * e12, sheared * e33]]
    }

    /// Derivatives of `field` along warp and weft.
    fn derivatives(&self, triangle: usize, field: &[Vec3]) -> Axes {
        let gradients = gradients_of_all_corners(&self.gradients[triangle]);
        let corners = self.loads.vertices[triangle].iter().zip(&gradients);
        let at = |axis: usize| {
            corners.clone().map(|(vertex, along)| field[*vertex as usize] * along[axis]).sum()
        };
        [at(0), at(1)]
    }

    /// Strain of a triangle, its stretch U, and the axes R.
    fn kinematics(&self, triangle: usize, positions: &[Vec3]) -> (Strain, Strain, Axes) {
        let [su, sv] = self.derivatives(triangle, positions);
        if !self.is_corotational {
            let [ru, rv] = self.axes[triangle];
            let strain = [ru.dot(&su) - 1.0, rv.dot(&sv) - 1.0, ru.dot(&sv) + rv.dot(&su)];
            return (strain, [1.0, 1.0, 0.0], [ru, rv]);
        }
        let (c11, c22, c12) = (su.norm_squared(), sv.norm_squared(), su.dot(&sv));
        let area = su.cross(&sv).norm();
        let trace = (c11 + c22 + 2.0 * area).sqrt().max(MIN_AREA_RATIO);
        let stretch = [(c11 + area) / trace, (c22 + area) / trace, c12 / trace];
        let [u11, u22, u12] = stretch;
        let divisor = area.max(MIN_AREA_RATIO);
        let axes = [(su * u22 - sv * u12) / divisor, (sv * u11 - su * u12) / divisor];
        ([u11 - 1.0, u22 - 1.0, 2.0 * u12], stretch, axes)
    }

    /// Strains of all triangles.
    fn strains(&self, positions: &[Vec3]) -> Vec<Strain> {
        let each = (0..self.areas.len()).into_par_iter();
        let each = each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK);
        each.map(|triangle| self.kinematics(triangle, positions).0).collect()
    }

    /// Shape and loads of a triangle, and its potential in J.
    fn evaluate_one(
        &self,
        triangle: usize,
        positions: &[Vec3],
        reference: Option<&Strain>,
    ) -> (TriangleShape, [Vec3; 3], f64) {
        let (strain, stretch, axes) = self.kinematics(triangle, positions);
        let [elastic, viscous] = self.moduli(triangle);
        let (stress, density, tangent) = match self.history.inelastic() {
            None => {
                let stress = apply(&elastic, &strain);
                (stress, 0.5 * dot(&strain, &stress), elastic)
            }
            Some(inelastic) => {
                let response = inelastic.respond(triangle, &strain).scaled(self.factors[triangle]);
                (response.stress, response.potential(), response.moduli)
            }
        };
        let change = reference.map_or([0.0; 3], |past| [0, 1, 2].map(|k| strain[k] - past[k]));
        let viscous_stress = apply(&viscous, &change);
        let area = self.areas[triangle];
        let stress = [0, 1, 2].map(|k| stress[k] + viscous_stress[k]);
        let by_axis = strain_rates(&axes, &stretch, self.is_corotational);
        let gradients = gradients_of_all_corners(&self.gradients[triangle]);
        let rates =
            gradients.map(|[u, v]| by_axis.map(|[along_u, along_v]| along_u * u + along_v * v));
        let loads = rates.map(|rates| {
            (rates[0] * stress[0] + rates[1] * stress[1] + rates[2] * stress[2]) * -area
        });
        let shape = TriangleShape {
            rates,
            stress,
            tangent_stress: stress,
            predicted_stress: stress,
            stretch,
            axes,
            moduli: [0, 1, 2, 3].map(|k| area * (tangent[k] + viscous[k])),
            tension: [0.0; 3],
            in_plane: [[Vec3::zeros(); 4]; 3],
        };
        (shape, loads, area * (density + 0.5 * dot(&change, &viscous_stress)))
    }
}

/// ∂ε/∂s_u and ∂ε/∂s_v. With F changed, R turns in its plane by (r_u·ds_v − r_v·ds_u)/tr U.
fn strain_rates([ru, rv]: &Axes, [u11, u22, u12]: &Strain, is_corotational: bool) -> StrainRates {
    if !is_corotational {
        return [[*ru, Vec3::zeros()], [Vec3::zeros(), *rv], [*rv, *ru]];
    }
    let trace = (u11 + u22).max(MIN_AREA_RATIO);
    let turn = u12 / trace;
    [
        [ru + rv * turn, ru * -turn],
        [rv * -turn, rv + ru * turn],
        [rv * (2.0 * u22 / trace), ru * (2.0 * u11 / trace)],
    ]
}

/// Second Piola-Kirchhoff stress U⁻¹(S + aJ) of the stress S.
fn piola_kirchhoff(stress: &Strain, stretch: &Strain) -> Strain {
    let ([s11, s22, s12], [u11, u22, u12]) = (stress, stretch);
    let turn = -turning_stress(stress, stretch);
    let area = (u11 * u22 - u12 * u12).max(MIN_AREA_RATIO);
    [
        (u22 * s11 - u12 * (s12 - turn)) / area,
        (u11 * s22 - u12 * (s12 + turn)) / area,
        (u22 * (s12 + turn) - u12 * s22) / area,
    ]
}

/// −a of the stress S, in N/m.
fn turning_stress([s11, s22, s12]: &Strain, [u11, u22, u12]: &Strain) -> f64 {
    (u12 * (s11 - s22) + s12 * (u22 - u11)) / (u11 + u22).max(MIN_AREA_RATIO)
}

/// Change of the stretch, (dU₁₁, dU₂₂, dU₁₂), and angle in rad by which R turns for M = RᵀdF, given as
/// (M₁₁, M₁₂, M₂₁, M₂₂).
fn stretch_rate([u11, u22, u12]: &Strain, m: [f64; 4], is_corotational: bool) -> (Strain, f64) {
    let trace = (u11 + u22).max(MIN_AREA_RATIO);
    let turn = if is_corotational { (m[1] - m[2]) / trace } else { 0.0 };
    let shear = 0.5 * (m[1] + m[2] - turn * (u22 - u11));
    ([m[0] - turn * u12, m[3] + turn * u12, shear], turn)
}

/// A matrix by its products with the four unit vectors.
fn by_columns(column: impl Fn([f64; 4]) -> [f64; 4]) -> Matrix4<f64> {
    let unit = |k: usize| std::array::from_fn(|i| if i == k { 1.0 } else { 0.0 });
    Matrix4::from_columns(&[0, 1, 2, 3].map(|k| column(unit(k)).into()))
}

/// BᵀCB by M, times the area.
fn linear_stiffness(shape: &TriangleShape, is_corotational: bool) -> Matrix4<f64> {
    let rates = by_columns(|m| {
        let ([d11, d22, d12], _) = stretch_rate(&shape.stretch, m, is_corotational);
        [d11, d22, 2.0 * d12, 0.0]
    });
    let stresses = by_columns(|[warp, weft, shear, _]| {
        let [s11, s22, s12] = apply(&shape.moduli, &[warp, weft, shear]);
        [s11, s22, s12, 0.0]
    });
    rates.transpose() * stresses * rates
}

/// Σ_k σ_k ∂²ε_k/∂M², in N/m. With R turned by α, RᵀdP = αJ(S + aJ) + da J.
fn geometric_stiffness(shape: &TriangleShape) -> Matrix4<f64> {
    let [s11, s22, s12] = shape.tangent_stress;
    let [u11, u22, _] = shape.stretch;
    let a = -turning_stress(&shape.tangent_stress, &shape.stretch);
    let matrix = by_columns(|m| {
        let ([d11, d22, d12], turn) = stretch_rate(&shape.stretch, m, true);
        let change = (s11 - s22) * d12 + s12 * (d22 - d11) + a * (d11 + d22);
        let da = -change / (u11 + u22).max(MIN_AREA_RATIO);
        [turn * (s12 - a), turn * s22 + da, -turn * s11 - da, -turn * (s12 + a)]
    });
    (matrix + matrix.transpose()) * 0.5
}

/// Vectors whose products sum to the positive part of a symmetric matrix.
fn positive_factors(matrix: &Matrix4<f64>) -> [[f64; 4]; 4] {
    let eigen = matrix.symmetric_eigen();
    [0, 1, 2, 3].map(|k| {
        let scale = eigen.eigenvalues[k].max(0.0).sqrt();
        std::array::from_fn(|i| scale * eigen.eigenvectors[(i, k)])
    })
}

fn dot(a: &Strain, b: &Strain) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl AddBlock<3> for StrainTriangles {
    fn add_block(&self, element: usize, i: usize, j: usize, block: &mut BlockColumns) {
        let TriangleShape { tension, axes, in_plane, .. } = &self.shapes[element];
        let gradients = gradients_of_all_corners(&self.gradients[element]);
        let ([a, b], [c, d]) = (gradients[i], gradients[j]);
        let along = tension[0] * a * c + tension[1] * b * d + tension[2] * (a * d + b * c);
        let normal = axes[0].cross(&axes[1]);
        let mut sum = normal * (normal * along).transpose();
        for (left, right) in in_plane[i].iter().zip(&in_plane[j]) {
            sum += left * right.transpose();
        }
        add_scaled(block, 1.0, &columns(&sum));
    }
}

impl Elements for StrainTriangles {
    fn vertices(&self) -> &[u32] {
        self.loads.vertices.as_flattened()
    }

    fn corner_count(&self) -> usize {
        3
    }

    fn measure_count(&self) -> usize {
        3 * self.areas.len()
    }

    fn measure(&self, positions: &[Vec3], measures: &mut [f64]) {
        measures.as_chunks_mut().0.copy_from_slice(&self.strains(positions));
    }

    fn evaluate(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, f64>,
        forces: &mut [Vec3],
    ) -> f64 {
        self.inverse_beta = history.inverse_beta;
        let references: &[Strain] = history.reference.as_chunks().0;
        let mut shapes = std::mem::take(&mut self.shapes);
        let mut loads = std::mem::take(&mut self.loads.forces);
        let one = |triangle: usize, shape: &mut TriangleShape, loads: &mut [Vec3; 3]| {
            let (now, forces, potential) =
                self.evaluate_one(triangle, positions, references.get(triangle));
            (*shape, *loads) = (now, forces);
            potential
        };
        let potential =
            reductions::sum_zipped(&mut shapes, &mut loads, reductions::MIN_ELEMENTS_PER_TASK, one);
        (self.shapes, self.loads.forces) = (shapes, loads);
        self.loads.gather(forces);
        potential
    }

    fn predict_stress(&mut self, direction: &[Vec3]) {
        let each = (&mut self.shapes, &self.areas[..], &self.loads.vertices).into_par_iter();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK).for_each(|(shape, area, corners)| {
            let mut change = [0.0; 3];
            for (vertex, rates) in corners.iter().zip(&shape.rates) {
                for (change, rate) in change.iter_mut().zip(rates) {
                    *change += rate.dot(&direction[*vertex as usize]);
                }
            }
            let step = apply(&shape.moduli, &change);
            shape.predicted_stress = [0, 1, 2].map(|k| shape.stress[k] + step[k] / area);
        });
    }

    fn use_predicted_stress(&mut self) {
        for shape in &mut self.shapes {
            shape.tangent_stress = shape.predicted_stress;
        }
    }

    fn update_tangent(&mut self) {
        let each = self.shapes.iter_mut().zip(self.areas.iter()).zip(self.gradients.iter());
        for ((shape, area), gradients) in each {
            let mut in_plane = linear_stiffness(shape, self.is_corotational);
            if self.is_corotational {
                let stress = piola_kirchhoff(&shape.tangent_stress, &shape.stretch);
                shape.tension = tensile_part(&stress).map(|value| area * value);
                in_plane += geometric_stiffness(shape) * *area;
            }
            let in_plane = positive_factors(&in_plane);
            let [ru, rv] = shape.axes;
            shape.in_plane = gradients_of_all_corners(gradients).map(|[u, v]| {
                in_plane.map(|w| ru * (w[0] * u + w[1] * v) + rv * (w[2] * u + w[3] * v))
            });
        }
    }

    fn tangents<'a>(&'a self, members: &'a [u32]) -> Box<dyn Tangents + 'a> {
        Box::new(MemberTangents::<_, 3>(StoredTangents { elements: self, members }))
    }

    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy {
        let mut energy = ElasticEnergy::default();
        for (triangle, strain) in self.strains(positions).iter().enumerate() {
            let area = self.areas[triangle];
            let [warp, weft, shear] = if let Some(inelastic) = self.history.inelastic() {
                let variables = inelastic.internal_variables(triangle);
                let [warp, weft, shear] = inelastic.law(triangle).stored_energy(strain, variables);
                let [plane, across] = self.factors[triangle];
                [plane * warp, plane * weft, across * shear]
            } else {
                let [elastic, _] = self.moduli(triangle);
                let stress = apply(&elastic, strain);
                [0, 1, 2].map(|k| 0.5 * strain[k] * stress[k])
            };
            energy.stretch += area * (warp + weft);
            energy.shear += area * shear;
        }
        energy
    }

    fn set_material(&mut self, _mesh: &Mesh, cloth: usize, material: &Material) {
        self.laws[cloth] = TriangleLaw::new(material);
        self.history.set_material(cloth, material);
    }

    fn set_rest_scale(&mut self, mesh: &Mesh, scale: &[[f64; 2]]) {
        self.gradients = scaled_gradients(mesh, scale);
    }

    fn inelastic_strains(&self, positions: &[Vec3]) -> Vec<Strain> {
        self.strains(positions)
    }

    fn material_history(&self) -> Option<&MaterialHistory> {
        Some(&self.history)
    }

    fn material_history_mut(&mut self) -> Option<&mut MaterialHistory> {
        Some(&mut self.history)
    }
}
