// SPDX-License-Identifier: MIT OR Apache-2.0
//! The default model: linear triangles ([`Membrane`]) with plate-exact bending ([`Bending`]).

use super::{
    bending::{Bending, BendingLaw, extrapolate_angle, scalar_stiffness},
    elements::{
        AddBlock, BlockColumns, ElasticEnergy, Elements, MemberTangents, NoTangents,
        ScalarStiffness, Tangents,
    },
    inelastic::MaterialHistory,
    membrane::{Membrane, Tension, TriangleTangent},
    model_input::{ModelInput, scaled_gradients},
    strain_history::StrainHistory,
};
use crate::{material::Material, mesh::Mesh, parallel::BufferPool, vec3::Vec3};

/// The elements of the model. With scaled lengths at rest, strains are relative to the scaled rest shape.
#[must_use]
pub fn fem(input: &ModelInput<'_>) -> Vec<Box<dyn Elements>> {
    let buffers = BufferPool::new(1);
    vec![membrane(input, buffers.clone()), plate_bending(input, buffers)]
}

/// Membrane of the model.
pub(super) fn membrane(input: &ModelInput<'_>, buffers: BufferPool<Vec<f64>>) -> Box<dyn Elements> {
    let ModelInput { mesh, materials, .. } = *input;
    let mut membrane = Membrane::new(mesh, materials).with_buffers(buffers);
    membrane.set_gradients(scaled_gradients(mesh, input.rest_scale));
    if !input.property_scale.is_empty() {
        membrane = membrane.with_scales(triangle_scales(input));
    }
    Box::new(MembraneElements::new(membrane))
}

/// Bending of the model.
pub(super) fn plate_bending(
    input: &ModelInput<'_>,
    buffers: BufferPool<Vec<f64>>,
) -> Box<dyn Elements> {
    let ModelInput { mesh, materials, .. } = *input;
    let laws: Vec<BendingLaw> = materials.iter().map(BendingLaw::from).collect();
    let mut bending = Bending::new(mesh, &laws, &vec![false; mesh.vertex_count()]);
    bending.set_buffers(buffers);
    bending.set_materials(mesh, materials);
    if input.property_scale.is_empty() {
        bending.stabilise(mesh, Vec::new());
    } else {
        let scales = triangle_scales(input);
        bending.set_scales(mesh, scales.iter().map(|scale| scale[2]).collect());
        bending.stabilise(mesh, scales.iter().map(|scale| scale[0]).collect());
    }
    let scalar = scalar_stiffness(&bending, mesh);
    Box::new(BendingElements { bending, scalar })
}

/// Factors on stretch, shear and bending of each triangle.
fn triangle_scales(input: &ModelInput<'_>) -> Vec<[f64; 3]> {
    let triangles = input.mesh.topology.triangles.iter();
    triangles.map(|corners| input.mean_property_scale(corners)).collect()
}

/// The membrane with the predicted stress for its next tangent.
struct MembraneElements {
    membrane: Membrane,
    predicted_stress: Vec<Tension>,
    /// Whether the geometric part of the next tangent is taken at `predicted_stress`.
    is_predicted: bool,
}

impl MembraneElements {
    fn new(membrane: Membrane) -> Self {
        let count = membrane.triangle_count();
        let predicted_stress = vec![[0.0; 3]; count];
        Self { membrane, predicted_stress, is_predicted: false }
    }
}

impl AddBlock<3> for Vec<TriangleTangent> {
    #[inline(always)]
    fn add_block(&self, triangle: usize, i: usize, j: usize, block: &mut BlockColumns) {
        let entries = self[triangle].block(i, j);
        for (column, entries) in block.iter_mut().zip(entries) {
            *column = std::array::from_fn(|row| column[row] + entries[row]);
        }
    }
}

impl Elements for MembraneElements {
    fn vertices(&self) -> &[u32] {
        self.membrane.triangles.as_flattened()
    }

    fn corner_count(&self) -> usize {
        3
    }

    fn measure_count(&self) -> usize {
        3 * self.membrane.triangle_count()
    }

    fn measure(&self, positions: &[Vec3], measures: &mut [f64]) {
        self.membrane.strains(positions, measures.as_chunks_mut().0);
    }

    fn evaluate(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, f64>,
        forces: &mut [Vec3],
    ) -> f64 {
        let StrainHistory { reference, inverse_beta } = history;
        let history = StrainHistory { reference: reference.as_chunks().0, inverse_beta };
        self.is_predicted = false;
        self.membrane.evaluate(positions, history, forces)
    }

    fn carries_stress(&self) -> bool {
        self.membrane.history.inelastic().is_none()
    }

    fn carry_stress(&mut self, start: &[Vec3]) {
        self.membrane.elastic_stress(start, &mut self.predicted_stress);
    }

