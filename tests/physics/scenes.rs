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

/// A sphere around a centre, of `segments` meridians and `rings` bands.
pub(crate) fn sphere(centre: Vec3, radius: f64, segments: usize, rings: usize) -> Collider {
    let mut positions = vec![centre + Vec3::new(0.0, 0.0, radius)];
    for ring in 1..rings {
        let polar = std::f64::consts::PI * ring as f64 / rings as f64;
        for segment in 0..segments {
            let angle = std::f64::consts::TAU * segment as f64 / segments as f64;
            let flat = Vec3::new(polar.sin() * angle.cos(), polar.sin() * angle.sin(), polar.cos());
            positions.push(centre + flat * radius);
        }
    }
    positions.push(centre - Vec3::new(0.0, 0.0, radius));
    let last = positions.len() - 1;
    let at = |ring: usize, segment: usize| 1 + (ring - 1) * segments + segment % segments;
    let mut triangles = Vec::new();
    for segment in 0..segments {
        triangles.push([0, at(1, segment), at(1, segment + 1)]);
        for ring in 1..rings - 1 {
            let quad = [
                at(ring, segment),
                at(ring + 1, segment),
                at(ring + 1, segment + 1),
                at(ring, segment + 1),
            ];
            triangles.push([quad[0], quad[1], quad[2]]);
            triangles.push([quad[0], quad[2], quad[3]]);
        }
        triangles.push([last, at(rings - 1, segment + 1), at(rings - 1, segment)]);
    }
    Collider::new(positions, &triangles, 0.3, 0.001).unwrap()
}

/// A square floor around a point, of two triangles, with a contact thickness of 1 mm.
pub(crate) fn floor(centre: Vec3, size: f64, friction: f64) -> Collider {
    let corner = |x: f64, y: f64| centre + Vec3::new(x, y, 0.0) * (0.5 * size);
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[x, y]| corner(x, y));
    Collider::new(corners.to_vec(), &[[0, 1, 2], [0, 2, 3]], friction, 0.001).unwrap()
}
