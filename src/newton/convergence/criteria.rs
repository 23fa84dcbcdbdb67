// SPDX-License-Identifier: MIT OR Apache-2.0
//! Convergence criteria of the equations of a stage.
//!
//! A stage is solved once all of the following hold for every cloth:
//!
//! * the error of its acceleration is small against its acceleration and gravity (see `acceleration_error`): what is
//!   soft moves as its forces say, however slowly;
//! * its last Newton step is shorter than a threshold in the energy norm (see `energy_norm`): what is stiff is in
//!   equilibrium;
//! * during contact, the net force on it is small (see `force_balance`).
//!
//! Thresholds are multiples of `Settings::tolerance`. During contact that of the energy norm is a fraction of the first
//! Newton step: friction depends on normal forces, which are stiff.

use super::force_balance::{ForceBalanceParameters, force_balances};
use crate::{
    mesh::Mesh,
    newton::{
        objective::Objective,
        regime::{Coupling, Regime},
    },
    scene::Settings,
    vec3::Vec3,
};

/// Parameters of the convergence criteria.
struct ConvergenceParameters {
    /// Upper bound of the threshold (multiple of the tolerance); during contact the only
    /// criterion from iteration `relax_after` on. Effect: larger ends hard solves earlier with larger errors; smaller
    /// rejects more steps. Evidence: `hostile/folded_diagonally` and `hostile/box_without_room` (fail without a bound);
    /// `hostile/ball_at_10_metres_a_second` and `hostile/collider_jumps_a_metre` (4 costs 22 % iterations).
    max_factor: f64,
    /// Iterations after which only the upper bound counts during contact, because contacts chatter at the activation
    /// distance. Effect: larger costs iterations; smaller solves hard contact less closely. Evidence:
    /// `hostile/random_soup` and `hostile/jersey_on_needles` (24 costs 5 % iterations and two rejected steps, 6 saves 9
    /// %).
    relax_after: usize,
    /// Cells along the side of a square cloth, each split once, beyond which a finer mesh no longer tightens the
    /// tolerance: neither the error of the time integration nor its visibility depends on the mesh. Effect: larger
    /// solves fine meshes more closely. Evidence: with half as many cells folds of 10 000 vertices come to rest later,
    /// at 10 % fewer iterations.
    reference_cells_per_side: f64,
    /// Lower bound of the threshold during contact (fraction of the contact thickness, times the tolerance). Effect:
    /// larger lets thin cloth on a support tremble; smaller costs iterations. Evidence: `rest/friction_on_a_solid` and
    /// `rest/friction_on_cloth` (without this bound a sheet slides 0.27 m instead of 0.06 m in 1 s; 0.125 and 0.5
    /// change nothing).
    contact_thickness_factor: f64,
    /// Required reduction of the first Newton step during contact (multiple of the tolerance), for nonlinear objectives
    /// whose contacts are on colliders alone. Effect: larger loses friction; smaller costs iterations. Evidence:
    /// `contact::constraints::guided_vertices_follow_a_slope_in_the_directions_left_to_them` and
    /// `rest/friction_on_a_solid` (fail without the criterion: 1.30 m/s² instead of 1.48 m/s²; 5 and 20 save 9 %
    /// iterations).
    contact_reduction_colliders: f64,
    /// Required reduction of the first Newton step during contact (multiple of the tolerance), for quadratic objectives
    /// and those whose contacts couple layers. Effect: larger loses friction; smaller costs iterations. Evidence: `rest/ten_layers_at_rest`
    /// (without the criterion they move at 0.19 m/s); `sheet/self16_solve` (2.5 costs 10 % iterations).
    contact_reduction_layers: f64,
}

impl ConvergenceParameters {
    const DEFAULT: Self = Self {
        max_factor: 8.0,
        relax_after: 12,
        reference_cells_per_side: 99.0,
        contact_thickness_factor: 0.25,
        contact_reduction_colliders: 10.0,
        contact_reduction_layers: 5.0,
    };
}

const PARAMETERS: ConvergenceParameters = ConvergenceParameters::DEFAULT;

/// Mean edge length of a grid of split square cells, per side of a cell.
const MEAN_EDGE_PER_CELL_SIDE: f64 = (2.0 + std::f64::consts::SQRT_2) / 3.0;

/// Length that the tolerance is relative to, in m: the minimum over all cloths of the mean edge length, bounded below
/// for fine meshes.
pub(crate) fn tolerance_length(mesh: &Mesh) -> f64 {
    let mut areas = vec![0.0; mesh.cloth_starts.len() - 1];
    for (area, cloth) in mesh.rest.areas.iter().zip(mesh.cloth_of_triangle.iter()) {
        areas[*cloth as usize] += area;
    }
    let of_cloth = |(area, edge): (f64, f64)| {
        edge.max(MEAN_EDGE_PER_CELL_SIDE / PARAMETERS.reference_cells_per_side * area.sqrt())
    };
    areas.into_iter().zip(mesh.mean_edge_lengths()).map(of_cloth).fold(f64::INFINITY, f64::min)
}

