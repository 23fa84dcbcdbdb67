// SPDX-License-Identifier: MIT OR Apache-2.0
//! Eight moving boxes side by side, to be held against another one all at once.

use super::MovingBox;
use crate::{
    Vec3,
    simd::{Kernel, Lanes, dispatch},
};
use wide::{f32x4, f32x8};

/// Boxes in a block.
pub(crate) const WIDTH: usize = 8;
/// A bit for each of them.
pub(crate) const ALL: u64 = (1 << WIDTH) - 1;

/// Lowest coordinates at the start, highest at the start, lowest at the end, highest at the end.
type Bounds<T> = [[T; 3]; 4];

/// Eight moving boxes. Lanes without a box have one that contains nothing.
#[derive(Clone, Debug)]
pub(crate) struct Block(Bounds<f32x8>);

/// One moving box.
#[derive(Clone, Copy)]
pub(crate) struct Probe(Bounds<f32>);

/// A moving box in single precision, not smaller than it is meant to be as far as comparisons go.
#[derive(Clone, Copy, Debug)]
pub struct RoundedBox(Bounds<f32>);

impl RoundedBox {
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
    pub(crate) fn sides(&self) -> [[f32; 3]; 4] {
        self.0
    }

    /// A point that moves as the box does on the whole, times four.
    pub(crate) fn middle(&self) -> [f32; 3] {
        let [a, b, c, d] = &self.0;
        [0, 1, 2].map(|axis| a[axis] + b[axis] + c[axis] + d[axis])
    }
}

impl From<&MovingBox> for RoundedBox {
    fn from(bounds: &MovingBox) -> Self {
        let sides = [bounds.start.low, bounds.start.high, bounds.end.low, bounds.end.high];
        Self(sides.map(|side| rounded(&side)))
    }
}

impl Block {
    const NOWHERE: [[f32x8; 3]; 2] =
        [[f32x8::splat(f32::INFINITY); 3], [f32x8::splat(f32::NEG_INFINITY); 3]];
    pub(crate) const EMPTY: Self =
        Self([Self::NOWHERE[0], Self::NOWHERE[1], Self::NOWHERE[0], Self::NOWHERE[1]]);

    /// Puts a primitive's box into a lane.
    #[inline]
    pub(crate) fn set(&mut self, lane: usize, bounds: &RoundedBox) {
        self.put(lane, &bounds.0);
    }

    /// Widens the box in a lane by another.
    pub(crate) fn join(&mut self, lane: usize, bounds: &RoundedBox) {
        for (side, (values, bounds)) in self.0.iter_mut().zip(&bounds.0).enumerate() {
            for (values, bound) in values.iter_mut().zip(bounds) {
                let value = &mut values.as_mut_array()[lane];
                *value = if side % 2 == 0 { value.min(*bound) } else { value.max(*bound) };
            }
        }
    }

    /// Puts the box around all boxes of a block into a lane.
    pub(crate) fn set_around(&mut self, lane: usize, block: &Self) {
        self.put(lane, &block.around());
    }

