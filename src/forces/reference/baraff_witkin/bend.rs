// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bend condition C = θ at every edge between two triangles (Baraff and Witkin 1998, section 4.3).
//!
//! θ is taken from its value at rest, the short way round. The force is exactly −kθ ∂θ/∂x; the paper takes the lengths
//! of normals and edge for constant, which is the same for inextensible cloth. In triangles crushed below
//! [`MIN_REST_RATIO`] of their height the gradient is bounded by its value there.
//!
//! The stiffness is k = (2/√3)(k_u Δu² + k_v Δv²)/(Δu² + Δv²), (Δu, Δv) the edge: where all triangles are
//! equilateral a plate of rigidity B has ½(2/√3)Bθ² at every edge. It is not scaled by lengths or areas (footnote 5),
//! so that on other triangles the rigidity is another one. Weighted so, k_u is the stiffness of folds *along* u, which
//! bend the other yarn: k_u = `bend_weft` and k_v = `bend_warp`. Twist and contraction follow from the hinges (−1/3 on
//! equilateral triangles): `bend_twist` and `poisson` do nothing.
//!
//! Over the height w of an equilateral triangle on the edge, which makes the area and the rigidity those of k, θ/w is a
//! curvature: measured curves of bending are followed with it, at every edge by itself and weighted as k.
//!
//! The tangent is k ∂θ/∂x ∂θ/∂xᵀ, without kθ ∂²θ/∂x², which is indefinite.

use crate::{
    forces::{
        Strain,
        bending::{extrapolate_angle, wrap_angle},
        elements::{
            AddBlock, BlockColumns, ElasticEnergy, ElementLoads, Elements, MemberTangents,
            StoredTangents, Tangents, add_scaled, columns,
        },
        inelastic::{DeformationMode, MaterialHistory, UniaxialElement, UniaxialResponse},
        model_input::ModelInput,
        strain_history::StrainHistory,
    },
    material::Material,
    mesh::{Mesh, hinge_angle},
    parallel::reductions,
    vec3::Vec3,
};
use rayon::prelude::*;

/// Ratio of the height of a triangle and the length of an edge to the rest shape down to which ∂θ/∂x is exact; below it
/// forces are bounded. Evidence: with 10⁻⁹ squeezed sheets change, but no figure of theirs.
const MIN_REST_RATIO: f64 = 0.05;
/// k over the rigidity of a plate of equilateral triangles, 2/√3.
const EQUILATERAL: f64 = 1.154_700_538_379_251_5;

/// An edge between two triangles.
#[derive(Clone, Copy, Debug)]
struct Hinge {
    cloth: u32,
    /// Weights of k_u and k_v.
    weights: [f64; 2],
    /// Factor on both.
    factor: f64,
    rest_angle: f64,
    /// Law of the hinge in inelastic materials.
    uniaxial: UniaxialElement,
    /// Least squares of the doubled areas of both triangles, in m⁴, and of the length, in m².
    min_squares: [f64; 3],
}

/// A hinge at its current shape.
#[derive(Clone, Copy, Debug, Default)]
struct HingeShape {
    gradients: [Vec3; 4],
    /// Derivative of the elastic moment by the angle, in N·m.
    stiffness: f64,
}

/// Stiffness along u and v in N·m, and damping in s, of one cloth.
#[derive(Clone, Copy, Debug)]
struct HingeLaw {
    stiffness: [f64; 2],
    damping: f64,
}

impl HingeLaw {
    fn new(material: &Material) -> Self {
        Self {
            stiffness: [material.bend_weft, material.bend_warp].map(|bend| EQUILATERAL * bend),
            damping: material.bend_damping,
        }
    }
}

/// All hinges.
#[derive(Clone, Debug)]
pub(super) struct BaraffWitkinHinges {
    members: Vec<Hinge>,
    laws: Vec<HingeLaw>,
    history: MaterialHistory,
    loads: ElementLoads<4>,
    shapes: Vec<HingeShape>,
    /// k with viscosity, at the last evaluation.
    stiffness: Vec<f32>,
    inverse_beta: f64,
}

