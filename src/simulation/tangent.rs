// SPDX-License-Identifier: MIT OR Apache-2.0
//! The matrix of a correction: ∇²Φ made positive definite, on a structure built once.
//!
//! Each row is gathered from the triangles and hinges around its vertex, so that rows are filled in parallel
//! without order mattering. Bending enters with the diagonal of its stiffness, Σ S_ee ∇θ_e∇θ_eᵀ, which has the sparsity of
//! hinges and is spectrally close to the whole; the force is exact.

use super::{dynamics::Dynamics, scheme::Stage};
use crate::{
    forces::TriangleTangent,
    mesh::Incidence,
    parallel,
    solver::{Block, BlockMatrix, Pattern, Row3},
};
use nalgebra::Matrix3;
use rayon::prelude::*;
use std::sync::Arc;

/// Weight and angle gradients of a hinge.
#[derive(Clone, Copy, Debug)]
struct HingeTangent {
    weight: f32,
    gradients: [Row3; 4],
}

impl HingeTangent {
    fn block(&self, i: usize, j: usize) -> Block {
        let scaled = self.gradients[j].map(|value| self.weight * value);
        Block([0, 1, 2].map(|k| self.gradients[i].map(|value| value * scaled[k])))
    }
}

/// The matrix and where in it the elements go.
#[derive(Clone, Debug)]
pub(super) struct Tangent {
    pub(super) matrix: BlockMatrix,
    triangles: Vec<TriangleTangent>,
    hinges: Vec<HingeTangent>,
    triangle_incidence: Incidence,
    hinge_incidence: Incidence,
    /// For every row, triangle around it and corner of that: the place in the row.
    triangle_slots: Vec<u16>,
    /// For every row, hinge around it and corner of that: the place in the row.
    hinge_slots: Vec<u16>,
    /// For every row where its slots start in both lists.
    starts: Vec<(u32, u32)>,
}

impl Tangent {
    pub(super) fn new(dynamics: &Dynamics) -> Self {
        let count = dynamics.vertex_count();
        let triangles = &dynamics.mesh.topology.triangles;
        let bending = &dynamics.bending;
        let hinges: Vec<[u32; 4]> =
            (0..bending.hinge_count()).map(|hinge| bending.hinge_vertices(hinge)).collect();
        let elements: Vec<&[u32]> = triangles
            .iter()
            .map(<[u32; 3]>::as_slice)
            .chain(hinges.iter().map(<[u32; 4]>::as_slice))
            .collect();
        let pattern = Pattern::of_elements(count, &elements);
        let mut tangent = Self {
            triangle_incidence: Incidence::new(triangles, count),
            hinge_incidence: Incidence::new(&hinges, count),
            triangles: Vec::new(),
            hinges: Vec::new(),
            triangle_slots: Vec::new(),
            hinge_slots: Vec::new(),
            starts: Vec::with_capacity(count),
            matrix: BlockMatrix::new(Arc::new(pattern)),
        };
        for row in 0..count {
            tangent.find_slots(row, triangles, &hinges);
        }
        tangent
    }

    fn find_slots(&mut self, row: usize, triangles: &[[u32; 3]], hinges: &[[u32; 4]]) {
        let pattern = self.matrix.pattern().clone();
        let place =
            |column: &u32| pattern.columns(row).partition_point(|other| other < column) as u16;
        self.starts.push((self.triangle_slots.len() as u32, self.hinge_slots.len() as u32));
        for (triangle, _) in self.triangle_incidence.around(row) {
            self.triangle_slots.extend(triangles[*triangle as usize].iter().map(place));
        }
        for (hinge, _) in self.hinge_incidence.around(row) {
            self.hinge_slots.extend(hinges[*hinge as usize].iter().map(place));
        }
    }

    /// Fills the matrix at the shape that the forces were last evaluated at.
    pub(super) fn fill(&mut self, dynamics: &Dynamics, stage: &Stage) {
        self.collect_elements(dynamics);
        let Self { matrix, triangles, hinges, triangle_incidence, hinge_incidence, .. } = self;
        let (triangle_slots, hinge_slots, starts) =
            (&self.triangle_slots, &self.hinge_slots, &self.starts);
        let pattern = matrix.pattern().clone();
        let has_air = dynamics.air.is_felt();
        matrix.fill_rows(|row, blocks| {
            let (first_triangle, first_hinge) = starts[row];
            let slots = triangle_slots[first_triangle as usize..].chunks_exact(3);
            for ((triangle, corner), slots) in triangle_incidence.around(row).iter().zip(slots) {
                let tangent = &triangles[*triangle as usize];
                for (other, slot) in others(slots, *corner) {
                    blocks[slot].add(&Block(tangent.block(*corner as usize, other)));
                }
            }
            let slots = hinge_slots[first_hinge as usize..].chunks_exact(4);
            for ((hinge, corner), slots) in hinge_incidence.around(row).iter().zip(slots) {
                let tangent = &hinges[*hinge as usize];
                for (other, slot) in others(slots, *corner) {
                    blocks[slot].add(&tangent.block(*corner as usize, other));
                }
            }
            let diagonal = pattern.diagonal(row) - pattern.row(row).start;
            blocks[diagonal] = Block::from_matrix(
                &(point_matrix(dynamics, stage, row, has_air) - sum_of_others(blocks, diagonal)),
            );
        });
    }

    fn collect_elements(&mut self, dynamics: &Dynamics) {
        let triangle_count = dynamics.mesh.topology.triangles.len();
        let each = (0..triangle_count).into_par_iter().with_min_len(parallel::ELEMENTS);
        each.map(|triangle| dynamics.membrane.tangent(triangle))
            .collect_into_vec(&mut self.triangles);
        let bending = &dynamics.bending;
        let each = (0..bending.hinge_count()).into_par_iter().with_min_len(parallel::ELEMENTS);
        each.map(|hinge| HingeTangent {
            weight: bending.weight(hinge) as f32,
            gradients: bending
                .gradients(hinge)
                .map(|gradient| [gradient.x as f32, gradient.y as f32, gradient.z as f32, 0.0]),
        })
        .collect_into_vec(&mut self.hinges);
    }
}

/// The corners of an element but one, each with its place in the row.
fn others(slots: &[u16], corner: u8) -> impl Iterator<Item = (usize, usize)> {
    let all = slots.iter().enumerate().map(|(other, slot)| (other, usize::from(*slot)));
    all.filter(move |(other, _)| *other != usize::from(corner))
}

/// m/β² plus the resistance of the air.
fn point_matrix(dynamics: &Dynamics, stage: &Stage, vertex: usize, has_air: bool) -> Matrix3<f64> {
    let beta = stage.beta;
    let inertia = Matrix3::identity() * (dynamics.masses[vertex] / (beta * beta));
    if has_air { inertia + dynamics.air.resistance(vertex) / beta } else { inertia }
}

/// Sum of all blocks of a row but the diagonal. No element resists a translation, so the elements' part of the
/// diagonal is minus this; formed so, it leaves the inertia of light vertices standing where the rounding of
/// stiff elements would drown it.
fn sum_of_others(blocks: &[Block], diagonal: usize) -> Matrix3<f64> {
    let others = blocks.iter().enumerate().filter(|(place, _)| *place != diagonal);
    others.map(|(_, block)| block.to_matrix()).sum()
}
