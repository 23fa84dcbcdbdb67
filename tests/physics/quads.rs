// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flat sheets of quads, divided in the ways that tell finite differences apart.

use crate::{noise::Noise, strips::turned_uv};
use std::f64::consts::PI;
use weft::{
    Cloth, Material, Simulation, Vec3,
    mesh::{Mesh, Polygons, Uv},
};

/// How a sheet is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    Regular,
    /// Rectangles that grow along both axes.
    Nonuniform,
    /// Curved lines that are not at right angles.
    Curvilinear,
    /// Shifted vertices.
    Random,
}

pub(crate) const DIVISIONS: [Division; 4] =
    [Division::Regular, Division::Nonuniform, Division::Curvilinear, Division::Random];

/// A sheet in the plane z = 0, x from 0 on, y around 0. Vertices stand in columns, along y first.
pub(crate) struct Sheet {
    pub(crate) points: Vec<Vec3>,
    pub(crate) size: [f64; 2],
    pub(crate) cells: [usize; 2],
}

impl Sheet {
    /// A sheet of a size in m along x and y, cut into `cells` along both.
    pub(crate) fn new(division: Division, size: [f64; 2], cells: [usize; 2]) -> Self {
        let mut noise = Noise::new(11);
        let mut points = Vec::new();
        for column in 0..=cells[0] {
            for row in 0..=cells[1] {
                let part = [column as f64 / cells[0] as f64, row as f64 / cells[1] as f64];
                let inside = [column % cells[0] > 0, row % cells[1] > 0];
                let shift = [noise.next(), noise.next()];
                let [x, y] = [0, 1].map(|axis| {
                    let random = if inside[axis] { 0.2 * shift[axis] } else { 0.0 };
                    size[axis] * mapped(division, part, axis, random / cells[axis] as f64)
                });
                points.push(Vec3::new(x, y - 0.5 * size[1], 0.0));
            }
        }
        Self { points, size, cells }
    }

    /// A sheet whose first column of quads is to be held: its free length begins at x = 0.
    pub(crate) fn clamped(division: Division, size: [f64; 2], cells: [usize; 2]) -> Self {
        let free = Self::new(division, size, cells);
        let width = size[0] / cells[0] as f64;
        let before = free.points[..=cells[1]].iter().map(|point| point - Vec3::x() * width);
        let points = before.chain(free.points.iter().copied()).collect();
        Self { points, size, cells: [cells[0] + 1, cells[1]] }
    }

    pub(crate) fn polygons(&self) -> Polygons {
        let rows = self.cells[1] + 1;
        let mut corners = Vec::new();
        for column in 0..self.cells[0] {
            for row in 0..self.cells[1] {
                let first = column * rows + row;
                corners.extend([first, first + rows, first + rows + 1, first + 1]);
            }
        }
        let counts = vec![4; corners.len() / 4];
        Polygons::new(&counts, &corners, self.points.len()).unwrap()
    }

    /// Yarn axes with the warp at an angle (rad) from x.
    fn uv(&self, warp: f64) -> Uv {
        turned_uv(&self.points, warp)
    }

    pub(crate) fn mesh(&self, warp: f64) -> Mesh {
        Mesh::new(&self.polygons(), &self.points, Some(&self.uv(warp))).unwrap()
    }

    /// The sheet as a cloth at `positions`, flat at rest.
    pub(crate) fn cloth(&self, material: Material, positions: Vec<Vec3>, warp: f64) -> Cloth {
        let (rest, uv) = (Some(self.points.as_slice()), self.uv(warp));
        Cloth::new(positions, &self.polygons(), material, rest, Some(&uv)).unwrap()
    }

    /// Positions as a function of the points of the sheet.
    pub(crate) fn map(&self, shape: impl FnMut(&Vec3) -> Vec3) -> Vec<Vec3> {
        self.points.iter().map(shape).collect()
    }

    /// Vertices of some columns.
    pub(crate) fn columns(&self, columns: std::ops::Range<usize>) -> Vec<usize> {
        let rows = self.cells[1] + 1;
        (columns.start * rows..columns.end * rows).collect()
    }

    /// Mean position of the last column.
    pub(crate) fn end_position(&self, simulation: &Simulation) -> Vec3 {
        self.mean_position(simulation, self.cells[0])
    }

    /// Mean position along the line of a column.
    pub(crate) fn mean_position(&self, simulation: &Simulation, column: usize) -> Vec3 {
        let positions = simulation.positions(0).unwrap();
        let part = |pair: &[usize]| {
            let length = self.points[pair[1]].y - self.points[pair[0]].y;
            (positions[pair[0]] + positions[pair[1]]) * (0.5 * length)
        };
        let vertices = self.columns(column..column + 1);
        vertices.windows(2).map(part).sum::<Vec3>() / self.size[1]
    }
}

/// Place of a vertex along an axis, from 0 to 1.
fn mapped(division: Division, part: [f64; 2], axis: usize, random: f64) -> f64 {
    let (own, other) = (part[axis], part[1 - axis]);
    match division {
        Division::Regular => own,
        Division::Nonuniform => (0.7 + 0.3 * own) * own,
        Division::Curvilinear => {
            let bump = (PI * own).sin() * (PI * (other + 0.2 * own)).cos();
            own + 0.06 * bump
        }
        Division::Random => own + random,
    }
}
