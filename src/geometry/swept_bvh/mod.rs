// SPDX-License-Identifier: MIT OR Apache-2.0
//! A tree of moving boxes: which primitives may meet during a step, however far all of them travel.
//!
//! **The test.** A primitive has a box at the start of a step and one at its end, and each of its points
//! travels straight and evenly from the one to the other. With the weights 1 − t and t a point of the
//! primitive A is, on any axis, at no more than the mean of A's highest coordinates at start and end, and
//! a point of B at no less than the mean of B's lowest ones. So if A is below B at the start and at the
//! end, it is below B all the time; if it is so on one axis, they cannot meet. What flies together is
//! told apart like what is at rest, where the boxes around whole paths would overlap. The points between
//! other points (edges, triangles) are means of these with weights that do not change, and what holds
//! for boxes around points holds for boxes around such boxes. Where a distance is to be kept, boxes are
//! grown by half of it ([`SweptAabb::inflated`] rounds outward).
//!
//! **Rounding.** The boxes are kept in single precision, rounded to nearest, no further than the largest
//! number. Rounding is monotone: a ≤ b gives fl(a) ≤ fl(b). As a pair is only dropped where fl(a) > fl(b)
//! for numbers that would have to be a ≤ b if the boxes met, none is dropped wrongly; and smallest and
//! largest of rounded numbers are the rounded smallest and largest. Boxes that come rounded already hold the ways of
//! their points with all room that rounding takes (see `trajectory_culling`), so they only meet more often.
//!
//! **Layout.** Eight boxes make a node, and eight nodes below another one: all leaves are at one depth,
//! all nodes but the last of each level are full, and a node's children are found by counting. Eight
//! boxes are held against one in a few instructions. The order of the primitives is found once, by
//! halving at the median of the longest extent; later only the boxes are fitted anew.
//!
//! **Walks** go through pairs of nodes of one level: the pairs of a coarse level are the tasks, a
//! number that depends on the tree alone, and what they find is put together in their order, so that
//! results are the same for every number of threads.

mod exclusions;
mod node8;
#[cfg(test)]
mod tests;
mod traversal;

pub(crate) use exclusions::PairExclusions;
pub use node8::SweptAabbF32;
pub(crate) use node8::{NODE_WIDTH, Node8, SweptBounds};
pub(crate) use traversal::PairVisitor;

use super::aabb_tree::Aabb;
use crate::vec3::Vec3;
use rayon::prelude::*;

/// Box of a primitive at the start of a step, and one at its end; both finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweptAabb {
    /// Box around the points at the start.
    pub start: Aabb,
    /// Box around the points at the end.
    pub end: Aabb,
}

impl SweptAabb {
    /// Empty at all times; the neutral element of [`Self::merged`].
    pub const EMPTY: Self = Self { start: Aabb::EMPTY, end: Aabb::EMPTY };

    /// Smallest boxes around points on straight trajectories from `start` to `end`, in m.
    #[inline]
    pub fn from_trajectories<'a>(paths: impl IntoIterator<Item = (&'a Vec3, &'a Vec3)>) -> Self {
        paths.into_iter().fold(Self::EMPTY, |bounds, (start, end)| {
            bounds.merged(&Self {
                start: Aabb { lower: *start, upper: *start },
                end: Aabb { lower: *end, upper: *end },
            })
        })
    }

    /// Smallest boxes around both.
    #[must_use]
    #[inline]
    pub fn merged(&self, other: &Self) -> Self {
        Self { start: self.start.merged(&other.start), end: self.end.merged(&other.end) }
    }

    /// Both boxes enlarged by `margin` in m on both sides of each axis, rounded outward.
    #[must_use]
    #[inline]
    pub fn inflated(&self, margin: f64) -> Self {
        Self { start: self.start.inflated(margin), end: self.end.inflated(margin) }
    }

    /// Whether the boxes may overlap during the step: on no axis is one below the other at the
    /// start and at the end.
    #[must_use]
    pub fn may_overlap(&self, other: &Self) -> bool {
        let is_below = |one: &Self, other: &Self, axis: usize| {
            one.start.upper[axis] < other.start.lower[axis]
                && one.end.upper[axis] < other.end.lower[axis]
        };
        (0..3).all(|axis| !is_below(self, other, axis) && !is_below(other, self, axis))
    }
}

/// Bounding volume hierarchy (BVH) of swept AABBs, eight children per node.
#[derive(Clone, Debug, Default)]
pub struct SweptBvh {
    /// Primitives in the order of the leaves.
    primitive_of_leaf: Vec<u32>,
    /// Leaf index of every primitive.
    leaf_of_primitive: Vec<u32>,
    /// Nodes by level: first those that hold the boxes of primitives, then those that hold the
    /// boxes around the nodes of the level before. The last level has one node; without primitives
    /// there is no level.
    levels: Vec<Vec<Node8>>,
}

impl SweptBvh {
    /// Builds the tree over primitives with these boxes.
    #[must_use]
    pub fn new(boxes: &[SweptAabb]) -> Self {
        Self::build_with(boxes.len(), |members| {
            Node8::of_boxes(members.iter().map(|one| SweptAabbF32::from(&boxes[*one as usize])))
        })
    }

