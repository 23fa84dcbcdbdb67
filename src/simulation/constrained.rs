// SPDX-License-Identifier: MIT OR Apache-2.0
//! The directions that are taken out of the equations of a correction: those of guided vertices, and the collision
//! directions of particles on solids (Etzmuss 2002, section 4.4; see `collision::response::constraints`).
//!
//! **Descent.** With the forces λ that the equations A d = b + λn have found, and the lift c = n·d of a constraint, the slope
//! of Φ + ½ max(0, λ + kc)²/k along d is −dᵀA d − kc² where it presses: a correction that meets the
//! constraints goes down, whatever it does to the gaps. (This is the augmented Lagrangian, with the new multipliers.)
//!
//! **When constraints are solved.** A correction leaves the gaps of all constraints right, so it would be short even if they
//! all pulled. What pulls therefore counts as the correction that its release will take, at least: λ²/a of
//! each alone, with the entry a of the matrix, and of all together with their inertia.

use super::{guides::Guidance, lengths::Cloths};
use crate::{
    Vec3,
    collision::Response,
    solver::{BlockMatrix, Filter, Ordering, Prescribed, Row3},
};
use nalgebra::Matrix3;

/// A normal of which guides leave less than this free is not constrained: nothing moves along it.
const SMALLEST_FREE: f64 = 1.0e-3;

/// A direction along which a contact gives the displacement of a vertex.
#[derive(Clone, Copy, Debug)]
struct Direction {
    /// Place of the contact.
    contact: usize,
    /// Of the vertex.
    row: usize,
    /// The part of the normal that guides leave free: its unit vector, and its length.
    unit: Vec3,
    length: f64,
    /// Displacement along the unit vector, in m.
    way: f64,
    /// Entry of the matrix along the unit vector, in N/m.
    stiffness: f64,
}

/// What is taken out of the equations of a correction.
#[derive(Clone, Debug, Default)]
pub(super) struct Constrained {
    /// In order of their rows.
    directions: Vec<Direction>,
    prescribed: Prescribed,
    /// Projectors of rows, while they are found.
    projectors: Vec<(usize, Matrix3<f64>)>,
    /// Right side with nothing taken out; empty where nothing is.
    loads: Vec<Row3>,
}

/// What a correction promises.
#[derive(Clone, Debug)]
pub(super) struct Promise {
    /// Slope of the potential along it, in J.
    pub(super) slope: f64,
    /// Of each cloth, square of its length in the norm of the equations, with that of what it is known to leave, in J.
    pub(super) squares: Vec<f64>,
    /// The potential of the contacts where it starts, with the forces found for constraints, in J.
    pub(super) touching: f64,
}

impl Constrained {
    /// Finds the directions with the cloths at `positions`, and sets the filter.
    pub(super) fn find(
        &mut self,
        guidance: &[Guidance],
        (response, positions): (&Response, &[Vec3]),
        (ordering, filter): (&Ordering, &mut Filter),
    ) {
        let Self { directions, projectors, .. } = self;
        directions.clear();
        projectors.clear();
        let mut constrain = |vertex, projector| projectors.push((ordering.row(vertex), projector));
        let mut guides = guidance.iter().peekable();
        for (contact, vertex, normal, lift) in response.constraints(positions) {
            while let Some(guide) = guides.next_if(|guide| guide.vertex < vertex) {
                constrain(guide.vertex, guide.projector);
            }
            let guide = guides.next_if(|guide| guide.vertex == vertex);
            let free = guide.map_or_else(Matrix3::identity, |guide| guide.projector);
            let along = free * normal;
            let length = along.norm();
            if length < SMALLEST_FREE {
                constrain(vertex, free);
                continue;
            }
            let unit = along / length;
            constrain(vertex, free - unit * unit.transpose());
            let (row, way) = (ordering.row(vertex), lift / length);
            directions.push(Direction { contact, row, unit, length, way, stiffness: 0.0 });
        }
        for guide in guides {
            constrain(guide.vertex, guide.projector);
        }
        directions.sort_unstable_by_key(|direction| direction.row);
        projectors.sort_unstable_by_key(|(row, _)| *row);
        filter.clear();
        for (row, projector) in projectors {
            filter.constrain(*row, projector);
        }
    }