impl BaraffWitkinHinges {
    pub(super) fn new(input: &ModelInput<'_>) -> Self {
        let ModelInput { mesh, materials, .. } = *input;
        let (mut hinges, mut vertices) = (Vec::new(), Vec::new());
        let topology = &mesh.topology;
        for edge in topology.edges.iter().filter(|edge| !edge.is_boundary()) {
            let [left, right] = edge.triangles.map(|triangle| triangle as usize);
            let place = |end: u32| topology.triangles[left].iter().position(|v| *v == end);
            let corners = mesh.rest.corners(left);
            let corners = edge.vertices.map(|end| corners[place(end).unwrap_or(0)]);
            let along = [0, 1].map(|axis| (corners[1][axis] - corners[0][axis]).powi(2));
            let length = mesh.rest.edge_length(edge);
            let areas =
                [left, right].map(|triangle| 2.0 * MIN_REST_RATIO * mesh.rest.areas[triangle]);
            let weights = along.map(|square| square / (along[0] + along[1]));
            let [a, b] = edge.vertices;
            let corners = [a, b, topology.opposite(edge, 0), topology.opposite(edge, 1)];
            let [_, _, factor] = input.mean_property_scale(&corners);
            hinges.push(Hinge {
                cloth: mesh.cloth_of_triangle[left],
                weights,
                factor,
                uniaxial: uniaxial_element(length, weights, factor),
                rest_angle: mesh.rest.angles[hinges.len()],
                min_squares: [
                    areas[0].powi(2),
                    areas[1].powi(2),
                    (MIN_REST_RATIO * length).powi(2),
                ],
            });
            vertices.push(corners);
        }
        let cloths: Vec<u32> = hinges.iter().map(|hinge: &Hinge| hinge.cloth).collect();
        Self {
            laws: materials.iter().map(HingeLaw::new).collect(),
            history: MaterialHistory::new(vec![DeformationMode::BentStrips], materials, cloths),
            loads: ElementLoads::new(vertices, mesh.vertex_count()),
            shapes: vec![HingeShape::default(); hinges.len()],
            stiffness: vec![0.0; hinges.len()],
            members: hinges,
            inverse_beta: 0.0,
        }
    }

    /// k of a hinge in N·m, and its damping in s.
    fn law(&self, hinge: &Hinge) -> (f64, f64) {
        let law = &self.laws[hinge.cloth as usize];
        let [u, v] = [0, 1].map(|axis| hinge.weights[axis] * law.stiffness[axis]);
        (hinge.factor * (u + v), law.damping)
    }

    /// Deviation of every hinge from its angle at rest, in rad.
    fn all_angle_changes(&self, positions: &[Vec3]) -> Vec<f64> {
        let each = (&self.members, &self.loads.vertices).into_par_iter();
        let each = each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK);
        each.map(|(hinge, vertices)| wrap_angle(angle_of(vertices, positions) - hinge.rest_angle))
            .collect()
    }

    fn all_strains(&self, positions: &[Vec3]) -> Vec<Strain> {
        let bent = self.all_angle_changes(positions);
        let each = self.members.iter().zip(bent);
        each.map(|(hinge, bent)| hinge.uniaxial.rates.map(|rate| rate * bent)).collect()
    }
}

impl AddBlock<4> for BaraffWitkinHinges {
    #[inline(always)]
    fn add_block(&self, element: usize, i: usize, j: usize, block: &mut BlockColumns) {
        let gradients = &self.shapes[element].gradients;
        let product = columns(&(gradients[i] * gradients[j].transpose()));
        add_scaled(block, self.stiffness[element], &product);
    }
}

impl Elements for BaraffWitkinHinges {
    fn vertices(&self) -> &[u32] {
        self.loads.vertices.as_flattened()
    }

    fn corner_count(&self) -> usize {
        4
    }

    fn measure_count(&self) -> usize {
        self.members.len()
    }

