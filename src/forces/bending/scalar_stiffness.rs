// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bending stiffness as one constant number for every pair of vertices.
//!
//! Of cloth that hardly stretches, ∂θ_e/∂x_i = γ_ei n with a γ that depends on lengths alone, and n hardly changes over
//! the few edges that a hinge is coupled with (Bergou, Wardetzky, Harmon, Zorin and Grinspun, "A quadratic bending model
//! for inextensible surfaces", 2006). So the Gauss-Newton matrix BᵀSB is close to K ⊗ I₃ with
//!
//!   K = Γᵀ((1 + τ/β) S + S_stab) Γ,
//!
//! which depends on the rest shape and the material alone. Forces and potential stay those of the present shape: K is the
//! tangent of Newton's method, and cannot move its solution.

use super::{Bending, hinge_matrix::HingeMatrix, hinges::Hinges, stiffness::Stiffness};
use crate::{forces::elements::ScalarStiffness, mesh::Mesh};
use sprs::{CsMatI, TriMatI};

/// Parts in which products of three matrices are summed: more take less memory, and time for more sums.
const PARTS: usize = 8;

/// A sparse matrix with one row for each hinge, half, slot or vertex.
type Matrix = CsMatI<f64, u32>;

/// Elastic and viscous K of all cloths, by vertices.
pub(in crate::forces) fn scalar_stiffness(bending: &Bending, mesh: &Mesh) -> ScalarStiffness {
    let Bending { hinges, stiffness, stabilisation, dampings, .. } = bending;
    let rates = fold_rates(mesh, hinges);
    let halves = angles_of_sides(hinges, &stiffness.geometric_correction, &rates);
    let moments = moments_of_sides(hinges, stiffness);
    let viscosity = |half: usize| dampings.of(half / 2);
    let plate = congruent(&halves, &moments);
    let viscous = congruent(&halves, &scaled_rows(&moments, viscosity));
    let elastic = match stabilisation.as_ref().filter(|own| own.is_active()) {
        Some(own) => {
            let deviations = own.deviation_matrix(hinges, &rates);
            let weights = diagonal(hinges.count(), |hinge| own.stiffness_of(hinge));
            &plate + &congruent(&deviations, &weights)
        }
        None => plate,
    };
    ScalarStiffness::new(&elastic, &viscous)
}

/// AᵀBA, summed over parts of the rows of B, for the products of which there is not the memory at once.
fn congruent(outer: &Matrix, inner: &Matrix) -> Matrix {
    let length = inner.rows().div_ceil(PARTS).max(1);
    let starts = (0..inner.rows()).step_by(length);
    let part = |first: usize| {
        let rows = first..(first + length).min(inner.rows());
        let product = &inner.slice_outer(rows.clone()) * outer;
        let transposed: Matrix = outer.slice_outer(rows).transpose_view().to_csr();
        &transposed * &product
    };
    let empty = CsMatI::zero((outer.cols(), outer.cols()));
    starts.map(part).reduce(|sum, part| &sum + &part).unwrap_or(empty)
}

/// A matrix with its rows multiplied by factors.
fn scaled_rows(matrix: &Matrix, factor: impl Fn(usize) -> f64) -> Matrix {
    &diagonal(matrix.rows(), factor) * matrix
}

fn diagonal(count: usize, value: impl Fn(usize) -> f64) -> Matrix {
    let places = (0..count as u32).collect();
    CsMatI::new(
        (count, count),
        (0..=count as u32).collect(),
        places,
        (0..count).map(value).collect(),
    )
}

/// Γ: rates at which hinges fold when vertices rise out of the flat shape at rest, in 1/m.
fn fold_rates(mesh: &Mesh, hinges: &Hinges) -> Matrix {
    let mut entries = TriMatI::new((hinges.count(), mesh.vertex_count()));
    let edges = mesh.topology.edges.iter().filter(|edge| !edge.is_boundary());
    for ((hinge, slots), edge) in hinges.slots.iter().enumerate().zip(edges) {
        let length = mesh.rest.edge_length(edge);
        for slot in slots {
            let (triangle, own) = (*slot as usize / 3, *slot as usize % 3);
            let (next, last) = ((own + 1) % 3, (own + 2) % 3);
            let vertices = mesh.topology.triangles[triangle];
            let [dots, double_area] = dots_and_area(&mesh.rest.corners(triangle));
            let rate = |corner: usize| dots[corner] / (double_area[0] * length);
            entries.add_triplet(hinge, vertices[own] as usize, rate(next) + rate(last));
            entries.add_triplet(hinge, vertices[last] as usize, -rate(next));
            entries.add_triplet(hinge, vertices[next] as usize, -rate(last));
        }
    }
    entries.to_csr()
}

/// Scalar product of the edges at each corner, and twice the area, in m².
fn dots_and_area(corners: &[[f64; 2]; 3]) -> [[f64; 3]; 2] {
    let difference = |a: usize, b: usize| [0, 1].map(|k| corners[a % 3][k] - corners[b % 3][k]);
    let dot = |k: usize| {
        let (a, b) = (difference(k + 1, k), difference(k + 2, k));
        a[0] * b[0] + a[1] * b[1]
    };
    let (a, b) = (difference(1, 0), difference(2, 0));
    [[dot(0), dot(1), dot(2)], [(a[0] * b[1] - a[1] * b[0]).abs(); 3]]
}

/// φ of each side of each hinge for rises of the vertices: aθ ± Pθ.
fn angles_of_sides(hinges: &Hinges, correction: &HingeMatrix, rates: &Matrix) -> Matrix {
    let count = hinges.count();
    let mut entries = TriMatI::new((2 * count, count));
    for hinge in 0..count {
        let share = hinges.share(hinge);
        for side in 0..2 {
            let sign = 1.0 - 2.0 * side as f64;
            entries.add_triplet(2 * hinge + side, hinge, share);
            for (column, value) in correction.entries_of_row(hinge, &hinges.neighbours[hinge]) {
                if value != 0.0 {
                    entries.add_triplet(2 * hinge + side, column as usize, sign * value);
                }
            }
        }
    }
    let divided: Matrix = entries.to_csr();
    &divided * rates
}

/// M of all triangles: m of each side of each hinge for the φ of all sides, in N·m.
fn moments_of_sides(hinges: &Hinges, stiffness: &Stiffness) -> Matrix {
    let count = 2 * hinges.count();
    let mut entries = TriMatI::new((count, count));
    for (hinge, neighbours) in hinges.neighbours.iter().enumerate() {
        for side in 0..2 {
            let (half, row) = (2 * hinge + side, stiffness.row(hinge, side));
            let places = [half as u32, neighbours[2 * side], neighbours[2 * side + 1]];
            for (place, value) in places.iter().zip(row) {
                if (*place as usize) < count {
                    entries.add_triplet(half, *place as usize, value);
                }
            }
        }
    }
    entries.to_csr()
}
