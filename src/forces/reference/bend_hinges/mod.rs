// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bending elements of two triangles with a common edge, one law for each element: the bend condition C = θ of Baraff and Witkin
//! 1998 (section 4.3), and the elements of Volino and of Bridson in Huber 2018 (eq. 2.95 and 2.96).
//!
//! θ is taken from its value at rest θ₀, the short way round. The force of the bend condition is exactly −kθ ∂θ/∂x; the paper
//! takes the lengths of normals and edge for constant, which is the same for inextensible cloth. In triangles crushed below
//! [`MIN_REST_RATIO`] of their height the gradient is bounded by its value there.
//!
//! The stiffness of the condition is k = (2/√3)(k_u Δu² + k_v Δv²)/(Δu² + Δv²), (Δu, Δv) the edge: where all triangles are
//! equilateral a plate of rigidity B has ½(2/√3)Bθ² at every edge. It is not scaled by lengths or areas (footnote 5),
//! so that on other triangles the rigidity is another one. Weighted so, k_u is the stiffness of folds *along* u, which
//! bend the other yarn: k_u = `bend_weft` and k_v = `bend_warp`. Twist and contraction follow from the hinges (−1/3 on
//! equilateral triangles): `bend_twist` and `poisson` do nothing.
//!
//! The other two are scaled, by 2l/(h_c + h_d) in place of 2/√3, with the length l of the edge and the heights h of the triangles
//! on it. Bridson's force k^B b_i (sin θ/2 − sin θ₀/2) has b_i = −l²/(|N₁| + |N₂|) ∂θ/∂x_i; with l and the normals N of the
//! shape at rest it is the gradient of an energy, and k^B = 4B. Volino's is linear: see `bending_vector`.
//!
//! Measured curves of bending and memory take the angle over half of both heights for a curvature (the height of an equilateral
//! triangle for the bend condition, which makes area and rigidity those of k), at every edge by itself and weighted as k; with the
//! bending vector its component along the normal. They take the place of the linear law and of the sine.
//!
//! The tangent is k ∂θ/∂x ∂θ/∂xᵀ, without the second derivatives of θ, which are indefinite.

mod bending_vector;

use crate::{
    forces::{
        Strain,
        bending::wrap_angle,
        elements::{
            AddBlock, BlockColumns, ElasticEnergy, ElementLoads, Elements, MemberTangents,
            StoredTangents, Tangents, add_scaled, columns,
        },
        fem::membrane,
        inelastic::{DeformationMode, MaterialHistory, UniaxialElement, UniaxialResponse},
        model_input::ModelInput,
        strain_history::StrainHistory,
    },
    material::Material,
    mesh::{Edge, Mesh, hinge_angle},
    parallel::{BufferPool, reductions},
    vec3::Vec3,
};
use bending_vector::{BendingVector, VectorShape};
use nalgebra::Matrix3;
use rayon::prelude::*;

/// Ratio of the height of a triangle and the length of an edge to the rest shape down to which ∂θ/∂x is exact; below it
/// forces are bounded. Evidence: with 10⁻⁹ squeezed sheets change, but no figure of theirs.
const MIN_REST_RATIO: f64 = 0.05;
/// k over the rigidity of a plate of equilateral triangles, 2/√3.
const EQUILATERAL: f64 = 1.154_700_538_379_251_5;

/// The default model bent by the elements of Volino and Magnenat-Thalmann (Huber 2018, eq. 2.95).
#[must_use]
pub fn fem_volino(input: &ModelInput<'_>) -> Vec<Box<dyn Elements>> {
    vec![
        membrane(input, BufferPool::new(1)),
        Box::new(BendHinges::new(input, HingeLawKind::BendingVector)),
    ]
}

/// The default model bent by the elements of Bridson and others (Huber 2018, eq. 2.96).
#[must_use]
pub fn fem_bridson(input: &ModelInput<'_>) -> Vec<Box<dyn Elements>> {
    vec![
        membrane(input, BufferPool::new(1)),
        Box::new(BendHinges::new(input, HingeLawKind::SineOfHalfAngle)),
    ]
}

/// Law of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HingeLawKind {
    /// Linear in the angle, one stiffness for all triangles (Baraff and Witkin 1998).
    BendCondition,
    /// Linear in the sine of half of the angle (Huber 2018, eq. 2.96).
    SineOfHalfAngle,
    /// Linear in the positions (Huber 2018, eq. 2.95).
    BendingVector,
}

