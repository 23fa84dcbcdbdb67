// SPDX-License-Identifier: MIT OR Apache-2.0
//! Assembly of the blocks of a matrix from the tangents of elements.
//!
//! The tangents of the elements around a group of rows, its *members*, are computed when the rows are filled, and then
//! discarded. A [`BlockCode`] encodes a member and the corners of its row and its column; members are numbered in
//! *tiles* of as many as there are codes for.

use super::BlockColumns;
use crate::simd::{Kernel, Lanes, dispatch};

/// The number of a block of a member of a tile.
pub type BlockCode = u16;

/// Codes that there are.
const CODES: usize = 1 << BlockCode::BITS;

/// Tile and code of a block of a member, by the corners of its row and its column.
#[must_use]
pub fn block_code(
    corner_count: usize,
    member: usize,
    row: usize,
    column: usize,
) -> (u32, BlockCode) {
    let stride = corner_count.next_power_of_two();
    let code = (member * stride + row) * stride + column;
    ((code / CODES) as u32, (code % CODES) as BlockCode)
}

/// Member of a tile, corner of the row and corner of the column of a code.
#[inline(always)]
fn decode<const N: usize>(code: BlockCode) -> (usize, usize, usize) {
    let (code, stride) = (usize::from(code), const { N.next_power_of_two() });
    (code / (stride * stride), code / stride % stride, code % stride)
}

/// Contributions of the members of a tile to some blocks.
#[derive(Clone, Debug, Default)]
pub struct BlockContributions {
    /// Increment of the block index from the previous entry, and number of its codes. Larger numbers are split over
    /// several entries.
    counts: Vec<[u8; 2]>,
    /// The block of the last entry.
    last: u32,
    /// Block by block.
    codes: Vec<BlockCode>,
}

impl BlockContributions {
    /// Adds the codes of a block; blocks come in ascending order.
    pub fn push(&mut self, block: usize, codes: impl Iterator<Item = BlockCode>) {
        let before = self.codes.len();
        self.codes.extend(codes);
        let mut step = block as u32 - std::mem::replace(&mut self.last, block as u32);
        let mut count = self.codes.len() - before;
        loop {
            let increment = step.min(u8::MAX.into()) as u8;
            step -= u32::from(increment);
            // The codes belong to the block of the last increment.
            let own = if step == 0 { count.min(u8::MAX.into()) as u8 } else { 0 };
            count -= usize::from(own);
            self.counts.push([increment, own]);
            if step == 0 && count == 0 {
                break;
            }
        }
    }

    /// Releases unused capacity.
    pub fn shrink_to_fit(&mut self) {
        self.counts.shrink_to_fit();
        self.codes.shrink_to_fit();
    }

    /// Blocks with codes of theirs, in the order in which they came.
    #[inline(always)]
    fn entries(&self) -> impl Iterator<Item = (usize, &[BlockCode])> {
        let (mut codes, mut block) = (self.codes.as_slice(), 0);
        self.counts.iter().map(move |[step, count]| {
            let (own, rest) = codes.split_at(usize::from(*count));
            codes = rest;
            block += usize::from(*step);
            (block, own)
        })
    }
}

/// Tangents of the members around a group of rows. Every one is positive semidefinite as a whole, and its rows sum to 0.
pub trait Tangents {
    /// Adds the contributions of the members of a tile to blocks.
    fn add_blocks(
        &self,
        tile: u32,
        contributions: &BlockContributions,
        blocks: &mut [BlockColumns],
    );
}

/// Tangents of elements that add no blocks.
pub(crate) struct NoTangents;

impl Tangents for NoTangents {
    fn add_blocks(&self, _: u32, _: &BlockContributions, _: &mut [BlockColumns]) {}
}

/// Tangents of elements of `N` corners by their blocks.
pub(crate) trait AddBlock<const N: usize> {
    /// Adds a block of the tangent of an element.
    fn add_block(&self, element: usize, row: usize, column: usize, block: &mut BlockColumns);
}

/// Tangents of members, by the place of each.
pub(crate) struct MemberTangents<Own, const N: usize>(pub(crate) Own);

impl<Own: AddBlock<N>, const N: usize> Tangents for MemberTangents<Own, N> {
    fn add_blocks(
        &self,
        tile: u32,
        contributions: &BlockContributions,
        blocks: &mut [BlockColumns],
    ) {
        let stride = const { N.next_power_of_two() };
        let first = tile as usize * (CODES / (stride * stride));
        dispatch(FillBlocks { tangents: &self.0, first, contributions, blocks });
    }
}

/// Members of elements that store their tangents.
pub(crate) struct StoredTangents<'a, Own> {
    pub(crate) elements: &'a Own,
    pub(crate) members: &'a [u32],
}

impl<Own: AddBlock<N>, const N: usize> AddBlock<N> for StoredTangents<'_, Own> {
    #[inline(always)]
    fn add_block(&self, member: usize, row: usize, column: usize, block: &mut BlockColumns) {
        self.elements.add_block(self.members[member] as usize, row, column, block);
    }
}

/// Adds contributions to blocks with the widest SIMD lanes of the machine.
struct FillBlocks<'a, Own, const N: usize> {
    tangents: &'a Own,
    first: usize,
    contributions: &'a BlockContributions,
    blocks: &'a mut [BlockColumns],
}

impl<Own: AddBlock<N>, const N: usize> Kernel for FillBlocks<'_, Own, N> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Self { tangents, first, contributions, blocks } = self;
        for (block, codes) in contributions.entries() {
            // Summed in registers.
            let mut sum = blocks[block];
            for (member, row, column) in codes.iter().map(|code| decode::<N>(*code)) {
                tangents.add_block(first + member, row, column, &mut sum);
            }
            blocks[block] = sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_blocks_come_back_however_far_apart_and_many_they_are() {
        let many: Vec<BlockCode> = (0..1500).collect();
        let given: [(usize, &[BlockCode]); 4] =
            [(0, &[7]), (2, &[1, 2]), (2000, &many), (2001, &[3])];
        let mut contributions = BlockContributions::default();
        for (block, codes) in given {
            contributions.push(block, codes.iter().copied());
        }
        let mut found: Vec<(usize, Vec<BlockCode>)> = Vec::new();
        for (block, codes) in contributions.entries().filter(|(_, codes)| !codes.is_empty()) {
            match found.last_mut() {
                Some((last, known)) if *last == block => known.extend(codes),
                _ => found.push((block, codes.to_vec())),
            }
        }
        assert_eq!(found, given.map(|(block, codes)| (block, codes.to_vec())));
    }

    #[test]
    fn every_member_has_its_own_blocks_in_whatever_tile_it_is() {
        /// Records the requested blocks.
        struct Names;

        impl AddBlock<3> for Names {
            fn add_block(
                &self,
                element: usize,
                row: usize,
                column: usize,
                block: &mut BlockColumns,
            ) {
                block[0] = [element as f32, row as f32, column as f32, 1.0];
            }
        }

        for member in [0, 4095, 4096, 20_000] {
            let (tile, code) = block_code(3, member, 2, 1);
            let mut contributions = BlockContributions::default();
            contributions.push(0, std::iter::once(code));
            let mut blocks = [BlockColumns::default()];
            MemberTangents::<_, 3>(Names).add_blocks(tile, &contributions, &mut blocks);
            let found = blocks[0][0].map(f32::to_bits);
            assert_eq!(found, [member as f32, 2.0, 1.0, 1.0].map(f32::to_bits));
        }
    }
}
