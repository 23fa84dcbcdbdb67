// SPDX-License-Identifier: MIT OR Apache-2.0
//! Regrouping: the state of an island that is put together from those of others, whose cloths it has.

use super::{AnimatedSettings, Island, Snapshot, StepControl};
use crate::{
    collision::{ContactHistory, FeatureNumbers, Renumbering},
    mesh::Mesh,
    response::PinchedVertex,
    system::BoundaryConditions,
    time_integration::{ClothInternalVariables, HistoryReset, PreviousState, State},
    vec3::Vec3,
};
use std::ops::Range;

/// Island whose cloths, or some of them, another one takes over.
pub(crate) struct IslandPart<'a> {
    /// Indices of its cloths in the scene.
    pub(crate) cloths: &'a [usize],
    pub(crate) island: &'a Island,
    /// Its state.
    pub(crate) snapshot: &'a Snapshot,
}

/// Where each cloth of a new island comes from: its part, and its index there.
struct ClothSource {
    part: usize,
    cloth: usize,
}

/// Island in the making: its parts, and where its cloths come from.
struct Assembly<'a> {
    parts: &'a [IslandPart<'a>],
    sources: Vec<ClothSource>,
}

impl<'a> Assembly<'a> {
    /// Assembly of cloths with these indices in the scene, each of which is in one part.
    fn new(parts: &'a [IslandPart<'a>], cloths: &[usize]) -> Self {
        let source = |in_scene: &usize| {
            parts.iter().enumerate().find_map(|(part, one)| {
                one.cloths.binary_search(in_scene).ok().map(|cloth| ClothSource { part, cloth })
            })
        };
        Self { parts, sources: cloths.iter().filter_map(source).collect() }
    }

    /// Values of all cloths, one after the other, from a list of each part with its mesh.
    fn concatenated<T: Clone + 'a>(
        &self,
        list: impl Fn(&'a Snapshot) -> &'a [T],
        range: impl Fn(&Mesh, usize) -> Range<usize>,
    ) -> Vec<T> {
        let of_cloth = |source: &ClothSource| {
            let IslandPart { island, snapshot, .. } = &self.parts[source.part];
            list(snapshot)[range(island.mesh(), source.cloth)].iter().cloned()
        };
        self.sources.iter().flat_map(of_cloth).collect()
    }

    /// Values at the vertices of all cloths.
    fn at_vertices<T: Clone + 'a>(&self, list: impl Fn(&'a Snapshot) -> &'a [T]) -> Vec<T> {
        self.concatenated(list, Mesh::vertices_of)
    }

    /// Values at the vertices of all cloths from lists that are empty where all values are the default; empty if all are.
    fn at_vertices_or<T: Clone + 'a>(
        &self,
        default: T,
        list: impl Fn(&'a Snapshot) -> &'a [T],
    ) -> Vec<T> {
        if self.parts.iter().all(|part| list(part.snapshot).is_empty()) {
            return Vec::new();
        }
        let of_cloth = |source: &ClothSource| {
            let IslandPart { island, snapshot, .. } = &self.parts[source.part];
            let vertices = island.mesh().vertices_of(source.cloth);
            let values = list(snapshot).get(vertices.clone());
            values.map_or_else(|| vec![default.clone(); vertices.len()], <[T]>::to_vec)
        };
        self.sources.iter().flat_map(of_cloth).collect()
    }

    /// Values of all cloths from a list with one for each.
    fn of_cloths<T: Clone + 'a>(&self, list: impl Fn(&'a Snapshot) -> &'a [T]) -> Vec<T> {
        self.concatenated(list, |_, cloth| cloth..cloth + 1)
    }

    /// New numbers of what each part hands over to an island.
    fn renumberings<'b>(
        &self,
        target: &'b Island,
        features: &'b FeatureNumbers,
    ) -> Vec<Renumbering<'b>>
    where
        'a: 'b,
    {
        let of_part = |(index, part): (usize, &IslandPart<'a>)| {
            let cloths = (0..part.cloths.len()).map(|cloth| {
                let is_here = |one: &ClothSource| (one.part, one.cloth) == (index, cloth);
                self.sources.iter().position(is_here).map(|new| new as u32)
            });
            let cloths: Vec<Option<u32>> = cloths.collect();
            let mesh = &part.island.system.response.scene.mesh;
            Renumbering::new(mesh, cloths, &target.system.response.scene.mesh, features)
        };
        self.parts.iter().enumerate().map(of_part).collect()
    }

    /// State of all cloths. Without a common step before it has no previous state.
    fn state(&self, renumberings: &[Renumbering<'_>]) -> State {
        State {
            time: self.parts[0].snapshot.state.time,
            positions: self.at_vertices(|one| &one.state.positions),
            velocities: self.at_vertices(|one| &one.state.velocities),
            previous: self.previous_state(renumberings),
        }
    }

    /// Internal variables one step ago, where the scheme keeps them.
    fn previous_variables(&self) -> Vec<ClothInternalVariables> {
        let list = |one: &'a Snapshot| -> &'a [ClothInternalVariables] {
            one.state.previous.as_ref().map_or(&[], |one| &one.internal_variables)
        };
        let are_kept = self.parts.iter().all(|part| !list(part.snapshot).is_empty());
        if are_kept { self.of_cloths(list) } else { Vec::new() }
    }

    fn previous_state(&self, renumberings: &[Renumbering<'_>]) -> Option<PreviousState> {
        let of_parts = self.parts.iter().map(|part| part.snapshot.state.previous.as_ref());
        let previous: Vec<&PreviousState> = of_parts.collect::<Option<_>>()?;
        let step_size = previous[0].step_size;
        if previous.iter().any(|one| one.step_size.to_bits() != step_size.to_bits()) {
            return None;
        }
        let list = |one: &'a Snapshot| one.state.previous.as_ref();
        let resets = previous.iter().zip(renumberings).flat_map(|(one, renumbering)| {
            one.history_resets.iter().filter_map(|reset| {
                Some(HistoryReset { vertex: renumbering.vertex(reset.vertex)?, ..*reset })
            })
        });
        Some(PreviousState {
            step_size,
            positions: self.at_vertices(|one| list(one).map_or(&[], |one| &one.positions)),
            velocities: self.at_vertices(|one| list(one).map_or(&[], |one| &one.velocities)),
            history_resets: resets.collect(),
            internal_variables: self.previous_variables(),
        })
    }
}

impl Snapshot {
    /// State of an island with these cloths of the scene, from those of parts that have them.
    pub(crate) fn gathered(parts: &[IslandPart<'_>], cloths: &[usize], target: &Island) -> Self {
        let assembly = Assembly::new(parts, cloths);
        let features = FeatureNumbers::new(&target.system.response.scene.mesh);
        let renumberings = assembly.renumberings(target, &features);
        let snapshots = || parts.iter().map(|part| part.snapshot).zip(&renumberings);
        let mut conditions = BoundaryConditions::default();
        for (one, new) in snapshots() {
            conditions.add_renumbered(&one.boundary_conditions, |vertex| new.vertex(vertex));
        }
        let enclosed = snapshots().flat_map(|(one, new)| {
            let pairs = one.enclosed_cloths.iter();
            pairs.filter_map(|[cloth, body]| Some([new.body(*cloth)?, new.body(*body)?]))
        });
        let pinched = snapshots()
            .flat_map(|(one, new)| one.pinched_vertices.iter().filter_map(|p| p.renumbered(new)));
        let mut pinched: Vec<PinchedVertex> = pinched.collect();
        pinched.sort_unstable_by_key(|one| one.vertex);
        let mut enclosed: Vec<[u32; 2]> = enclosed.collect();
        enclosed.sort_unstable();
        Self {
            state: assembly.state(&renumberings),
            boundary_conditions: conditions,
            contact_history: ContactHistory::gathered(
                snapshots().map(|(one, new)| (&one.contact_history, new)),
            ),
            enclosed_cloths: enclosed,
            pinched_vertices: pinched,
            materials: assembly.of_cloths(|one| &one.materials),
            springs: assembly.of_cloths(|one| &one.springs),
            internal_variables: assembly.of_cloths(|one| &one.internal_variables),
            animated_settings: AnimatedSettings {
                rest_scale: assembly
                    .at_vertices_or([1.0; 2], |one| &one.animated_settings.rest_scale),
                vertex_forces: assembly
                    .at_vertices_or(Vec3::zeros(), |one| &one.animated_settings.vertex_forces),
                pressures: assembly.of_cloths(|one| &one.animated_settings.pressures),
                ..parts[0].snapshot.animated_settings.clone()
            },
            step_control: StepControl::of_parts(parts.iter().map(|one| &one.snapshot.step_control)),
        }
    }
}