/// An edge between two triangles.
#[derive(Clone, Copy, Debug)]
struct Hinge {
    cloth: u32,
    /// Weights of k_u and k_v.
    weights: [f64; 2],
    /// Factor on both.
    factor: f64,
    /// Stiffness against the angle over rigidity, without factor.
    slenderness: f64,
    rest_angle: f64,
    /// Law of the hinge in inelastic materials.
    uniaxial: UniaxialElement,
    vector: BendingVector,
    /// Least squares of the doubled areas of both triangles, in m⁴, and of the length, in m².
    min_squares: [f64; 3],
}

/// A hinge at its current shape.
#[derive(Clone, Copy, Debug, Default)]
struct HingeShape {
    /// Of the measure.
    gradients: [Vec3; 4],
    /// Derivative of the elastic moment by the measure.
    stiffness: f64,
    /// λ in N/m and the derivatives of R − ρN, where the law is linear in the positions.
    vector: Option<(f64, [Matrix3<f64>; 4])>,
}

/// Stiffness along u and v in N·m, and damping in s, of one cloth.
#[derive(Clone, Copy, Debug)]
struct HingeLaw {
    stiffness: [f64; 2],
    damping: f64,
}

impl HingeLaw {
    fn new(material: &Material) -> Self {
        Self { stiffness: [material.bend_weft, material.bend_warp], damping: material.bend_damping }
    }
}

/// All hinges.
#[derive(Clone, Debug)]
pub(super) struct BendHinges {
    kind: HingeLawKind,
    members: Vec<Hinge>,
    laws: Vec<HingeLaw>,
    history: MaterialHistory,
    loads: ElementLoads<4>,
    shapes: Vec<HingeShape>,
    /// k with viscosity, at the last evaluation.
    stiffness: Vec<f32>,
    inverse_beta: f64,
}

/// Hinges of a mesh, with the vertices of each: the ends of the edge and the opposite corners.
fn hinges(input: &ModelInput<'_>, kind: HingeLawKind) -> (Vec<Hinge>, Vec<[u32; 4]>) {
    let mesh = input.mesh;
    let topology = &mesh.topology;
    let edges = topology.edges.iter().filter(|edge| !edge.is_boundary());
    edges.zip(mesh.rest.angles.iter()).map(|(edge, angle)| hinge(input, kind, edge, *angle)).unzip()
}

fn hinge(
    input: &ModelInput<'_>,
    kind: HingeLawKind,
    edge: &Edge,
    rest_angle: f64,
) -> (Hinge, [u32; 4]) {
    let (mesh, topology) = (input.mesh, &input.mesh.topology);
    let [left, right] = edge.triangles.map(|triangle| triangle as usize);
    let place = |end: u32| topology.triangles[left].iter().position(|v| *v == end);
    let corners = mesh.rest.corners(left);
    let corners = edge.vertices.map(|end| corners[place(end).unwrap_or(0)]);
    let along = [0, 1].map(|axis| (corners[1][axis] - corners[0][axis]).powi(2));
    let weights = along.map(|square| square / (along[0] + along[1]));
    let length = mesh.rest.edge_length(edge);
    let doubled = [left, right].map(|triangle| 2.0 * mesh.rest.areas[triangle]);
    let slenderness = match kind {
        HingeLawKind::BendCondition => EQUILATERAL,
        _ => 2.0 * length * length / (doubled[0] + doubled[1]),
    };
    let [a, b] = edge.vertices;
    let vertices = [a, b, topology.opposite(edge, 0), topology.opposite(edge, 1)];
    let [_, _, factor] = input.mean_property_scale(&vertices);
    let points = vertices.map(|vertex| mesh.rest.positions[vertex as usize]);
    let vector = BendingVector::new(points, rest_angle);
    let arm = if kind == HingeLawKind::BendingVector { vector.height } else { 1.0 };
    let least = doubled.map(|area| (MIN_REST_RATIO * area).powi(2));
    let hinge = Hinge {
        cloth: mesh.cloth_of_triangle[left],
        weights,
        factor,
        slenderness,
        uniaxial: uniaxial_element(length, length / slenderness, arm, weights, factor),
        rest_angle,
        vector,
        min_squares: [least[0], least[1], (MIN_REST_RATIO * length).powi(2)],
    };
    (hinge, vertices)
}

impl BendHinges {
    pub(super) fn new(input: &ModelInput<'_>, kind: HingeLawKind) -> Self {
        let ModelInput { mesh, materials, .. } = *input;
        let (hinges, vertices) = hinges(input, kind);
        let cloths: Vec<u32> = hinges.iter().map(|hinge: &Hinge| hinge.cloth).collect();
        Self {
            kind,
            laws: materials.iter().map(HingeLaw::new).collect(),
            history: MaterialHistory::new(vec![DeformationMode::BentStrips], materials, cloths),
            loads: ElementLoads::new(vertices, mesh.vertex_count()),
            shapes: vec![HingeShape::default(); hinges.len()],
            stiffness: vec![0.0; hinges.len()],
            members: hinges,
            inverse_beta: 0.0,
        }
    }

