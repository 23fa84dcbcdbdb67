// SPDX-License-Identifier: MIT OR Apache-2.0
//! AABB tree: overlap and nearest-primitive queries over the primitives of a mesh.
//!
//! The tree is built once, by splits at the median of the centres along the axis of their largest
//! extent, and keeps its shape when the primitives move: only the boxes are refitted. Median splits
//! make depth and layout functions of the number of primitives alone, so that every subtree is one
//! contiguous range of each array and can be refitted by another thread with the same result. Boxes
//! are minima and maxima of given numbers, hence exact; quantities computed from them are rounded
//! outward.

#[cfg(test)]
mod tests;

use crate::vec3::Vec3;

/// Axis-aligned bounding box (AABB), in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Smallest coordinates, in m.
    pub lower: Vec3,
    /// Largest coordinates, in m.
    pub upper: Vec3,
}

impl Aabb {
    /// Empty box, the neutral element of [`Self::merged`].
    pub const EMPTY: Self = Self {
        lower: Vec3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
        upper: Vec3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
    };

    /// Smallest box around points. Around the start and end points of straight trajectories it
    /// contains the trajectories.
    #[inline]
    pub fn from_points<'a>(points: impl IntoIterator<Item = &'a Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |bounds, point| {
            bounds.merged(&Self { lower: *point, upper: *point })
        })
    }

    /// Smallest box around both boxes.
    #[must_use]
    #[inline]
    pub fn merged(&self, other: &Self) -> Self {
        // One instruction each, as the library's functions are not: they have to allow for not-a-number.
        let lower = |one: f64, other: f64| if one < other { one } else { other };
        let higher = |one: f64, other: f64| if one > other { one } else { other };
        Self {
            lower: self.lower.zip_map(&other.lower, lower),
            upper: self.upper.zip_map(&other.upper, higher),
        }
    }

    /// Box enlarged by `margin` in m on both sides of each axis, rounded outward.
    #[must_use]
    #[inline]
    pub fn inflated(&self, margin: f64) -> Self {
        // At least as far as to the next number, and without branches.
        let slack = |sum: f64| sum.abs() * f64::EPSILON + f64::MIN_POSITIVE;
        Self {
            lower: self.lower.map(|low| (low - margin) - slack(low - margin)),
            upper: self.upper.map(|high| (high + margin) + slack(high + margin)),
        }
    }

    fn is_finite(&self) -> bool {
        self.lower.iter().chain(&self.upper).all(|coordinate| coordinate.is_finite())
    }

    /// Whether the closed boxes have a point in common.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        (self.lower.x <= other.upper.x)
            && (self.lower.y <= other.upper.y)
            && (self.lower.z <= other.upper.z)
            && (other.lower.x <= self.upper.x)
            && (other.lower.y <= self.upper.y)
            && (other.lower.z <= self.upper.z)
    }

    /// Whether the closed box contains a point.
    #[must_use]
    pub fn contains_point(&self, point: &Vec3) -> bool {
        self.overlaps(&Self { lower: *point, upper: *point })
    }

    /// Lower bound of the squared distance between a point and the box, in m².
    #[must_use]
    pub fn distance_squared(&self, point: &Vec3) -> f64 {
        /// Three squares of rounded differences and their sum are within five roundings.
        const DOWNWARD: f64 = 1.0 - 3.0 * f64::EPSILON;
        let outside = (self.lower - point).sup(&(point - self.upper)).sup(&Vec3::zeros());
        outside.norm_squared() * DOWNWARD
    }
}

/// Result of [`AabbTree::nearest`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestPrimitive<T> {
    /// Index of the primitive.
    pub primitive: usize,
    /// Second result of `measure` for this primitive.
    pub payload: T,
    /// Squared distance, in m².
    pub distance_squared: f64,
}

/// Binary tree of AABBs over the primitives of a mesh.
#[derive(Clone, Debug, Default)]
pub struct AabbTree {
    /// Depth-first order: root, left subtree, right subtree.
    nodes: Vec<TreeNode>,
    /// Primitives in the order of the leaves.
    leaves: Vec<TreeLeaf>,
}

