// SPDX-License-Identifier: MIT OR Apache-2.0
//! Eight moving boxes side by side, to be held against another one all at once.

use super::MovingBox;
use crate::Vec3;
use wide::{f32x4, f32x8};

/// Boxes in a block.
pub(super) const WIDTH: usize = 8;
/// A bit for each of them.
pub(super) const ALL: u64 = (1 << WIDTH) - 1;

/// Lowest coordinates at the start, highest at the start, lowest at the end, highest at the end.
type Bounds<T> = [[T; 3]; 4];

/// Eight moving boxes. Lanes without a box have one that contains nothing.
#[derive(Clone, Debug)]
pub(super) struct Block(Bounds<f32x8>);

/// One moving box, eight times.
#[derive(Clone, Copy)]
pub(super) struct Probe(Bounds<f32x8>);

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
    pub(super) fn middle(&self) -> [f32; 3] {
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
    pub(super) const EMPTY: Self =
        Self([Self::NOWHERE[0], Self::NOWHERE[1], Self::NOWHERE[0], Self::NOWHERE[1]]);

    /// Puts a primitive's box into a lane.
    #[inline]
    pub(super) fn set(&mut self, lane: usize, bounds: &RoundedBox) {
        self.put(lane, &bounds.0);
    }

    /// Widens the box in a lane by another.
    pub(super) fn join(&mut self, lane: usize, bounds: &RoundedBox) {
        for (side, (values, bounds)) in self.0.iter_mut().zip(&bounds.0).enumerate() {
            for (values, bound) in values.iter_mut().zip(bounds) {
                let value = &mut values.as_mut_array()[lane];
                *value = if side % 2 == 0 { value.min(*bound) } else { value.max(*bound) };
            }
        }
    }

    /// Puts the box around all boxes of a block into a lane.
    pub(super) fn set_around(&mut self, lane: usize, block: &Self) {
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
    pub(super) fn probe(&self, lane: usize) -> Probe {
        Probe(
            self.0
                .each_ref()
                .map(|side| side.each_ref().map(|values| f32x8::splat(values.as_array()[lane]))),
        )
    }

    /// Bit by bit, which of the boxes may meet this one.
    pub(super) fn meeting(&self, probe: &Probe) -> u64 {
        let [start_low, start_high, end_low, end_high] = &self.0;
        let Probe([probe_start_low, probe_start_high, probe_end_low, probe_end_high]) = probe;
        let along = |axis: usize| {
            let is_not_above = start_low[axis].simd_le(probe_start_high[axis])
                | end_low[axis].simd_le(probe_end_high[axis]);
            let is_not_below = start_high[axis].simd_ge(probe_start_low[axis])
                | end_high[axis].simd_ge(probe_end_low[axis]);
            is_not_above & is_not_below
        };
        u64::from((along(0) & along(1) & along(2)).to_bitmask())
    }

    /// Which boxes of `other` may meet those of the boxes in `lanes`: a row of eight bits for each lane.
    pub(super) fn meetings(&self, lanes: u64, other: &Self) -> u64 {
        // First all of them and only then what is done with them: a loop over pairs and none within it is
        // what a processor guesses best.
        let row = |lane: usize| other.meeting(&self.probe(lane)) << (lane * WIDTH);
        bits(lanes).fold(0, |rows, lane| rows | row(lane))
    }
}

impl Probe {
    pub(super) fn new(bounds: &RoundedBox) -> Self {
        Self(bounds.0.map(|side| side.map(f32x8::splat)))
    }

    /// The box around all boxes of a block.
    pub(super) fn around(block: &Block) -> Self {
        Self(block.around().map(|side| side.map(f32x8::splat)))
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
pub(super) fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (lowest < u64::BITS).then_some(lowest as usize)
    })
}
