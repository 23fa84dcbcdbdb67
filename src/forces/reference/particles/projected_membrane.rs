// SPDX-License-Identifier: MIT OR Apache-2.0
//! The membrane force of Etzmuss 2002, eq. 2.25, projected on the normals of vertices: algorithm 3 as printed, but for its sign, which
//! is that of M ẍ = F.
//!
//! R_i = Σ_j w_ij (x_j − x_i) over the edges, w the bending tension B_m = B(π/L)² times the dual width over the length, and
//! F_i = ⟨R_i, N_i⟩N_i. So a sheet is not pulled together in its plane, as by the whole R. But F is no gradient: of the two ends of an
//! edge each has the component along its own normal, so that a bent free sheet pushes itself (tested), and the work along a
//! closed path is not 0.
//!
//! Schemes that solve for a potential take it linearised, as the document does in its integrator (section 3.4): F(x₀) − J̃(x − x₀)
//! from the shape x₀ of the last step on, with the approximate Jacobian J̃ of w nnᵀ of each edge, n the normalised sum of the
//! normals at its ends. J̃ is symmetric and positive semidefinite; it leaves out how normals turn, and that they differ at both ends.
//! Every scheme is of first order for this force.
//!
//! The viscous term of the algorithm, the same with the velocities and τB_m, is in R.

use crate::{
    forces::{
        elements::{
            AddBlock, BlockColumns, ElasticEnergy, ElementLoads, Elements, MemberTangents,
            StoredTangents, Tangents, add_scaled, columns,
        },
        model_input::ModelInput,
        strain_history::StrainHistory,
    },
    material::Material,
    mesh::{Mesh, Quads},
    vec3::Vec3,
};
use nalgebra::Matrix3;
use std::{collections::BTreeMap, sync::Arc};

/// Measures of an edge: the vector from its first end to its second.
const MEASURES: usize = 3;

/// An edge of quads.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    cloth: u32,
    /// Dual width over length.
    aspect: f64,
    /// Square of the cosine with the warp.
    along_warp: f64,
    /// Factor on the rigidity.
    factor: f64,
}

/// Rigidities in N·m and damping in s of one cloth, and B_m over B in 1/m².
#[derive(Clone, Copy, Debug)]
struct LineLaw {
    rigidity: [f64; 2],
    damping: f64,
    tension_factor: f64,
}

/// Bending by the projected membrane force.
#[derive(Clone, Debug)]
pub(super) struct ProjectedMembrane {
    lines: Vec<Line>,
    laws: Vec<LineLaw>,
    loads: ElementLoads<2>,
    triangles: Arc<Vec<[u32; 3]>>,
    /// x₀; empty: the shape of each evaluation.
    linearised_at: Vec<Vec3>,
    /// nnᵀ of each edge at the last evaluation.
    dyads: Vec<Matrix3<f64>>,
    inverse_beta: f64,
}

impl ProjectedMembrane {
    pub(super) fn new(input: &ModelInput<'_>, quads: &Quads, tension_factors: &[f64]) -> Self {
        let ModelInput { mesh, materials, .. } = *input;
        let lines = lines(input, quads);
        let vertices: Vec<[u32; 2]> = lines.keys().copied().collect();
        let laws = materials.iter().zip(tension_factors);
        Self {
            dyads: vec![Matrix3::zeros(); lines.len()],
            lines: lines.into_values().collect(),
            laws: laws.map(|(material, factor)| LineLaw::new(material, *factor)).collect(),
            loads: ElementLoads::new(vertices, mesh.vertex_count()),
            triangles: Arc::clone(&mesh.topology.triangles),
            linearised_at: Vec::new(),
            inverse_beta: 0.0,
        }
    }

    /// w of an edge in N/m, and its damping in s.
    fn law(&self, line: &Line) -> (f64, f64) {
        let law = &self.laws[line.cloth as usize];
        let [warp, weft] = law.rigidity;
        let rigidity = line.along_warp * warp + (1.0 - line.along_warp) * weft;
        (line.factor * line.aspect * law.tension_factor * rigidity, law.damping)
    }

