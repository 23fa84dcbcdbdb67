// SPDX-License-Identifier: MIT OR Apache-2.0
//! Eight moving boxes side by side, to be held against another one all at once.

use super::SweptAabb;
use crate::{
    Vec3,
    simd::{Kernel, Lanes, dispatch},
};
use wide::{f32x4, f32x8};

/// Boxes in a block.
pub(crate) const NODE_WIDTH: usize = 8;
/// A bit for each of them.
pub(crate) const ALL_LANES: u64 = (1 << NODE_WIDTH) - 1;

/// Lowest coordinates at the start, highest at the start, lowest at the end, highest at the end.
type SweptBounds<T> = [[T; 3]; 4];

/// Eight moving boxes. Lanes without a box have one that contains nothing.
#[derive(Clone, Debug)]
pub(crate) struct Node8(SweptBounds<f32x8>);

/// One moving box.
#[derive(Clone, Copy)]
pub(crate) struct QueryBox(SweptBounds<f32>);

/// A moving box in single precision, not smaller than it is meant to be as far as comparisons go.
#[derive(Clone, Copy, Debug)]
pub struct SweptAabbF32(SweptBounds<f32>);

impl SweptAabbF32 {
    /// From the lowest and the highest coordinates at the start, and those at the end; the fourth are padding.
    #[inline]
    pub(crate) fn new(bounds: [[f32x4; 2]; 2]) -> Self {
        let [start, end] = bounds.map(|sides| {
            sides.map(|side| {
                let [x, y, z, _] = side.to_array();
                [x, y, z]
            })
        });
        Self([start[0], start[1], end[0], end[1]])
    }

    /// Lowest coordinates at the start, highest at the start, lowest at the end, highest at the end.
    #[cfg(test)]
    pub(crate) fn bounds(&self) -> [[f32; 3]; 4] {
        self.0
    }

    /// A point that moves as the box does on the whole, times four.
    pub(crate) fn scaled_centre(&self) -> [f32; 3] {
        let [a, b, c, d] = &self.0;
        [0, 1, 2].map(|axis| a[axis] + b[axis] + c[axis] + d[axis])
    }
}

impl From<&SweptAabb> for SweptAabbF32 {
    fn from(bounds: &SweptAabb) -> Self {
        let sides = [bounds.start.lower, bounds.start.upper, bounds.end.lower, bounds.end.upper];
        Self(sides.map(|side| to_f32_clamped(&side)))
    }
}

impl Node8 {
    const EMPTY_BOUNDS: [[f32x8; 3]; 2] =
        [[f32x8::splat(f32::INFINITY); 3], [f32x8::splat(f32::NEG_INFINITY); 3]];
    pub(crate) const EMPTY: Self = Self([
        Self::EMPTY_BOUNDS[0],
        Self::EMPTY_BOUNDS[1],
        Self::EMPTY_BOUNDS[0],
        Self::EMPTY_BOUNDS[1],
    ]);

    /// Puts a primitive's box into a lane.
    #[inline]
    pub(crate) fn set_lane(&mut self, lane: usize, bounds: &SweptAabbF32) {
        self.write_lane(lane, &bounds.0);
    }

    /// Widens the box in a lane by another.
    pub(crate) fn expand_lane(&mut self, lane: usize, bounds: &SweptAabbF32) {
        for (side, (values, bounds)) in self.0.iter_mut().zip(&bounds.0).enumerate() {
            for (values, bound) in values.iter_mut().zip(bounds) {
                let value = &mut values.as_mut_array()[lane];
                *value = if side % 2 == 0 { value.min(*bound) } else { value.max(*bound) };
            }
        }
    }

    /// Puts the box around all boxes of a block into a lane.
    pub(crate) fn set_lane_around_node(&mut self, lane: usize, block: &Self) {
        self.write_lane(lane, &block.merged_bounds());
    }

    fn merged_bounds(&self) -> SweptBounds<f32> {
        let least =
            |values: &f32x8| values.as_array().iter().copied().fold(f32::INFINITY, f32::min);
        let most =
            |values: &f32x8| values.as_array().iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let [start_low, start_high, end_low, end_high] = &self.0;
        [
            start_low.each_ref().map(least),
            start_high.each_ref().map(most),
            end_low.each_ref().map(least),
            end_high.each_ref().map(most),
        ]
    }

    fn write_lane(&mut self, lane: usize, bounds: &SweptBounds<f32>) {
        for (values, side) in self.0.iter_mut().flatten().zip(bounds.iter().flatten()) {
            values.as_mut_array()[lane] = *side;
        }
    }

    /// The box in a lane.
    pub(crate) fn lane_box(&self, lane: usize) -> QueryBox {
        QueryBox(
            self.0.each_ref().map(|side| side.each_ref().map(|values| values.as_array()[lane])),
        )
    }

    /// Bit by bit, which of the boxes may meet this one.
    pub(crate) fn overlap_mask(&self, probe: &QueryBox) -> u64 {
        dispatch(OverlapMaskKernel { node: self, query: probe })
    }

    /// Which boxes of `other` may meet those of the boxes in `lanes`: a row of eight bits for each lane.
    pub(crate) fn overlap_matrix(&self, lanes: u64, other: &Self) -> u64 {
        dispatch(OverlapMatrixKernel { lanes, node: self, other })
    }

    /// All boxes.
    #[inline(always)]
    fn lane_bounds<L: Lanes>(&self, lanes: L) -> SweptBounds<L::Eight> {
        let [a, b, c, d] = &self.0;
        [load_vector(lanes, a), load_vector(lanes, b), load_vector(lanes, c), load_vector(lanes, d)]
    }