    /// Takes what the given displacements do from `right_side`, before the filter is applied to the matrix.
    pub(super) fn prescribe(&mut self, matrix: &BlockMatrix, right_side: &mut [Row3]) {
        self.loads.clear();
        if self.directions.is_empty() {
            return;
        }
        self.loads.extend_from_slice(right_side);
        for one in &mut self.directions {
            let unit = rounded(&one.unit);
            one.stiffness = along(&matrix.diagonals()[one.row].times(&unit), &one.unit);
        }
        let units = self.directions.iter().map(|one| (one.row as u32, rounded(&one.unit)));
        self.prescribed.gather(matrix, &units.collect::<Vec<_>>());
        let ways: Vec<f64> = self.directions.iter().map(|one| one.way).collect();
        self.prescribed.subtract(&ways, right_side);
    }

    /// Adds the given displacements to the free part of a solution.
    pub(super) fn complete(&self, solution: &mut [Row3]) {
        for Direction { row, unit, way, .. } in &self.directions {
            let given = rounded(&(unit * *way));
            solution[*row] = std::array::from_fn(|k| solution[*row][k] + given[k]);
        }
    }

    /// Gives constraints the forces that a `solution` has found, of equations with the right side `free` otherwise.
    pub(super) fn balance(
        &self,
        (free, solution): (&[Row3], &[Row3]),
        (response, positions): (&mut Response, &[Vec3]),
        (cloths, ordering): (&Cloths<'_>, &Ordering),
    ) -> Promise {
        let loads = if self.directions.is_empty() { free } else { &self.loads };
        let mut squares = cloths.products(ordering, loads, solution);
        let work: f64 = squares.iter().sum();
        if self.directions.is_empty() {
            response.balance(std::iter::empty());
            return Promise { slope: -work, squares, touching: response.potential(positions) };
        }
        let pressing = |response: &Response, one: &Direction| {
            let contact = &response.contacts()[one.contact];
            contact.normal_force(contact.wanted() - one.way * one.length)
        };
        let (mut pulls, mut gained) = (vec![Vec3::zeros(); squares.len()], 0.0);
        let mut forces = Vec::with_capacity(self.directions.len());
        let mut products = vec![0.0; self.directions.len()];
        self.prescribed.add_products(solution, &mut products);
        for (one, product) in self.directions.iter().zip(products) {
            let more = product - along(&self.loads[one.row], &one.unit);
            let old = pressing(response, one);
            let force = old + more / one.length;
            let left = force.min(0.0) * one.length;
            let cloth = cloths.of_row(ordering, one.row);
            squares[cloth] += more * one.way + left * left / one.stiffness;
            pulls[cloth] += one.unit * left;
            gained -= old * one.way * one.length;
            forces.push((one.contact, force));
        }
        response.balance(forces.into_iter());
        for one in &self.directions {
            gained += pressing(response, one) * one.way * one.length;
        }
        for (cloth, pull) in pulls.iter().enumerate() {
            squares[cloth] += pull.norm_squared() * cloths.compliance(cloth);
        }
        Promise { slope: -(work + gained), squares, touching: response.potential(positions) }
    }
}

impl Promise {
    /// The cloth with the largest square.
    pub(super) fn main(&self) -> usize {
        let largest = |best: usize, other: usize| {
            if self.squares[other].abs() > self.squares[best].abs() { other } else { best }
        };
        (0..self.squares.len()).fold(0, largest)
    }
}

fn along(entry: &Row3, unit: &Vec3) -> f64 {
    (0..3).map(|k| f64::from(entry[k]) * unit[k]).sum()
}

fn rounded(vector: &Vec3) -> Row3 {
    [vector.x as f32, vector.y as f32, vector.z as f32, 0.0]
}