    /// Builds the tree over `count` primitives whose boxes `bounds` computes, up to eight at once.
    pub(crate) fn build_with(mut count: usize, bounds: impl Fn(&[u32]) -> Node8 + Sync) -> Self {
        let primitives: Vec<u32> = (0..count as u32).collect();
        let mut leaves = Vec::with_capacity(count);
        for_each_box(&primitives, &bounds, |primitive, bounds| {
            leaves.push((bounds.scaled_centre(), primitive));
        });
        partition_into_nodes(&mut leaves);
        // Collected anew: in place it would keep the capacity of the leaves.
        let primitive_of_leaf: Vec<u32> = leaves.iter().map(|(_, primitive)| *primitive).collect();
        drop(leaves);
        let mut leaf_of_primitive = vec![0; count];
        for (leaf, primitive) in (0..).zip(&primitive_of_leaf) {
            leaf_of_primitive[*primitive as usize] = leaf;
        }
        let mut tree = Self { primitive_of_leaf, leaf_of_primitive, levels: Vec::new() };
        while count > 1 || (count == 1 && tree.levels.is_empty()) {
            count = count.div_ceil(NODE_WIDTH);
            tree.levels.push(vec![Node8::EMPTY; count]);
        }
        tree.refit_nodes_with(bounds);
        tree
    }

    /// Number of primitives.
    #[must_use]
    pub fn len(&self) -> usize {
        self.primitive_of_leaf.len()
    }

    /// Whether there are no primitives.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.primitive_of_leaf.is_empty()
    }

    /// Leaf of a primitive.
    fn leaf_of(&self, primitive: u32) -> usize {
        self.leaf_of_primitive[primitive as usize] as usize
    }

    /// Refits all boxes to new boxes of the same number of primitives.
    pub fn refit(&mut self, boxes: &[SweptAabb]) {
        debug_assert_eq!(boxes.len(), self.len(), "boxes of other primitives");
        self.refit_with(|primitive| SweptAabbF32::from(&boxes[primitive as usize]));
    }

    /// Refits all boxes to those that `bounds` computes for each primitive.
    pub fn refit_with(&mut self, bounds: impl Fn(u32) -> SweptAabbF32 + Sync) {
        self.refit_nodes_with(|members| {
            Node8::of_boxes(members.iter().map(|primitive| bounds(*primitive)))
        });
    }

    /// Refits all boxes to those that `bounds` computes for up to eight primitives at once.
    pub(crate) fn refit_nodes_with(&mut self, bounds: impl Fn(&[u32]) -> Node8 + Sync) {
        /// Nodes per parallel task.
        const NODES_PER_TASK: usize = 64;
        let Some((leaves, above)) = self.levels.split_first_mut() else { return };
        let members = self.primitive_of_leaf.par_chunks(NODE_WIDTH);
        leaves
            .par_iter_mut()
            .zip(members)
            .with_min_len(NODES_PER_TASK)
            .for_each(|(node, members)| *node = bounds(members));
        let mut below = leaves;
        for level in above {
            let children = below.par_chunks(NODE_WIDTH);
            level.par_iter_mut().zip(children).with_min_len(NODES_PER_TASK).for_each(
                |(node, children)| {
                    for (lane, child) in children.iter().enumerate() {
                        node.set_lane_around_node(lane, child);
                    }
                },
            );
            below = level;
        }
    }

    /// Enlarges the boxes of some primitives, and of their ancestors, by those that `bounds`
    /// computes, up to eight at once.
    pub(crate) fn expand(&mut self, primitives: &[u32], bounds: impl Fn(&[u32]) -> Node8) {
        for_each_box(primitives, &bounds, |primitive, bounds| {
            let mut leaf = self.leaf_of(primitive);
            for level in &mut self.levels {
                level[leaf / NODE_WIDTH].expand_lane(leaf % NODE_WIDTH, bounds);
                leaf /= NODE_WIDTH;
            }
        });
    }
}

/// Calls `visit` with every primitive and its box. `bounds` computes up to eight at once.
pub(crate) fn for_each_box(
    primitives: &[u32],
    bounds: &impl Fn(&[u32]) -> Node8,
    mut visit: impl FnMut(u32, &SweptAabbF32),
) {
    for members in primitives.chunks(NODE_WIDTH) {
        let node = bounds(members);
        for (lane, primitive) in members.iter().enumerate() {
            visit(*primitive, &node.lane(lane));
        }
    }
}

/// Sorts primitives so that each full node, each full node of nodes and so on is compact: median
/// splits along the axis of largest extent, at multiples of full nodes.
fn partition_into_nodes(leaves: &mut [([f32; 3], u32)]) {
    /// Fewest primitives of a half that is sorted as a task of its own.
    const PARALLEL_SIZE: usize = 4096;
    if leaves.len() <= NODE_WIDTH {
        return;
    }
    let half = leaves.len().next_power_of_two() / 2;
    let half = half.max(NODE_WIDTH);
    let axis = longest_axis(leaves);
    // The index orders equal centres, so that the order is unique.
    leaves.select_nth_unstable_by(half, |one, other| {
        one.0[axis].total_cmp(&other.0[axis]).then(one.1.cmp(&other.1))
    });
    let (left, right) = leaves.split_at_mut(half);
    if right.len() >= PARALLEL_SIZE {
        rayon::join(|| partition_into_nodes(left), || partition_into_nodes(right));
    } else {
        partition_into_nodes(left);
        partition_into_nodes(right);
    }
}

/// Axis along which the centres extend farthest.
fn longest_axis(leaves: &[([f32; 3], u32)]) -> usize {
    let extent = |axis: usize| {
        let along = leaves.iter().map(|(middle, _)| middle[axis]);
        let none = (f32::INFINITY, f32::NEG_INFINITY);
        let (low, high) = along.fold(none, |(low, high), at| (low.min(at), high.max(at)));
        high - low
    };
    let extents = [extent(0), extent(1), extent(2)];
    let longer = |best: usize, axis: usize| if extents[axis] > extents[best] { axis } else { best };
    longer(longer(0, 1), 2)
}