#[derive(Clone, Copy, Debug)]
struct TreeNode {
    aabb: Aabb,
    /// Number of nodes in the subtree, this one included; 1 for a leaf node.
    subtree_size: u32,
    /// Index of the first primitive of the subtree in `leaves`.
    first_leaf: u32,
    /// Number of primitives in the subtree.
    leaf_count: u32,
}

#[derive(Clone, Copy, Debug)]
struct TreeLeaf {
    aabb: Aabb,
    primitive: u32,
}

impl AabbTree {
    /// Most primitives of a leaf node: a linear scan of four is faster than another level.
    const LEAF_SIZE: usize = 4;

    /// Builds the tree over primitives with these boxes, which must be finite.
    #[must_use]
    pub fn new(boxes: &[Aabb]) -> Self {
        let leaf = |(primitive, bounds): (usize, &Aabb)| TreeLeaf {
            aabb: *bounds,
            primitive: primitive as u32,
        };
        let mut tree =
            Self { nodes: Vec::new(), leaves: boxes.iter().enumerate().map(leaf).collect() };
        if !boxes.is_empty() {
            tree.build_subtree(0, boxes.len());
            tree.refit(boxes);
        }
        tree
    }

    /// Appends the subtree over the leaves `first..end`, with empty boxes.
    fn build_subtree(&mut self, first: usize, end: usize) {
        let index = self.nodes.len();
        self.nodes.push(TreeNode {
            aabb: Aabb::EMPTY,
            subtree_size: 1,
            first_leaf: first as u32,
            leaf_count: (end - first) as u32,
        });
        if end - first > Self::LEAF_SIZE {
            let middle = first.midpoint(end);
            partition_at_median(&mut self.leaves[first..end], middle - first);
            self.build_subtree(first, middle);
            self.build_subtree(middle, end);
            self.nodes[index].subtree_size = (self.nodes.len() - index) as u32;
        }
    }

    /// Refits all boxes to new boxes of the same number of primitives, which must be finite.
    pub fn refit(&mut self, boxes: &[Aabb]) {
        debug_assert_eq!(boxes.len(), self.leaves.len(), "boxes of other primitives");
        debug_assert!(boxes.iter().all(Aabb::is_finite), "a box that is not finite");
        refit_subtree(&mut self.nodes, &mut self.leaves, boxes);
    }

    /// Calls `visit` with every primitive whose box overlaps `bounds`, in a fixed order.
    pub fn for_each_overlapping(&self, bounds: &Aabb, mut visit: impl FnMut(usize)) {
        let mut index = 0;
        while let Some(node) = self.nodes.get(index) {
            if !node.aabb.overlaps(bounds) {
                index += node.subtree_size as usize;
                continue;
            }
            if node.subtree_size == 1 {
                for leaf in self.leaves_of(node) {
                    if leaf.aabb.overlaps(bounds) {
                        visit(leaf.primitive as usize);
                    }
                }
            }
            index += 1;
        }
    }

    /// Primitive nearest to `point` within `radius` in m; of equally near ones the one of the
    /// smallest index. `measure` gives the squared distance of a primitive, in m², and a payload;
    /// it is called only for primitives that may be the nearest.
    pub fn nearest<T>(
        &self,
        point: &Vec3,
        radius: f64,
        measure: impl FnMut(usize) -> (f64, T),
    ) -> Option<NearestPrimitive<T>> {
        let limit = (radius * radius).next_up();
        let mut search = NearestSearch { point, max_distance_squared: limit, best: None, measure };
        if let Some(root) = self.nodes.first()
            && root.aabb.distance_squared(point) <= limit
        {
            self.nearest_in_subtree(0, &mut search);
        }
        search.best
    }

