// SPDX-License-Identifier: MIT OR Apache-2.0
//! The default model: linear triangles ([`Membrane`]) with plate-exact bending ([`Bending`]).

use super::{
    BlockColumns, BlockParts, ElasticEnergy, Elements, Membrane, Sheets, Strain, StrainHistory,
    TriangleTangent,
    bending::{Bending, BendingLaw, extrapolate_angle},
    elements::decode,
    inelastic::Past,
    sheets::mean_scale,
};
use crate::{
    Material, Vec3,
    mesh::Mesh,
    parallel,
    solver::{Kernel, Lanes, dispatch},
};
use rayon::prelude::*;

/// The elements of the model. Where the lengths at rest are scaled, strains are those against the scaled rest shape.
#[must_use]
pub fn fem(sheets: &Sheets<'_>) -> Vec<Box<dyn Elements>> {
    let Sheets { mesh, materials, .. } = *sheets;
    let mut membrane = Membrane::new(mesh, materials);
    if !sheets.rest_scale.is_empty() {
        membrane.set_gradients(scaled(mesh, sheets.rest_scale));
    }
    let laws: Vec<BendingLaw> = materials.iter().map(BendingLaw::from).collect();
    let mut bending = Bending::new(mesh, &laws, &vec![false; mesh.vertex_count()]);
    bending.set_materials(mesh, materials);
    if !sheets.property_scale.is_empty() {
        let triangles = mesh.topology.triangles.iter();
        let scales: Vec<[f64; 3]> = triangles.map(|corners| sheets.properties(corners)).collect();
        bending.set_scales(mesh, scales.iter().map(|scale| scale[2]).collect());
        membrane = membrane.with_scales(scales.iter().map(|scale| [scale[0], scale[1]]).collect());
    }
    vec![Box::new(Triangles::new(membrane)), Box::new(Hinges::new(bending))]
}

/// Fills blocks with the registers of the machine at hand.
struct FillBlocks<'a, E> {
    elements: &'a E,
    parts: &'a BlockParts,
    blocks: &'a mut [BlockColumns],
}

impl<E: Elements> Kernel for FillBlocks<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        self.parts.fill(self.elements, self.blocks);
    }
}

/// Gradients of the shape functions of a mesh over b_u and b_v.
fn scaled(mesh: &Mesh, rest_scale: &[[f64; 2]]) -> Vec<[[f64; 2]; 3]> {
    let triangles = mesh.topology.triangles.iter().zip(mesh.rest.gradients.as_slice());
    let one = |(vertices, gradients): (&[u32; 3], &[[f64; 2]; 3])| {
        let [u, v] = mean_scale(rest_scale, vertices);
        gradients.map(|[a, b]| [a / u, b / v])
    };
    triangles.map(one).collect()
}

/// The membrane, with what the next tangent needs.
struct Triangles {
    membrane: Membrane,
    predicted: Vec<Strain>,
    /// Whether the next tangent takes its geometric part from `predicted`.
    is_predicted: bool,
    tangents: Vec<TriangleTangent>,
}

impl Triangles {
    fn new(membrane: Membrane) -> Self {
        let count = membrane.triangle_count();
        let predicted = vec![[0.0; 3]; count];
        let tangents = vec![TriangleTangent::default(); count];
        Self { membrane, predicted, is_predicted: false, tangents }
    }
}

impl Elements for Triangles {
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

    fn predict(&mut self, direction: &[Vec3]) {
        self.membrane.predict_stress(direction, &mut self.predicted);
    }

    fn use_prediction(&mut self) {
        self.is_predicted = true;
    }

    fn update_tangent(&mut self) {
        let predicted = self.is_predicted.then_some(self.predicted.as_slice());
        self.membrane.tangents(predicted, &mut self.tangents);
    }

    fn fill_blocks(&self, parts: &BlockParts, blocks: &mut [BlockColumns]) {
        dispatch(FillBlocks { elements: self, parts, blocks });
    }

    #[inline(always)]
    fn add_blocks(&self, codes: &[u32], block: &mut BlockColumns) {
        // Summed in registers.
        let mut sum = *block;
        for (triangle, i, j) in codes.iter().map(|code| decode::<3>(*code)) {
            let part = self.tangents[triangle].block(i, j);
            for (column, part) in sum.iter_mut().zip(part) {
                *column = std::array::from_fn(|row| column[row] + part[row]);
            }
        }
        *block = sum;
    }

    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy {
        let energy = self.membrane.energy(positions);
        ElasticEnergy { stretch: energy.stretch, shear: energy.shear, ..ElasticEnergy::default() }
    }

