// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bending of a particle system as a thin plate.
//!
//! The energy is ½∫κᵀDκ with the whole matrix of an orthotropic plate and κ = (e, g, 2f) from the second fundamental
//! form (Etzmuss 2002, eq. 2.23), measured from that of the rest shape. Eq. 2.26 is the case D₁₂ = D₆₆ = 0, of which it
//! prints another operator: twisting a sheet would then cost nothing.
//!
//! As in the document only the normal component of the second differences counts, so that nothing in the plane of the
//! cloth resists. But the normal N = n√(1 + δ²)/√(‖n‖² + δ²), n the vector product of two first differences, is
//! differentiated as well: projecting the gradient on a normal, as algorithm 4 does, leaves a net force. δ keeps the
//! force finite where a particle is crushed to a line.
//!
//! The tangent is (cᵀSc)⊗NNᵀ, exact where a flat sheet is flat.

use super::{
    ParticleParameters,
    inelastic_bending::InelasticBending,
    stencil::{MEASURES, STENCIL_VERTICES, Stencil, Stiffness},
    vertex_neighbourhood::VertexNeighbourhood,
};
use crate::{
    forces::{
        elements::{
            AddBlock, BlockColumns, ElasticEnergy, ElementLoads, Elements, MemberTangents,
            StoredTangents, Tangents, add_scaled, columns,
        },
        inelastic::{MaterialHistory, any_has_memory},
        model_input::ModelInput,
        strain_history::StrainHistory,
    },
    material::Material,
    mesh::{Mesh, Quads},
    parallel::reductions,
    vec3::Vec3,
};
use nalgebra::SVector;
use rayon::prelude::*;

pub(super) type Measures = SVector<f64, MEASURES>;

/// A particle at its current shape.
#[derive(Clone, Copy, Debug, Default)]
struct ParticleShape {
    normal: Vec3,
    /// Measures less those of the rest shape, in 1/m.
    measure_changes: Measures,
}

/// A particle with everything about it that does not change.
#[derive(Clone, Debug)]
pub(super) struct Particle {
    pub(super) stencil: Stencil,
    pub(super) cloth: u32,
    /// Factor on the rigidity.
    pub(super) factor: f64,
    stiffness: Stiffness,
    /// Measures of the rest shape, in 1/m.
    rest: Measures,
    /// cᵀSc, in N/m.
    products: [[f32; STENCIL_VERTICES]; STENCIL_VERTICES],
}

/// Bending at all particles.
#[derive(Clone, Debug)]
pub(crate) struct ParticlePlate {
    quads: Quads,
    nodes: Vec<Particle>,
    materials: Vec<Material>,
    /// Factor on the rigidity at each vertex; empty where all are 1.
    factors: Vec<f64>,
    /// Inelastic part; `None` if no material is inelastic.
    inelastic_bending: Option<InelasticBending>,
    loads: ElementLoads<STENCIL_VERTICES>,
    shapes: Vec<ParticleShape>,
    tangents: Vec<BlockColumns>,
    pinned: Vec<bool>,
    inverse_beta: f64,
}

impl ParticlePlate {
    pub(super) fn new(input: &ModelInput<'_>, quads: Quads) -> Self {
        let ModelInput { mesh, materials, .. } = *input;
        let pinned = vec![false; mesh.vertex_count()];
        let factors: Vec<f64> = input.property_scale.iter().map(|[_, _, bend]| *bend).collect();
        let nodes = nodes(mesh, &quads, materials, &factors, &pinned);
        let vertices = nodes.iter().map(|node| node.stencil.vertices).collect();
        let is_inelastic = materials.iter().any(Material::is_inelastic);
        Self {
            inelastic_bending: is_inelastic
                .then(|| InelasticBending::new(&nodes, materials, mesh.vertex_count())),
            loads: ElementLoads::new(vertices, mesh.vertex_count()),
            shapes: vec![ParticleShape::default(); nodes.len()],
            tangents: vec![BlockColumns::default(); nodes.len()],
            materials: materials.to_vec(),
            factors,
            nodes,
            quads,
            pinned,
            inverse_beta: 0.0,
        }
    }
}

