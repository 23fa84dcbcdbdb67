// SPDX-License-Identifier: MIT OR Apache-2.0
//! What moves a cloth as a whole.
//!
//! The norm that corrections are measured in weighs what is stiff, and a stage may end by it while the forces on a cloth do
//! not add up: contacts that come and go leave a normal force, and the friction of it, that nothing answers. A few
//! corrections later they do, at hardly any length. Left as it is, that slows a sheet on a slope as much as gravity
//! drives it. What is held tight may lose more: what a waist is held by is many times the weight of a skirt, errors are parts
//! of that, and friction outweighs them.

use super::problem::Problem;
use crate::Vec3;
use std::ops::Range;

/// The forces on a cloth as a whole, as the ways that they lead it in the stage, in m.
#[derive(Clone, Copy, Debug)]
pub(super) struct Balance {
    /// Of what is left of the equations.
    pub(super) lost: f64,
    pub(super) weight: f64,
    /// Of what changes its velocity.
    pub(super) inertia: f64,
    /// Of what it is squeezed by: half of all that presses on it from outside, whatever the directions.
    pub(super) squeeze: f64,
}

/// The balance of every cloth at `positions`, with residuals without contacts in N. Those come to hold the others as well.
pub(super) fn balances(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Cloth, Collider, Material, Report, Settings,
        mesh::Polygons,
        settings::Integrator,
        simulation::{Simulation, scheme::Stage},
    };

    const FRAME: f64 = 1.0 / 24.0;

    fn square(size: f64, height: f64) -> Vec<Vec3> {
        let corner = |x: f64, y: f64| Vec3::new(size * x, size * y, height);
        vec![corner(-0.5, -0.5), corner(0.5, -0.5), corner(0.5, 0.5), corner(-0.5, 0.5)]
    }

    /// A cloth that has lain on a floor for so many frames, and has then been put higher, in m.
    fn balance_at_rest(frames: usize, lift: f64) -> Balance {
        let polygons = Polygons::new(&[4], &[0, 1, 2, 3], 4).unwrap();
        let cotton = Material::preset("cotton").unwrap();
        let cloth = Cloth::new(square(0.2, 0.002), &polygons, cotton, None, None).unwrap();
        let sides = [[0, 1, 2], [0, 2, 3]];
        let floor = Collider::new(square(1.0, 0.0), &sides, 0.4, 0.001).unwrap();
        let integrator = Integrator::ImplicitEuler;
        let settings =
            Settings { integrator, tolerance: 1.0e-4, threads: 1, ..Settings::default() };
        let mut simulation = Simulation::new(&[cloth], &[floor], settings).unwrap();
        for _ in 0..frames {
            simulation.advance(FRAME).unwrap();
        }
        let Simulation { dynamics, response, state, .. } = &mut simulation;
        state.bring_to_rest();
        for position in &mut state.positions {
            position.z += lift;
        }
        let positions = state.positions.clone();
        let measures = dynamics.measure(&positions);
        let room = [Vec::new(), Vec::new()];
        let stage = Stage::implicit_euler(state, measures, FRAME, room);
        // What rests is found by where its weight leads it.
        let led: Vec<Vec3> = positions.iter().map(|x| x - Vec3::z() * 1.0e-5).collect();
        response.begin((&positions, &led), &[false; 4], ([1.0, 1.0], FRAME));
        response.start(&led);
        let mut residuals = vec![Vec3::zeros(); 4];
        dynamics.evaluate(&stage, &positions, &mut residuals, &mut Report::default());
        let stage = &stage;
        let problem = Problem { dynamics, response, stage, state, guidance: &[], quadratic: None };
        balances(&problem, &positions, &mut residuals)[0]
    }

    #[test]
    fn a_floor_loses_nothing_of_what_it_bears() {
        let Balance { lost, weight, inertia, squeeze } = balance_at_rest(24, 0.0);
        assert!((weight - 9.81 * FRAME * FRAME).abs() < 1e-12);
        assert!(lost < 0.01 * weight, "{lost} of {weight}");
        // One side presses, with all of the weight.
        assert!((squeeze / weight - 0.5).abs() < 0.01, "{squeeze} of {weight}");
        assert!(inertia < 1e-12);
    }

    #[test]
    fn what_a_constraint_will_bear_is_not_lost_before_it_is_found() {
        let Balance { lost, weight, squeeze, .. } = balance_at_rest(0, -1.0e-8);
        assert!(squeeze < 0.1 * weight, "{squeeze} of {weight}");
        assert!(lost < 0.01 * weight, "{lost} of {weight}");
    }

    #[test]
    fn all_of_the_weight_is_lost_where_nothing_answers_it() {
        let Balance { lost, weight, squeeze, .. } = balance_at_rest(24, 0.1);
        assert!((lost / weight - 1.0).abs() < 1e-9 && squeeze == 0.0);
    }
}