    fn set_rest_scale(&mut self, mesh: &Mesh, scale: &[[f64; 2]]) {
        self.membrane.set_gradients(scaled(mesh, scale));
    }

    fn set_material(&mut self, _mesh: &Mesh, cloth: usize, material: &Material) {
        self.membrane.set_material(cloth, material);
    }

    fn start_memory(&mut self, positions: &[Vec3]) {
        self.membrane.start_memory(positions);
    }

    fn end_step(&mut self, positions: &[Vec3], duration: f64) {
        self.membrane.end_step(positions, duration);
    }

    fn past(&self) -> Option<&Past> {
        Some(&self.membrane.past)
    }

    fn past_mut(&mut self) -> Option<&mut Past> {
        Some(&mut self.membrane.past)
    }
}

/// Angle gradients of a hinge, times the root of its weight.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct HingeTangent([[f32; 4]; 4]);

/// Finds the tangents of hinges from the first on.
struct TangentsOfHinges<'a> {
    bending: &'a Bending,
    first: usize,
    tangents: &'a mut [HingeTangent],
}

impl Kernel for TangentsOfHinges<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Self { bending, first, tangents } = self;
        let is_inelastic = bending.is_inelastic();
        for (hinge, tangent) in (first..).zip(tangents) {
            let weight = if is_inelastic { bending.softened(hinge) } else { bending.weight(hinge) };
            tangent.0 = bending.scaled_gradients(lanes, hinge, weight.max(0.0).sqrt());
        }
    }
}

/// Bending. It enters the tangent with the diagonal of its stiffness, Σ S_ee ∇θ_e∇θ_eᵀ, which has the sparsity of
/// hinges and is spectrally close to the whole; the force is exact.
struct Hinges {
    bending: Bending,
    tangents: Vec<HingeTangent>,
}

impl Hinges {
    fn new(bending: Bending) -> Self {
        let count = bending.hinge_count();
        Self { tangents: vec![HingeTangent::default(); count], bending }
    }
}

impl Elements for Hinges {
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
        self.bending.evaluate(positions, history, forces)
    }

    fn update_tangent(&mut self) {
        let bending = &self.bending;
        let chunks = self.tangents.par_chunks_mut(parallel::ELEMENTS).enumerate();
        chunks.for_each(|(chunk, tangents)| {
            dispatch(TangentsOfHinges { bending, first: chunk * parallel::ELEMENTS, tangents });
        });
    }

    fn fill_blocks(&self, parts: &BlockParts, blocks: &mut [BlockColumns]) {
        dispatch(FillBlocks { elements: self, parts, blocks });
    }

    #[inline(always)]
    fn add_blocks(&self, codes: &[u32], block: &mut BlockColumns) {
        // Summed in registers.
        let mut sum = *block;
        for (hinge, i, j) in codes.iter().map(|code| decode::<4>(*code)) {
            let gradients = &self.tangents[hinge].0;
            let (left, right) = (gradients[i], gradients[j]);
            for (column, scale) in sum.iter_mut().zip(right) {
                *column = std::array::from_fn(|row| column[row] + scale * left[row]);
            }
        }
        *block = sum;
    }

    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy {
        ElasticEnergy { bend: self.bending.energy(positions), ..ElasticEnergy::default() }
    }

    fn set_material(&mut self, mesh: &Mesh, cloth: usize, material: &Material) {
        self.bending.set_material(mesh, cloth, material);
    }

    fn set_held(&mut self, mesh: &Mesh, held: &[bool]) {
        self.bending.set_held(mesh, held);
    }

    fn start_memory(&mut self, positions: &[Vec3]) {
        self.bending.start_memory(positions);
    }

    fn begin_stage(&mut self, duration: f64) {
        self.bending.begin_stage(duration);
    }

    fn end_step(&mut self, positions: &[Vec3], duration: f64) {
        self.bending.end_step(positions, duration);
    }

    fn set_steepest(&mut self, is_steepest: bool) {
        self.bending.set_steepest(is_steepest);
    }

    fn forget(&mut self) {
        self.bending.forget();
    }

    fn memory(&self) -> Vec<f64> {
        self.bending.memory()
    }

    fn memory_count(&self) -> usize {
        self.bending.memory_count()
    }

    fn set_memory(&mut self, mesh: &Mesh, values: &[f64]) {
        self.bending.set_memory(mesh, values);
    }
}
