// SPDX-License-Identifier: MIT OR Apache-2.0
//! The matrix of a correction: ∇²Φ made positive definite, on a structure built once.
//!
//! Each block is gathered from the elements that have both its vertices, so that rows are filled in parallel without
//! order mattering.

use super::{dynamics::Dynamics, scheme::Stage};
use crate::{
    forces::Elements,
    mesh::Incidence,
    solver::{Block, BlockMatrix, Pattern},
};
use nalgebra::Matrix3;
use std::sync::Arc;

/// The matrix and what its blocks are made of.
#[derive(Clone, Debug)]
pub(super) struct Tangent {
    pub(super) matrix: BlockMatrix,
    /// What a block gets from one kind of elements; row by row, without diagonals.
    parts: Vec<Part>,
    /// Codes of [`Elements::add_blocks`], part by part.
    codes: Vec<u32>,
    /// First part and first code of each row, and the numbers of all.
    starts: Vec<[u32; 2]>,
}

/// What a block gets from one kind of elements.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Place of the block in its row.
    slot: u16,
    kind: u16,
    code_count: u32,
}

/// Column of a block, kind of an element, and the code of its block.
type Entry = (u32, u16, u32);

impl Tangent {
    pub(super) fn new(dynamics: &Dynamics) -> Self {
        let count = dynamics.vertex_count();
        let kinds = &dynamics.elements;
        let incidences = kinds.iter().map(|elements| {
            Incidence::of_list(elements.vertices(), elements.corner_count(), count)
        });
        let incidences: Vec<Incidence> = incidences.collect();
        let rows: Vec<Vec<Entry>> =
            (0..count).map(|row| entries(kinds, &incidences, row)).collect();
        let columns = rows.iter().enumerate().flat_map(|(row, entries)| {
            let others = entries.iter().map(|entry| entry.0);
            others.chain([row as u32]).map(move |column| (row as u32, column))
        });
        let mut pairs: Vec<(u32, u32)> = columns.collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut tangent = Self {
            matrix: BlockMatrix::new(Arc::new(Pattern::of_sorted_pairs(count, &pairs))),
            parts: Vec::new(),
            codes: Vec::new(),
            starts: vec![[0, 0]],
        };
        for (row, entries) in rows.iter().enumerate() {
            tangent.push(row, entries);
        }
        tangent
    }

    fn push(&mut self, row: usize, entries: &[Entry]) {
        let pattern = Arc::clone(self.matrix.pattern());
        for part in entries.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (column, kind, _) = part[0];
            let slot = pattern.columns(row).partition_point(|other| *other < column) as u16;
            self.parts.push(Part { slot, kind, code_count: part.len() as u32 });
            self.codes.extend(part.iter().map(|entry| entry.2));
        }
        self.starts.push([self.parts.len() as u32, self.codes.len() as u32]);
    }

    /// Fills the matrix at the shape that the forces were last evaluated at.
    pub(super) fn fill(&mut self, dynamics: &mut Dynamics, stage: &Stage) {
        for elements in &mut dynamics.elements {
            elements.update_tangent();
        }
        let dynamics = &*dynamics;
        let Self { matrix, parts, codes, starts } = self;
        let pattern = matrix.pattern().clone();
        let has_air = dynamics.air.is_felt();
        matrix.fill_rows(|row, blocks| {
            let ([first, code], [end, _]) = (starts[row], starts[row + 1]);
            let mut codes = &codes[code as usize..];
            for part in &parts[first as usize..end as usize] {
                let (own, rest) = codes.split_at(part.code_count as usize);
                let block = &mut blocks[usize::from(part.slot)].0;
                dynamics.elements[usize::from(part.kind)].add_blocks(own, block);
                codes = rest;
            }
            let diagonal = pattern.diagonal(row) - pattern.row(row).start;
            blocks[diagonal] = Block::from_matrix(
                &(point_matrix(dynamics, stage, row, has_air) - sum_of_others(blocks, diagonal)),
            );
        });
    }
}

/// All that a row is made of but its diagonal, by column and kind.
fn entries(kinds: &[Box<dyn Elements>], incidences: &[Incidence], row: usize) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (kind, (elements, incidence)) in kinds.iter().zip(incidences).enumerate() {
        let count = elements.corner_count();
        for (element, corner) in incidence.around(row) {
            let (element, corner) = (*element as usize, usize::from(*corner));
            let vertices = &elements.vertices()[element * count..(element + 1) * count];
            for (other, column) in vertices.iter().enumerate() {
                if *column as usize != row {
                    let code = (element * count + corner) * count + other;
                    entries.push((*column, kind as u16, code as u32));
                }
            }
        }
    }
    entries.sort_unstable();
    entries
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