fn nodes(
    mesh: &Mesh,
    quads: &Quads,
    materials: &[Material],
    factors: &[f64],
    pinned: &[bool],
) -> Vec<Particle> {
    let fans = quads.fans(mesh.vertex_count());
    let node = |fan: &crate::mesh::Fan| {
        let ring = VertexNeighbourhood::new(mesh, quads, fan, pinned);
        let stencil = Stencil::new(&ring, fan.lines());
        let cloth = quads.cloths[fan.quads[0].quad as usize];
        let rest = ParticleGeometry::new(&stencil, &mesh.rest.positions).measures();
        let mut node = Particle {
            factor: factors.get(stencil.vertices[0] as usize).copied().unwrap_or(1.0),
            stencil,
            cloth,
            rest,
            stiffness: Stiffness::zeros(),
            products: [[0.0; STENCIL_VERTICES]; STENCIL_VERTICES],
        };
        node.set_material(&materials[cloth as usize]);
        node
    };
    fans.par_iter().map(node).collect()
}

impl Particle {
    fn set_material(&mut self, material: &Material) {
        let plate = material.plate_rigidity();
        self.stiffness = self.stencil.stiffness(&plate) * self.factor;
        self.set_products(&self.stiffness.clone());
    }

    /// Prepares the tangent with a stiffness for the measures.
    fn set_products(&mut self, stiffness: &Stiffness) {
        let factors =
            nalgebra::SMatrix::<f64, MEASURES, STENCIL_VERTICES>::from_fn(|measure, place| {
                self.stencil.coefficients[measure][place]
            });
        let products = factors.transpose() * stiffness * factors;
        for (row, entries) in self.products.iter_mut().enumerate() {
            for (column, entry) in entries.iter_mut().enumerate() {
                *entry = products[(row, column)] as f32;
            }
        }
    }

    /// Measures of a shape less those of the rest shape, in 1/m.
    pub(super) fn measure_changes(&self, positions: &[Vec3]) -> Measures {
        ParticleGeometry::new(&self.stencil, positions).measures() - self.rest
    }

    /// Σ w x of the places.
    fn sum(&self, positions: &[Vec3], weight: impl Fn(usize) -> f64) -> Vec3 {
        let places = self.stencil.vertices.iter().enumerate();
        places.map(|(place, vertex)| positions[*vertex as usize] * weight(place)).sum()
    }

    /// −∂/∂x of ⟨moments, measures⟩ at constant moments.
    fn loads(
        &self,
        current: &ParticleGeometry<'_>,
        moments: &Measures,
    ) -> [Vec3; STENCIL_VERTICES] {
        let Stencil { coefficients, gradients, .. } = &self.stencil;
        let weights: [f64; STENCIL_VERTICES] = std::array::from_fn(|place| {
            (0..MEASURES).map(|measure| moments[measure] * coefficients[measure][place]).sum()
        });
        let [a, b] = &current.first;
        let normal = &current.normal;
        let bent = self.sum(current.positions, |place| weights[place]);
        let along = normal
            * (normal.dot(&bent) / (1.0 + ParticleParameters::DEFAULT.normal_regularization));
        let tilt = (bent - along) / current.length;
        let (by_a, by_b) = (b.cross(&tilt), tilt.cross(a));
        std::array::from_fn(|place| {
            let [along, across] = gradients[place];
            -(normal * weights[place] + by_a * along + by_b * across)
        })
    }
}

/// First differences and normal of a particle.
struct ParticleGeometry<'a> {
    stencil: &'a Stencil,
    positions: &'a [Vec3],
    first: [Vec3; 2],
    /// N.
    normal: Vec3,
    /// √(‖n‖² + δ²)/√(1 + δ²).
    length: f64,
}

