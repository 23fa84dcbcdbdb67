// SPDX-License-Identifier: MIT OR Apache-2.0
//! What moves a cloth as a whole.
//!
//! The norm that corrections are measured in weighs what is stiff, and a stage may end by it while the forces on a cloth do
//! not add up: contacts that come and go leave a normal force, and the friction of it, that nothing answers. A few
//! corrections later they do, at hardly any length. Left as it is, that slows a sheet on a slope as much as gravity
//! drives it. What is held tight may lose more: what a waist is held by is many times the weight of a skirt, errors are parts
//! of that, and friction outweighs them.

use crate::{Vec3, newton::objective::Objective};
use std::ops::Range;

/// The forces on a cloth as a whole, as the ways that they lead it in the stage, in m.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForceBalance {
    /// Of what is left of the equations.
    pub(crate) net_residual: f64,
    pub(crate) weight: f64,
    /// Of what changes its velocity.
    pub(crate) inertia: f64,
    /// Of what it is squeezed by: half of all that presses on it from outside, whatever the directions.
    pub(crate) contact_load: f64,
}

/// The balance of every cloth at `positions`, with residuals without contacts in N. Those come to hold the others as well.
pub(crate) fn force_balances(
    problem: &Objective<'_>,
    positions: &[Vec3],
    residuals: &mut [Vec3],
) -> Vec<ForceBalance> {
    add_contact_forces(problem, positions, residuals);
    let pressing = normal_loads(problem, positions);
    let starts = problem.dynamics.mesh.cloth_starts.windows(2);
    let each = starts.zip(pressing);
    each.map(|(ends, pressing)| {
        force_balance((problem, positions), residuals, ends[0]..ends[1], pressing)
    })
    .collect()
}

/// Sum of the normal forces between each cloth and all that is not the same cloth, in N.
fn normal_loads(problem: &Objective<'_>, positions: &[Vec3]) -> Vec<f64> {
    let response = &*problem.response;
    let starts = &problem.dynamics.mesh.cloth_starts;
    let mut sums = vec![0.0; starts.len() - 1];
    for contact in response.contacts() {
        let [first, second] = contact.pair.representative_vertices().map(|vertex| {
            let is_cloth = response.is_cloth(vertex);
            is_cloth.then(|| starts.partition_point(|start| *start <= vertex as usize) - 1)
        });
        if first != second {
            let gap =
                response.relative_position(contact, positions).dot(&contact.linearised.normal);
            for cloth in [first, second].into_iter().flatten() {
                sums[cloth] += contact.normal_force_at(gap);
            }
        }
    }
    sums
}

fn add_contact_forces(problem: &Objective<'_>, positions: &[Vec3], residuals: &mut [Vec3]) {
    let response = &*problem.response;
    for contact in response.all_contacts() {
        let force = contact.contact_force(&response.relative_position(contact, positions)).force;
        for (vertex, weight) in contact.pair.vertices.iter().zip(&contact.linearised.weights) {
            if response.is_cloth(*vertex) {
                residuals[*vertex as usize] += force * *weight;
            }
        }
    }
    // What is left along a constraint is its force.
    for constraint in response.active_constraints(positions) {
        let residual = &mut residuals[constraint.vertex];
        *residual -= constraint.normal * constraint.normal.dot(residual);
    }
    for guide in problem.prescribed_displacements {
        residuals[guide.vertex] = guide.free_projector * residuals[guide.vertex];
    }
}

fn force_balance(
    (problem, positions): (&Objective<'_>, &[Vec3]),
    forces: &[Vec3],
    vertices: Range<usize>,
    pressing: f64,
) -> ForceBalance {
    let (stage, masses) = (problem.stage, &problem.dynamics.masses);
    let mass: f64 = masses[vertices.clone()].iter().sum();
    let force: Vec3 = forces[vertices.clone()].iter().sum();
    let change = |vertex: usize| {
        let free = stage.base_positions[vertex] + stage.base_velocities[vertex] * stage.beta;
        (stage.evaluation_point(vertex, &positions[vertex]) - free) * masses[vertex]
    };
    let change: Vec3 = vertices.map(change).sum();
    let square = stage.beta.powi(2);
    ForceBalance {
        net_residual: force.norm() / mass * square,
        weight: problem.dynamics.gravity.norm() * square,
        inertia: change.norm() / mass,
        contact_load: 0.5 * pressing / mass * square,
    }
}
