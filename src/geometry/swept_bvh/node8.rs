// SPDX-License-Identifier: MIT OR Apache-2.0
//! Node of eight swept AABBs, tested against a query box all at once.

use super::SweptAabb;
use crate::{
    geometry::to_f32_clamped,
    simd::{Kernel, Lanes, dispatch},
    vec3::Vec3,
};
use wide::f32x8;

/// Boxes per node.
pub(crate) const NODE_WIDTH: usize = 8;
/// Bit mask of all lanes of a node.
pub(crate) const ALL_LANES: u64 = (1 << NODE_WIDTH) - 1;

/// Lower coordinates at the start, upper at the start, lower at the end, upper at the end.
pub(crate) type SweptBounds<T> = [[T; 3]; 4];

/// Eight swept AABBs. Lanes without a box hold the empty one.
#[derive(Clone, Debug)]
pub(crate) struct Node8(SweptBounds<f32x8>);

/// Swept AABB that nodes are tested against.
#[derive(Clone, Copy)]
pub(crate) struct QueryBox(SweptBounds<f32>);

/// Swept AABB in single precision: rounded so that no overlap with another one is lost (see the
/// module above).
#[derive(Clone, Copy, Debug)]
pub struct SweptAabbF32(SweptBounds<f32>);

impl SweptAabbF32 {
    /// Lower coordinates at the start, upper at the start, lower at the end, upper at the end.
    #[cfg(test)]
    pub(crate) fn bounds(&self) -> [[f32; 3]; 4] {
        self.0
    }

    /// Centre of the box, averaged over start and end, times four.
    pub(crate) fn scaled_centre(&self) -> [f32; 3] {
        let [a, b, c, d] = &self.0;
        [0, 1, 2].map(|axis| a[axis] + b[axis] + c[axis] + d[axis])
    }
}

impl From<&SweptAabb> for SweptAabbF32 {
    fn from(bounds: &SweptAabb) -> Self {
        let bounds = [bounds.start.lower, bounds.start.upper, bounds.end.lower, bounds.end.upper];
        let is_finite = |bound: &Vec3| bound.iter().all(|coordinate| coordinate.is_finite());
        debug_assert!(bounds.iter().all(is_finite), "a box that is not finite");
        Self(bounds.map(|bound| to_f32_clamped(&bound)))
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

    /// The first `count` of eight boxes.
    #[inline]
    pub(crate) fn new(bounds: &SweptBounds<f32x8>, count: usize) -> Self {
        let mut node = Self(*bounds);
        for lane in count..NODE_WIDTH {
            node.write_lane(lane, &Self::EMPTY.lane_box(0).0);
        }
        node
    }

    /// Node of up to eight boxes.
    pub(crate) fn of_boxes(boxes: impl Iterator<Item = SweptAabbF32>) -> Self {
        let mut node = Self::EMPTY;
        for (lane, bounds) in boxes.enumerate() {
            node.write_lane(lane, &bounds.0);
        }
        node
    }

    /// Box of a primitive in a lane.
    #[inline]
    pub(crate) fn lane(&self, lane: usize) -> SweptAabbF32 {
        SweptAabbF32(self.lane_box(lane).0)
    }

    /// Enlarges the box in a lane to contain another one.
    pub(crate) fn expand_lane(&mut self, lane: usize, bounds: &SweptAabbF32) {
        for (side, (values, bounds)) in self.0.iter_mut().zip(&bounds.0).enumerate() {
            for (values, bound) in values.iter_mut().zip(bounds) {
                let value = &mut values.as_mut_array()[lane];
                *value = if side % 2 == 0 { value.min(*bound) } else { value.max(*bound) };
            }
        }
    }

    /// Stores the box around all boxes of a node in a lane.
    pub(crate) fn set_lane_around_node(&mut self, lane: usize, node: &Self) {
        self.write_lane(lane, &node.merged_bounds());
    }

    fn merged_bounds(&self) -> SweptBounds<f32> {
        let min = |values: &f32x8| reduced(values, |a, b| if a < b { a } else { b });
        let max = |values: &f32x8| reduced(values, |a, b| if a > b { a } else { b });
        let [start_lower, start_upper, end_lower, end_upper] = &self.0;
        [
            start_lower.each_ref().map(min),
            start_upper.each_ref().map(max),
            end_lower.each_ref().map(min),
            end_upper.each_ref().map(max),
        ]
    }

    fn write_lane(&mut self, lane: usize, bounds: &SweptBounds<f32>) {
        for (values, side) in self.0.iter_mut().flatten().zip(bounds.iter().flatten()) {
            values.as_mut_array()[lane] = *side;
        }
    }

    /// Box of a lane as a query.
    pub(crate) fn lane_box(&self, lane: usize) -> QueryBox {
        QueryBox(
            self.0.each_ref().map(|side| side.each_ref().map(|values| values.as_array()[lane])),
        )
    }

    /// Bit mask of the lanes whose boxes may overlap the query.
    pub(crate) fn overlap_mask(&self, query: &QueryBox) -> u64 {
        dispatch(OverlapMaskKernel { node: self, query })
    }

    /// Boxes of `other` that may overlap those in the lanes of the mask `lanes`: a row of eight
    /// bits per lane.
    pub(crate) fn overlap_matrix(&self, lanes: u64, other: &Self) -> u64 {
        dispatch(OverlapMatrixKernel { lanes, node: self, other })
    }

    /// Boxes of all lanes.
    #[inline(always)]
    fn lane_bounds<L: Lanes>(&self, lanes: L) -> SweptBounds<L::Eight> {
        let [a, b, c, d] = &self.0;
        [load_vector(lanes, a), load_vector(lanes, b), load_vector(lanes, c), load_vector(lanes, d)]
    }

    /// Box of one lane, repeated eight times.
    #[inline(always)]
    fn broadcast_lane<L: Lanes>(&self, lanes: L, lane: usize) -> SweptBounds<L::Eight> {
        let [a, b, c, d] = &self.0;
        let one = |side: &[f32x8; 3]| side.each_ref().map(|values| values.as_array()[lane]);
        QueryBox([one(a), one(b), one(c), one(d)]).broadcast(lanes)
    }
}

/// Eight numbers combined in pairs.
#[inline]
fn reduced(values: &f32x8, combine: impl Fn(f32, f32) -> f32) -> f32 {
    let [a, b, c, d, e, f, g, h] = values.to_array();
    let quarters = [combine(a, e), combine(b, f), combine(c, g), combine(d, h)];
    combine(combine(quarters[0], quarters[2]), combine(quarters[1], quarters[3]))
}

// No closures here: a closure that is passed on is compiled for the baseline instruction set.

#[inline(always)]
fn load_vector<L: Lanes>(lanes: L, [x, y, z]: &[f32x8; 3]) -> [L::Eight; 3] {
    [lanes.load(x.as_array()), lanes.load(y.as_array()), lanes.load(z.as_array())]
}

#[inline(always)]
fn broadcast_vector<L: Lanes>(lanes: L, [x, y, z]: &[f32; 3]) -> [L::Eight; 3] {
    [lanes.splat(*x), lanes.splat(*y), lanes.splat(*z)]
}

/// Bit mask of the lanes in which both boxes may overlap.
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

/// Lanes in which one box is below the other on an axis at the start and at the end.
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
        // All lanes first, and the pairs found afterwards: branches are predicted best without an inner loop.
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