    /// Unit normals of the vertices of a shape, from the areas around them.
    fn normals(&self, positions: &[Vec3]) -> Vec<Vec3> {
        let mut normals = vec![Vec3::zeros(); positions.len()];
        for triangle in self.triangles.iter() {
            let [a, b, c] = triangle.map(|vertex| positions[vertex as usize]);
            let area = (b - a).cross(&(c - a));
            for vertex in triangle {
                normals[*vertex as usize] += area;
            }
        }
        for normal in &mut normals {
            *normal = normal.try_normalize(0.0).unwrap_or_else(Vec3::zeros);
        }
        normals
    }

    fn span(&self, line: usize, field: &[Vec3]) -> Vec3 {
        let [a, b] = self.loads.vertices[line].map(|vertex| field[vertex as usize]);
        b - a
    }

    /// Viscous part of w/β at the last evaluation, in N/m.
    fn viscosity(&self, line: &Line) -> f64 {
        let (tension, damping) = self.law(line);
        tension * damping * self.inverse_beta
    }

    /// Adds algorithm 3 at a shape with these normals to the loads of edges.
    fn add_projected(
        &mut self,
        shape: &[Vec3],
        normals: &[Vec3],
        history: &StrainHistory<'_, f64>,
    ) {
        let references = history.reference.as_chunks::<MEASURES>().0;
        for index in 0..self.lines.len() {
            let line = self.lines[index];
            let span = self.span(index, shape);
            let change = references.get(index).map_or(Vec3::zeros(), |r| span - Vec3::from(*r));
            let pull = span * self.law(&line).0 + change * self.viscosity(&line);
            let [a, b] = self.loads.vertices[index].map(|vertex| normals[vertex as usize]);
            self.loads.forces[index] = [a * a.dot(&pull), -b * b.dot(&pull)];
        }
    }

    /// Adds the change −J̃(x − x₀) to the loads and returns the potential of all, but for a constant.
    fn add_change(&mut self, start: &[Vec3], positions: &[Vec3]) -> f64 {
        let mut potential = 0.0;
        for (index, line) in self.lines.iter().enumerate() {
            let moved = self.span(index, positions) - self.span(index, start);
            let stiffness = self.law(line).0 + self.viscosity(line);
            let pull = self.dyads[index] * moved * stiffness;
            let [a, b] = self.loads.vertices[index].map(|vertex| vertex as usize);
            let loads = &mut self.loads.forces[index];
            let shifts = [positions[a] - start[a], positions[b] - start[b]];
            potential -= loads[0].dot(&shifts[0]) + loads[1].dot(&shifts[1]);
            potential += 0.5 * pull.dot(&moved);
            loads[0] += pull;
            loads[1] -= pull;
        }
        potential
    }

    /// ½ Σ w⟨x_j − x_i, n⟩² in J: what the force resists. It is no potential of the force.
    fn resisted(&self, positions: &[Vec3]) -> f64 {
        let normals = self.normals(positions);
        let each = self.lines.iter().zip(&self.loads.vertices).enumerate();
        each.map(|(index, (line, ends))| {
            let along = edge_normal(*ends, &normals).dot(&self.span(index, positions));
            0.5 * self.law(line).0 * along * along
        })
        .sum()
    }
}

impl LineLaw {
    fn new(material: &Material, tension_factor: f64) -> Self {
        Self {
            rigidity: [material.bend_warp, material.bend_weft],
            damping: material.bend_damping,
            tension_factor,
        }
    }
}

/// Normalised sum of the normals at the ends of an edge.
fn edge_normal(ends: [u32; 2], normals: &[Vec3]) -> Vec3 {
    let [a, b] = ends.map(|vertex| normals[vertex as usize]);
    (a + b).try_normalize(0.0).unwrap_or_else(Vec3::zeros)
}

/// The edges of all quads. Each quad gives half of its width across an edge to the edge.
fn lines(input: &ModelInput<'_>, quads: &Quads) -> BTreeMap<[u32; 2], Line> {
    let rest = &input.mesh.rest.positions;
    let mut lines: BTreeMap<[u32; 2], Line> = BTreeMap::new();
    let each = quads.vertices.iter().zip(&quads.warps).zip(&quads.cloths).zip(&quads.coverage);
    for (((corners, warp), cloth), coverage) in each {
        let points = corners.map(|vertex| rest[vertex as usize]);
        let area = 0.5 * (points[2] - points[0]).cross(&(points[3] - points[1])).norm();
        for corner in 0..4 {
            let next = (corner + 1) % 4;
            let edge = points[next] - points[corner];
            let square = edge.norm_squared();
            let (a, b) = (corners[corner], corners[next]);
            let ends = [a.min(b), a.max(b)];
            let line = lines.entry(ends).or_default();
            line.aspect += 0.5 * area / square * f64::midpoint(coverage[corner], coverage[next]);
            line.cloth = *cloth;
            line.along_warp = (edge.dot(warp).powi(2) / square).min(1.0);
            line.factor = input.mean_property_scale(&ends)[2];
        }
    }
    lines
}