impl<'a> ParticleGeometry<'a> {
    fn new(stencil: &'a Stencil, positions: &'a [Vec3]) -> Self {
        let mut first = [Vec3::zeros(); 2];
        for (vertex, gradient) in stencil.vertices.iter().zip(&stencil.gradients) {
            let position = &positions[*vertex as usize];
            first[0] += position * gradient[0];
            first[1] += position * gradient[1];
        }
        let cross = first[0].cross(&first[1]);
        let length = ((cross.norm_squared() + ParticleParameters::DEFAULT.normal_regularization)
            / (1.0 + ParticleParameters::DEFAULT.normal_regularization))
            .sqrt();
        Self { stencil, positions, first, normal: cross / length, length }
    }

    fn measures(&self) -> Measures {
        let mut heights = [0.0; STENCIL_VERTICES];
        for (height, vertex) in heights.iter_mut().zip(&self.stencil.vertices) {
            // From the particle, which leaves more digits.
            let middle = &self.positions[self.stencil.vertices[0] as usize];
            *height = self.normal.dot(&(self.positions[*vertex as usize] - middle));
        }
        Measures::from_fn(|measure, _| {
            let factors = &self.stencil.coefficients[measure];
            factors.iter().zip(&heights).map(|(factor, height)| factor * height).sum()
        })
    }
}

impl AddBlock<STENCIL_VERTICES> for ParticlePlate {
    #[inline(always)]
    fn add_block(&self, element: usize, i: usize, j: usize, block: &mut BlockColumns) {
        add_scaled(block, self.nodes[element].products[i][j], &self.tangents[element]);
    }
}

impl Elements for ParticlePlate {
    fn vertices(&self) -> &[u32] {
        self.loads.vertices.as_flattened()
    }

    fn corner_count(&self) -> usize {
        STENCIL_VERTICES
    }

    fn measure_count(&self) -> usize {
        MEASURES * self.nodes.len()
    }