    fn nearest_in_subtree<T, M: FnMut(usize) -> (f64, T)>(
        &self,
        index: usize,
        search: &mut NearestSearch<'_, T, M>,
    ) {
        let node = &self.nodes[index];
        if node.subtree_size == 1 {
            for leaf in self.leaves_of(node) {
                search.visit_leaf(leaf);
            }
            return;
        }
        let left = index + 1;
        let right = left + self.nodes[left].subtree_size as usize;
        let mut halves =
            [left, right].map(|half| (self.nodes[half].aabb.distance_squared(search.point), half));
        if halves[1].0 < halves[0].0 {
            halves.swap(0, 1);
        }
        for (distance_squared, half) in halves {
            if distance_squared <= search.max_distance_squared {
                self.nearest_in_subtree(half, search);
            }
        }
    }

    fn leaves_of(&self, node: &TreeNode) -> &[TreeLeaf] {
        &self.leaves[node.first_leaf as usize..][..node.leaf_count as usize]
    }
}

/// State of a nearest-primitive query.
struct NearestSearch<'a, T, M> {
    point: &'a Vec3,
    /// Squared search radius in m²: that of the query, then the distance of the best primitive.
    max_distance_squared: f64,
    best: Option<NearestPrimitive<T>>,
    measure: M,
}

impl<T, M: FnMut(usize) -> (f64, T)> NearestSearch<'_, T, M> {
    fn visit_leaf(&mut self, leaf: &TreeLeaf) {
        if leaf.aabb.distance_squared(self.point) > self.max_distance_squared {
            return;
        }
        let primitive = leaf.primitive as usize;
        let (distance_squared, measured) = (self.measure)(primitive);
        let is_nearer =
            self.best.as_ref().map_or(distance_squared <= self.max_distance_squared, |best| {
                (distance_squared, primitive) < (best.distance_squared, best.primitive)
            });
        if is_nearer {
            self.max_distance_squared = distance_squared;
            self.best = Some(NearestPrimitive { primitive, payload: measured, distance_squared });
        }
    }
}

/// Partitions leaves at the median of their centres along the axis of largest extent. Equal centres
/// are ordered by index, so that the result is unique.
fn partition_at_median(leaves: &mut [TreeLeaf], median: usize) {
    let twice_centre = |leaf: &TreeLeaf| leaf.aabb.lower + leaf.aabb.upper;
    let centres: Vec<Vec3> = leaves.iter().map(twice_centre).collect();
    let spread = Aabb::from_points(&centres);
    let axis = (spread.upper - spread.lower).imax();
    leaves.select_nth_unstable_by(median, |one, other| {
        let order = twice_centre(one)[axis].total_cmp(&twice_centre(other)[axis]);
        order.then(one.primitive.cmp(&other.primitive))
    });
}

/// Refits a subtree given by its nodes, root first, and its leaves, and returns the box of the
/// root.
fn refit_subtree(nodes: &mut [TreeNode], leaves: &mut [TreeLeaf], boxes: &[Aabb]) -> Aabb {
    /// Fewest primitives of a half that is refitted as a task of its own.
    const PARALLEL_SIZE: usize = 4096;
    let [node, below @ ..] = nodes else { return Aabb::EMPTY };
    node.aabb = if let Some(&TreeNode { subtree_size: span, leaf_count: count, .. }) = below.first()
    {
        let (left_nodes, right_nodes) = below.split_at_mut(span as usize);
        let (left_leaves, right_leaves) = leaves.split_at_mut(count as usize);
        let in_parallel = right_leaves.len() >= PARALLEL_SIZE;
        let mut left = || refit_subtree(left_nodes, left_leaves, boxes);
        let mut right = || refit_subtree(right_nodes, right_leaves, boxes);
        let (left, right) = if in_parallel { rayon::join(left, right) } else { (left(), right()) };
        left.merged(&right)
    } else {
        leaves.iter_mut().fold(Aabb::EMPTY, |bounds, leaf| {
            leaf.aabb = boxes[leaf.primitive as usize];
            bounds.merged(&leaf.aabb)
        })
    };
    node.aabb
}
