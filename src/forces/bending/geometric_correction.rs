// SPDX-License-Identifier: MIT OR Apache-2.0
//! The local correction P that makes bending exact on every triangulation.
//!
//! A hinge angle θ is divided into φ = ½θ + ψ to the left and ½θ − ψ to the right. In a state of
//! constant curvature K the hinge angles are θ = q·K and the exact division is ψ = p·K; P gives ψ = Pθ
//! with Σ_f P_ef q_f = p_e over the edges f of the two triangles at e. Then constant curvature has exactly
//! the energy of the plate, which is also the least that Morley's element, minimised over ψ, allows: the
//! homogenised rigidity is D whatever the triangulation and whatever D. P is geometry only.
//!
//! P is the one of these that is closest to a Jacobi step of that minimisation (isotropic plate); it does not
//! stiffen modes at the scale of the mesh. Where slivers need a large change of that step, P_e extends over
//! more rings of triangles, which makes the change smaller.

use super::{
    curvature::{CurvatureForm, Rotation, edge_rotation},
    hinge_matrix::Row,
    hinges::{AngleShare, Hinges},
    plate::EdgeMatrix,
};
use crate::mesh::Mesh;
use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;

/// Heuristic parameters of the geometric correction.
struct GeometricCorrectionParameters {
    /// Largest change of a Jacobi step before another ring of triangles is added (norm of a row of P, 1). Effect:
    /// larger stiffens modes at the scale of poor meshes; smaller adds rings, at more cost per product. Evidence: of
    /// the values from 0.1 to 1 it stiffens the worst modes of poor meshes least; fine meshes stay below it. No test
    /// fails with 0.05 to 1, or without a bound.
    max_row_change: f64,
    /// Largest number of additional rings of triangles. Effect: larger costs more per product; smaller stiffens modes
    /// of meshes with slivers. Evidence: `a_clamped_strip_sags_like_a_beam_on_every_triangulation` (fails with 0,
    /// passes with 1 and 6).
    max_rings: usize,
    /// Largest condition number of Q, its columns scaled to equal length; above it the angles (of two triangles alone,
    /// of a ribbon) do not determine the three curvatures. Effect: larger amplifies rounding in P; smaller leaves
    /// solvable rows without an exact curvature. Evidence: no test fails with 10 to 10¹²; kept as a guard against
    /// rounding.
    condition_limit: f64,
}

impl GeometricCorrectionParameters {
    const DEFAULT: Self = Self { max_row_change: 0.5, max_rings: 3, condition_limit: 1.0e3 };
}

/// The rows of P. `matrices` are those of [`UNIT_PLATE`](crate::forces::bending::plate::UNIT_PLATE).
pub(super) fn geometric_correction(
    mesh: &Mesh,
    hinges: &Hinges,
    matrices: &[EdgeMatrix],
) -> Vec<Row> {
    let states: Vec<_> = (0..hinges.count())
        .into_par_iter()
        .map(|hinge| CurvedHinge::new(mesh, hinges, hinge))
        .collect();
    let builder = Builder { hinges, matrices, states: &states };
    (0..hinges.count()).into_par_iter().map(|hinge| builder.row(hinge)).collect()
}

/// The hinges of the two triangles of each hinge, with their angles under constant curvature.
pub(super) fn patches(mesh: &Mesh, hinges: &Hinges) -> Vec<HingePatch> {
    let all = 0..hinges.count();
    let states: Vec<_> =
        all.clone().into_par_iter().map(|hinge| CurvedHinge::new(mesh, hinges, hinge)).collect();
    let builder = Builder { hinges, matrices: &[], states: &states };
    all.into_par_iter().map(|hinge| HingePatch::around(&builder, hinge)).collect()
}

/// A hinge under constant curvature, seen from the frame of its left triangle.
struct CurvedHinge {
    /// q: the hinge angle.
    angle: CurvatureForm,
    /// p: half the difference between the sides.
    shift: CurvatureForm,
    /// From the frame of the right triangle to that of the left one, folded flat.
    to_left: Rotation,
}

impl CurvedHinge {
    fn new(mesh: &Mesh, hinges: &Hinges, hinge: usize) -> Self {
        let sides = hinges.slots[hinge].map(|slot| (slot as usize / 3, slot as usize % 3));
        let [left, right] = sides.map(|(triangle, corner)| edge_rotation(mesh, triangle, corner));
        let [along, against] = sides.map(|(triangle, corner)| {
            let corners = mesh.rest.corners(triangle);
            let (j, k) = (corners[(corner + 1) % 3], corners[(corner + 2) % 3]);
            [k[0] - j[0], k[1] - j[1]]
        });
        let to_left = Rotation::between(against.map(|x| -x), along);
        let right = to_left.apply(&right);
        match hinges.angle_shares[hinge] {
            AngleShare::Shared => {
                Self { angle: left + right, shift: (left - right) * 0.5, to_left }
            }
            AngleShare::Clamped(0) => Self { angle: left, shift: Vector3::zeros(), to_left },
            AngleShare::Clamped(_) => Self { angle: right, shift: Vector3::zeros(), to_left },
            AngleShare::Idle => Self { angle: Vector3::zeros(), shift: Vector3::zeros(), to_left },
        }
    }
}

struct Builder<'a> {
    hinges: &'a Hinges,
    matrices: &'a [EdgeMatrix],
    states: &'a [CurvedHinge],
}

