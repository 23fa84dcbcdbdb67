// SPDX-License-Identifier: MIT OR Apache-2.0
//! Places of a surface where the derivatives s_u, s_v along warp and weft are sums over a few vertices.
//!
//! Their strains are (‖s_u‖ − b_u, ‖s_v‖ − b_v, ⟨s_u,s_v⟩): Etzmuss 2002, eq. 2.17, and the conditions of
//! Baraff and Witkin 1998, eq. 10, in their own scaling. Per area W = ½εᵀCε + ⟨T, ε⟩, T being a constant tension of
//! the yarns. With σ = Cε + T and r = s/‖s‖ the stress on the vertices is P_u = σ₁r_u + σ₃s_v, P_v = σ₂r_v + σ₃s_u, the
//! gradient of W by s_u and s_v.
//!
//! A frame at the corner of a quad excludes the contribution of warping to the angle between its edges: in place of
//! ‖s_u‖² stands λ_u² = ‖s_u‖² − κ_u(‖h‖² − ‖h₀‖²), h being the deviation of the quad from any linear map of its rest
//! shape, and likewise for ‖s_v‖². (Quads that keep the shape of all four corners cannot warp, and a mesh of them can
//! only bend along its own lines.) For linear maps h = 0, and nothing changes to first order. Where λ² would come near
//! 0, ‖s‖⁴/(‖s‖² + κ(‖h‖² − ‖h₀‖²)) takes its place.
//!
//! With the rows of J the derivatives of λ_u, λ_v and ⟨s_u,s_v⟩, the derivative of the force is JᵀCJ plus (σ₁/λ_u)(ds_u² −
//! dλ_u²), (σ₂/λ_v)(ds_v² − dλ_v²) and 2σ₃ds_u ds_v. It is made positive semidefinite by dropping the compressive part of
//! [[σ₁/λ_u, σ₃], [σ₃, σ₂/λ_v]]; the stress in it is the *predicted* one, as in [`crate::forces::membrane::Membrane`]. The second
//! derivatives of ‖h‖², which cancel between the corners of a quad under constant stress, are dropped as well.

mod law;

pub(crate) use law::FrameKind;

use super::{
    BlockColumns, ElasticEnergy, Elements,
    blocks::{AddBlock, MemberTangents, StoredTangents, Tangents},
    element_loads::ElementLoads,
};
use crate::{
    forces::{
        inelastic::{Inelastic, MaterialHistory, StressResponse, apply},
        membrane::tensile_part,
        model_input::mean_scale,
        strain_history::StrainHistory,
    },
    material::Material,
    mesh::Mesh,
    parallel::reductions,
    vec3::Vec3,
};
use law::FrameLaw;
use rayon::prelude::*;

/// Lower bound of λ (1 at rest) in the geometric part of the tangent. Evidence: no scene or test changes with 10⁻⁹;
/// kept as a guard against division by 0.
const MIN_STRETCH: f64 = 0.05;

/// Measures of one frame.
type Strain = [f64; 3];

/// An integration point: the derivatives of the position along warp and weft.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<const N: usize> {
    pub(crate) vertices: [u32; N],
    /// Factor of each vertex in s_u and s_v, in 1/m.
    pub(crate) gradients: [[f64; 2]; N],
    /// Area that the frame represents, in m².
    pub(crate) area: f64,
    /// Lengths b_u, b_v at rest, 1 where nothing shrinks or lengthens the cloth.
    pub(crate) scale: [f64; 2],
    /// Factors on the stiffness against stretch, shear and bending.
    pub(crate) factors: [f64; 3],
    pub(crate) cloth: u32,
    pub(crate) warping: Warping<N>,
}

/// Deviation of a quad from a linear map of its rest shape: h = Σ factor · x.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Warping<const N: usize> {
    pub(crate) factors: [f64; N],
    /// κ_u and κ_v, in 1/m².
    pub(crate) excess: [f64; 2],
    /// ‖h₀‖², in m².
    pub(crate) rest: f64,
}

