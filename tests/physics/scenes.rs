// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sheets and solids to simulate.

use weft::{Cloth, Collider, Material, Settings, Simulation, Vec3, mesh::Polygons};

/// Nothing but what a test adds: no gravity, no air; solved far more exactly than any test looks.
pub(crate) fn vacuum() -> Settings {
    Settings {
        gravity: Vec3::zeros(),
        air_density: 0.0,
        tolerance: 1.0e-9,
        threads: 1,
        ..Settings::default()
    }
}

/// Gives every vertex of the first cloth a velocity in m/s, within a time too short to matter.
pub(crate) fn throw(simulation: &mut Simulation, velocity: impl Fn(&Vec3) -> Vec3) {
    let velocities: Vec<Vec3> = simulation.positions(0).unwrap().iter().map(velocity).collect();
    let directions = [Vec3::x(), Vec3::y(), Vec3::z()];
    for (vertex, velocity) in velocities.into_iter().enumerate() {
        simulation.set_guided_velocity(0, &[vertex], &directions, velocity).unwrap();
    }
    simulation.step(1.0e-6).unwrap();
    simulation.release_pins(0, None).unwrap();
}

/// A grid of `columns` × `rows` vertices over `size` in m, in quads, in the plane z = 0 around the origin.
pub(crate) fn grid(columns: usize, rows: usize, size: [f64; 2]) -> (Vec<Vec3>, Polygons) {
    let positions: Vec<Vec3> = (0..rows * columns)
        .map(|index| {
            let (column, row) = (index % columns, index / columns);
            let part = |count: usize, index: usize| index as f64 / (count - 1) as f64 - 0.5;
            Vec3::new(size[0] * part(columns, column), size[1] * part(rows, row), 0.0)
        })
        .collect();
    let mut corners = Vec::new();
    for row in 0..rows - 1 {
        for column in 0..columns - 1 {
            let first = row * columns + column;
            corners.extend([first, first + 1, first + columns + 1, first + columns]);
        }
    }
    let counts = vec![4; corners.len() / 4];
    let polygons = Polygons::new(&counts, &corners, positions.len()).unwrap();
    (positions, polygons)
}

/// A square sheet of n × n vertices at a height, in m.
pub(crate) fn sheet(n: usize, size: f64, height: f64, material: Material) -> Cloth {
    let (mut positions, polygons) = grid(n, n, [size; 2]);
    for position in &mut positions {
        position.z = height;
    }
    Cloth::new(positions, &polygons, material, None, None).unwrap()
}

/// A small square sheet that is pulled sideways, too, while two of its corners hold it.
pub(crate) fn hanging(settings: Settings, material: Material) -> Simulation {
    let settings = Settings { gravity: Vec3::new(0.0, 1.0, -9.81), threads: 1, ..settings };
    let sheet = sheet(7, 0.4, 0.0, material);
    let mut simulation = Simulation::new(&[sheet], &[], settings).unwrap();
    simulation.set_pins(0, &[0, 6], None).unwrap();
    simulation
}

/// Largest distance between the same vertex of two shapes, in m.
pub(crate) fn largest_distance(first: &[Vec3], second: &[Vec3]) -> f64 {
    first.iter().zip(second).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// [`largest_distance`] between the first cloths of two simulations.
pub(crate) fn distance(first: &Simulation, second: &Simulation) -> f64 {
    largest_distance(first.positions(0).unwrap(), second.positions(0).unwrap())
}

/// A convex polyhedron with its vertices on a sphere around the origin.
pub(crate) struct Ball {
    points: Vec<Vec3>,
    triangles: Vec<[usize; 3]>,
}

impl Ball {
    /// A ball of `segments` meridians and `rings` bands.
    pub(crate) fn new(radius: f64, segments: usize, rings: usize) -> Self {
        let mut points = vec![Vec3::z() * radius];
        for ring in 1..rings {
            let polar = std::f64::consts::PI * ring as f64 / rings as f64;
            for segment in 0..segments {
                let angle = std::f64::consts::TAU * segment as f64 / segments as f64;
                let (x, y) = (polar.sin() * angle.cos(), polar.sin() * angle.sin());
                points.push(Vec3::new(x, y, polar.cos()) * radius);
            }
        }
        points.push(Vec3::z() * -radius);
        let last = points.len() - 1;
        let at = |ring: usize, segment: usize| 1 + (ring - 1) * segments + segment % segments;
        let mut triangles = Vec::new();
        for segment in 0..segments {
            triangles.push([0, at(1, segment), at(1, segment + 1)]);
            for ring in 1..rings - 1 {
                let [a, b] = [at(ring, segment), at(ring + 1, segment)];
                let [c, d] = [at(ring + 1, segment + 1), at(ring, segment + 1)];
                triangles.extend([[a, b, c], [a, c, d]]);
            }
            triangles.push([last, at(rings - 1, segment + 1), at(rings - 1, segment)]);
        }
        Self { points, triangles }
    }

    /// Vertices of the ball around a centre.
    pub(crate) fn around(&self, centre: Vec3) -> Vec<Vec3> {
        self.points.iter().map(|point| centre + point).collect()
    }

    /// The ball around a centre, with a contact thickness of 1 mm.
    pub(crate) fn collider(&self, centre: Vec3) -> Collider {
        Collider::new(self.around(centre), &self.triangles, 0.3, 0.001).unwrap()
    }

    /// How far below its surface a point lies that is given relative to the centre, in m; negative outside.
    pub(crate) fn depth(&self, point: &Vec3) -> f64 {
        let depths = self.triangles.iter().map(|corners| {
            let [a, b, c] = corners.map(|vertex| self.points[vertex]);
            (b - a).cross(&(c - a)).normalize().dot(&(a - point))
        });
        depths.fold(f64::INFINITY, f64::min)
    }
}

/// Corners of a square around the origin, in the plane z = 0.
pub(crate) fn square(size: f64) -> Vec<Vec3> {
    let corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]];
    corners.map(|[x, y]| Vec3::new(x, y, 0.0) * size).to_vec()
}

/// Ground of two triangles over the corners of a square, with a contact thickness of 1 mm.
pub(crate) fn ground(corners: Vec<Vec3>, friction: f64) -> Collider {
    Collider::new(corners, &[[0, 1, 2], [0, 2, 3]], friction, 0.001).unwrap()
}
