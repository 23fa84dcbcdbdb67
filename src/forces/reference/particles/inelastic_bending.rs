// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inelastic bending of particles: difference of the moments from those of the linear plate.
//!
//! The curvature of every quad at a particle is linear in the measures of the particle (see `stencil`), so that the
//! linear moments are forms of Dκ. Here the law of the material gives other moments for κ, and the difference is added
//! to the forces on the measures: it is again exactly the gradient of the potential. At a free boundary, where a
//! measure is missing, κ is that which costs least by the linear law.

use super::{
    plate::{Measures, Particle},
    stencil::{CurvatureForm, Stiffness},
};
use crate::{
    forces::{
        Strain,
        inelastic::{DeformationMode, Inelastic, InternalVariables, MaterialHistory, apply},
    },
    material::Material,
    mesh::Mesh,
    parallel::reductions,
    vec3::Vec3,
};
use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;
use std::ops::Range;

/// A quad at a particle.
#[derive(Clone, Copy, Debug)]
struct InelasticQuad {
    /// Area in m², times the factor on the rigidity of its particle; 0 if it is pinned.
    area: f64,
    form: CurvatureForm,
}

/// All quads at all particles.
#[derive(Clone, Debug)]
pub(super) struct InelasticBending {
    pub(super) history: MaterialHistory,
    members: Vec<InelasticQuad>,
    /// The first of each particle, and the number of all.
    starts: Vec<usize>,
    /// The shape at the end of the last step, in m.
    positions: Vec<Vec3>,
}

impl InelasticBending {
    /// Quads with an empty history.
    pub(super) fn new(nodes: &[Particle], materials: &[Material], vertex_count: usize) -> Self {
        let mut starts = vec![0];
        let mut cloths = Vec::new();
        for node in nodes {
            cloths.resize(cloths.len() + node.stencil.corner_count, node.cloth);
            starts.push(cloths.len());
        }
        let none = InelasticQuad { area: 0.0, form: CurvatureForm::zeros() };
        let mut bends = Self {
            members: vec![none; cloths.len()],
            history: MaterialHistory::new(vec![DeformationMode::Plate], materials, cloths),
            starts,
            positions: vec![Vec3::zeros(); vertex_count],
        };
        bends.set_forms(nodes, materials);
        bends
    }

    /// Prepares the quads that are not pinned.
    pub(super) fn set_forms(&mut self, nodes: &[Particle], materials: &[Material]) {
        self.members.fill(InelasticQuad { area: 0.0, form: CurvatureForm::zeros() });
        for (node, start) in nodes.iter().zip(&self.starts) {
            let plate = materials[node.cloth as usize].plate_rigidity();
            for (place, area, form) in node.stencil.forms(&plate) {
                self.members[start + place] = InelasticQuad { area: node.factor * area, form };
            }
        }
    }

    /// Another material for a cloth.
    pub(super) fn set_material(
        &mut self,
        nodes: &[Particle],
        materials: &[Material],
        cloth: usize,
    ) {
        self.history.set_material(cloth, &materials[cloth]);
        self.set_forms(nodes, materials);
    }

    fn of_node(&self, node: usize) -> Range<usize> {
        self.starts[node]..self.starts[node + 1]
    }

