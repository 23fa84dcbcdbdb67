// SPDX-License-Identifier: MIT OR Apache-2.0
//! All cloths of a scene, in islands.

use super::{
    groups::{ClothGroup, ClothLocation, locations},
    partition::initial_partition,
};
use crate::{
    error::{Error, Result},
    island::Island,
    scene::{Cloth, Collider, Settings},
    vec3::Vec3,
};

/// Cloths of a scene in groups that may touch each other.
pub(crate) struct Islands {
    /// All cloths as they were at the start, to group them anew; empty if there is only one.
    pub(super) cloths: Vec<Cloth>,
    /// All colliders as they were at the start; empty if there is only one cloth.
    pub(super) colliders: Vec<Collider>,
    pub(super) groups: Vec<ClothGroup>,
    pub(super) locations: Vec<ClothLocation>,
    /// Whether cloth rubs on anything.
    pub(super) has_friction: bool,
    /// Whether the strips of closing seams are surfaces.
    pub(super) guards_seams: bool,
}

impl Islands {
    /// Islands of cloths at rest, which have been checked.
    pub(super) fn new(cloths: &[Cloth], colliders: &[Collider], settings: &Settings) -> Self {
        let partition = initial_partition(cloths, colliders, settings.self_collision);
        let of_group = |group: &Vec<usize>| {
            let members: Vec<Cloth> = group.iter().map(|cloth| cloths[*cloth].clone()).collect();
            ClothGroup::new(group, Island::new(&members, colliders, settings.clone()))
        };
        let groups: Vec<ClothGroup> = partition.iter().map(of_group).collect();
        let is_one = cloths.len() == 1;
        let mut islands = Self {
            cloths: if is_one { Vec::new() } else { cloths.to_vec() },
            colliders: if is_one { Vec::new() } else { colliders.to_vec() },
            locations: locations(&groups),
            groups,
            has_friction: true,
            guards_seams: true,
        };
        for group in 0..islands.groups.len() {
            let volumes = islands.swept_volumes_of(&islands.groups[group].cloths);
            islands.groups[group].island.swept_volumes = volumes;
        }
        islands
    }

    /// Place of a cloth.
    ///
    /// # Errors
    /// A cloth index out of range.
    pub(super) fn location(&self, cloth: usize) -> Result<ClothLocation> {
        let count = self.locations.len();
        let found = self.locations.get(cloth).copied();
        found.ok_or_else(|| {
            Error::value("cloth", cloth, format!("an index below the {count} cloths"))
        })
    }

    /// Island of a cloth, and the index of the cloth there.
    pub(super) fn located(&mut self, cloth: usize) -> Result<(&mut Island, usize)> {
        let ClothLocation { group, cloth } = self.location(cloth)?;
        Ok((&mut self.groups[group].island, cloth))
    }

    /// Changes all islands alike.
    pub(super) fn change_all(&mut self, change: impl Fn(&mut Island) -> Result<()>) -> Result<()> {
        self.groups.iter_mut().try_for_each(|group| change(&mut group.island))
    }

    /// Any island, for what all have in common.
    pub(super) fn first(&self) -> &Island {
        &self.groups[0].island
    }

    /// All islands.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Island> {
        self.groups.iter().map(|group| &group.island)
    }

    /// Indices of the cloths of every island in the scene, with the island.
    pub(crate) fn with_cloths(&self) -> impl Iterator<Item = (&[usize], &Island)> {
        self.groups.iter().map(|group| (&group.cloths[..], &group.island))
    }

    /// Positions of the vertices of a cloth, in m.
    pub(super) fn positions_at(&self, location: ClothLocation) -> &[Vec3] {
        let island = &self.groups[location.group].island;
        &island.state.positions[island.mesh().vertices_of(location.cloth)]
    }

    /// Velocities of the vertices of a cloth, in m/s.
    pub(super) fn velocities_at(&self, location: ClothLocation) -> &[Vec3] {
        let island = &self.groups[location.group].island;
        &island.state.velocities[island.mesh().vertices_of(location.cloth)]
    }

    /// Root mean square of the speeds of all vertices, in m/s.
    pub(crate) fn mean_speed(&self) -> f64 {
        let squares = |island: &Island| {
            let count = island.state.velocities.len() as f64;
            (count * island.state.mean_speed().powi(2), count)
        };
        let (sum, count) = self
            .iter()
            .map(squares)
            .fold((0.0, 0.0), |(sum, count), (square, own)| (sum + square, count + own));
        (sum / count).sqrt()
    }

    /// Gravity, in m/s².
    pub(crate) fn gravity(&self) -> Vec3 {
        self.first().system.dynamics.external_forces.gravity
    }

    /// Sets whether cloth rubs on anything, until the material of the cloth is set or a checkpoint restored.
    pub(crate) fn set_has_friction(&mut self, has_friction: bool) {
        self.has_friction = has_friction;
        for group in &mut self.groups {
            group.island.system.set_has_friction(has_friction);
        }
    }

    /// Sets whether the strips of closing seams are surfaces.
    pub(crate) fn set_guards_seams(&mut self, guards_seams: bool) {
        self.guards_seams = guards_seams;
        for group in &mut self.groups {
            group.island.system.response.scene.set_guards_seams(guards_seams);
        }
    }

    /// Makes all cloths one island until the next frame.
    pub(super) fn unite_all(&mut self) {
        if self.groups.len() > 1 {
            self.regroup(&[(0..self.locations.len()).collect()]);
        }
    }
}
