// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a simulation asks of a cloth model, and the elements that several models are made of.
//!
//! A model is a list of [`Elements`]. Each element measures something of a shape, ε(x), and its force is
//! −∂W/∂x of W(ε) + ½(τ/β)k(ε − ε̂)², elastic and viscous (see [`StrainHistory`]). Of W only positions are asked,
//! so that the sum over all elements, with the inertia of a time step, is the potential that a step minimises.
//!
//! [`Frames`] measure the lengths and the scalar product of two derivatives of the position; `scatter` gathers
//! forces in a fixed order.

mod frames;
mod scatter;

pub(crate) use frames::{Frame, FrameKind, Frames, Warping};
pub(crate) use scatter::Scatter;

use super::{StrainHistory, inelastic::Past};
use crate::{Material, Vec3, mesh::Mesh};
use nalgebra::Matrix3;

/// A 3×3 matrix by columns, in N/m; the fourth row is padding.
pub type BlockColumns = [[f32; 4]; 3];

/// Elastic energies, in J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ElasticEnergy {
    /// Of strain along the yarns.
    pub stretch: f64,
    /// Of shear.
    pub shear: f64,
    /// Of curvature.
    pub bend: f64,
    /// Of seams.
    pub sewing: f64,
}

impl ElasticEnergy {
    /// Sum of all.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.stretch + self.shear + self.bend + self.sewing
    }
}

impl std::ops::AddAssign for ElasticEnergy {
    fn add_assign(&mut self, other: Self) {
        self.stretch += other.stretch;
        self.shear += other.shear;
        self.bend += other.bend;
        self.sewing += other.sewing;
    }
}

/// What some blocks get from the elements of one kind.
#[derive(Clone, Debug, Default)]
pub struct BlockParts {
    /// By how many a block comes after the one before, and how many of the codes are its. Where there are too many for
    /// these numbers, they are dealt to several entries.
    counts: Vec<[u16; 2]>,
    /// The block of the last entry.
    last: u32,
    /// Codes of [`Elements::add_blocks`], block by block.
    codes: Vec<u32>,
}

impl BlockParts {
    /// Adds the codes of a block; blocks come in ascending order.
    pub fn push(&mut self, block: usize, codes: impl Iterator<Item = u32>) {
        let before = self.codes.len();
        self.codes.extend(codes);
        let mut way = block as u32 - std::mem::replace(&mut self.last, block as u32);
        let mut count = self.codes.len() - before;
        loop {
            let part = way.min(u16::MAX.into()) as u16;
            way -= u32::from(part);
            // Codes belong to the block that the way ends at.
            let own = if way == 0 { count.min(u16::MAX.into()) as u16 } else { 0 };
            count -= usize::from(own);
            self.counts.push([part, own]);
            if way == 0 && count == 0 {
                break;
            }
        }
    }

    /// Gives back room for more.
    pub fn shrink_to_fit(&mut self) {
        self.counts.shrink_to_fit();
        self.codes.shrink_to_fit();
    }

    /// Calls [`Elements::add_blocks`] for all blocks.
    #[inline(always)]
    pub fn fill<E: Elements + ?Sized>(&self, elements: &E, blocks: &mut [BlockColumns]) {
        for (block, codes) in self.entries() {
            elements.add_blocks(codes, &mut blocks[block]);
        }
    }

    /// Blocks with codes of theirs, in the order in which they came.
    #[inline(always)]
    fn entries(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let (mut codes, mut block) = (self.codes.as_slice(), 0);
        self.counts.iter().map(move |[way, count]| {
            let (own, rest) = codes.split_at(usize::from(*count));
            codes = rest;
            block += usize::from(*way);
            (block, own)
        })
    }
}

/// Elements of one kind, all with the same number of vertices.
///
/// What an evaluation finds serves [`Self::predict`] and [`Self::update_tangent`].
pub trait Elements: Send + Sync {
    /// Vertices of all elements, one element after the other.
    fn vertices(&self) -> &[u32];

    /// Vertices of one element; an element that needs fewer repeats one of them.
    fn corner_count(&self) -> usize;

    /// Number of measures of all elements.
    fn measure_count(&self) -> usize;

    /// Writes every measure of a shape: strains, lengths, angles or curvatures.
    fn measure(&self, positions: &[Vec3], measures: &mut [f64]);

    /// The measure `now + weight·(now − before)`, by which time schemes combine the past.
    fn extrapolate(&self, now: f64, before: f64, weight: f64) -> f64 {
        now + weight * (now - before)
    }

    /// [`Self::extrapolate`] for all measures.
    fn extrapolate_all(&self, now: &[f64], before: &[f64], weight: f64) -> Vec<f64> {
        let pairs = now.iter().zip(before);
        pairs.map(|(now, before)| self.extrapolate(*now, *before, weight)).collect()
    }

    /// Adds the forces at `positions` to `forces`, in N, and gives the potential of elastic and viscous
    /// forces, in J.
    fn evaluate(
        &mut self,
        positions: &[Vec3],
        history: StrainHistory<'_, f64>,
        forces: &mut [Vec3],
    ) -> f64;

    /// Predicts, to first order, the stress after the displacement `direction` from the shape last
    /// evaluated; see [`Membrane::predict_stress`](super::Membrane::predict_stress) for the reason.
    fn predict(&mut self, _direction: &[Vec3]) {}