    /// Laws, and every quad of a particle with its curvature.
    fn quad_curvatures<'a>(
        &'a self,
        node: usize,
        bent: &'a Measures,
    ) -> impl Iterator<Item = (&'a Inelastic, usize, &'a InelasticQuad, Strain)> {
        let laws = self.history.inelastic();
        laws.into_iter().flat_map(move |inelastic| {
            self.of_node(node).map(move |index| {
                let bend = &self.members[index];
                (inelastic, index, bend, (bend.form * bent).into())
            })
        })
    }

    /// Difference of the inelastic moments on the measures of a particle from the linear ones, and difference of the
    /// potentials in J.
    pub(super) fn nonlinear_moments(&self, node: usize, bent: &Measures) -> (Measures, f64) {
        let (mut moments, mut potential) = (Measures::zeros(), 0.0);
        for (inelastic, index, bend, curvature) in self.quad_curvatures(node, bent) {
            let response = inelastic.respond(index, &curvature);
            let linear = apply(inelastic.law(index).linear(), &curvature);
            let beyond = [0, 1, 2].map(|k| response.stress[k] - linear[k]);
            moments += bend.form.transpose() * Vector3::from(beyond) * bend.area;
            potential += bend.area * (response.potential() - 0.5 * dot(&curvature, &linear));
        }
        (moments, potential)
    }

    /// Difference of the stiffness against the measures of a particle from the linear one.
    pub(super) fn nonlinear_stiffness(&self, node: usize, bent: &Measures) -> Stiffness {
        let mut stiffness = Stiffness::zeros();
        for (inelastic, index, bend, curvature) in self.quad_curvatures(node, bent) {
            let moduli = inelastic.respond(index, &curvature).moduli;
            let linear = inelastic.law(index).linear();
            let [d11, d22, d12, d66] = [0, 1, 2, 3].map(|k| moduli[k] - linear[k]);
            let plate = Matrix3::new(d11, d12, 0.0, d12, d22, 0.0, 0.0, 0.0, d66);
            stiffness += bend.form.transpose() * plate * bend.form * bend.area;
        }
        stiffness
    }

    /// Recoverable energy of a particle in excess of that of the linear law, in J.
    pub(super) fn nonlinear_energy(&self, node: usize, bent: &Measures) -> f64 {
        let each = self.quad_curvatures(node, bent).map(|(inelastic, index, bend, curvature)| {
            let law = inelastic.law(index);
            let stored: f64 =
                law.stored_energy(&curvature, inelastic.internal_variables(index)).iter().sum();
            bend.area * (stored - 0.5 * dot(&curvature, &apply(law.linear(), &curvature)))
        });
        each.sum()
    }

    fn curvatures(&self, nodes: &[Particle], positions: &[Vec3]) -> Vec<Strain> {
        let each = nodes.par_iter().enumerate().with_min_len(reductions::MIN_ELEMENTS_PER_TASK);
        let of_node = |(index, node): (usize, &Particle)| -> Vec<Strain> {
            let bent = node.measure_changes(positions);
            self.of_node(index).map(|bend| (self.members[bend].form * bent).into()).collect()
        };
        each.flat_map_iter(of_node).collect()
    }

    /// Starts the material history at a shape: everything is relaxed there.
    pub(super) fn start(&mut self, nodes: &[Particle], positions: &[Vec3]) {
        self.positions = positions.to_vec();
        self.remeasure(nodes);
    }

    /// Updates the measures of the shape at the end of the last step after a change of the pinned vertices.
    pub(super) fn remeasure(&mut self, nodes: &[Particle]) {
        let curvatures = self.curvatures(nodes, &self.positions);
        self.history.start(|| curvatures);
    }

    /// Updates the internal variables after an accepted step of `duration` in s that ended at `positions`.
    pub(super) fn end_step(&mut self, nodes: &[Particle], positions: &[Vec3], duration: f64) {
        let curvatures = self.curvatures(nodes, positions);
        self.history.end_step(|_| curvatures, duration);
        self.positions = positions.to_vec();
    }

    /// Internal variables of each cloth as a list of numbers: those of its quads, then its shape at the end of the last
    /// step. Empty if its material has none.
    pub(super) fn values(&self, mesh: &Mesh) -> Vec<Vec<f64>> {
        let mut of_cloths = self.history.values();
        for (cloth, values) in of_cloths.iter_mut().enumerate().filter(|(_, own)| !own.is_empty()) {
            let positions = &self.positions[mesh.vertices_of(cloth)];
            values
                .extend(positions.iter().flat_map(|position| [position.x, position.y, position.z]));
        }
        of_cloths
    }

    /// Length of each list of [`Self::values`] if it is not empty.
    pub(super) fn counts(nodes: &[Particle], mesh: &Mesh) -> Vec<usize> {
        let of_shape = |cloth: usize| 3 * mesh.vertices_of(cloth).len();
        let mut counts: Vec<usize> = (0..mesh.cloth_count()).map(of_shape).collect();
        for node in nodes {
            counts[node.cloth as usize] += node.stencil.corner_count * InternalVariables::COUNT;
        }
        counts
    }

    /// Restores the internal variables from the lists of [`Self::values`], see [`Inelastic::set_values`].
    pub(super) fn set_values(&mut self, nodes: &[Particle], mesh: &Mesh, of_cloths: &[&[f64]]) {
        let mut of_quads = of_cloths.to_vec();
        for (cloth, values) in of_quads.iter_mut().enumerate().filter(|(_, own)| !own.is_empty()) {
            let vertices = mesh.vertices_of(cloth);
            let (quads, shape) = values.split_at(values.len() - 3 * vertices.len());
            for (position, own) in self.positions[vertices].iter_mut().zip(shape.as_chunks().0) {
                *position = Vec3::from(*own);
            }
            *values = quads;
        }
        self.history.set_values(&of_quads);
        self.remeasure(nodes);
    }
}

fn dot(a: &Strain, b: &Strain) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
