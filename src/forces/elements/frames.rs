// SPDX-License-Identifier: MIT OR Apache-2.0
//! Places of a surface where the derivatives s_u, s_v along warp and weft are sums over a few vertices.
//!
//! Their strains are (‖s_u‖ − b_u, ‖s_v‖ − b_v, ⟨s_u,s_v⟩): Etzmuss 2002, eq. 2.17, and the conditions of
//! Baraff and Witkin 1998, eq. 10, in their own scaling. Per area W = ½εᵀCε + ⟨T, ε⟩, T being a constant tension of
//! the yarns. With σ = Cε + T and r = s/‖s‖ the stress on the vertices is P_u = σ₁r_u + σ₃s_v, P_v = σ₂r_v + σ₃s_u, the
//! gradient of W by s_u and s_v.
//!
//! Its derivative is JᵀCJ, with J of the rows (r_u, 0), (0, r_v), (s_v, s_u), plus σ₁/‖s_u‖ across r_u, σ₂/‖s_v‖ across
//! r_v and σ₃ between s_u and s_v. It is made positive semidefinite by dropping the compressive part of
//! [[σ₁/‖s_u‖, σ₃], [σ₃, σ₂/‖s_v‖]]; the stress in it is the *predicted* one, as in [`crate::forces::Membrane`].

use super::{BlockColumns, ElasticEnergy, Elements, Scatter, add_scaled, columns, decode};
use crate::{
    Material, Vec3,
    forces::{StrainHistory, membrane::tensile_part},
    mesh::Mesh,
    parallel,
};
use nalgebra::Matrix3;
use rayon::prelude::*;

/// Below this length (of 1 at rest) a derivative counts as this long where something is divided by it.
const SHORTEST: f64 = 0.05;

/// Measures of one frame.
type Strain = [f64; 3];

/// One place where derivatives are taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<const N: usize> {
    pub(crate) vertices: [u32; N],
    /// Factor of each vertex in s_u and s_v, in 1/m.
    pub(crate) gradients: [[f64; 2]; N],
    /// Area that the frame stands for, in m².
    pub(crate) area: f64,
    /// Lengths b_u, b_v at rest, 1 where nothing shrinks or lengthens the cloth.
    pub(crate) scale: [f64; 2],
    pub(crate) cloth: u32,
}

/// What of a material acts in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// Stretch and shear without transverse contraction: the moduli of a strip along each yarn.
    Conditions,
    /// Tension and transverse contraction.
    Tension,
    /// Shear.
    Shear,
}

/// Moduli in N/m, Kelvin-Voigt times in s and constant tension in N/m of one cloth.
#[derive(Clone, Copy, Debug)]
struct Law {
    /// C₁₁, C₂₂, C₁₂, C₃₃.
    moduli: [f64; 4],
    dampings: [f64; 2],
    tension: [f64; 2],
}

impl Law {
    fn new(kind: FrameKind, material: &Material, line_tension: f64) -> Self {
        let [c11, c22, c12, c33] = material.membrane_moduli();
        let moduli = match kind {
            FrameKind::Conditions => [material.stretch_warp, material.stretch_weft, 0.0, c33],
            FrameKind::Tension => [c11, c22, c12, 0.0],
            FrameKind::Shear => [0.0, 0.0, 0.0, c33],
        };
        Self {
            moduli,
            dampings: [material.stretch_damping, material.shear_damping],
            tension: [material.bend_warp, material.bend_weft].map(|bend| bend * line_tension),
        }
    }

    /// C·(`elastic` + τ/β).
    fn scaled(&self, elastic: f64, inverse_beta: f64) -> [f64; 4] {
        let [stretch, shear] = self.dampings.map(|time| elastic + time * inverse_beta);
        let [c11, c22, c12, c33] = self.moduli;
        [stretch * c11, stretch * c22, stretch * c12, shear * c33]
    }
}

/// A frame at its current shape.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    s: [Vec3; 2],
    /// Elastic plus viscous stress, in N/m.
    stress: Strain,
    /// Stress that the geometric part of the tangent is taken at.
    used: Strain,
    predicted: Strain,
}

/// Second derivatives of a frame's energy by s_u and s_v, in N·m.
#[derive(Clone, Copy, Debug, Default)]
struct Tangent {
    uu: BlockColumns,
    uv: BlockColumns,
    vu: BlockColumns,
    vv: BlockColumns,
}

/// Frames of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Frames<const N: usize> {
    kind: FrameKind,
    members: Vec<Frame<N>>,
    laws: Vec<Law>,
    /// Constant tension per bending rigidity, of each cloth, in 1/m².
    line_tensions: Vec<f64>,
    scatter: Scatter<N>,
    shapes: Vec<Shape>,
    tangents: Vec<Tangent>,
    inverse_beta: f64,
}

