// SPDX-License-Identifier: MIT OR Apache-2.0
//! How accurately the equations of a stage are solved.

use super::force_balance::force_balances;
use crate::{Vec3, mesh::Mesh, newton::objective::Objective, parallel::reductions};

/// No stage is solved more roughly than to these multiples of the tolerance, of nonlinear and of quadratic equations, which
/// will do where contacts still come and go at the edge of touching after so many corrections.
const ROUGH: [f64; 2] = [8.0, 4.0];
const LOOSE_CORRECTIONS: usize = 12;
/// After so many corrections so many times as much may be lost of the forces on a cloth: what is hit that hard has others.
const LOSING: (usize, f64) = (16, 20.0);
/// Nor, where anything touches, to more than this part of the way that all vertices go in the step: what is left of the
/// equations is then no more than the square of that of the energy of motion. A way of so many times what gravity does to
/// velocities in the step counts as well, and no more than the tolerance is asked for, or what hardly moves would be solved
/// more finely than anyone can see.
const LARGEST_PART: f64 = 0.1;
const FALL: f64 = 4.0;
/// Where nothing touches, this multiple of the tolerance as a part of the same way will do, however fine the mesh, if it is
/// no rougher than the first of the above.
const FREE: f64 = 0.5;
/// Nor, there, to more than this part of the way itself, but to no less than that part of the tolerance: errors from step to
/// step that are as long as the ways would keep cloth moving that is coming to rest.
const SLOW: f64 = 0.2;
const FINEST: f64 = 0.25;

/// Tolerances are parts of the mean edge, but of no shorter one than that of a square cloth of so many cells along a side, cut
/// once each: how far time steps lead astray, and what can be seen of it, does not depend on the mesh. (With half as many
/// cells folds of 10 000 vertices come to rest later, for a tenth fewer corrections.)
const FINEST_CELLS: f64 = 99.0;
const MEAN_EDGE_PER_CELL_SIDE: f64 = (2.0 + std::f64::consts::SQRT_2) / 3.0;

/// The length that tolerances are parts of, in m: the least of all cloths.
pub(crate) fn tolerance_length(mesh: &Mesh) -> f64 {
    let mut areas = vec![0.0; mesh.cloth_starts.len() - 1];
    for (area, cloth) in mesh.rest.areas.iter().zip(mesh.cloth_of_triangle.iter()) {
        areas[*cloth as usize] += area;
    }
    let of_cloth =
        |(area, edge): (f64, f64)| edge.max(MEAN_EDGE_PER_CELL_SIDE / FINEST_CELLS * area.sqrt());
    areas.into_iter().zip(mesh.mean_edge_lengths()).map(of_cloth).fold(f64::INFINITY, f64::min)
}

/// Mean length of the edges of the cloth with the shortest, in m.
pub(crate) fn min_mean_edge_length(mesh: &Mesh) -> f64 {
    mesh.mean_edge_lengths().into_iter().fold(f64::INFINITY, f64::min)
}

/// When a stage counts as solved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConvergenceCriteria {
    /// Length of a correction d of a cloth in m, in the norm √(dᵀAd) of the equations, as the way that all its vertices would
    /// have to move together for the same (see `lengths`); at least the length of one that takes away what d has raised the
    /// potential by.
    pub(crate) step_tolerance: f64,
    /// The tolerance as a part of the way that all vertices go.
    pub(crate) relative_tolerance: f64,
    /// The finest that is asked for while anything touches, in m.
    pub(crate) min_contact_threshold: f64,
    /// While anything touches, the part of the first correction of the stage to which the last has to come down, if that
    /// is no finer than `touching`: for nonlinear equations of cloth on solids, and for others.
    pub(crate) contact_reduction: [f64; 2],
    /// While anything touches, the part of the forces on a cloth that may be lost as a whole, for the same two, if that
    /// matters.
    pub(crate) force_balance_tolerance: Option<[f64; 2]>,
    /// Most corrections.
    pub(crate) max_iterations: usize,
}

