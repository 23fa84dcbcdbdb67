// SPDX-License-Identifier: MIT OR Apache-2.0
//! Force balance: the net residual force on every cloth as a whole.
//!
//! The energy norm weights stiff modes, and a stage may converge in it while the forces on a cloth do not add up: a
//! change of the active set leaves a normal force, and the friction that goes with it, unbalanced. A few iterations
//! later the forces balance, by Newton steps of almost no length. Left unbalanced, such a force slows a sheet on a
//! slope as much as gravity accelerates it. Cloth under a high contact load may have a larger net force: the load on a
//! waistband is many times the weight of a skirt, and errors are relative to the load.

use super::criteria::Iterate;
use crate::{newton::regime::Regime, vec3::Vec3};
use std::ops::Range;

/// Parameters of the force balance criterion.
pub(crate) struct ForceBalanceParameters {
    /// Tolerance of the net force (multiple of `Settings::tolerance`, relative to the forces on the cloth), for
    /// contacts on colliders alone. Effect: larger keeps cloth that hangs over an edge from coming to rest, since the
    /// net force changes direction in every step; smaller costs iterations. Evidence: `sheet/ball16_solve` (3: 14.6 mm
    /// instead of 16.9 mm from the reference; no criterion saves 14 % iterations in contact); friction stays exact at
    /// 30.
    tolerance_colliders: f64,
    /// Tolerance of the net force (multiple of `Settings::tolerance`, relative to the forces on the cloth), for contacts
    /// that couple layers. Effect: larger as for `tolerance_colliders`; smaller costs iterations. Evidence:
    /// `test_a_sheet_slides_over_another_sheet_as_the_equations_say` with linear tolerances from 0.01 to 0.1 (3: 2 to 23 %
    /// off its way, 1: 5 to 11 %, 0.5: 4 to 9 %); `hostile/collider_jumps_a_metre` (0.5: nothing stays on the obstacle).
    tolerance_layers: f64,
    /// Step duration below which the criterion is not checked (fraction of the longest step). Effect: larger skips more
    /// steps; smaller keeps rejecting the steps that rejections have shortened. Evidence:
    /// `contact::constraints::guided_vertices_follow_a_slope_in_the_directions_left_to_them` (fails with 0); hostile
    /// scenes (0.2 costs 11 % iterations).
    pub(crate) min_checked_step_fraction: f64,
}

impl ForceBalanceParameters {
    pub(crate) const DEFAULT: Self =
        Self { tolerance_colliders: 6.0, tolerance_layers: 1.0, min_checked_step_fraction: 0.4 };

    /// Tolerance of the net force, in units of `Settings::tolerance`; `None` where the criterion does not apply.
    pub(super) fn tolerance_factor(&self, regime: Regime) -> Option<f64> {
        match regime {
            Regime::OnSolids => Some(self.tolerance_colliders),
            Regime::Layered => Some(self.tolerance_layers),
            Regime::Free | Regime::Untangling(_) | Regime::Quadratic(_) => None,
        }
    }
}

/// Net forces on a cloth, as the displacements that they cause within the stage, in m.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForceBalance {
    /// Net residual force.
    pub(crate) net_residual: f64,
    /// Weight.
    pub(crate) weight: f64,
    /// Inertial force.
    pub(crate) inertia: f64,
    /// Contact load: half of the sum of the normal forces from outside, regardless of their directions.
    pub(crate) contact_load: f64,
}

impl ForceBalance {
    /// Magnitude that the net residual is compared with, in m.
    pub(crate) fn scale(&self) -> f64 {
        (self.weight + self.inertia).max(self.contact_load)
    }
}

/// Force balance of every cloth. `residuals` are those without contacts, in N; contact forces are added to them.
pub(crate) fn force_balances(
    iterate: Iterate<'_, '_>,
    residuals: &mut [Vec3],
) -> Vec<ForceBalance> {
    add_contact_forces(iterate, residuals);
    let loads = normal_loads(iterate);
    let starts = iterate.objective.dynamics.mesh.cloth_starts.windows(2);
    let each = starts.zip(loads);
    each.map(|(ends, load)| force_balance(iterate, residuals, ends[0]..ends[1], load)).collect()
}

/// Sum of the normal forces between each cloth and everything else, in N.
fn normal_loads(iterate: Iterate<'_, '_>) -> Vec<f64> {
    let response = &*iterate.objective.response;
    let starts = &iterate.objective.dynamics.mesh.cloth_starts;
    let at = response.contact_positions(iterate.positions);
    let mut sums = vec![0.0; starts.len() - 1];
    for contact in &response.contact_set.detected {
        let [first, second] = contact.pair.representative_vertices().map(|vertex| {
            let is_cloth = response.step.is_cloth(vertex);
            is_cloth.then(|| starts.partition_point(|start| *start <= vertex as usize) - 1)
        });
        if first != second {
            let gap = at.relative_position(contact).dot(&contact.linearised.normal);
            for cloth in [first, second].into_iter().flatten() {
                sums[cloth] += contact.normal_force_at(gap);
            }
        }
    }
    sums
}

/// Adds the contact forces to the residuals, in N, and removes the constraint forces.
fn add_contact_forces(iterate: Iterate<'_, '_>, residuals: &mut [Vec3]) {
    let Iterate { objective, positions } = iterate;
    let response = &*objective.response;
    let at = response.contact_positions(positions);
    for contact in response.contact_set.all() {
        let force = at.force(contact).force;
        for (vertex, weight) in response.step.cloth_weights(contact) {
            residuals[vertex] += force * weight;
        }
    }
    // A residual along an active constraint is the constraint force.
    for constraint in response.contact_set.active_constraints(at) {
        let residual = &mut residuals[constraint.vertex];
        *residual -= constraint.normal * constraint.normal.dot(residual);
    }
    for prescribed in objective.prescribed_displacements {
        let residual = &mut residuals[prescribed.vertex];
        *residual = prescribed.free_projector * *residual;
    }
}

/// Force balance of the cloth with these vertices, from the residuals and the sum of normal forces in N.
fn force_balance(
    Iterate { objective, positions }: Iterate<'_, '_>,
    residuals: &[Vec3],
    vertices: Range<usize>,
    normal_load: f64,
) -> ForceBalance {
    let (stage, masses) = (objective.stage, &objective.dynamics.masses.vertices);
    let mass: f64 = masses[vertices.clone()].iter().sum();
    let force: Vec3 = residuals[vertices.clone()].iter().sum();
    let mass_weighted_change = |vertex: usize| {
        let inertial = stage.base_positions[vertex] + stage.base_velocities[vertex] * stage.beta;
        (stage.evaluation_point(vertex, &positions[vertex]) - inertial) * masses[vertex]
    };
    let change: Vec3 = vertices.map(mass_weighted_change).sum();
    let square = stage.beta.powi(2);
    ForceBalance {
        net_residual: force.norm() / mass * square,
        weight: objective.dynamics.external_forces.gravity.norm() * square,
        inertia: change.norm() / mass,
        contact_load: 0.5 * normal_load / mass * square,
    }
}