impl<const N: usize> Warping<N> {
    /// No warping is excluded.
    pub(crate) const NONE: Self = Self { factors: [0.0; N], excess: [0.0; 2], rest: 0.0 };
}

/// A frame at its current shape.
#[derive(Clone, Copy, Debug, Default)]
struct FrameShape {
    current: FrameMeasures,
    /// Elastic plus viscous stress, in N/m.
    stress: Strain,
    /// Stress in the geometric part of the tangent, in N/m.
    tangent_stress: Strain,
    predicted_stress: Strain,
}

/// Measures of a frame and their derivatives.
#[derive(Clone, Copy, Debug, Default)]
struct FrameMeasures {
    strain: Strain,
    s: [Vec3; 2],
    h: Vec3,
    /// λ_u, λ_v.
    lengths: [f64; 2],
    /// Factors of s and of h in the derivatives of both.
    slopes: [[f64; 2]; 2],
}

/// Second derivatives of a frame's energy: Σ y yᵀ over three vectors at every vertex, and a multiple of the identity.
#[derive(Clone, Copy, Debug)]
struct FrameTangent<const N: usize> {
    /// Vectors y, in the root of N/m.
    vectors: [[[f32; 4]; 3]; N],
    /// Factors of a_i a_j, b_i b_j and a_i b_j + b_i a_j, the gradients of the vertices, in N·m.
    geometric: [f32; 3],
}

/// Frames of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Frames<const N: usize> {
    kind: FrameKind,
    members: Vec<Frame<N>>,
    laws: Vec<FrameLaw>,
    /// Constant tension per bending rigidity, of each cloth, in 1/m².
    line_tensions: Vec<f64>,
    history: MaterialHistory,
    loads: ElementLoads<N>,
    shapes: Vec<FrameShape>,
    tangents: Vec<FrameTangent<N>>,
    inverse_beta: f64,
}

impl<const N: usize> Frames<N> {
    /// Frames of the cloths of a mesh. `line_tensions` are constant tensions of the yarns of each cloth over the
    /// bending rigidity, in 1/m²: 0 for real cloth.
    pub(crate) fn new(
        mesh: &Mesh,
        kind: FrameKind,
        frames: Vec<Frame<N>>,
        materials: &[Material],
        line_tensions: Vec<f64>,
    ) -> Self {
        let vertices = frames.iter().map(|frame| frame.vertices).collect();
        let laws = materials.iter().zip(&line_tensions);
        let cloths: Vec<u32> = frames.iter().map(|frame| frame.cloth).collect();
        Self {
            kind,
            history: MaterialHistory::new(vec![kind.deformation_mode()], materials, cloths),
            laws: laws.map(|(material, tension)| FrameLaw::new(kind, material, *tension)).collect(),
            line_tensions,
            loads: ElementLoads::new(vertices, mesh.vertex_count()),
            shapes: vec![FrameShape::default(); frames.len()],
            tangents: vec![FrameTangent::NONE; frames.len()],
            members: frames,
            inverse_beta: 0.0,
        }
    }

    /// Updates shapes and loads to `positions` and returns the potential in J; `respond` is the elastic law of a frame:
    /// stress in N/m and potential per area in J/m².
    fn evaluate_by(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, f64>,
        respond: impl Fn(usize, &Frame<N>, &FrameLaw, &Strain) -> (Strain, f64) + Sync,
    ) -> f64 {
        let (frames, laws) = (&self.members, &self.laws);
        let references = history.reference.as_chunks::<3>().0;
        let one = |index: usize, shape: &mut FrameShape, loads: &mut [Vec3; N]| {
            let frame = &frames[index];
            let law = &frame.law(laws);
            let current = FrameMeasures::new(frame, positions);
            let strain = &current.strain;
            let reference = references.get(index).unwrap_or(strain);
            let elastic = respond(index, frame, law, strain);
            let (stress, potential) =
                law.total_stress(elastic, [strain, reference], history.inverse_beta);
            for (load, rates) in loads.iter_mut().zip(current.rates(frame)) {
                let [by_u, by_v, by_angle] = rates;
                *load = (by_u * stress[0] + by_v * stress[1] + by_angle * stress[2]) * -frame.area;
            }
            *shape = FrameShape {
                current,
                stress,
                tangent_stress: stress,
                predicted_stress: shape.predicted_stress,
            };
            frame.area * potential
        };
        reductions::sum_zipped(
            &mut self.shapes,
            &mut self.loads.forces,
            reductions::MIN_ELEMENTS_PER_TASK,
            one,
        )
    }
}