impl<const N: usize> Frames<N> {
    /// Frames of the cloths of a mesh. `line_tensions` are what the yarns of each cloth are pulled by all the time,
    /// over the bending rigidity, in 1/m²: 0 for cloth as it is.
    pub(crate) fn new(
        mesh: &Mesh,
        kind: FrameKind,
        frames: Vec<Frame<N>>,
        materials: &[Material],
        line_tensions: Vec<f64>,
    ) -> Self {
        let vertices = frames.iter().map(|frame| frame.vertices).collect();
        let laws = materials.iter().zip(&line_tensions);
        Self {
            kind,
            laws: laws.map(|(material, tension)| Law::new(kind, material, *tension)).collect(),
            line_tensions,
            scatter: Scatter::new(vertices, mesh.vertex_count()),
            shapes: vec![Shape::default(); frames.len()],
            tangents: vec![Tangent::default(); frames.len()],
            members: frames,
            inverse_beta: 0.0,
        }
    }
}

impl<const N: usize> Elements for Frames<N> {
    fn vertices(&self) -> &[u32] {
        self.scatter.vertices.as_flattened()
    }

    fn corner_count(&self) -> usize {
        N
    }

    fn measure_count(&self) -> usize {
        3 * self.members.len()
    }

    fn measure(&self, positions: &[Vec3], measures: &mut [f64]) {
        let each = (measures.as_chunks_mut::<3>().0, &self.members).into_par_iter();
        each.with_min_len(parallel::ELEMENTS)
            .for_each(|(strain, frame)| *strain = strains(frame, &derivatives(frame, positions)));
    }

    fn evaluate(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, f64>,
        forces: &mut [Vec3],
    ) -> f64 {
        self.inverse_beta = history.inverse_beta;
        let (frames, laws) = (&self.members, &self.laws);
        let past = history.reference.as_chunks::<3>().0;
        let one = |index: usize, shape: &mut Shape, loads: &mut [Vec3; N]| {
            let frame = &frames[index];
            let law = &laws[frame.cloth as usize];
            let s = derivatives(frame, positions);
            let strain = strains(frame, &s);
            let reference = past.get(index).unwrap_or(&strain);
            let (stress, potential) = respond(law, &strain, reference, history.inverse_beta);
            *loads = corner_loads(frame, &s, &stress);
            *shape = Shape { s, stress, used: stress, predicted: shape.predicted };
            frame.area * potential
        };
        let loads = &mut self.scatter.loads;
        let potential = parallel::sum2(&mut self.shapes, loads, parallel::ELEMENTS, one);
        self.scatter.gather(forces);
        potential
    }

    fn predict(&mut self, direction: &[Vec3]) {
        let (laws, inverse_beta) = (&self.laws, self.inverse_beta);
        let each = (&mut self.shapes, &self.members).into_par_iter();
        each.with_min_len(parallel::ELEMENTS).for_each(|(shape, frame)| {
            let [du, dv] = derivatives(frame, direction);
            let [su, sv] = &shape.s;
            let change = [unit(su).dot(&du), unit(sv).dot(&dv), su.dot(&dv) + sv.dot(&du)];
            let moduli = laws[frame.cloth as usize].scaled(1.0, inverse_beta);
            let step = apply(&moduli, &change);
            shape.predicted = [0, 1, 2].map(|k| shape.stress[k] + step[k]);
        });
    }

    fn use_prediction(&mut self) {
        for shape in &mut self.shapes {
            shape.used = shape.predicted;
        }
    }

    fn update_tangent(&mut self) {
        let (laws, inverse_beta) = (&self.laws, self.inverse_beta);
        let each = (&mut self.tangents, &self.shapes, &self.members).into_par_iter();
        each.with_min_len(parallel::ELEMENTS).for_each(|(tangent, shape, frame)| {
            let moduli = laws[frame.cloth as usize].scaled(1.0, inverse_beta);
            *tangent = Tangent::new(shape, &moduli, frame.area);
        });
    }

