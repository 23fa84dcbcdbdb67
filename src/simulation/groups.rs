// SPDX-License-Identifier: MIT OR Apache-2.0
//! Groups of cloths that may touch each other: which they are in a frame, and islands for them.

use super::Simulation;
use crate::{
    error::{Error, Result},
    island::{Island, IslandPart, Snapshot, SweptVolume},
    mesh::UnionFind,
    scene::{Cloth, ClothVertex, Collider, Report},
    vec3::Vec3,
};

/// Vertices of colliders that all islands may have together: each has a copy of all, of about 1 kB for a vertex. Effect:
/// larger takes more memory; smaller leaves cloths in one island that never touch. Evidence: none: a bound on memory.
const MAX_COLLIDER_VERTICES: usize = 500_000;

/// Cloths of a scene that may touch each other.
pub(crate) struct ClothGroup {
    /// Indices of the cloths in the scene, in ascending order: that of the island.
    pub(crate) cloths: Vec<usize>,
    pub(crate) island: Island,
    /// State in which it began the present frame; `None` between frames, and where there is no other group.
    pub(super) frame_start: Option<Snapshot>,
    /// Outcome of the present frame, once the island has been advanced.
    pub(super) outcome: Option<Result<Report>>,
}

impl ClothGroup {
    pub(super) fn new(cloths: &[usize], island: Island) -> Self {
        Self { cloths: cloths.to_vec(), island, frame_start: None, outcome: None }
    }

    fn part<'a>(&'a self, snapshot: &'a Snapshot) -> IslandPart<'a> {
        IslandPart { cloths: &self.cloths, island: &self.island, snapshot }
    }

    /// State in which it began the present frame, or, between frames, the present one.
    fn frame_state(&self) -> Snapshot {
        self.frame_start.clone().unwrap_or_else(|| self.island.snapshot())
    }

    /// Report of a frame with the cloths' indices in the scene.
    pub(super) fn renumbered_report(&self, mut report: Report) -> Report {
        for ClothVertex { cloth, .. } in &mut report.pinched_vertices {
            *cloth = self.cloths[*cloth];
        }
        report
    }

    /// Error with the cloths' indices in the scene.
    pub(super) fn renumbered_error(&self, mut error: Error) -> Error {
        if let Error::NotFinite { cloth, .. } = &mut error {
            *cloth = self.cloths[*cloth];
        }
        error
    }
}

impl Simulation {
    /// Whether cloths may come to touch each other, so that their groups change.
    pub(super) fn has_changing_groups(&self) -> bool {
        self.cloths.len() > 1 && self.settings().self_collision
    }

    /// Groups of a partition that are not among the present ones, at the start of the scene.
    pub(super) fn missing_groups(&self, partition: &[Vec<usize>]) -> Vec<ClothGroup> {
        self.missing(partition).map(|cloths| self.new_group(cloths)).collect()
    }