impl<const N: usize> Frame<N> {
    fn law(&self, laws: &[FrameLaw]) -> FrameLaw {
        laws[self.cloth as usize].with_stiffness_factors(&self.factors)
    }

    fn respond(&self, inelastic: &Inelastic, index: usize, strain: &Strain) -> StressResponse {
        let [stretch, shear, _] = self.factors;
        inelastic.respond(index, strain).scaled([stretch, shear])
    }

    /// Derivatives of the stress by the strains, in N/m.
    fn moduli(
        &self,
        law: &FrameLaw,
        inelastic: Option<&Inelastic>,
        index: usize,
        strain: &Strain,
        inverse_beta: f64,
    ) -> [f64; 4] {
        inelastic.map_or_else(
            || law.scaled(1.0, inverse_beta),
            |inelastic| {
                let elastic = self.respond(inelastic, index, strain).moduli;
                let viscous = law.scaled(0.0, inverse_beta);
                std::array::from_fn(|k| elastic[k] + viscous[k])
            },
        )
    }
}

fn all_strains<const N: usize>(frames: &[Frame<N>], positions: &[Vec3]) -> Vec<Strain> {
    let each = frames.par_iter().with_min_len(reductions::MIN_ELEMENTS_PER_TASK);
    each.map(|frame| FrameMeasures::new(frame, positions).strain).collect()
}

impl<const N: usize> AddBlock<N> for Frames<N> {
    #[inline(always)]
    fn add_block(&self, element: usize, i: usize, j: usize, block: &mut BlockColumns) {
        let gradients = &self.members[element].gradients;
        let ([a, b], [c, d]) = (gradients[i], gradients[j]);
        let FrameTangent { vectors, geometric } = &self.tangents[element];
        let products = [a * c, b * d, a * d + b * c].map(|product| product as f32);
        let own: f32 = geometric.iter().zip(&products).map(|(m, product)| m * product).sum();
        for (k, column) in block.iter_mut().enumerate() {
            for (left, right) in vectors[i].iter().zip(&vectors[j]) {
                for (entry, value) in column.iter_mut().zip(left) {
                    *entry += value * right[k];
                }
            }
            column[k] += own;
        }
    }
}

impl<const N: usize> Elements for Frames<N> {
    fn vertices(&self) -> &[u32] {
        self.loads.vertices.as_flattened()
    }

    fn corner_count(&self) -> usize {
        N
    }

    fn measure_count(&self) -> usize {
        3 * self.members.len()
    }