    fn measure(&self, positions: &[Vec3], measures: &mut [f64]) {
        let each = (measures, &self.loads.vertices).into_par_iter();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK)
            .for_each(|(angle, vertices)| *angle = angle_of(vertices, positions));
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
        self.inverse_beta = history.inverse_beta;
        let mut shapes = std::mem::take(&mut self.shapes);
        let mut loads = std::mem::take(&mut self.loads.forces);
        let inelastic = self.history.inelastic();
        let one = |index: usize, shape: &mut HingeShape, loads: &mut [Vec3; 4]| {
            let (hinge, vertices) = (&self.members[index], &self.loads.vertices[index]);
            let angle = angle_of(vertices, positions);
            let bent = wrap_angle(angle - hinge.rest_angle);
            let reference = history.reference.get(index).unwrap_or(&angle);
            let change = wrap_angle(angle - reference);
            let (stiffness, damping) = self.law(hinge);
            let viscosity = stiffness * damping * history.inverse_beta;
            let elastic = match inelastic {
                None => UniaxialResponse::linear(stiffness, bent),
                Some(inelastic) => hinge.uniaxial.respond(inelastic, index, bent),
            };
            *shape = HingeShape {
                gradients: gradients(vertices, positions, &hinge.min_squares),
                stiffness: elastic.stiffness,
            };
            let moment = elastic.force + viscosity * change;
            *loads = shape.gradients.map(|gradient| gradient * -moment);
            elastic.potential + 0.5 * viscosity * change * change
        };
        let potential =
            reductions::sum_zipped(&mut shapes, &mut loads, reductions::MIN_ELEMENTS_PER_TASK, one);
        self.shapes = shapes;
        self.loads.forces = loads;
        self.loads.gather(forces);
        potential
    }

    fn update_tangent(&mut self) {
        let each = self.members.iter().zip(&self.shapes);
        let stiffness = each.map(|(hinge, shape)| {
            let (stiffness, damping) = self.law(hinge);
            (shape.stiffness + stiffness * damping * self.inverse_beta) as f32
        });
        self.stiffness = stiffness.collect();
    }

    fn tangents<'a>(&'a self, members: &'a [u32]) -> Box<dyn Tangents + 'a> {
        Box::new(MemberTangents::<_, 4>(StoredTangents { elements: self, members }))
    }

    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy {
        let of_hinge = |(index, bent): (usize, f64)| {
            let hinge = &self.members[index];
            self.history.inelastic().map_or_else(
                || 0.5 * self.law(hinge).0 * bent * bent,
                |inelastic| hinge.uniaxial.stored_energy(inelastic, index, bent),
            )
        };
        let bend = self.all_angle_changes(positions).into_iter().enumerate().map(of_hinge).sum();
        ElasticEnergy { bend, ..ElasticEnergy::default() }
    }

    fn set_material(&mut self, _mesh: &Mesh, cloth: usize, material: &Material) {
        self.laws[cloth] = HingeLaw::new(material);
        self.history.set_material(cloth, material);
    }

    fn start_history(&mut self, positions: &[Vec3]) {
        if self.history.inelastic().is_some() {
            let strains = self.all_strains(positions);
            self.history.start(|| strains);
        }
    }

    fn end_step(&mut self, positions: &[Vec3], duration: f64) {
        if self.history.inelastic().is_some() {
            let strains = self.all_strains(positions);
            self.history.end_step(|_| strains, duration);
        }
    }

    fn material_history(&self) -> Option<&MaterialHistory> {
        Some(&self.history)
    }

    fn material_history_mut(&mut self) -> Option<&mut MaterialHistory> {
        Some(&mut self.history)
    }
}

/// Uniaxial law of an edge of a `length` in m, with the weights of k_u and k_v and a factor on both. k is the rigidity
/// times length over height.
fn uniaxial_element(length: f64, [part_u, part_v]: [f64; 2], factor: f64) -> UniaxialElement {
    let height = length / EQUILATERAL;
    let area = factor * length * height;
    UniaxialElement {
        rates: [1.0 / height, 1.0 / height, 0.0],
        areas: [area * part_v, area * part_u, 0.0],
        is_tension_only: false,
    }
}

fn angle_of(vertices: &[u32; 4], positions: &[Vec3]) -> f64 {
    let [a, b, c, d] = vertices.map(|vertex| &positions[vertex as usize]);
    hinge_angle(a, b, c, d)
}

/// ∂θ/∂x at the ends a, b of an edge and at the corners c, d opposite it: along both normals, by the heights of c
/// and d above the edge and by where their feet stand on it.
fn gradients(vertices: &[u32; 4], positions: &[Vec3], least: &[f64; 3]) -> [Vec3; 4] {
    let [a, b, c, d] = vertices.map(|vertex| positions[vertex as usize]);
    let edge = b - a;
    let square = edge.norm_squared().max(least[2]);
    let (to_c, to_d) = (c - a, d - a);
    let side =
        |normal: Vec3, least: f64| normal * (square.sqrt() / normal.norm_squared().max(least));
    let at_c = side(edge.cross(&to_c), least[0]);
    let at_d = side(to_d.cross(&edge), least[1]);
    let (foot_c, foot_d) = (to_c.dot(&edge) / square, to_d.dot(&edge) / square);
    let at_a = at_c * (foot_c - 1.0) + at_d * (foot_d - 1.0);
    [at_a, -at_c * foot_c - at_d * foot_d, at_c, at_d]
}