/// Minimum over all cloths of the mean edge length, in m.
pub(crate) fn min_mean_edge_length(mesh: &Mesh) -> f64 {
    mesh.mean_edge_lengths().into_iter().fold(f64::INFINITY, f64::min)
}

/// Lengths that thresholds are relative to, in m.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LengthScales {
    /// Length that the tolerance is relative to, see [`tolerance_length`].
    pub(crate) tolerance_length: f64,
    /// Minimum over all cloths of the mean edge length.
    pub(crate) mean_edge_length: f64,
    /// Smallest contact thickness of the cloths.
    pub(crate) thickness: f64,
}

/// Progress of a solve, as far as thresholds depend on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SolveProgress {
    /// Iterations that count for the relaxation of thresholds.
    pub(crate) iterations: usize,
    /// Regime of the iterate.
    pub(crate) regime: Regime,
}

/// Point at which an objective is examined.
#[derive(Clone, Copy)]
pub(crate) struct Iterate<'a, 'b> {
    /// Objective of the stage.
    pub(crate) objective: &'a Objective<'b>,
    /// Positions of all vertices, in m.
    pub(crate) positions: &'a [Vec3],
}

/// Thresholds of the convergence of a stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConvergenceCriteria {
    /// Tolerance of a Newton step d of a cloth, in m: its energy norm √(dᵀAd) as an equivalent rigid displacement (see
    /// `energy_norm`).
    pub(crate) step_tolerance: f64,
    /// Tolerance relative to the acceleration of a cloth.
    pub(crate) relative_tolerance: f64,
    /// Lower bound of the threshold during contact, in m.
    min_contact_threshold: f64,
    /// Whether the net force on a cloth counts.
    checks_force_balance: bool,
    /// Iteration limit of a stage.
    pub(crate) max_iterations: usize,
    /// Relative residual of the linear systems.
    pub(crate) linear_tolerance: f64,
}

impl ConvergenceCriteria {
    /// Criteria for a tolerance of the settings, of a stage with an iteration limit. Without `checks_force_balance` the
    /// net force on a cloth is ignored.
    pub(crate) fn new(
        tolerance: f64,
        scales: LengthScales,
        max_iterations: usize,
        checks_force_balance: bool,
    ) -> Self {
        let edge = scales.mean_edge_length;
        Self {
            step_tolerance: tolerance * scales.tolerance_length,
            relative_tolerance: tolerance,
            min_contact_threshold: tolerance
                * edge.min(PARAMETERS.contact_thickness_factor * scales.thickness),
            checks_force_balance,
            max_iterations,
            linear_tolerance: Settings::DEFAULT_LINEAR_TOLERANCE,
        }
    }

    /// These criteria with a relative residual of the linear systems.
    pub(crate) fn with_linear_tolerance(self, linear_tolerance: f64) -> Self {
        Self { linear_tolerance, ..self }
    }

