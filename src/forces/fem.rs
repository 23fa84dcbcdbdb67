// SPDX-License-Identifier: MIT OR Apache-2.0
//! The default model: linear triangles ([`Membrane`]) with plate-exact bending ([`Bending`]).

use super::{
    BlockColumns, ElasticEnergy, Elements, Membrane, Sheets, Strain, StrainHistory,
    TriangleTangent,
    bending::{Bending, BendingLaw, extrapolate_angle},
    elements::{add_scaled, decode},
};
use crate::{Material, Vec3, mesh::Mesh, parallel};
use rayon::prelude::*;

/// The elements of the model. Where the lengths at rest are scaled, strains are those against the scaled rest shape.
#[must_use]
pub fn fem(sheets: &Sheets<'_>) -> Vec<Box<dyn Elements>> {
    let Sheets { mesh, materials, .. } = *sheets;
    let membrane = if sheets.rest_scale.is_empty() {
        Membrane::new(mesh, materials)
    } else {
        Membrane::new(&scaled(sheets), materials)
    };
    let laws: Vec<BendingLaw> = materials.iter().map(BendingLaw::from).collect();
    let bending = Bending::new(mesh, &laws, &vec![false; mesh.vertex_count()]);
    vec![Box::new(Triangles::new(mesh, membrane)), Box::new(Hinges::new(bending))]
}

/// The mesh with the gradients of its shape functions over b_u and b_v.
fn scaled(sheets: &Sheets<'_>) -> Mesh {
    let mut mesh = sheets.mesh.clone();
    for (vertices, gradients) in mesh.topology.triangles.iter().zip(&mut mesh.rest.gradients) {
        let scale = sheets.scale(vertices);
        *gradients = gradients.map(|[a, b]| [a / scale[0], b / scale[1]]);
    }
    mesh
}

/// The membrane, with what the next tangent needs.
struct Triangles {
    membrane: Membrane,
    vertices: Vec<[u32; 3]>,
    predicted: Vec<Strain>,
    tangents: Vec<TriangleTangent>,
}

impl Triangles {
    fn new(mesh: &Mesh, membrane: Membrane) -> Self {
        let vertices = mesh.topology.triangles.clone();
        let predicted = vec![[0.0; 3]; vertices.len()];
        Self { membrane, vertices, predicted, tangents: Vec::new() }
    }
}

impl Elements for Triangles {
    fn vertices(&self) -> &[u32] {
        self.vertices.as_flattened()
    }

    fn corner_count(&self) -> usize {
        3
    }

    fn measure_count(&self) -> usize {
        3 * self.vertices.len()
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
        self.membrane.evaluate(positions, history, forces)
    }

    fn predict(&mut self, direction: &[Vec3]) {
        self.membrane.predict_stress(direction, &mut self.predicted);
    }

    fn use_prediction(&mut self) {
        self.membrane.set_predicted_stress(&self.predicted);
    }

    fn update_tangent(&mut self) {
        let each = (0..self.vertices.len()).into_par_iter().with_min_len(parallel::ELEMENTS);
        each.map(|triangle| self.membrane.tangent(triangle)).collect_into_vec(&mut self.tangents);
    }

    fn add_blocks(&self, codes: &[u32], block: &mut BlockColumns) {
        for (triangle, i, j) in codes.iter().map(|code| decode::<3>(*code)) {
            add_scaled(block, 1.0, &self.tangents[triangle].block(i, j));
        }
    }

    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy {
        let energy = self.membrane.energy(positions);
        ElasticEnergy { stretch: energy.stretch, shear: energy.shear, bend: 0.0 }
    }

    fn set_material(&mut self, _mesh: &Mesh, cloth: usize, material: &Material) {
        self.membrane.set_material(cloth, material);
    }
}

/// Weight and angle gradients of a hinge.
#[derive(Clone, Copy, Debug)]
struct HingeTangent {
    weight: f32,
    gradients: [[f32; 4]; 4],
}

/// Bending. It enters the tangent with the diagonal of its stiffness, Σ S_ee ∇θ_e∇θ_eᵀ, which has the sparsity of
/// hinges and is spectrally close to the whole; the force is exact.
struct Hinges {
    bending: Bending,
    vertices: Vec<[u32; 4]>,
    tangents: Vec<HingeTangent>,
}

impl Hinges {
    fn new(bending: Bending) -> Self {
        let vertices = (0..bending.hinge_count()).map(|hinge| bending.hinge_vertices(hinge));
        Self { vertices: vertices.collect(), tangents: Vec::new(), bending }
    }
}

impl Elements for Hinges {
    fn vertices(&self) -> &[u32] {
        self.vertices.as_flattened()
    }

    fn corner_count(&self) -> usize {
        4
    }

    fn measure_count(&self) -> usize {
        self.vertices.len()
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
        let each = (0..self.vertices.len()).into_par_iter().with_min_len(parallel::ELEMENTS);
        each.map(|hinge| HingeTangent {
            weight: bending.weight(hinge) as f32,
            gradients: bending
                .gradients(hinge)
                .map(|gradient| [gradient.x as f32, gradient.y as f32, gradient.z as f32, 0.0]),
        })
        .collect_into_vec(&mut self.tangents);
    }

    fn add_blocks(&self, codes: &[u32], block: &mut BlockColumns) {
        for (hinge, i, j) in codes.iter().map(|code| decode::<4>(*code)) {
            let HingeTangent { weight, gradients } = &self.tangents[hinge];
            for (k, column) in block.iter_mut().enumerate() {
                let scale = weight * gradients[j][k];
                for (entry, value) in column.iter_mut().zip(&gradients[i]) {
                    *entry += scale * value;
                }
            }
        }
    }

    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy {
        ElasticEnergy { bend: self.bending.energy(positions), ..ElasticEnergy::default() }
    }

    fn set_material(&mut self, mesh: &Mesh, cloth: usize, material: &Material) {
        self.bending.set_law(mesh, cloth, BendingLaw::from(material));
    }

    fn set_held(&mut self, mesh: &Mesh, held: &[bool]) {
        self.bending.set_held(mesh, held);
    }
}