    /// The box in a lane, eight times.
    #[inline(always)]
    fn broadcast_lane<L: Lanes>(&self, lanes: L, lane: usize) -> SweptBounds<L::Eight> {
        let [a, b, c, d] = &self.0;
        let one = |side: &[f32x8; 3]| side.each_ref().map(|values| values.as_array()[lane]);
        QueryBox([one(a), one(b), one(c), one(d)]).broadcast(lanes)
    }
}

// What uses wide registers is written out: within closures that are handed on they would have to be left.

#[inline(always)]
fn load_vector<L: Lanes>(lanes: L, [x, y, z]: &[f32x8; 3]) -> [L::Eight; 3] {
    [lanes.load(x.as_array()), lanes.load(y.as_array()), lanes.load(z.as_array())]
}

#[inline(always)]
fn broadcast_vector<L: Lanes>(lanes: L, [x, y, z]: &[f32; 3]) -> [L::Eight; 3] {
    [lanes.splat(*x), lanes.splat(*y), lanes.splat(*z)]
}

/// Bit by bit, which of some boxes may meet others, each to each.
#[inline(always)]
fn overlap_bits<L: Lanes>(
    lanes: L,
    one: &SweptBounds<L::Eight>,
    other: &SweptBounds<L::Eight>,
) -> u64 {
    let x = is_separated_on_axis(lanes, one, other, 0);
    let y = is_separated_on_axis(lanes, one, other, 1);
    let z = is_separated_on_axis(lanes, one, other, 2);
    ALL_LANES & !u64::from(lanes.mask_bits(lanes.or(lanes.or(x, y), z)))
}

/// Where one box is below the other on an axis at the start and at the end.
#[inline(always)]
fn is_separated_on_axis<L: Lanes>(
    lanes: L,
    one: &SweptBounds<L::Eight>,
    other: &SweptBounds<L::Eight>,
    axis: usize,
) -> L::Mask {
    lanes.or(is_below(lanes, one, other, axis), is_below(lanes, other, one, axis))
}

#[inline(always)]
fn is_below<L: Lanes>(
    lanes: L,
    one: &SweptBounds<L::Eight>,
    other: &SweptBounds<L::Eight>,
    axis: usize,
) -> L::Mask {
    let at_start = lanes.less_than(one[1][axis], other[0][axis]);
    lanes.and(at_start, lanes.less_than(one[3][axis], other[2][axis]))
}

struct OverlapMaskKernel<'a> {
    node: &'a Node8,
    query: &'a QueryBox,
}

impl Kernel for OverlapMaskKernel<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> u64 {
        overlap_bits(lanes, &self.query.broadcast(lanes), &self.node.lane_bounds(lanes))
    }
}

struct OverlapMatrixKernel<'a> {
    lanes: u64,
    node: &'a Node8,
    other: &'a Node8,
}

impl Kernel for OverlapMatrixKernel<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> u64 {
        let others = self.other.lane_bounds(lanes);
        let mut rows = 0;
        // First all of them and only then what is done with them: a loop over pairs and none within it is what a processor
        // guesses best.
        for lane in set_bits(self.lanes) {
            rows |= overlap_bits(lanes, &self.node.broadcast_lane(lanes, lane), &others)
                << (lane * NODE_WIDTH);
        }
        rows
    }
}

impl QueryBox {
    pub(crate) fn new(bounds: &SweptAabbF32) -> Self {
        Self(bounds.0)
    }

    /// The box around all boxes of a block.
    pub(crate) fn enclosing(block: &Node8) -> Self {
        Self(block.merged_bounds())
    }

    #[inline(always)]
    fn broadcast<L: Lanes>(&self, lanes: L) -> SweptBounds<L::Eight> {
        let [a, b, c, d] = &self.0;
        [
            broadcast_vector(lanes, a),
            broadcast_vector(lanes, b),
            broadcast_vector(lanes, c),
            broadcast_vector(lanes, d),
        ]
    }
}

/// In single precision and finite, so that no box looks like one that contains nothing. It is monotone.
fn to_f32_clamped(side: &Vec3) -> [f32; 3] {
    [side.x, side.y, side.z].map(|coordinate| {
        debug_assert!(coordinate.is_finite(), "a box that is not finite");
        (coordinate as f32).clamp(f32::MIN, f32::MAX)
    })
}

/// The numbers of the bits that are set, from the lowest.
pub(crate) fn set_bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (lowest < u64::BITS).then_some(lowest as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Portable;

    /// Boxes that move along with their number, a lane without one last.
    fn block(step: f32, size: f32) -> Node8 {
        let mut block = Node8::EMPTY;
        for lane in 0..NODE_WIDTH - 1 {
            let at = |time: f32| [1.0, 0.4, -0.3].map(|axis| axis * step * lane as f32 + time);
            let sides =
                [at(0.0), at(0.0).map(|low| low + size), at(2.0), at(2.0).map(|low| low + size)];
            block.set_lane(lane, &SweptAabbF32(sides));
        }
        block
    }

    #[test]
    fn machines_without_wide_registers_find_the_same_meetings() {
        let (one, other) = (block(1.0, 0.7), block(0.5, 0.4));
        let meetings = || OverlapMatrixKernel { lanes: ALL_LANES, node: &one, other: &other };
        let found = dispatch(meetings());
        assert_eq!(meetings().run(Portable), found);
        let rows = (0..NODE_WIDTH)
            .map(|lane| other.overlap_mask(&one.lane_box(lane)) << (lane * NODE_WIDTH));
        assert_eq!(rows.fold(0, |rows, row| rows | row), found);
        // Some meet, some do not, and none meets nothing.
        assert_eq!(found & 0b1111, 0b0011);
        assert_eq!(found >> ((NODE_WIDTH - 1) * NODE_WIDTH), 0);
    }
}