impl Builder<'_> {
    fn row(&self, hinge: usize) -> Row {
        if self.hinges.angle_shares[hinge] != AngleShare::Shared {
            return Row::new();
        }
        let mut patch = HingePatch::around(self, hinge);
        let jacobi = self.jacobi_step(hinge, &patch);
        let missing = self.states[hinge].shift
            - jacobi.iter().zip(&patch.angles).map(|(value, q)| q * *value).sum::<Vector3<f64>>();
        let mut pull = patch.minimum_norm_change(&missing);
        let GeometricCorrectionParameters { max_row_change, max_rings, .. } =
            GeometricCorrectionParameters::DEFAULT;
        for _ in 0..max_rings {
            if pull.is_some_and(|pull| pull.dot(&missing) <= max_row_change.powi(2)) {
                break;
            }
            patch.widen(self);
            pull = patch.minimum_norm_change(&missing);
        }
        let own = patch.hinges.iter().zip(jacobi.iter().chain(std::iter::repeat(&0.0)));
        let entry = |((f, start), q): ((&u32, &f64), &CurvatureForm)| {
            (*f, start + pull.map_or(0.0, |pull| q.dot(&pull)))
        };
        own.zip(&patch.angles).map(entry).collect()
    }

    /// One Jacobi step for ψ of `hinge` from ψ = 0: −K_ψθ/K_ψψ, for the first hinges of its patch.
    fn jacobi_step(&self, hinge: usize, patch: &HingePatch) -> Vec<f64> {
        let mut row = vec![0.0; patch.hinges.len()];
        let mut stiffness = 0.0;
        for (slot, sign) in self.hinges.slots[hinge].iter().zip([1.0, -1.0]) {
            let (triangle, own) = (*slot as usize / 3, *slot as usize % 3);
            stiffness += self.matrices[triangle][own][own];
            for (other, f) in self.hinges.of_triangle[triangle].iter().enumerate() {
                if let Some(place) = patch.hinges.iter().position(|member| member == f) {
                    let share = self.hinges.share(*f as usize);
                    row[place] -= sign * share * self.matrices[triangle][own][other];
                }
            }
        }
        if stiffness > 0.0 {
            for value in &mut row {
                *value /= stiffness;
            }
        }
        row
    }
}

/// Triangles around a hinge folded flat into the frame of its left triangle, and the hinges there.
pub(super) struct HingePatch {
    triangles: Vec<(u32, Rotation)>,
    pub(super) hinges: Vec<u32>,
    /// q of each hinge in the common frame.
    pub(super) angles: Vec<CurvatureForm>,
}

impl HingePatch {
    fn around(builder: &Builder, hinge: usize) -> Self {
        let [left, right] = builder.hinges.slots[hinge].map(|slot| slot / 3);
        let placed = [(left, Rotation::IDENTITY), (right, builder.states[hinge].to_left)];
        let mut patch = Self { triangles: placed.to_vec(), hinges: Vec::new(), angles: Vec::new() };
        patch.add_hinges(builder, 0);
        patch
    }

    /// Adds the triangles across the hinges of the patch.
    fn widen(&mut self, builder: &Builder) {
        let before = self.triangles.len();
        for index in 0..before {
            let (triangle, placed) = self.triangles[index];
            for f in builder.hinges.of_triangle[triangle as usize] {
                if f as usize == builder.hinges.count()
                    || builder.hinges.angle_shares[f as usize] != AngleShare::Shared
                {
                    continue;
                }
                let [left, right] = builder.hinges.slots[f as usize].map(|slot| slot / 3);
                let across = builder.states[f as usize].to_left;
                let (other, turn) =
                    if left == triangle { (right, across) } else { (left, across.inverse()) };
                if self.triangles.iter().all(|(member, _)| *member != other) {
                    self.triangles.push((other, placed.after(turn)));
                }
            }
        }
        self.add_hinges(builder, before);
    }

    /// Adds the hinges of the triangles from the `first` on.
    fn add_hinges(&mut self, builder: &Builder, first: usize) {
        for (triangle, placed) in &self.triangles[first..] {
            for f in builder.hinges.of_triangle[*triangle as usize] {
                if f as usize == builder.hinges.count() || self.hinges.contains(&f) {
                    continue;
                }
                let state = &builder.states[f as usize];
                let is_left = builder.hinges.slots[f as usize][0] / 3 == *triangle;
                let frame = if is_left { *placed } else { placed.after(state.to_left.inverse()) };
                self.hinges.push(f);
                self.angles.push(frame.apply(&state.angle));
            }
        }
    }

    /// The smallest change of a row that adds `missing` to Σ P q is q·pull for each hinge, and its square
    /// is pull·`missing`: returns pull = (QᵀQ)⁻¹ missing, unless the angles do not determine the curvature.
    fn minimum_norm_change(&self, missing: &Vector3<f64>) -> Option<Vector3<f64>> {
        let matrix = self.angles.iter().map(|q| q * q.transpose()).sum::<Matrix3<f64>>();
        let scale = matrix.diagonal().map(|square| if square > 0.0 { square.sqrt() } else { 1.0 });
        let scaled = matrix.component_div(&(scale * scale.transpose()));
        let values = scaled.symmetric_eigenvalues();
        let condition_limit = GeometricCorrectionParameters::DEFAULT.condition_limit;
        if values.max() > values.min() * condition_limit.powi(2) {
            return None;
        }
        let factor = scaled.cholesky()?;
        Some(factor.solve(&missing.component_div(&scale)).component_div(&scale))
    }
}