    /// Lets the next tangent take its geometric part from the last prediction.
    fn use_prediction(&mut self) {}

    /// Finds the tangent of every element at the shape last evaluated.
    fn update_tangent(&mut self);

    /// Adds to many blocks what [`Self::add_blocks`] adds to one.
    fn fill_blocks(&self, parts: &BlockParts, blocks: &mut [BlockColumns]) {
        parts.fill(self, blocks);
    }

    /// Adds blocks of the tangents of elements to `block`, given their [`block_code`]s. Every tangent is positive
    /// semidefinite as a whole, and its rows sum to 0.
    fn add_blocks(&self, codes: &[u32], block: &mut BlockColumns);

    /// Elastic energy of a shape.
    fn energy(&self, positions: &[Vec3]) -> ElasticEnergy;

    /// Another material for a cloth, from now on.
    fn set_material(&mut self, mesh: &Mesh, cloth: usize, material: &Material);

    /// Other factors on the lengths at rest along warp and weft of each vertex, from now on; without any, all are 1.
    fn set_rest_scale(&mut self, _mesh: &Mesh, _scale: &[[f64; 2]]) {}

    /// Other held vertices, from now on. What is held at all its vertices clamps its neighbours.
    fn set_held(&mut self, _mesh: &Mesh, _held: &[bool]) {}

    /// Takes a shape for one that has long been what it is.
    fn start_memory(&mut self, _positions: &[Vec3]) {}

    /// What the elements have been through, which the methods below keep unless they are written anew.
    fn past(&self) -> Option<&Past> {
        None
    }

    /// [`Self::past`], to be changed.
    fn past_mut(&mut self) -> Option<&mut Past> {
        None
    }

    /// Prepares for evaluations at the end of `duration` seconds after the last step remembered.
    fn begin_stage(&mut self, duration: f64) {
        if let Some(past) = self.past_mut() {
            past.begin(duration);
        }
    }

    /// Remembers a step of `duration` seconds that has ended with a shape.
    fn end_step(&mut self, _positions: &[Vec3], _duration: f64) {}

    /// Lets tangents be the stiffest that what is remembered allows, those of sudden reversals, or again those of what is
    /// going on.
    fn set_steepest(&mut self, is_steepest: bool) {
        if let Some(past) = self.past_mut() {
            past.set_steepest(is_steepest);
        }
    }

    /// Forgets what the material has been through.
    fn forget(&mut self) {
        if let Some(past) = self.past_mut() {
            past.forget();
        }
    }

    /// Whether stiffness and viscosity change with time, whatever the shape is.
    fn is_changing(&self) -> bool {
        false
    }

    /// What the elements remember of the past, as numbers; nothing where stress depends on strain and its rate alone.
    fn memory(&self) -> Vec<f64> {
        self.past().map_or_else(Vec::new, Past::values)
    }

    /// Numbers in [`Self::memory`] where there are any.
    fn memory_count(&self) -> usize {
        self.past().map_or(0, Past::count)
    }

    /// Remembers what [`Self::memory`] gave: [`Self::memory_count`] numbers or none.
    fn set_memory(&mut self, _mesh: &Mesh, values: &[f64]) {
        if let Some(past) = self.past_mut() {
            past.set_values(values);
        }
    }
}

/// The number of a block of an element's tangent, by the corners of its row and its column.
#[must_use]
pub fn block_code(corner_count: usize, element: usize, row: usize, column: usize) -> u32 {
    let stride = corner_count.next_power_of_two();
    ((element * stride + row) * stride + column) as u32
}

/// Element, corner of the row and corner of the column of a code.
#[inline(always)]
pub(crate) fn decode<const N: usize>(code: u32) -> (usize, usize, usize) {
    let (code, stride) = (code as usize, const { N.next_power_of_two() });
    (code / (stride * stride), code / stride % stride, code % stride)
}

/// Adds `scale` times a block to another.
#[inline(always)]
pub(crate) fn add_scaled(sum: &mut BlockColumns, scale: f32, block: &BlockColumns) {
    for (sum, column) in sum.iter_mut().zip(block) {
        for (sum, entry) in sum.iter_mut().zip(column) {
            *sum += scale * entry;
        }
    }
}

/// A matrix by columns, rounded.
pub(crate) fn columns(matrix: &Matrix3<f64>) -> BlockColumns {
    [0, 1, 2].map(|k| [matrix[(0, k)] as f32, matrix[(1, k)] as f32, matrix[(2, k)] as f32, 0.0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_blocks_come_back_however_far_apart_and_many_they_are() {
        let many: Vec<u32> = (0..150_000).collect();
        let given: [(usize, &[u32]); 4] =
            [(0, &[7]), (2, &[1, 2]), (200_000, &many), (200_001, &[3])];
        let mut parts = BlockParts::default();
        for (block, codes) in given {
            parts.push(block, codes.iter().copied());
        }
        let mut found: Vec<(usize, Vec<u32>)> = Vec::new();
        for (block, codes) in parts.entries().filter(|(_, codes)| !codes.is_empty()) {
            match found.last_mut() {
                Some((last, known)) if *last == block => known.extend(codes),
                _ => found.push((block, codes.to_vec())),
            }
        }
        assert_eq!(found, given.map(|(block, codes)| (block, codes.to_vec())));
    }
}