impl ConvergenceCriteria {
    /// The same, so many times as rough.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self {
            step_tolerance: factor * self.step_tolerance,
            min_contact_threshold: factor * self.min_contact_threshold,
            ..self
        }
    }

    /// The same, but no finer than a length in m.
    pub(crate) fn with_min_threshold(self, length: f64) -> Self {
        let [correction, touching] =
            [self.step_tolerance, self.min_contact_threshold].map(|own| own.max(length));
        Self { step_tolerance: correction, min_contact_threshold: touching, ..self }
    }

    /// What is wanted of the correction after so many, of which the first was `first` long, in m, where anything touches
    /// and which of the parts counts.
    ///
    /// Where something touches, errors add up that elsewhere cancel: friction, above all, comes out too small then. So
    /// what touches and hardly moves is solved finely, and what is stopped or crumpled at once, to a part of how it moves.
    pub(crate) fn quadratic_threshold(
        &self,
        iterations: usize,
        first: f64,
        (touches, is_fine): (bool, bool),
    ) -> f64 {
        if touches {
            self.contact_threshold((iterations, first), is_fine, ROUGH[1])
        } else {
            self.step_tolerance
        }
    }

    /// The same where anything touches, of a stage that is solved no more roughly than to this multiple of the tolerance.
    fn contact_threshold(
        &self,
        (iterations, first): (usize, f64),
        is_fine: bool,
        rough: f64,
    ) -> f64 {
        let part = self.contact_reduction[usize::from(is_fine)];
        let rough = rough * self.step_tolerance;
        match iterations {
            LOOSE_CORRECTIONS.. => rough.max(self.min_contact_threshold),
            _ => (part * first).min(rough).max(self.min_contact_threshold),
        }
    }

    /// What is wanted of a correction of a cloth after so many, of which the first was so long, in m; `is_fine` where
    /// contacts join layers of cloth.
    pub(crate) fn threshold(
        &self,
        (problem, positions, cloth): (&Objective<'_>, &[Vec3], usize),
        (iterations, first): (usize, f64),
        is_fine: bool,
    ) -> f64 {
        let touches = !problem.response.contacts().is_empty();
        if problem.quadratic_model.is_some() {
            return self.quadratic_threshold(iterations, first, (touches, is_fine));
        }
        if !touches {
            let own = rms_displacement(problem, positions, cloth);
            let part = FREE * self.relative_tolerance * own.max(min_displacement(problem));
            let rough = part.clamp(self.step_tolerance, ROUGH[0] * self.step_tolerance);
            return rough.min((SLOW * own).max(FINEST * self.step_tolerance));
        }
        let wanted = self.contact_threshold((iterations, first), is_fine, ROUGH[0]);
        // What draws crossings apart is no force of nature.
        if problem.response.intersection_count() > 0 {
            return wanted;
        }
        let way = rms_displacement(problem, positions, cloth).max(min_displacement(problem));
        wanted.min((LARGEST_PART * way).max(self.step_tolerance))
    }

    /// Whether what is left of the equations moves no cloth as a whole, with these residuals without contacts in N, which
    /// are changed.
    pub(crate) fn satisfies_force_balance(
        &self,
        (problem, positions): (&Objective<'_>, &[Vec3]),
        residuals: &mut [Vec3],
        (iterations, is_fine): (usize, bool),
    ) -> bool {
        let response = &*problem.response;
        let is_free = response.contacts().is_empty() || response.is_untangling();
        let is_asked = problem.quadratic_model.is_none() && !is_free;
        let Some(lost) = self.force_balance_tolerance.filter(|_| is_asked) else { return true };
        let more = if iterations > LOSING.0 { LOSING.1 } else { 1.0 };
        let part = more * lost[usize::from(is_fine)];
        force_balances(problem, positions, residuals).into_iter().all(|balance| {
            let scale = (balance.weight + balance.inertia).max(balance.contact_load);
            balance.net_residual <= (part * scale).max(self.min_contact_threshold)
        })
    }
}

/// The way of all vertices of a cloth to `positions`, in m: the root of the mean square, by mass.
fn rms_displacement(problem: &Objective<'_>, positions: &[Vec3], cloth: usize) -> f64 {
    let (dynamics, starts) = (&*problem.dynamics, &problem.state.positions);
    let vertices = dynamics.mesh.vertices_of(cloth);
    let sum =
        reductions::sum_blocked(vertices.len(), reductions::MIN_LIGHT_VERTICES_PER_TASK, |index| {
            let vertex = vertices.start + index;
            dynamics.masses[vertex] * (positions[vertex] - starts[vertex]).norm_squared()
        });
    (sum / dynamics.cloth_masses[cloth]).sqrt()
}

/// A shorter way makes no difference any more, in m.
fn min_displacement(problem: &Objective<'_>) -> f64 {
    FALL * problem.dynamics.gravity.norm() * problem.stage.duration.powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Polygons;

    /// A square of so many cells along a side in m, each cut once.
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
    fn the_tolerance_is_a_part_of_the_mean_edge_of_coarse_meshes_and_of_the_width_of_fine_ones() {
        let of = |cells: usize, size: f64| tolerance_length(&square(cells, size));
        for cells in [4, 20, 99] {
            let mean = square(cells, 2.0).mean_edge_length();
            // A border has no more than the one diagonal of its cells, which makes the mean a little shorter.
            assert!((of(cells, 2.0) / mean - 1.0).abs() < 5e-3, "{cells} cells");
        }
        let finest = of(99, 2.0);
        for cells in [120, 150] {
            assert!((of(cells, 2.0) / finest - 1.0).abs() < 1e-12, "{cells} cells");
        }
        assert!((of(150, 0.2) / (0.1 * finest) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn of_several_fine_cloths_the_smallest_counts() {
        let (large, small) = (square(260, 2.0), square(260, 0.5));
        let both = tolerance_length(&Mesh::join(&[&large, &small]));
        assert!((both / tolerance_length(&small) - 1.0).abs() < 1e-12);
        assert!((both / tolerance_length(&large) - 0.25).abs() < 1e-12);
    }
}
