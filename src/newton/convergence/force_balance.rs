// SPDX-License-Identifier: MIT OR Apache-2.0
//! What moves a cloth as a whole.
//!
//! The norm that corrections are measured in weighs what is stiff, and a stage may end by it while the forces on a cloth do
//! not add up: contacts that come and go leave a normal force, and the friction of it, that nothing answers. A few
//! corrections later they do, at hardly any length. Left as it is, that slows a sheet on a slope as much as gravity
//! drives it. What is held tight may lose more: what a waist is held by is many times the weight of a skirt, errors are parts
//! of that, and friction outweighs them.

use crate::{Vec3, newton::objective::Problem};
use std::ops::Range;

/// The forces on a cloth as a whole, as the ways that they lead it in the stage, in m.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Balance {
    /// Of what is left of the equations.
    pub(crate) lost: f64,
    pub(crate) weight: f64,
    /// Of what changes its velocity.
    pub(crate) inertia: f64,
    /// Of what it is squeezed by: half of all that presses on it from outside, whatever the directions.
    pub(crate) squeeze: f64,
}

/// The balance of every cloth at `positions`, with residuals without contacts in N. Those come to hold the others as well.
pub(crate) fn balances(
    problem: &Problem<'_>,
    positions: &[Vec3],
    residuals: &mut [Vec3],
) -> Vec<Balance> {
    add_contacts(problem, positions, residuals);
    let pressing = pressing(problem, positions);
    let starts = problem.dynamics.mesh.cloth_starts.windows(2);
    let each = starts.zip(pressing);
    each.map(|(ends, pressing)| {
        balance((problem, positions), residuals, ends[0]..ends[1], pressing)
    })
    .collect()
}

/// Sum of the normal forces between each cloth and all that is not the same cloth, in N.
fn pressing(problem: &Problem<'_>, positions: &[Vec3]) -> Vec<f64> {
    let response = &*problem.response;
    let starts = &problem.dynamics.mesh.cloth_starts;
    let mut sums = vec![0.0; starts.len() - 1];
    for contact in response.contacts() {
        let [first, second] = contact.pair.ends().map(|vertex| {
            let is_cloth = response.is_cloth(vertex);
            is_cloth.then(|| starts.partition_point(|start| *start <= vertex as usize) - 1)
        });
        if first != second {
            let gap = response.between(contact, positions).dot(&contact.touch.normal);
            for cloth in [first, second].into_iter().flatten() {
                sums[cloth] += contact.normal_force(gap);
            }
        }
    }
    sums
}

fn add_contacts(problem: &Problem<'_>, positions: &[Vec3], residuals: &mut [Vec3]) {
    let response = &*problem.response;
    for contact in response.reactions() {
        let force = contact.reaction(&response.between(contact, positions)).force;
        for (vertex, weight) in contact.pair.vertices.iter().zip(&contact.touch.weights) {
            if response.is_cloth(*vertex) {
                residuals[*vertex as usize] += force * *weight;
            }
        }
    }
    // What is left along a constraint is its force.
    for constraint in response.constraints(positions) {
        let residual = &mut residuals[constraint.vertex];
        *residual -= constraint.normal * constraint.normal.dot(residual);
    }
    for guide in problem.guidance {
        residuals[guide.vertex] = guide.projector * residuals[guide.vertex];
    }
}

fn balance(
    (problem, positions): (&Problem<'_>, &[Vec3]),
    forces: &[Vec3],
    vertices: Range<usize>,
    pressing: f64,
) -> Balance {
    let (stage, masses) = (problem.stage, &problem.dynamics.masses);
    let mass: f64 = masses[vertices.clone()].iter().sum();
    let force: Vec3 = forces[vertices.clone()].iter().sum();
    let change = |vertex: usize| {
        let free = stage.positions[vertex] + stage.velocities[vertex] * stage.beta;
        (stage.middle(vertex, &positions[vertex]) - free) * masses[vertex]
    };
    let change: Vec3 = vertices.map(change).sum();
    let square = stage.beta.powi(2);
    Balance {
        lost: force.norm() / mass * square,
        weight: problem.dynamics.gravity.norm() * square,
        inertia: change.norm() / mass,
        squeeze: 0.5 * pressing / mass * square,
    }
}
