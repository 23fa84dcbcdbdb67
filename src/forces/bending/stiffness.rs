// SPDX-License-Identifier: MIT OR Apache-2.0
//! The factors of S, which are never multiplied out: see `moment_passes`.

use super::{
    geometric_correction,
    hinge_matrix::HingeMatrix,
    hinges::{AngleShare, Hinges, range_of_cloth},
    plate::{EdgeMatrix, PlateFactor, UNIT_PLATE, edge_matrix},
};
use crate::{material::PlateRigidity, mesh::Mesh};
use std::ops::Range;

/// S of all cloths.
#[derive(Clone, Debug)]
pub(super) struct Stiffness {
    /// P.
    pub(super) geometric_correction: HingeMatrix,
    /// Of four hinges at a time: the row of M that gives m on each side, for its own φ and those of the neighbours; past
    /// the last hinge 0.
    pub(super) rows: Vec<[[[f64; 4]; 3]; 2]>,
    /// a of four hinges at a time.
    pub(super) shares: Vec<[f32; 4]>,
}

impl Stiffness {
    /// The factors that depend on geometry alone; without rigidity as yet.
    pub(super) fn new(mesh: &Mesh, hinges: &Hinges) -> Self {
        let matrices = edge_matrices(mesh, hinges, 0..hinges.of_triangle.len(), &UNIT_PLATE);
        let rows =
            geometric_correction::geometric_correction(mesh, hinges, &matrices.collect::<Vec<_>>());
        Self {
            geometric_correction: HingeMatrix::new(hinges, &rows),
            rows: vec![[[[0.0; 4]; 3]; 2]; hinges.count().div_ceil(4)],
            shares: hinges.angle_shares.chunks(4).map(shares).collect(),
        }
    }

    /// Gives a cloth its rigidity, multiplied by the factors of its triangles if there are any.
    pub(super) fn set_plate(
        &mut self,
        mesh: &Mesh,
        hinges: &Hinges,
        cloth: usize,
        plate: &PlateRigidity,
        scales: &[f64],
    ) {
        let triangles = range_of_cloth(&mesh.cloth_of_triangle, |member| *member, cloth);
        let matrices = edge_matrices(mesh, hinges, triangles.clone(), plate);
        for (triangle, matrix) in triangles.zip(matrices) {
            let scale = scales.get(triangle).copied().unwrap_or(1.0);
            for (corner, hinge) in hinges.of_triangle[triangle].iter().enumerate() {
                let Some(slots) = hinges.slots.get(*hinge as usize) else { continue };
                let side = usize::from(slots[0] as usize != 3 * triangle + corner);
                let (row, hinge) = (&matrix[corner], *hinge as usize);
                for (place, four) in self.rows[hinge / 4][side].iter_mut().enumerate() {
                    four[hinge % 4] = scale * row[(corner + place) % 3];
                }
            }
        }
    }

    /// The row of M that gives m on a side of a hinge: for its own φ and those of the neighbours.
    pub(super) fn row(&self, hinge: usize, side: usize) -> [f64; 3] {
        self.rows[hinge / 4][side].map(|four| four[hinge % 4])
    }
}

/// a of up to four hinges.
fn shares(hinges: &[AngleShare]) -> [f32; 4] {
    std::array::from_fn(|k| hinges.get(k).map_or(0.0, |own| own.share() as f32))
}

/// M of some triangles; 0 for pinned triangles.
fn edge_matrices(
    mesh: &Mesh,
    hinges: &Hinges,
    triangles: Range<usize>,
    plate: &PlateRigidity,
) -> impl Iterator<Item = EdgeMatrix> {
    let factor = PlateFactor::new(plate);
    let matrix = move |triangle: usize| {
        if hinges.is_pinned[triangle] {
            return EdgeMatrix::default();
        }
        edge_matrix(mesh, triangle, hinges.free_edges(triangle), &factor)
    };
    triangles.map(matrix)
}