    fn predict_stress(&mut self, direction: &[Vec3]) {
        self.membrane.predict_stress(direction, &mut self.predicted_stress);
    }

    fn use_predicted_stress(&mut self) {
        self.is_predicted = true;
    }

    fn tangents<'a>(&'a self, members: &'a [u32]) -> Box<dyn Tangents + 'a> {
        let predicted = self.is_predicted.then_some(self.predicted_stress.as_slice());
        Box::new(MemberTangents(self.membrane.tangents(members, predicted)))
    }

    fn buffers(&self) -> Option<&BufferPool<Vec<f64>>> {
        Some(self.membrane.buffers())
    }

    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy {
        let energy = self.membrane.energy(positions);
        ElasticEnergy { stretch: energy.stretch, shear: energy.shear, ..ElasticEnergy::default() }
    }

    fn set_rest_scale(&mut self, mesh: &Mesh, scale: &[[f64; 2]]) {
        self.membrane.set_gradients(scaled_gradients(mesh, scale));
    }

    fn set_material(&mut self, _mesh: &Mesh, cloth: usize, material: &Material) {
        self.membrane.set_material(cloth, material);
    }

    fn start_history(&mut self, positions: &[Vec3]) {
        self.membrane.start_history(positions);
    }

    fn end_step(&mut self, positions: &[Vec3], duration: f64) {
        self.membrane.end_step(positions, duration);
    }

    fn material_history(&self) -> Option<&MaterialHistory> {
        Some(&self.membrane.history)
    }

    fn material_history_mut(&mut self) -> Option<&mut MaterialHistory> {
        Some(&mut self.membrane.history)
    }
}

/// Bending. Its tangent is the scalar stiffness of the shape at rest.
struct BendingElements {
    bending: Bending,
    scalar: ScalarStiffness,
}

impl Elements for BendingElements {
    fn vertices(&self) -> &[u32] {
        self.bending.all_hinge_vertices().as_flattened()
    }

    fn corner_count(&self) -> usize {
        4
    }

    fn measure_count(&self) -> usize {
        self.bending.hinge_count()
    }

    fn measure(&self, positions: &[Vec3], measures: &mut [f64]) {
        self.bending.angles(positions, measures);
    }

    fn extrapolate(&self, now: f64, before: f64, weight: f64) -> f64 {
        extrapolate_angle(now, before, weight)
    }

    fn evaluate(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, f64>,
        forces: &mut [Vec3],
    ) -> f64 {
        self.scalar.inverse_beta = history.inverse_beta;
        self.bending.evaluate(positions, history, forces)
    }

    fn scalar_stiffness(&self) -> Option<&ScalarStiffness> {
        Some(&self.scalar)
    }

    fn add_tangent_product(&mut self, direction: &[Vec3], out: &mut [Vec3]) {
        self.bending.add_gauss_newton_product(direction, out);
    }

    fn tangents<'a>(&'a self, _members: &'a [u32]) -> Box<dyn Tangents + 'a> {
        Box::new(NoTangents)
    }

    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy {
        ElasticEnergy { bend: self.bending.energy(positions), ..ElasticEnergy::default() }
    }

    fn set_material(&mut self, mesh: &Mesh, cloth: usize, material: &Material) {
        let is_other = self.bending.material(cloth) != material;
        self.bending.set_material(mesh, cloth, material);
        if is_other {
            self.scalar.replace(scalar_stiffness(&self.bending, mesh));
        }
    }

    fn set_pinned(&mut self, mesh: &Mesh, pinned: &[bool]) {
        if self.bending.set_pinned(mesh, pinned) {
            self.scalar.replace(scalar_stiffness(&self.bending, mesh));
        }
    }

    fn start_history(&mut self, positions: &[Vec3]) {
        self.bending.start_history(positions);
    }

    fn begin_stage(&mut self, duration: f64) {
        self.bending.begin_stage(duration);
    }

    fn end_step(&mut self, positions: &[Vec3], duration: f64) {
        self.bending.end_step(positions, duration);
    }

    fn set_stiffest_tangent(&mut self, is_stiffest: bool) {
        self.bending.set_stiffest_tangent(is_stiffest);
    }

    fn clear_internal_variables(&mut self) {
        self.bending.clear_internal_variables();
    }

    fn internal_variables(&self, mesh: &Mesh) -> Vec<Vec<f64>> {
        self.bending.internal_variables(mesh)
    }

    fn internal_variable_counts(&self, mesh: &Mesh) -> Vec<usize> {
        self.bending.internal_variable_counts(mesh)
    }

    fn set_internal_variables(&mut self, mesh: &Mesh, of_cloths: &[&[f64]]) {
        self.bending.set_internal_variables(mesh, of_cloths);
    }
}
