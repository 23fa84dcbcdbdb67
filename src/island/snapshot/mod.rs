// SPDX-License-Identifier: MIT OR Apache-2.0
//! Snapshot of an island: all that a step or a caller may change, but for the motion of the colliders. An island that
//! continues from one yields the same bits as one that was not interrupted.

mod animated_settings;
mod regrouping;

pub(crate) use regrouping::IslandPart;

use super::{Island, constrained_system::ConstrainedSystem, step_control::StepControl};
use crate::{
    collision::ContactHistory,
    material::Material,
    mesh::Mesh,
    response::PinchedVertex,
    scene::{Settings, Springs},
    system::{BoundaryConditions, EquationsOfMotion},
    time_integration::{ClothInternalVariables, PreviousState, State},
};
use animated_settings::AnimatedSettings;
use serde::{Deserialize, Serialize};

/// State of an island between two steps.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    state: State,
    boundary_conditions: BoundaryConditions,
    contact_history: ContactHistory,
    /// Pairs of a cloth and the solid that enclosed it at the start.
    enclosed_cloths: Vec<[u32; 2]>,
    /// Vertices that colliders pinch.
    pinched_vertices: Vec<PinchedVertex>,
    materials: Vec<Material>,
    /// Springs of each cloth.
    springs: Vec<Option<Springs>>,
    /// Internal variables of each cloth.
    internal_variables: Vec<ClothInternalVariables>,
    animated_settings: AnimatedSettings,
    step_control: StepControl,
}

impl Island {
    /// Present state.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let ConstrainedSystem { dynamics, boundary_conditions, response } = &self.system;
        Snapshot {
            state: self.state.clone(),
            boundary_conditions: boundary_conditions.clone(),
            contact_history: response.contact_history.clone(),
            enclosed_cloths: response.scene.mesh.enclosed_cloths.clone(),
            pinched_vertices: response.recovery.flypapering.pinched_vertices.clone(),
            materials: dynamics.materials.clone(),
            springs: dynamics.elements.springs.clone(),
            internal_variables: dynamics.elements.internal_variables(&dynamics.mesh),
            animated_settings: AnimatedSettings::new(self.settings(), &self.system),
            step_control: self.step_control.clone(),
        }
    }

    /// Takes over a state that fits, see [`Snapshot::fits`].
    pub(crate) fn restore(&mut self, snapshot: Snapshot) {
        let Self { system, solver, .. } = self;
        snapshot.animated_settings.apply(&mut solver.settings, system);
        for (cloth, material) in snapshot.materials.into_iter().enumerate() {
            system.set_material(cloth, material);
        }
        let ConstrainedSystem { dynamics, boundary_conditions, response } = system;
        if snapshot.springs != dynamics.elements.springs {
            dynamics.elements.set_springs(&dynamics.mesh, snapshot.springs);
            solver.renew_pattern(dynamics);
        }
        dynamics.elements.set_internal_variables(&dynamics.mesh, &snapshot.internal_variables);
        response.contact_history = snapshot.contact_history;
        response.scene.mesh.enclosed_cloths = snapshot.enclosed_cloths;
        response.recovery.flypapering.pinched_vertices = snapshot.pinched_vertices;
        self.state = snapshot.state;
        *boundary_conditions = snapshot.boundary_conditions;
        self.step_control = snapshot.step_control;
        system.update_pinned_vertices();
    }
}

impl Snapshot {
    /// This state with the accuracy of settings (time step, tolerances, iterations) in place of its own.
    pub(crate) fn set_accuracy(&mut self, settings: &Settings) {
        self.animated_settings.set_accuracy(settings);
        self.step_control = StepControl::new(settings.time_step);
    }

    /// Whether every list has the right length for an island.
    pub(crate) fn fits(&self, island: &Island) -> bool {
        let Island { system, alternative_count, .. } = island;
        let ConstrainedSystem { dynamics, response, .. } = system;
        let (mesh, count) = (&dynamics.mesh, dynamics.vertex_count());
        let collider_count = response.scene.collider_motions.len();
        is_valid_state(&self.state, dynamics)
            && self.animated_settings.fits(collider_count, mesh)
            && self.materials.len() == mesh.cloth_count()
            && are_valid_springs(&self.springs, mesh)
            && dynamics.elements.internal_variables_fit(mesh, &self.internal_variables)
            && self.boundary_conditions.fits(count)
            && self.contact_history.has_valid_features(feature_counts(system, *alternative_count))
            && response.scene.are_valid_enclosed_cloths(&self.enclosed_cloths)
            && self.pinched_vertices.iter().all(|one| one.is_valid(&response.scene.mesh))
    }
}

fn is_valid_state(state: &State, dynamics: &EquationsOfMotion) -> bool {
    let count = dynamics.vertex_count();
    let is_valid_history = |previous: &PreviousState| {
        [previous.positions.len(), previous.velocities.len()] == [count; 2]
            && previous.history_resets.iter().all(|reset| (reset.vertex as usize) < count)
            && (previous.internal_variables.is_empty()
                || dynamics
                    .elements
                    .internal_variables_fit(&dynamics.mesh, &previous.internal_variables))
    };
    [state.positions.len(), state.velocities.len()] == [count; 2]
        && state.previous.as_ref().is_none_or(is_valid_history)
}

/// Whether springs of a checkpoint fit the cloths.
fn are_valid_springs(springs: &[Option<Springs>], mesh: &Mesh) -> bool {
    let is_valid = |(cloth, springs): (usize, &Option<Springs>)| {
        let count = mesh.vertices_of(cloth).len();
        springs.as_ref().is_none_or(|one| one.clone().checked(count).is_ok())
    };
    springs.len() == mesh.cloth_count() && springs.iter().enumerate().all(is_valid)
}

/// Numbers of vertices, edges and triangles that contacts may refer to. With collision disabled they are at most those
/// of the cloths, each alternative with edges of its own: contacts of an earlier checkpoint are kept for the next one.
fn feature_counts(system: &ConstrainedSystem, alternative_count: usize) -> [usize; 3] {
    let topology = &system.dynamics.mesh.topology;
    match system.response.scene.feature_counts() {
        [vertices, _, 0] => [
            vertices,
            topology.edges.len() + 3 * alternative_count,
            topology.triangles.len() + alternative_count,
        ],
        counts => counts,
    }
}
