// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flat strips, divided into triangles in the four ways that tell models apart.

use crate::noise::Noise;
use std::ops::Range;
use weft::{
    Cloth, Material, Simulation, Vec3,
    mesh::{Polygons, Uv},
};

/// How a strip is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    Equilateral,
    /// Squares, all cut along the same diagonal.
    Right,
    /// Squares whose diagonals meet.
    Alternating,
    /// Shifted vertices, diagonals by chance.
    Random,
}

pub(crate) const PATTERNS: [Pattern; 4] =
    [Pattern::Equilateral, Pattern::Right, Pattern::Alternating, Pattern::Random];

/// A strip in the plane z = 0, x from `first` on, y around 0. Vertices stand in columns.
pub(crate) struct Strip {
    pub(crate) points: Vec<Vec3>,
    pub(crate) triangles: Vec<[usize; 3]>,
    pub(crate) columns: Vec<Range<usize>>,
    pub(crate) length: f64,
    pub(crate) width: f64,
}

impl Strip {
    /// A strip of a length in m along x, cut into `cells` along and across.
    pub(crate) fn new(pattern: Pattern, length: f64, cells: [usize; 2]) -> Self {
        let mut noise = Noise::new(7);
        let spacing = length / cells[0] as f64;
        let height =
            if pattern == Pattern::Equilateral { spacing / 0.75_f64.sqrt() } else { spacing };
        let width = cells[1] as f64 * height;
        let mut strip =
            Self { points: Vec::new(), triangles: Vec::new(), columns: Vec::new(), length, width };
        for column in 0..=cells[0] {
            let start = strip.points.len();
            let rows = rows_of_column(pattern, column, cells[1]);
            let last = rows.len() - 1;
            for (index, row) in rows.into_iter().enumerate() {
                // Edges stay straight, and so do two columns at each end.
                let free_x = column > 1 && column + 1 < cells[0];
                let free_y = free_x && index > 0 && index < last;
                let mut shift = |free: bool| {
                    let shift = 0.2 * noise.next();
                    if free && pattern == Pattern::Random { shift } else { 0.0 }
                };
                let x = spacing * (column as f64 + shift(free_x));
                let y = height * (row + shift(free_y)) - 0.5 * width;
                strip.points.push(Vec3::new(x, y, 0.0));
            }
            strip.columns.push(start..strip.points.len());
        }
        for column in 0..cells[0] {
            strip.fill_column(pattern, column, &mut noise);
        }
        strip
    }

    /// A strip whose first two columns are to be held: its free length begins at x = 0.
    pub(crate) fn clamped(pattern: Pattern, length: f64, cells: [usize; 2]) -> Self {
        let spacing = length / cells[0] as f64;
        let mut strip = Self::new(pattern, length + spacing, [cells[0] + 1, cells[1]]);
        strip.length = length;
        for point in &mut strip.points {
            point.x -= spacing;
        }
        strip
    }

    /// Fills the space between a column and the next with triangles, along the shorter diagonals.
    fn fill_column(&mut self, pattern: Pattern, column: usize, noise: &mut Noise) {
        let (left, right) = (self.columns[column].clone(), self.columns[column + 1].clone());
        let (mut p, mut q) = (left.start, right.start);
        while p + 1 < left.end || q + 1 < right.end {
            let reach = |ends: Option<(usize, usize)>| {
                ends.map_or(f64::INFINITY, |(a, b)| (self.points[a] - self.points[b]).norm())
            };
            let falling = reach((p + 1 < left.end).then_some((p + 1, q)));
            let rising = reach((q + 1 < right.end).then_some((p, q + 1)));
            let row = p - left.start;
            let rises = match pattern {
                Pattern::Alternating => (column + row).is_multiple_of(2),
                Pattern::Random => noise.next() > 0.0,
                Pattern::Equilateral | Pattern::Right => true,
            };
            let is_square = (falling - rising).abs() < 0.3 * falling.min(rising);
            let third =
                if is_square && rises || !is_square && rising < falling { q + 1 } else { p + 1 };
            self.triangles.push([p, q, third]);
            if third == q + 1 { q += 1 } else { p += 1 }
        }
    }

    /// Faces of the strip.
    pub(crate) fn polygons(&self) -> Polygons {
        let counts = vec![3; self.triangles.len()];
        Polygons::new(&counts, self.triangles.as_flattened(), self.points.len()).unwrap()
    }

    /// The strip as a cloth at `positions`, flat at rest, its warp at an angle (rad) from x.
    pub(crate) fn cloth(&self, material: Material, positions: Vec<Vec3>, warp: f64) -> Cloth {
        let uv = turned_uv(&self.points, warp);
        Cloth::new(positions, &self.polygons(), material, Some(&self.points), Some(&uv)).unwrap()
    }

    /// Mass of each vertex, in kg: a third of every triangle around it.
    pub(crate) fn masses(&self, density: f64) -> Vec<f64> {
        let mut masses = vec![0.0; self.points.len()];
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|vertex| self.points[vertex]);
            for vertex in triangle {
                masses[*vertex] += density * (b - a).cross(&(c - a)).norm() / 6.0;
            }
        }
        masses
    }

    /// Positions as a function of the points of the strip.
    pub(crate) fn map(&self, shape: impl FnMut(&Vec3) -> Vec3) -> Vec<Vec3> {
        self.points.iter().map(shape).collect()
    }

    /// Vertices of some columns.
    pub(crate) fn vertices(&self, columns: Range<usize>) -> Vec<usize> {
        self.columns[columns].iter().cloned().flatten().collect()
    }

    /// Vertices of the last column.
    pub(crate) fn end(&self) -> Range<usize> {
        self.columns[self.columns.len() - 1].clone()
    }

    /// Mean position along the line of a column.
    pub(crate) fn mean_position(&self, simulation: &Simulation, column: usize) -> Vec3 {
        integral_along(simulation, &self.points, self.columns[column].clone()) / self.width
    }

    /// Mean position of the last column.
    pub(crate) fn end_position(&self, simulation: &Simulation) -> Vec3 {
        self.mean_position(simulation, self.columns.len() - 1)
    }
}

/// Heights of the vertices of a column, in cells.
fn rows_of_column(pattern: Pattern, column: usize, rows: usize) -> Vec<f64> {
    if pattern == Pattern::Equilateral && column % 2 == 1 {
        let inner = (0..rows).map(|row| row as f64 + 0.5);
        return [0.0].into_iter().chain(inner).chain([rows as f64]).collect();
    }
    (0..=rows).map(|row| row as f64).collect()
}

/// Axes of yarns over flat points with the warp at an angle (rad) from x.
pub(crate) fn turned_uv(points: &[Vec3], warp: f64) -> Uv {
    let (sine, cosine) = warp.sin_cos();
    let turned = |p: &Vec3| [cosine * p.x + sine * p.y, cosine * p.y - sine * p.x];
    Uv::Vertex(points.iter().map(turned).collect())
}

/// Integral of the positions along a line of vertices, by y at rest.
pub(crate) fn integral_along(simulation: &Simulation, rest: &[Vec3], line: Range<usize>) -> Vec3 {
    let positions = simulation.positions(0).unwrap();
    let part = |vertex: usize| {
        let length = rest[vertex + 1].y - rest[vertex].y;
        (positions[vertex] + positions[vertex + 1]) * (0.5 * length)
    };
    (line.start..line.end - 1).map(part).sum()
}