    /// These criteria with the tolerances multiplied by a factor.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self {
            step_tolerance: factor * self.step_tolerance,
            min_contact_threshold: factor * self.min_contact_threshold,
            ..self
        }
    }

    /// These criteria with no tolerance below a length in m.
    pub(crate) fn with_min_threshold(self, length: f64) -> Self {
        Self {
            step_tolerance: self.step_tolerance.max(length),
            min_contact_threshold: self.min_contact_threshold.max(length),
            ..self
        }
    }

    /// Threshold of the Newton step of a cloth, in m. `first_length` is the length of its first Newton step, in m.
    pub(crate) fn threshold(&self, progress: SolveProgress, first_length: f64) -> f64 {
        let SolveProgress { iterations, regime } = progress;
        let reduction = match regime {
            Regime::Free => return PARAMETERS.max_factor * self.step_tolerance,
            _ if !regime.has_contacts() => return self.step_tolerance,
            Regime::OnSolids | Regime::Untangling(Some(Coupling::Solids)) => {
                PARAMETERS.contact_reduction_colliders
            }
            _ => PARAMETERS.contact_reduction_layers,
        };
        let largest = PARAMETERS.max_factor * self.step_tolerance;
        if iterations >= PARAMETERS.relax_after {
            return largest.max(self.min_contact_threshold);
        }
        let reduced = reduction * self.relative_tolerance * first_length;
        reduced.min(largest).max(self.min_contact_threshold)
    }

    /// Whether the net force on every cloth is small, given the residuals without contacts in N, which are overwritten.
    /// Only checked during contact, and neither for quadratic objectives nor while untangling.
    pub(crate) fn satisfies_force_balance(
        &self,
        iterate: Iterate<'_, '_>,
        residuals: &mut [Vec3],
        regime: Regime,
    ) -> bool {
        let factor = ForceBalanceParameters::DEFAULT.tolerance_factor(regime);
        let Some(factor) = factor.filter(|_| self.checks_force_balance) else {
            return true;
        };
        let tolerance = factor * self.relative_tolerance;
        force_balances(iterate, residuals).into_iter().all(|balance| {
            balance.net_residual <= (tolerance * balance.scale()).max(self.min_contact_threshold)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Polygons;

    /// A square with `cells` square cells along a side, each split once; `size` is its side, in m.
    fn square(cells: usize, size: f64) -> Mesh {
        let side = cells + 1;
        let place = |index: usize| size * index as f64 / cells as f64;
        let positions: Vec<Vec3> = (0..side * side)
            .map(|index| Vec3::new(place(index % side), place(index / side), 0.0))
            .collect();
        let firsts = (0..side * side).filter(|v| v % side < cells && v / side < cells);
        let corners: Vec<usize> =
            firsts.flat_map(|v| [v, v + 1, v + side + 1, v, v + side + 1, v + side]).collect();
        let counts = vec![3; corners.len() / 3];
        let polygons = Polygons::new(&counts, &corners, positions.len()).unwrap();
        Mesh::new(&polygons, &positions, None).unwrap()
    }

    #[test]
    fn the_tolerance_is_relative_to_the_mean_edge_of_coarse_meshes_and_to_the_width_of_fine_ones() {
        let length = |cells: usize, size: f64| tolerance_length(&square(cells, size));
        for cells in [4, 20, 99] {
            let mean = square(cells, 2.0).mean_edge_length();
            // Border cells lack neighbours that share their diagonal, which makes the mean slightly shorter.
            assert!((length(cells, 2.0) / mean - 1.0).abs() < 5e-3, "{cells} cells");
        }
        let finest = length(99, 2.0);
        for cells in [120, 150] {
            assert!((length(cells, 2.0) / finest - 1.0).abs() < 1e-12, "{cells} cells");
        }
        assert!((length(150, 0.2) / (0.1 * finest) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_smallest_of_several_fine_cloths_sets_the_tolerance() {
        let (large, small) = (square(260, 2.0), square(260, 0.5));
        let both = tolerance_length(&Mesh::join(&[&large, &small]));
        assert!((both / tolerance_length(&small) - 1.0).abs() < 1e-12);
        assert!((both / tolerance_length(&large) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn the_regime_determines_the_threshold_of_the_newton_step() {
        let scales =
            LengthScales { tolerance_length: 1.0, mean_edge_length: 0.1, thickness: 0.004 };
        let criteria = ConvergenceCriteria::new(0.01, scales, 50, true);
        let of = |regime: Regime, iterations: usize, first_length: f64| {
            criteria.threshold(SolveProgress { iterations, regime }, first_length)
        };
        let close = |found: f64, wanted: f64| {
            assert!((found / wanted - 1.0).abs() < 1e-12, "{found} for {wanted}");
        };
        let both = [Coupling::Solids, Coupling::Layers].map(Some);
        // Of the tolerance where nothing touches; of the first step in contact, if that is neither long nor short.
        close(of(Regime::Free, 0, 0.5), 0.08);
        close(of(Regime::Untangling(None), 0, 0.5), 0.01);
        close(of(Regime::Quadratic(None), 0, 0.5), 0.01);
        close(of(Regime::OnSolids, 0, 0.5), 0.05);
        close(of(Regime::Layered, 0, 0.5), 0.025);
        close(of(Regime::Untangling(both[0]), 0, 0.5), 0.05);
        close(of(Regime::Untangling(both[1]), 0, 0.5), 0.025);
        close(of(Regime::Quadratic(both[0]), 0, 0.5), 0.025);
        close(of(Regime::Quadratic(both[1]), 0, 0.5), 0.025);
        // Of the tolerance after a long first step, and after many iterations.
        for [iterations, first_length] in [[0, 9], [12, 0]] {
            let of = |regime: Regime| of(regime, iterations, first_length as f64);
            close(of(Regime::Layered), 0.08);
            close(of(Regime::OnSolids), 0.08);
            close(of(Regime::Quadratic(both[0])), 0.08);
        }
        // Of the contact thickness, a quarter of 4 mm, after a short one.
        close(of(Regime::Layered, 0, 0.0), 1.0e-5);
    }

    #[test]
    fn the_force_balance_counts_in_physical_contact_and_more_closely_between_layers() {
        let factor = |regime: Regime| ForceBalanceParameters::DEFAULT.tolerance_factor(regime);
        assert!(factor(Regime::Layered) < factor(Regime::OnSolids));
        assert!(factor(Regime::Layered) > Some(0.0));
        let contacts = Some(Coupling::Layers);
        for regime in [Regime::Free, Regime::Untangling(contacts), Regime::Quadratic(contacts)] {
            assert_eq!(factor(regime), None);
        }
    }
}