    fn measure(&self, positions: &[Vec3], measures: &mut [f64]) {
        let each = (measures.as_chunks_mut::<MEASURES>().0, &self.nodes).into_par_iter();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK).for_each(|(measures, node)| {
            *measures = ParticleGeometry::new(&node.stencil, positions).measures().into();
        });
    }

    fn evaluate(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, f64>,
        forces: &mut [Vec3],
    ) -> f64 {
        self.inverse_beta = history.inverse_beta;
        let (nodes, materials, bends) =
            (&self.nodes, &self.materials, self.inelastic_bending.as_ref());
        let references = history.reference.as_chunks::<MEASURES>().0;
        let one =
            |index: usize, shape: &mut ParticleShape, loads: &mut [Vec3; STENCIL_VERTICES]| {
                let node = &nodes[index];
                let current = ParticleGeometry::new(&node.stencil, positions);
                let measures = current.measures();
                let bent = measures - node.rest;
                let time = materials[node.cloth as usize].bend_damping * history.inverse_beta;
                let change = references.get(index).map_or_else(Measures::zeros, |reference| {
                    measures - Measures::from_column_slice(reference)
                });
                let (elastic, viscous) = (node.stiffness * bent, node.stiffness * change * time);
                *shape = ParticleShape { normal: current.normal, measure_changes: bent };
                let potential = 0.5 * (bent.dot(&elastic) + change.dot(&viscous));
                let Some(bends) = bends else {
                    *loads = node.loads(&current, &(elastic + viscous));
                    return potential;
                };
                let (beyond, potential_beyond) = bends.nonlinear_moments(index, &bent);
                *loads = node.loads(&current, &(elastic + beyond + viscous));
                potential + potential_beyond
            };
        let loads = &mut self.loads.forces;
        let potential =
            reductions::sum_zipped(&mut self.shapes, loads, reductions::MIN_ELEMENTS_PER_TASK, one);
        self.loads.gather(forces);
        potential
    }

    fn update_tangent(&mut self) {
        let Self {
            nodes, materials, inelastic_bending: bends, shapes, tangents, inverse_beta, ..
        } = self;
        let each = (tangents, shapes, nodes).into_par_iter().enumerate();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK).for_each(
            |(index, (tangent, shape, node))| {
                let viscosity = materials[node.cloth as usize].bend_damping * *inverse_beta;
                let mut scale = 1.0 + viscosity;
                if let Some(bends) = &*bends {
                    let softer = bends.nonlinear_stiffness(index, &shape.measure_changes);
                    node.set_products(&(node.stiffness * scale + softer));
                    scale = 1.0;
                }
                *tangent = columns(&(shape.normal * shape.normal.transpose() * scale));
            },
        );
    }

    fn tangents<'a>(&'a self, members: &'a [u32]) -> Box<dyn Tangents + 'a> {
        Box::new(MemberTangents::<_, STENCIL_VERTICES>(StoredTangents { elements: self, members }))
    }

    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy {
        let of_node = |(index, node): (usize, &Particle)| {
            let bent = node.measure_changes(positions);
            let bends = self.inelastic_bending.as_ref();
            let beyond = bends.map_or(0.0, |bends| bends.nonlinear_energy(index, &bent));
            0.5 * bent.dot(&(node.stiffness * bent)) + beyond
        };
        let bend = self.nodes.iter().enumerate().map(of_node).sum();
        ElasticEnergy { bend, ..ElasticEnergy::default() }
    }

    fn set_material(&mut self, mesh: &Mesh, cloth: usize, material: &Material) {
        self.materials[cloth] = material.clone();
        let own = self.nodes.par_iter_mut().filter(|node| node.cloth as usize == cloth);
        own.for_each(|node| node.set_material(material));
        let Self { nodes, materials, inelastic_bending: bends, .. } = self;
        if let Some(bends) = bends {
            bends.set_material(nodes, materials, cloth);
        } else if material.is_inelastic() {
            *bends = Some(InelasticBending::new(nodes, materials, mesh.vertex_count()));
        }
    }

    fn set_pinned(&mut self, mesh: &Mesh, pinned: &[bool]) {
        if self.pinned != pinned {
            self.pinned = pinned.to_vec();
            self.nodes = nodes(mesh, &self.quads, &self.materials, &self.factors, pinned);
            if let Some(bends) = &mut self.inelastic_bending {
                bends.set_forms(&self.nodes, &self.materials);
                bends.remeasure(&self.nodes);
            }
        }
    }

    fn start_history(&mut self, positions: &[Vec3]) {
        if let Some(bends) = &mut self.inelastic_bending {
            bends.start(&self.nodes, positions);
        }
    }

    // Without the shape at the end of the last step, which `memory` adds.
    fn material_history(&self) -> Option<&MaterialHistory> {
        self.inelastic_bending.as_ref().map(|bends| &bends.history)
    }

    fn material_history_mut(&mut self) -> Option<&mut MaterialHistory> {
        self.inelastic_bending.as_mut().map(|bends| &mut bends.history)
    }

    fn end_step(&mut self, positions: &[Vec3], duration: f64) {
        if let Some(bends) = &mut self.inelastic_bending {
            bends.end_step(&self.nodes, positions, duration);
        }
    }

    fn internal_variables(&self, mesh: &Mesh) -> Vec<Vec<f64>> {
        self.inelastic_bending.as_ref().map_or_else(Vec::new, |bends| bends.values(mesh))
    }

    fn internal_variable_counts(&self, mesh: &Mesh) -> Vec<usize> {
        InelasticBending::counts(&self.nodes, mesh)
    }

    fn set_internal_variables(&mut self, mesh: &Mesh, of_cloths: &[&[f64]]) {
        let Self { nodes, materials, inelastic_bending: bends, .. } = self;
        if any_has_memory(materials, of_cloths) {
            let new = || InelasticBending::new(nodes, materials, mesh.vertex_count());
            bends.get_or_insert_with(new).set_values(nodes, mesh, of_cloths);
        } else if bends.take().is_some() {
            // The tangents were those of its laws.
            nodes
                .par_iter_mut()
                .for_each(|node| node.set_material(&materials[node.cloth as usize]));
        }
    }
}