    fn around(&self) -> Bounds<f32> {
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

    fn put(&mut self, lane: usize, bounds: &Bounds<f32>) {
        for (values, side) in self.0.iter_mut().flatten().zip(bounds.iter().flatten()) {
            values.as_mut_array()[lane] = *side;
        }
    }

    /// The box in a lane.
    pub(crate) fn probe(&self, lane: usize) -> Probe {
        Probe(self.0.each_ref().map(|side| side.each_ref().map(|values| values.as_array()[lane])))
    }

    /// Bit by bit, which of the boxes may meet this one.
    pub(crate) fn meeting(&self, probe: &Probe) -> u64 {
        dispatch(Meeting { block: self, probe })
    }

    /// Which boxes of `other` may meet those of the boxes in `lanes`: a row of eight bits for each lane.
    pub(crate) fn meetings(&self, lanes: u64, other: &Self) -> u64 {
        dispatch(Meetings { lanes, block: self, other })
    }

    /// All boxes.
    #[inline(always)]
    fn sides<L: Lanes>(&self, lanes: L) -> Bounds<L::Eight> {
        let [a, b, c, d] = &self.0;
        [eights(lanes, a), eights(lanes, b), eights(lanes, c), eights(lanes, d)]
    }

    /// The box in a lane, eight times.
    #[inline(always)]
    fn spread<L: Lanes>(&self, lanes: L, lane: usize) -> Bounds<L::Eight> {
        let [a, b, c, d] = &self.0;
        let one = |side: &[f32x8; 3]| side.each_ref().map(|values| values.as_array()[lane]);
        Probe([one(a), one(b), one(c), one(d)]).spread(lanes)
    }
}

// What uses wide registers is written out: within closures that are handed on they would have to be left.

#[inline(always)]
fn eights<L: Lanes>(lanes: L, [x, y, z]: &[f32x8; 3]) -> [L::Eight; 3] {
    [lanes.eight(x.as_array()), lanes.eight(y.as_array()), lanes.eight(z.as_array())]
}

#[inline(always)]
fn repeated<L: Lanes>(lanes: L, [x, y, z]: &[f32; 3]) -> [L::Eight; 3] {
    [lanes.repeat(*x), lanes.repeat(*y), lanes.repeat(*z)]
}

/// Bit by bit, which of some boxes may meet others, each to each.
#[inline(always)]
fn meet<L: Lanes>(lanes: L, one: &Bounds<L::Eight>, other: &Bounds<L::Eight>) -> u64 {
    let x = are_apart(lanes, one, other, 0);
    let y = are_apart(lanes, one, other, 1);
    let z = are_apart(lanes, one, other, 2);
    ALL & !u64::from(lanes.bits(lanes.either(lanes.either(x, y), z)))
}

/// Where one box is below the other on an axis at the start and at the end.
#[inline(always)]
fn are_apart<L: Lanes>(
    lanes: L,
    one: &Bounds<L::Eight>,
    other: &Bounds<L::Eight>,
    axis: usize,
) -> L::Places {
    lanes.either(is_below(lanes, one, other, axis), is_below(lanes, other, one, axis))
}

#[inline(always)]
fn is_below<L: Lanes>(
    lanes: L,
    one: &Bounds<L::Eight>,
    other: &Bounds<L::Eight>,
    axis: usize,
) -> L::Places {
    let at_start = lanes.less(one[1][axis], other[0][axis]);
    lanes.both(at_start, lanes.less(one[3][axis], other[2][axis]))
}

struct Meeting<'a> {
    block: &'a Block,
    probe: &'a Probe,
}

impl Kernel for Meeting<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> u64 {
        meet(lanes, &self.probe.spread(lanes), &self.block.sides(lanes))
    }
}

struct Meetings<'a> {
    lanes: u64,
    block: &'a Block,
    other: &'a Block,
}

impl Kernel for Meetings<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> u64 {
        let others = self.other.sides(lanes);
        let mut rows = 0;
        // First all of them and only then what is done with them: a loop over pairs and none within it is what a processor
        // guesses best.
        for lane in bits(self.lanes) {
            rows |= meet(lanes, &self.block.spread(lanes, lane), &others) << (lane * WIDTH);
        }
        rows
    }
}

impl Probe {
    pub(crate) fn new(bounds: &RoundedBox) -> Self {
        Self(bounds.0)
    }

    /// The box around all boxes of a block.
    pub(crate) fn around(block: &Block) -> Self {
        Self(block.around())
    }

    #[inline(always)]
    fn spread<L: Lanes>(&self, lanes: L) -> Bounds<L::Eight> {
        let [a, b, c, d] = &self.0;
        [repeated(lanes, a), repeated(lanes, b), repeated(lanes, c), repeated(lanes, d)]
    }
}

/// In single precision and finite, so that no box looks like one that contains nothing. It is monotone.
fn rounded(side: &Vec3) -> [f32; 3] {
    [side.x, side.y, side.z].map(|coordinate| {
        debug_assert!(coordinate.is_finite(), "a box that is not finite");
        (coordinate as f32).clamp(f32::MIN, f32::MAX)
    })
}

/// The numbers of the bits that are set, from the lowest.
pub(crate) fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (lowest < u64::BITS).then_some(lowest as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Plain;

    /// Boxes that move along with their number, a lane without one last.
    fn block(step: f32, size: f32) -> Block {
        let mut block = Block::EMPTY;
        for lane in 0..WIDTH - 1 {
            let at = |time: f32| [1.0, 0.4, -0.3].map(|axis| axis * step * lane as f32 + time);
            let sides =
                [at(0.0), at(0.0).map(|low| low + size), at(2.0), at(2.0).map(|low| low + size)];
            block.set(lane, &RoundedBox(sides));
        }
        block
    }

    #[test]
    fn machines_without_wide_registers_find_the_same_meetings() {
        let (one, other) = (block(1.0, 0.7), block(0.5, 0.4));
        let meetings = || Meetings { lanes: ALL, block: &one, other: &other };
        let found = dispatch(meetings());
        assert_eq!(meetings().run(Plain), found);
        let rows = (0..WIDTH).map(|lane| other.meeting(&one.probe(lane)) << (lane * WIDTH));
        assert_eq!(rows.fold(0, |rows, row| rows | row), found);
        // Some meet, some do not, and none meets nothing.
        assert_eq!(found & 0b1111, 0b0011);
        assert_eq!(found >> ((WIDTH - 1) * WIDTH), 0);
    }
}