    fn missing<'a>(&self, partition: &'a [Vec<usize>]) -> impl Iterator<Item = &'a Vec<usize>> {
        let is_present =
            |cloths: &Vec<usize>| self.groups.iter().any(|group| group.cloths == *cloths);
        partition.iter().filter(move |cloths| !is_present(cloths))
    }

    /// Group of cloths at the start of the scene.
    fn new_group(&self, cloths: &[usize]) -> ClothGroup {
        let members: Vec<Cloth> = cloths.iter().map(|cloth| self.cloths[*cloth].clone()).collect();
        let settings = self.settings().clone();
        let mut island = self.threads.run(|| Island::new(&members, &self.colliders, settings));
        island.swept_volumes = self.swept_volumes_of(cloths);
        ClothGroup::new(cloths, island)
    }

    /// Sweeps of cloths, where their groups may change.
    pub(super) fn swept_volumes_of(&self, cloths: &[usize]) -> Vec<SweptVolume> {
        let of_changing = cloths.iter().filter(|_| self.has_changing_groups());
        of_changing.map(|cloth| SweptVolume::new(&self.cloths[*cloth])).collect()
    }

    /// Makes the groups those of a partition, which are present or among those built.
    pub(super) fn arrange(&mut self, partition: &[Vec<usize>], built: Vec<ClothGroup>) {
        let mut all: Vec<ClothGroup> = self.groups.drain(..).chain(built).collect();
        for cloths in partition {
            if let Some(index) = all.iter().position(|group| group.cloths == *cloths) {
                self.groups.push(all.swap_remove(index));
            }
        }
        self.locations = locations(&self.groups);
    }

    /// Regroups the cloths, in the states in which their groups began the present frame.
    pub(super) fn regroup(&mut self, partition: &[Vec<usize>]) {
        let missing = self.missing(partition);
        let built = missing.map(|cloths| self.gathered_group(cloths)).collect();
        self.arrange(partition, built);
    }

    /// Group of cloths in the states in which their present groups began the present frame.
    pub(super) fn gathered_group(&self, cloths: &[usize]) -> ClothGroup {
        let mut group = self.new_group(cloths);
        let is_source = |one: &&ClothGroup| one.cloths.iter().any(|cloth| cloths.contains(cloth));
        let sources: Vec<&ClothGroup> = self.groups.iter().filter(is_source).collect();
        let states: Vec<Snapshot> = sources.iter().map(|source| source.frame_state()).collect();
        let pairs = sources.iter().zip(&states);
        let parts: Vec<IslandPart<'_>> =
            pairs.map(|(source, snapshot)| source.part(snapshot)).collect();
        let snapshot = Snapshot::gathered(&parts, cloths, &group.island);
        group.frame_start = sources[0].frame_start.is_some().then(|| snapshot.clone());
        group.island.restore(snapshot);
        let scene = &mut group.island.system.response.scene;
        let before = &sources[0].island.system.response.scene;
        scene.collider_motions.clone_from(&before.collider_motions);
        scene.set_guards_seams(self.guards_seams);
        group.island.system.set_has_friction(self.has_friction);
        group
    }

    /// Groups of the cloths that would meet in a frame of a `duration` in s in which each vertex keeps its velocity, and
    /// of those of a present group that have met in the last one.
    pub(super) fn predicted_partition(&self, duration: f64) -> Vec<Vec<usize>> {
        let predict = |cloth: usize| {
            let location = self.locations[cloth];
            let (positions, velocities) =
                (self.positions_at(location), self.velocities_at(location));
            let ends: Vec<Vec3> =
                positions.iter().zip(velocities).map(|(x, v)| x + v * duration).collect();
            let mut volume = self.swept_volume_of(cloth).clone();
            volume.clear();
            volume.extend(positions);
            volume.extend(&ends);
            volume
        };
        let predicted: Vec<SweptVolume> = (0..self.cloths.len()).map(predict).collect();
        self.partition(|one, other, distance| {
            let [group, of_other] = [one, other].map(|cloth| self.locations[cloth].group);
            predicted[one].meets(&predicted[other], distance)
                || (group == of_other
                    && self.swept_volume_of(one).meets(self.swept_volume_of(other), distance))
        })
    }

    /// Present groups, united where their cloths have met in the frame.
    pub(super) fn partition_of_those_that_met(&self) -> Vec<Vec<usize>> {
        self.partition(|one, other, distance| {
            self.locations[one].group == self.locations[other].group
                || self.swept_volume_of(one).meets(self.swept_volume_of(other), distance)
        })
    }

    /// Partition of the cloths by a relation of two, given the distance at which they touch, in m.
    fn partition(&self, are_together: impl Fn(usize, usize, f64) -> bool) -> Vec<Vec<usize>> {
        let together = |one: usize, other: usize| {
            let distance = self.thickness_of(one).max(self.thickness_of(other));
            are_together(one, other, distance)
        };
        partition(self.cloths.len(), &self.colliders, together)
    }

    fn swept_volume_of(&self, cloth: usize) -> &SweptVolume {
        let place = self.locations[cloth];
        &self.groups[place.group].island.swept_volumes[place.cloth]
    }

    /// Contact thickness of a cloth, in m.
    fn thickness_of(&self, cloth: usize) -> f64 {
        let place = self.locations[cloth];
        self.groups[place.group].island.system.dynamics.materials[place.cloth].thickness
    }
}

/// Place of a cloth: its group, and its index there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClothLocation {
    pub(super) group: usize,
    pub(super) cloth: usize,
}

/// Location of every cloth.
pub(super) fn locations(groups: &[ClothGroup]) -> Vec<ClothLocation> {
    let count = groups.iter().map(|group| group.cloths.len()).sum();
    let mut locations = vec![ClothLocation { group: 0, cloth: 0 }; count];
    for (group, ClothGroup { cloths, .. }) in groups.iter().enumerate() {
        for (cloth, in_scene) in cloths.iter().enumerate() {
            locations[*in_scene] = ClothLocation { group, cloth };
        }
    }
    locations
}

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
        changes && swept_volumes[one].meets(&swept_volumes[other], first.max(second))
    })
}

/// Partition of a number of cloths by a relation of two.
fn partition(
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