    /// Box around all boxes of a node.
    pub(crate) fn enclosing(node: &Node8) -> Self {
        Self(node.merged_bounds())
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

/// Positions of the set bits, in ascending order.
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
    fn node(step: f32, size: f32) -> Node8 {
        let boxes = (0..NODE_WIDTH - 1).map(|lane| {
            let at = |time: f32| [1.0, 0.4, -0.3].map(|axis| axis * step * lane as f32 + time);
            let above = |low: [f32; 3]| low.map(|low| low + size);
            SweptAabbF32([at(0.0), above(at(0.0)), at(2.0), above(at(2.0))])
        });
        Node8::of_boxes(boxes)
    }

    #[test]
    fn lanes_without_a_box_are_empty() {
        let full = Node8::of_boxes((0..NODE_WIDTH).map(|_| node(1.0, 1.0).lane(1)));
        for count in 1..=NODE_WIDTH {
            let found = full.overlap_mask(&Node8::new(&full.0, count).lane_box(0));
            assert_eq!(found, ALL_LANES);
            let few = Node8::new(&full.0, count);
            assert_eq!(few.overlap_mask(&full.lane_box(0)), ALL_LANES >> (NODE_WIDTH - count));
            let same = Node8::of_boxes((0..count).map(|lane| full.lane(lane)));
            assert_eq!(few.0, same.0);
        }
    }

    #[test]
    fn machines_without_wide_registers_find_the_same_meetings() {
        let (one, other) = (node(1.0, 0.7), node(0.5, 0.4));
        let meetings = || OverlapMatrixKernel { lanes: ALL_LANES, node: &one, other: &other };
        let found = dispatch(meetings());
        assert_eq!(meetings().run(Portable), found);
        let rows = (0..NODE_WIDTH)
            .map(|lane| other.overlap_mask(&one.lane_box(lane)) << (lane * NODE_WIDTH));
        assert_eq!(rows.fold(0, |rows, row| rows | row), found);
        // Some overlap, some do not, and nothing overlaps an empty lane.
        assert_eq!(found & 0b1111, 0b0011);
        assert_eq!(found >> ((NODE_WIDTH - 1) * NODE_WIDTH), 0);
    }
}
