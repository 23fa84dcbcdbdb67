// SPDX-License-Identifier: MIT OR Apache-2.0
//! Groups of cloths that may touch each other: which they are in a frame, and islands for them.

use super::{islands::Islands, partition::partition};
use crate::{
    error::{Error, Result},
    island::{Island, IslandPart, Snapshot, SweptVolume},
    response::candidate_margin,
    scene::{Cloth, ClothVertex, Report},
    vec3::Vec3,
};

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

impl Islands {
    /// Whether cloths may come to touch each other, so that their groups change.
    pub(super) fn has_changing_groups(&self) -> bool {
        self.cloths.len() > 1 && self.first().settings().self_collision
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
        let settings = self.first().settings().clone();
        let mut island = Island::new(&members, &self.colliders, settings);
        island.swept_volumes = self.swept_volumes_of(cloths);
        ClothGroup::new(cloths, island)
    }

    /// Swept volumes of cloths, where their groups may change.
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

    /// Partition of the cloths by a relation of two, given the distance around both in which contacts are searched for, in m.
    fn partition(&self, are_together: impl Fn(usize, usize, f64) -> bool) -> Vec<Vec<usize>> {
        let together = |one: usize, other: usize| {
            let thickness = self.thickness_of(one).max(self.thickness_of(other));
            are_together(one, other, candidate_margin(thickness))
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