    fn add_blocks(&self, codes: &[u32], block: &mut BlockColumns) {
        for (element, i, j) in codes.iter().map(|code| decode::<N>(*code)) {
            let gradients = &self.members[element].gradients;
            let ([a, b], [c, d]) = (gradients[i], gradients[j]);
            let Tangent { uu, uv, vu, vv } = &self.tangents[element];
            for (factor, part) in [(a * c, uu), (a * d, uv), (b * c, vu), (b * d, vv)] {
                add_scaled(block, factor as f32, part);
            }
        }
    }

    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy {
        let mut energy = ElasticEnergy::default();
        for frame in &self.members {
            let law = &self.laws[frame.cloth as usize];
            let strain = strains(frame, &derivatives(frame, positions));
            let stress = apply(&law.moduli, &strain);
            energy.stretch += 0.5 * frame.area * (strain[0] * stress[0] + strain[1] * stress[1]);
            energy.shear += 0.5 * frame.area * strain[2] * stress[2];
            energy.bend += frame.area * (strain[0] * law.tension[0] + strain[1] * law.tension[1]);
        }
        energy
    }

    fn set_material(&mut self, _mesh: &Mesh, cloth: usize, material: &Material) {
        self.laws[cloth] = Law::new(self.kind, material, self.line_tensions[cloth]);
    }
}

impl Tangent {
    fn new(shape: &Shape, moduli: &[f64; 4], area: f64) -> Self {
        let [su, sv] = &shape.s;
        let [c11, c22, c12, c33] = *moduli;
        let (ru, rv) = (unit(su), unit(sv));
        let [t1, t2] = [0, 1].map(|k| shape.used[k] / shape.s[k].norm().max(SHORTEST));
        let [m11, m22, m12] = tensile_part(&[t1, t2, shape.used[2]]);
        let mut along = [t1.max(0.0), t2.max(0.0)];
        let spare = [c11 - along[0], c22 - along[1]];
        if spare[0] < 0.0 || spare[1] < 0.0 || spare[0] * spare[1] < c12 * c12 {
            // The material part cannot spare what the geometric part has too much along the yarns.
            along = [0.0; 2];
        }
        let identity = Matrix3::identity();
        let part = |along: f64, r: &Vec3, other: &Vec3, across: f64| {
            let own = r * r.transpose() * along;
            (own + other * other.transpose() * c33 + identity * across) * area
        };
        let uu = part(c11 - along[0], &ru, sv, m11);
        let vv = part(c22 - along[1], &rv, su, m22);
        let uv = (ru * rv.transpose() * c12 + sv * su.transpose() * c33 + identity * m12) * area;
        Self { uu: columns(&uu), uv: columns(&uv), vu: columns(&uv.transpose()), vv: columns(&vv) }
    }
}

fn derivatives<const N: usize>(frame: &Frame<N>, field: &[Vec3]) -> [Vec3; 2] {
    let mut s = [Vec3::zeros(); 2];
    for (vertex, [a, b]) in frame.vertices.iter().zip(&frame.gradients) {
        let value = &field[*vertex as usize];
        s[0] += value * *a;
        s[1] += value * *b;
    }
    s
}

fn strains<const N: usize>(frame: &Frame<N>, [su, sv]: &[Vec3; 2]) -> Strain {
    [su.norm() - frame.scale[0], sv.norm() - frame.scale[1], su.dot(sv)]
}

fn unit(vector: &Vec3) -> Vec3 {
    vector / vector.norm().max(f64::MIN_POSITIVE)
}

fn apply([c11, c22, c12, c33]: &[f64; 4], [e1, e2, e3]: &Strain) -> Strain {
    [c11 * e1 + c12 * e2, c12 * e1 + c22 * e2, c33 * e3]
}

/// Stress in N/m, and its potential per area in J/m².
fn respond(law: &Law, strain: &Strain, reference: &Strain, inverse_beta: f64) -> (Strain, f64) {
    let elastic = apply(&law.moduli, strain);
    let change = [0, 1, 2].map(|k| strain[k] - reference[k]);
    let viscous = apply(&law.scaled(0.0, inverse_beta), &change);
    let [pull_u, pull_v] = law.tension;
    let mut potential = pull_u * strain[0] + pull_v * strain[1];
    for k in 0..3 {
        potential += 0.5 * (strain[k] * elastic[k] + change[k] * viscous[k]);
    }
    let [s1, s2, s3] = [0, 1, 2].map(|k| elastic[k] + viscous[k]);
    ([s1 + pull_u, s2 + pull_v, s3], potential)
}

fn corner_loads<const N: usize>(
    frame: &Frame<N>,
    [su, sv]: &[Vec3; 2],
    [s1, s2, s3]: &Strain,
) -> [Vec3; N] {
    let along_warp = (unit(su) * *s1 + sv * *s3) * -frame.area;
    let along_weft = (unit(sv) * *s2 + su * *s3) * -frame.area;
    frame.gradients.map(|[a, b]| along_warp * a + along_weft * b)
}
