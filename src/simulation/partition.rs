// SPDX-License-Identifier: MIT OR Apache-2.0
//! Partition of the cloths of a scene into groups that may touch each other.

use crate::{
    island::SweptVolume,
    mesh::UnionFind,
    response::candidate_margin,
    scene::{Cloth, Collider},
};

/// Vertices of colliders that all islands may have together: each has a copy of all. Effect: larger takes more memory;
/// smaller leaves cloths in one island that never touch. Evidence: 0.75 kB for a vertex (a sphere of 79 602), 375 MB in all.
const MAX_COLLIDER_VERTICES: usize = 500_000;

/// Groups of the cloths of a new scene: those that touch each other, or each one alone.
pub(super) fn initial_partition(
    cloths: &[Cloth],
    colliders: &[Collider],
    has_self_collision: bool,
) -> Vec<Vec<usize>> {
    let sweep = |cloth: &Cloth| {
        let mut volume = SweptVolume::new(cloth);
        volume.extend(&cloth.positions);
        volume
    };
    let changes = has_self_collision && cloths.len() > 1;
    let swept_volumes: Vec<SweptVolume> = cloths.iter().filter(|_| changes).map(sweep).collect();
    partition(cloths.len(), colliders, |one, other| {
        let [first, second] = [one, other].map(|cloth| cloths[cloth].material.thickness);
        changes
            && swept_volumes[one].meets(&swept_volumes[other], candidate_margin(first.max(second)))
    })
}

/// Partition of a number of cloths by a relation of two.
pub(super) fn partition(
    count: usize,
    colliders: &[Collider],
    are_together: impl Fn(usize, usize) -> bool,
) -> Vec<Vec<usize>> {
    let mut sets = UnionFind::new(count);
    for other in 1..count as u32 {
        for one in 0..other {
            if sets.find(one) != sets.find(other) && are_together(one as usize, other as usize) {
                sets.union(one, other);
            }
        }
    }
    let copied: usize = colliders.iter().map(Collider::vertex_count).sum();
    let most = (MAX_COLLIDER_VERTICES / copied.max(1)).max(1);
    bounded(sets_of(&sets.roots()), most)
}

/// Sets of which the last are united, where they are more than `most`.
fn bounded(mut sets: Vec<Vec<usize>>, most: usize) -> Vec<Vec<usize>> {
    if sets.len() > most {
        let mut united = sets.split_off(most - 1).concat();
        united.sort_unstable();
        sets.push(united);
    }
    sets
}

/// Members of each set in ascending order, sets in the order of their roots, which are their smallest members.
fn sets_of(roots: &[u32]) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = vec![Vec::new(); roots.len()];
    for (member, root) in roots.iter().enumerate() {
        sets[*root as usize].push(member);
    }
    sets.retain(|set| !set.is_empty());
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_in_the_order_of_their_smallest_members() {
        let sets = sets_of(&[0, 1, 0, 3, 1]);
        assert_eq!(sets, [vec![0, 2], vec![1, 4], vec![3]]);
        assert_eq!(bounded(sets.clone(), 3), sets);
        assert_eq!(bounded(sets.clone(), 2), [vec![0, 2], vec![1, 3, 4]]);
        assert_eq!(bounded(sets, 1), [vec![0, 1, 2, 3, 4]]);
    }
}
