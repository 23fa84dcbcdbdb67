// SPDX-License-Identifier: MIT OR Apache-2.0
//! Swept AABBs of features in single precision, eight at once. See the module above for their rounding.

use super::TrajectoriesF32;
use crate::{
    geometry::{NODE_WIDTH, Node8, SweptBounds},
    simd::{Kernel, Lanes, dispatch},
};
use wide::{f32x4, f32x8};

/// Rounding allowance of boxes, relative to their coordinates.
const BOX_ROUNDING_F32: f32 = 1.0 / (1 << 21) as f32;

impl TrajectoriesF32 {
    /// Swept AABBs of one to eight features, each inflated by the margin in m of its first vertex.
    #[inline]
    pub(crate) fn swept_aabbs<const CORNERS: usize>(
        &self,
        features: &[[u32; CORNERS]],
        margin: impl Fn(u32) -> f64,
    ) -> Node8 {
        // Lanes without a feature repeat the last one.
        let last = features.len() - 1;
        let of_lanes: [_; NODE_WIDTH] = std::array::from_fn(|lane| features[lane.min(last)]);
        let margins = of_lanes.map(|feature| margin(feature[0]) as f32);
        let corners = std::array::from_fn(|corner| {
            of_lanes.map(|feature| &self.trajectories[feature[corner] as usize])
        });
        Node8::new(&dispatch(BoxKernel::<CORNERS> { corners, margins }), features.len())
    }
}

/// Swept AABBs of eight features.
struct BoxKernel<'a, const CORNERS: usize> {
    /// Start and end of every corner of each feature.
    corners: [[&'a [f32x4; 2]; NODE_WIDTH]; CORNERS],
    /// In m.
    margins: [f32; NODE_WIDTH],
}

impl<const CORNERS: usize> Kernel for BoxKernel<'_, CORNERS> {
    type Output = SweptBounds<f32x8>;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Self::Output {
        let [start_lower, start_upper] = self.bounds_at(lanes, 0);
        let [end_lower, end_upper] = self.bounds_at(lanes, 1);
        [start_lower, start_upper, end_lower, end_upper]
    }
}

impl<const CORNERS: usize> BoxKernel<'_, CORNERS> {
    /// Lower and upper coordinates at the start (0) or at the end (1).
    #[inline(always)]
    fn bounds_at<L: Lanes>(&self, lanes: L, time: usize) -> [[f32x8; 3]; 2] {
        let mut lower = self.corner_at(lanes, 0, time);
        let mut upper = lower;
        for corner in 1..CORNERS {
            let point = self.corner_at(lanes, corner, time);
            for axis in 0..3 {
                lower[axis] = lanes.minimum(lower[axis], point[axis]);
                upper[axis] = lanes.maximum(upper[axis], point[axis]);
            }
        }
        let margins = lanes.load(&self.margins);
        let mut bounds = [[f32x8::ZERO; 3]; 2];
        for axis in 0..3 {
            // Infinite bounds would overlap the empty lanes of a tree.
            let low = lanes.difference(lower[axis], grown_margins(lanes, margins, lower[axis]));
            bounds[0][axis] = numbers(lanes, lanes.maximum(low, lanes.splat(f32::MIN)));
            let high = lanes.sum(upper[axis], grown_margins(lanes, margins, upper[axis]));
            bounds[1][axis] = numbers(lanes, lanes.minimum(high, lanes.splat(f32::MAX)));
        }
        bounds
    }

    /// A corner of all features.
    #[inline(always)]
    fn corner_at<L: Lanes>(&self, lanes: L, corner: usize, time: usize) -> [L::Eight; 3] {
        let [x, y, z, _] = lanes.transpose_rows(|lane| self.corners[corner][lane][time].to_array());
        [x, y, z]
    }
}

#[inline(always)]
fn numbers<L: Lanes>(lanes: L, eight: L::Eight) -> f32x8 {
    f32x8::new(lanes.to_array(eight))
}

/// Margins that contain the rounding of a bound.
#[inline(always)]
fn grown_margins<L: Lanes>(lanes: L, margins: L::Eight, bounds: L::Eight) -> L::Eight {
    let size = lanes.maximum(bounds, lanes.difference(lanes.splat(0.0), bounds));
    let rounding = lanes.multiply(lanes.sum(size, margins), lanes.splat(BOX_ROUNDING_F32));
    lanes.sum(lanes.sum(margins, rounding), lanes.splat(f32::MIN_POSITIVE))
}