    fn measure(&self, positions: &[Vec3], measures: &mut [f64]) {
        let each = (measures.as_chunks_mut::<3>().0, &self.members).into_par_iter();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK)
            .for_each(|(strain, frame)| *strain = FrameMeasures::new(frame, positions).strain);
    }

    fn evaluate(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, f64>,
        forces: &mut [Vec3],
    ) -> f64 {
        self.inverse_beta = history.inverse_beta;
        let material_history = std::mem::take(&mut self.history);
        let potential = match material_history.inelastic() {
            None => self.evaluate_by(positions, history, |_, _, law, strain| law.respond(strain)),
            Some(inelastic) => self.evaluate_by(positions, history, |index, frame, _, strain| {
                let response = frame.respond(inelastic, index, strain);
                (response.stress, response.potential())
            }),
        };
        self.history = material_history;
        self.loads.gather(forces);
        potential
    }

    fn predict_stress(&mut self, direction: &[Vec3]) {
        let (laws, inverse_beta) = (&self.laws, self.inverse_beta);
        let inelastic = self.history.inelastic();
        let each = (&mut self.shapes, &self.members).into_par_iter().enumerate();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK).for_each(|(index, (shape, frame))| {
            let mut change = [0.0; 3];
            for (vertex, rates) in frame.vertices.iter().zip(shape.current.rates(frame)) {
                for (change, rate) in change.iter_mut().zip(&rates) {
                    *change += rate.dot(&direction[*vertex as usize]);
                }
            }
            let (law, strain) = (frame.law(laws), &shape.current.strain);
            let moduli = frame.moduli(&law, inelastic, index, strain, inverse_beta);
            let step = apply(&moduli, &change);
            shape.predicted_stress = [0, 1, 2].map(|k| shape.stress[k] + step[k]);
        });
    }

    fn use_predicted_stress(&mut self) {
        for shape in &mut self.shapes {
            shape.tangent_stress = shape.predicted_stress;
        }
    }

    fn update_tangent(&mut self) {
        let (laws, inverse_beta) = (&self.laws, self.inverse_beta);
        let inelastic = self.history.inelastic();
        let each = (&mut self.tangents, &self.shapes, &self.members).into_par_iter().enumerate();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK).for_each(
            |(index, (tangent, shape, frame))| {
                let (law, strain) = (frame.law(laws), &shape.current.strain);
                let moduli = frame.moduli(&law, inelastic, index, strain, inverse_beta);
                *tangent = FrameTangent::new(frame, shape, &moduli);
            },
        );
    }

    fn tangents<'a>(&'a self, members: &'a [u32]) -> Box<dyn Tangents + 'a> {
        Box::new(MemberTangents::<_, N>(StoredTangents { elements: self, members }))
    }

    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy {
        let mut energy = ElasticEnergy::default();
        for (index, frame) in self.members.iter().enumerate() {
            let law = frame.law(&self.laws);
            let FrameMeasures { strain, .. } = FrameMeasures::new(frame, positions);
            let [warp, weft, shear] = if let Some(inelastic) = self.history.inelastic() {
                let [stretch, shear, _] = frame.factors;
                let stored = inelastic
                    .law(index)
                    .stored_energy(&strain, inelastic.internal_variables(index));
                [stretch * stored[0], stretch * stored[1], shear * stored[2]]
            } else {
                let stress = apply(&law.moduli, &strain);
                [0, 1, 2].map(|k| 0.5 * strain[k] * stress[k])
            };
            energy.stretch += frame.area * (warp + weft);
            energy.shear += frame.area * shear;
            energy.bend += frame.area * (strain[0] * law.tension[0] + strain[1] * law.tension[1]);
        }
        energy
    }

    fn set_material(&mut self, _mesh: &Mesh, cloth: usize, material: &Material) {
        self.laws[cloth] = FrameLaw::new(self.kind, material, self.line_tensions[cloth]);
        self.history.set_material(cloth, material);
    }

    fn set_rest_scale(&mut self, _mesh: &Mesh, scale: &[[f64; 2]]) {
        for frame in &mut self.members {
            frame.scale = mean_scale(scale, &frame.vertices);
        }
    }

    fn inelastic_strains(&self, positions: &[Vec3]) -> Vec<Strain> {
        all_strains(&self.members, positions)
    }

    fn material_history(&self) -> Option<&MaterialHistory> {
        Some(&self.history)
    }

    fn material_history_mut(&mut self) -> Option<&mut MaterialHistory> {
        Some(&mut self.history)
    }
}