    /// Stiffness of a hinge by its measure, in N·m or in N/m, and its damping in s.
    fn law(&self, hinge: &Hinge) -> (f64, f64) {
        let law = &self.laws[hinge.cloth as usize];
        let [u, v] = [0, 1].map(|axis| hinge.weights[axis] * law.stiffness[axis]);
        let by_angle = hinge.factor * hinge.slenderness * (u + v);
        let arm = if self.kind == HingeLawKind::BendingVector { hinge.vector.height } else { 1.0 };
        (by_angle / (arm * arm), law.damping)
    }

    /// The angle in rad, or R·N in m.
    fn measure_of(&self, hinge: &Hinge, points: &[Vec3; 4]) -> f64 {
        if self.kind == HingeLawKind::BendingVector {
            return hinge.vector.shape(*points).height();
        }
        let [a, b, c, d] = points;
        hinge_angle(a, b, c, d)
    }

    /// Difference of two measures.
    fn difference(&self, now: f64, before: f64) -> f64 {
        if self.kind == HingeLawKind::BendingVector {
            return now - before;
        }
        wrap_angle(now - before)
    }

    /// A measure less that of the shape at rest.
    fn bent(&self, hinge: &Hinge, measure: f64) -> f64 {
        if self.kind == HingeLawKind::BendingVector {
            return measure - hinge.vector.rest;
        }
        wrap_angle(measure - hinge.rest_angle)
    }

    /// Elastic response of a measure less that at rest. That of the bending vector is no function of the measure:
    /// [`Self::vector_potential`].
    fn elastic(&self, index: usize, bent: f64, stiffness: f64) -> UniaxialResponse {
        let hinge = &self.members[index];
        match (self.history.inelastic(), self.kind) {
            (Some(inelastic), _) => hinge.uniaxial.respond(inelastic, index, bent),
            (None, HingeLawKind::BendCondition) => UniaxialResponse::linear(stiffness, bent),
            (None, HingeLawKind::SineOfHalfAngle) => half_sine(stiffness, hinge.rest_angle, bent),
            (None, HingeLawKind::BendingVector) => UniaxialResponse::default(),
        }
    }

    /// ½λ|R − ρN|² in J.
    fn vector_potential(&self, hinge: &Hinge, shape: &VectorShape) -> f64 {
        self.law(hinge).0 * hinge.vector.half_square(shape)
    }

    /// Whether the elements have a bending vector in elastic cloth.
    fn is_linear_in_positions(&self) -> bool {
        self.kind == HingeLawKind::BendingVector && self.history.inelastic().is_none()
    }

    /// Evaluates a hinge: its shape, the forces on its vertices, and the potential.
    fn evaluate_one(
        &self,
        index: usize,
        points: &[Vec3; 4],
        reference: Option<&f64>,
        inverse_beta: f64,
    ) -> (HingeShape, [Vec3; 4], f64) {
        let hinge = &self.members[index];
        let (stiffness, damping) = self.law(hinge);
        let measure = self.measure_of(hinge, points);
        let change = self.difference(measure, *reference.unwrap_or(&measure));
        let viscosity = stiffness * damping * inverse_beta;
        let elastic = self.elastic(index, self.bent(hinge, measure), stiffness);
        let vector =
            (self.kind == HingeLawKind::BendingVector).then(|| hinge.vector.shape(*points));
        let gradients = vector.as_ref().map_or_else(
            || gradients(points, &hinge.min_squares),
            |vector| vector.height_gradients(&hinge.vector.weights),
        );
        let moment = elastic.force + viscosity * change;
        let mut loads = gradients.map(|gradient| gradient * -moment);
        let mut potential = elastic.potential + 0.5 * viscosity * change * change;
        let mut shape = HingeShape { gradients, stiffness: elastic.stiffness, vector: None };
        if let Some(vector) = vector.filter(|_| self.is_linear_in_positions()) {
            potential += self.vector_potential(hinge, &vector);
            let slopes = hinge.vector.half_square_gradients(&vector);
            for (load, slope) in loads.iter_mut().zip(slopes) {
                *load -= slope * stiffness;
            }
            shape.vector = Some((stiffness, hinge.vector.rates(&vector)));
        }
        (shape, loads, potential)
    }

