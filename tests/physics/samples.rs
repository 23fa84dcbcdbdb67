// SPDX-License-Identifier: MIT OR Apache-2.0
//! Strips of any faces, so that models can be compared on the same ones.

use crate::{
    quads::{Division, Sheet},
    strips::{Pattern, Strip, integral_along, turned_uv},
};
use std::ops::Range;
use weft::{Cloth, Material, Simulation, Vec3, mesh::Polygons};

/// How a strip is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Faces {
    Quads(Division),
    Triangles(Pattern),
}

/// A flat strip along x in the plane z = 0, y around 0. Vertices stand in columns.
pub(crate) struct Sample {
    pub(crate) points: Vec<Vec3>,
    pub(crate) columns: Vec<Range<usize>>,
    pub(crate) width: f64,
    polygons: Polygons,
}

impl Sample {
    /// A strip of a length in m with about square cells.
    pub(crate) fn new(faces: Faces, length: f64, cells: [usize; 2]) -> Self {
        match faces {
            Faces::Triangles(pattern) => Self::of_strip(Strip::new(pattern, length, cells)),
            Faces::Quads(division) => {
                let width = length * cells[1] as f64 / cells[0] as f64;
                Self::of_sheet(&Sheet::new(division, [length, width], cells))
            }
        }
    }

    /// The same with a column of cells more, before x = 0, whose vertices are to be held.
    pub(crate) fn clamped(faces: Faces, length: f64, cells: [usize; 2]) -> Self {
        match faces {
            Faces::Triangles(pattern) => Self::of_strip(Strip::clamped(pattern, length, cells)),
            Faces::Quads(division) => {
                let width = length * cells[1] as f64 / cells[0] as f64;
                Self::of_sheet(&Sheet::clamped(division, [length, width], cells))
            }
        }
    }

    fn of_strip(strip: Strip) -> Self {
        let polygons = strip.polygons();
        let Strip { points, columns, width, .. } = strip;
        Self { points, columns, width, polygons }
    }

    fn of_sheet(sheet: &Sheet) -> Self {
        let rows = sheet.cells[1] + 1;
        Self {
            points: sheet.points.clone(),
            columns: (0..=sheet.cells[0])
                .map(|column| column * rows..(column + 1) * rows)
                .collect(),
            width: sheet.size[1],
            polygons: sheet.polygons(),
        }
    }

    /// The strip as a cloth at `positions`, its warp at an angle (rad) from x.
    pub(crate) fn cloth(&self, material: Material, positions: Vec<Vec3>, warp: f64) -> Cloth {
        let uv = turned_uv(&self.points, warp);
        Cloth::new(positions, &self.polygons, material, Some(&self.points), Some(&uv)).unwrap()
    }

    pub(crate) fn map(&self, shape: impl FnMut(&Vec3) -> Vec3) -> Vec<Vec3> {
        self.points.iter().map(shape).collect()
    }

    /// Vertices of some columns.
    pub(crate) fn vertices(&self, columns: Range<usize>) -> Vec<usize> {
        self.columns[columns].iter().cloned().flatten().collect()
    }

    pub(crate) fn last(&self) -> usize {
        self.columns.len() - 1
    }

    /// Mean position along the line of a column.
    pub(crate) fn mean_position(&self, simulation: &Simulation, column: usize) -> Vec3 {
        integral_along(simulation, &self.points, self.columns[column].clone()) / self.width
    }

    /// How far apart the ends of a column are across the strip, in a shape.
    pub(crate) fn extent(&self, points: &[Vec3], column: usize) -> f64 {
        let column = &self.columns[column];
        points[column.end - 1].y - points[column.start].y
    }
}