impl AddBlock<2> for ProjectedMembrane {
    #[inline(always)]
    fn add_block(&self, element: usize, i: usize, j: usize, block: &mut BlockColumns) {
        let line = &self.lines[element];
        let stiffness = (self.law(line).0 + self.viscosity(line)) as f32;
        let sign = if i == j { 1.0 } else { -1.0 };
        add_scaled(block, sign * stiffness, &columns(&self.dyads[element]));
    }
}

impl Elements for ProjectedMembrane {
    fn vertices(&self) -> &[u32] {
        self.loads.vertices.as_flattened()
    }

    fn corner_count(&self) -> usize {
        2
    }

    fn measure_count(&self) -> usize {
        MEASURES * self.lines.len()
    }

    fn measure(&self, positions: &[Vec3], measures: &mut [f64]) {
        for (index, measure) in measures.as_chunks_mut::<MEASURES>().0.iter_mut().enumerate() {
            *measure = self.span(index, positions).into();
        }
    }

    fn evaluate(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, f64>,
        forces: &mut [Vec3],
    ) -> f64 {
        self.inverse_beta = history.inverse_beta;
        let start = std::mem::take(&mut self.linearised_at);
        let shape = if start.is_empty() { positions } else { &start };
        let normals = self.normals(shape);
        let each = self.dyads.iter_mut().zip(&self.loads.vertices);
        for (dyad, ends) in each {
            let normal = edge_normal(*ends, &normals);
            *dyad = normal * normal.transpose();
        }
        self.add_projected(shape, &normals, &history);
        let potential = self.resisted(shape) + self.add_change(shape, positions);
        self.linearised_at = start;
        self.loads.gather(forces);
        potential
    }

    fn tangents<'a>(&'a self, members: &'a [u32]) -> Box<dyn Tangents + 'a> {
        Box::new(MemberTangents::<_, 2>(StoredTangents { elements: self, members }))
    }

    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy {
        ElasticEnergy { bend: self.resisted(positions), ..ElasticEnergy::default() }
    }

    fn set_material(&mut self, _mesh: &Mesh, cloth: usize, material: &Material) {
        let tension_factor = self.laws[cloth].tension_factor;
        self.laws[cloth] = LineLaw::new(material, tension_factor);
    }

    fn start_history(&mut self, positions: &[Vec3]) {
        self.linearised_at = positions.to_vec();
    }

    fn end_step(&mut self, positions: &[Vec3], _duration: f64) {
        self.linearised_at = positions.to_vec();
    }

    fn clear_internal_variables(&mut self) {
        self.linearised_at = Vec::new();
    }

    fn internal_variables(&self, mesh: &Mesh) -> Vec<Vec<f64>> {
        let own = |cloth: usize| {
            let places = self.linearised_at.get(mesh.vertices_of(cloth)).unwrap_or_default();
            places.iter().flat_map(|x| [x.x, x.y, x.z]).collect()
        };
        (0..mesh.cloth_count()).map(own).collect()
    }

    fn internal_variable_counts(&self, mesh: &Mesh) -> Vec<usize> {
        (0..mesh.cloth_count()).map(|cloth| 3 * mesh.vertices_of(cloth).len()).collect()
    }

    // Unless all cloths have a shape, that of each evaluation is taken.
    fn set_internal_variables(&mut self, mesh: &Mesh, of_cloths: &[&[f64]]) {
        let places = of_cloths.iter().flat_map(|own| own.as_chunks().0);
        self.linearised_at = places.map(|place: &[f64; 3]| Vec3::from(*place)).collect();
        if self.linearised_at.len() != mesh.vertex_count() {
            self.linearised_at = Vec::new();
        }
    }
}