    /// Measure of every hinge less that at rest.
    fn all_changes(&self, positions: &[Vec3]) -> Vec<f64> {
        let each = (&self.members, &self.loads.vertices).into_par_iter();
        let each = each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK);
        each.map(|(hinge, vertices)| {
            self.bent(hinge, self.measure_of(hinge, &points(vertices, positions)))
        })
        .collect()
    }

    /// Elastic energy of a hinge at a shape, in J.
    fn energy_of(&self, index: usize, bent: f64, positions: &[Vec3]) -> f64 {
        let hinge = &self.members[index];
        if self.is_linear_in_positions() {
            let points = points(&self.loads.vertices[index], positions);
            return self.vector_potential(hinge, &hinge.vector.shape(points));
        }
        self.history.inelastic().map_or_else(
            || self.elastic(index, bent, self.law(hinge).0).potential,
            |inelastic| hinge.uniaxial.stored_energy(inelastic, index, bent),
        )
    }
}

/// The moment 2k(sin θ/2 − sin θ₀/2) of k in N·m, for θ₀ and θ − θ₀ in rad.
fn half_sine(stiffness: f64, rest: f64, bent: f64) -> UniaxialResponse {
    let (sine, cosine) = (0.5 * (rest + bent)).sin_cos();
    let (rest_sine, rest_cosine) = (0.5 * rest).sin_cos();
    UniaxialResponse {
        force: 2.0 * stiffness * (sine - rest_sine),
        potential: 2.0 * stiffness * (2.0 * (rest_cosine - cosine) - rest_sine * bent),
        stiffness: (stiffness * cosine).max(0.0),
    }
}

impl AddBlock<4> for BendHinges {
    #[inline(always)]
    fn add_block(&self, element: usize, i: usize, j: usize, block: &mut BlockColumns) {
        let HingeShape { gradients, vector, .. } = &self.shapes[element];
        let product = columns(&(gradients[i] * gradients[j].transpose()));
        add_scaled(block, self.stiffness[element], &product);
        if let Some((stiffness, rates)) = vector {
            add_scaled(block, *stiffness as f32, &columns(&(rates[i].transpose() * rates[j])));
        }
    }
}

impl Elements for BendHinges {
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
        let each = (measures, &self.members, &self.loads.vertices).into_par_iter();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK).for_each(
            |(measure, hinge, vertices)| {
                *measure = self.measure_of(hinge, &points(vertices, positions));
            },
        );
    }

    fn extrapolate(&self, now: f64, before: f64, weight: f64) -> f64 {
        now + weight * self.difference(now, before)
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
        let one = |index: usize, shape: &mut HingeShape, loads: &mut [Vec3; 4]| {
            let points = points(&self.loads.vertices[index], positions);
            let reference = history.reference.get(index);
            let potential;
            (*shape, *loads, potential) =
                self.evaluate_one(index, &points, reference, history.inverse_beta);
            potential
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
        let changes = self.all_changes(positions).into_iter().enumerate();
        let bend = changes.map(|(index, bent)| self.energy_of(index, bent, positions)).sum();
        ElasticEnergy { bend, ..ElasticEnergy::default() }
    }

    fn set_material(&mut self, _mesh: &Mesh, cloth: usize, material: &Material) {
        self.laws[cloth] = HingeLaw::new(material);
        self.history.set_material(cloth, material);
    }

    fn inelastic_strains(&self, positions: &[Vec3]) -> Vec<Strain> {
        let bent = self.all_changes(positions);
        let each = self.members.iter().zip(bent);
        each.map(|(hinge, bent)| hinge.uniaxial.rates.map(|rate| rate * bent)).collect()
    }

    fn material_history(&self) -> Option<&MaterialHistory> {
        Some(&self.history)
    }

    fn material_history_mut(&mut self) -> Option<&mut MaterialHistory> {
        Some(&mut self.history)
    }
}

/// Uniaxial law of an edge of a `length` and a `width` across in m, with the weights of k_u and k_v and a factor on both. k is the
/// rigidity times length over width; `arm` is the measure over the angle.
fn uniaxial_element(
    length: f64,
    width: f64,
    arm: f64,
    [part_u, part_v]: [f64; 2],
    factor: f64,
) -> UniaxialElement {
    let area = factor * length * width;
    let rate = 1.0 / (width * arm);
    UniaxialElement {
        rates: [rate, rate, 0.0],
        areas: [area * part_v, area * part_u, 0.0],
        is_tension_only: false,
    }
}

fn points(vertices: &[u32; 4], positions: &[Vec3]) -> [Vec3; 4] {
    vertices.map(|vertex| positions[vertex as usize])
}

/// ∂θ/∂x at the ends a, b of an edge and at the corners c, d opposite it: along both normals, by the heights of c
/// and d above the edge and by where their feet stand on it.
fn gradients([a, b, c, d]: &[Vec3; 4], least: &[f64; 3]) -> [Vec3; 4] {
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