impl FrameMeasures {
    fn new<const N: usize>(frame: &Frame<N>, positions: &[Vec3]) -> Self {
        let (mut s, mut h) = ([Vec3::zeros(); 2], Vec3::zeros());
        let factors = frame.gradients.iter().zip(&frame.warping.factors);
        for (vertex, ([a, b], factor)) in frame.vertices.iter().zip(factors) {
            let position = &positions[*vertex as usize];
            s[0] += position * *a;
            s[1] += position * *b;
            h += position * *factor;
        }
        let warped = h.norm_squared() - frame.warping.rest;
        let [u, v] = [0, 1].map(|k| length(&s[k], frame.warping.excess[k], warped));
        let lengths = [u.0, v.0];
        let strain = [lengths[0] - frame.scale[0], lengths[1] - frame.scale[1], s[0].dot(&s[1])];
        Self { strain, s, h, lengths, slopes: [u.1, v.1] }
    }

    /// Derivatives of the strains by each vertex.
    fn rates<const N: usize>(&self, frame: &Frame<N>) -> [[Vec3; 3]; N] {
        let [su, sv] = &self.s;
        let [ru, rv] = [0, 1].map(|k| self.s[k] * self.slopes[k][0]);
        let [hu, hv] = [0, 1].map(|k| self.h * self.slopes[k][1]);
        std::array::from_fn(|vertex| {
            let ([a, b], factor) = (frame.gradients[vertex], frame.warping.factors[vertex]);
            [ru * a + hu * factor, rv * b + hv * factor, sv * a + su * b]
        })
    }
}

impl<const N: usize> FrameTangent<N> {
    const NONE: Self = Self { vectors: [[[0.0; 4]; 3]; N], geometric: [0.0; 3] };

    fn new(frame: &Frame<N>, shape: &FrameShape, moduli: &[f64; 4]) -> Self {
        let [c11, c22, c12, c33] = *moduli;
        let [t1, t2] =
            [0, 1].map(|k| shape.tangent_stress[k] / shape.current.lengths[k].max(MIN_STRETCH));
        let geometric = tensile_part(&[t1, t2, shape.tangent_stress[2]]);
        let mut along = [t1.max(0.0), t2.max(0.0)];
        let spare = [c11 - along[0], c22 - along[1]];
        if spare[0] < 0.0 || spare[1] < 0.0 || spare[0] * spare[1] < c12 * c12 {
            // The material part does not cover the negative geometric part along the yarns.
            along = [0.0; 2];
        }
        // The factors of both stretches, and the root of the shear modulus.
        let l11 = (c11 - along[0]).max(0.0).sqrt();
        let l21 = if l11 > 0.0 { c12 / l11 } else { 0.0 };
        let l22 = (c22 - along[1] - l21 * l21).max(0.0).sqrt();
        let root = frame.area.sqrt();
        let vectors = shape.current.rates(frame).map(|[by_u, by_v, by_angle]| {
            [by_u * l11 + by_v * l21, by_v * l22, by_angle * c33.sqrt()].map(|vector| {
                let [x, y, z] = (vector * root).into();
                [x as f32, y as f32, z as f32, 0.0]
            })
        });
        Self { vectors, geometric: geometric.map(|value| (frame.area * value) as f32) }
    }
}

/// λ, and its derivative as factors of s and h: see the head of this file.
fn length(s: &Vec3, excess: f64, warped: f64) -> (f64, [f64; 2]) {
    let square = s.norm_squared();
    let out = excess * warped;
    let (length, by_s, by_h) = if out > 0.0 {
        let ratio = square / (square + out);
        let by_h = ratio * ratio;
        ((square * ratio).sqrt(), 2.0 * ratio - by_h, by_h)
    } else {
        ((square - out).sqrt(), 1.0, 1.0)
    };
    let inverse = 1.0 / length.max(f64::MIN_POSITIVE);
    (length, [by_s * inverse, -excess * by_h * inverse])
}
