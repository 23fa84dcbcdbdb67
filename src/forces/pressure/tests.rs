// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forces and Hessian against finite differences of the potential.

use super::*;
use crate::mesh::{Mesh, Polygons};

const DIFFERENCE: f64 = 1.0e-6;

/// A distorted octahedron, or that without one face.
fn shape(face_count: usize) -> (Mesh, Vec<Vec3>) {
    let corners = [
        (1.0, 0.1, 0.0),
        (-0.9, 0.0, 0.2),
        (0.0, 1.1, 0.1),
        (0.1, -1.0, 0.0),
        (0.2, 0.0, 0.8),
        (0.0, 0.1, -1.2),
    ];
    let positions: Vec<Vec3> =
        corners.iter().map(|(x, y, z)| Vec3::new(*x, *y, *z) * 0.3 + Vec3::x() * 2.0).collect();
    let faces =
        [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
    let polygons =
        Polygons::new(&vec![3; face_count], &faces[..face_count].concat(), positions.len())
            .unwrap();
    let mesh = Mesh::new(&polygons, &positions, None).unwrap();
    (mesh, positions)
}

const DENSITY: f64 = 700.0;
const GRAVITY: Vec3 = Vec3::new(1.0, -2.0, -9.0);

fn loads(case: &Case, mesh: &Mesh, positions: &[Vec3]) -> PressureLoads {
    let law = PressureLaw {
        pressure: 300.0,
        stiffness: 5000.0,
        volume: 0.05,
        fluid_density: case.fluid_density,
        weights: case.weights.clone(),
    };
    let mut loads = PressureLoads::new(mesh, positions);
    loads.set(mesh, 0, Some(law));
    loads.begin_path(positions, &GRAVITY);
    loads
}

fn forces(loads: &mut PressureLoads, positions: &[Vec3]) -> (f64, Vec<Vec3>) {
    let mut forces = vec![Vec3::zeros(); positions.len()];
    let potential = loads.evaluate(positions, &mut forces);
    (potential, forces)
}

fn moved(positions: &[Vec3], vertex: usize, axis: usize, by: f64) -> Vec<Vec3> {
    let mut moved = positions.to_vec();
    moved[vertex][axis] += by;
    moved
}

struct Case {
    face_count: usize,
    weights: Vec<f64>,
    fluid_density: f64,
}

/// Closed; with a hole; with weights; with both: each without and with a fluid.
fn cases() -> Vec<Case> {
    let weights = vec![1.0, 0.2, 0.7, 0.0, 1.0, 0.4];
    let surfaces = [(8, vec![]), (7, vec![]), (8, weights.clone()), (7, weights)];
    let with_fluid = |fluid_density| {
        surfaces.clone().map(|(face_count, weights)| Case { face_count, weights, fluid_density })
    };
    [0.0, DENSITY].into_iter().flat_map(with_fluid).collect()
}

#[test]
fn forces_are_those_of_the_potential() {
    for case in cases() {
        let (mesh, positions) = shape(case.face_count);
        let mut loads = loads(&case, &mesh, &positions);
        let (_, found) = forces(&mut loads, &positions);
        for (vertex, force) in found.iter().enumerate() {
            for axis in 0..3 {
                let [up, down] = [DIFFERENCE, -DIFFERENCE]
                    .map(|by| forces(&mut loads, &moved(&positions, vertex, axis, by)).0);
                let slope = (up - down) / (2.0 * DIFFERENCE);
                assert!((slope + force[axis]).abs() < 1e-4, "{slope} {}", force[axis]);
            }
        }
    }
}

#[test]
fn forces_are_pressure_times_area_along_the_normals() {
    for case in cases().into_iter().filter(|case| case.fluid_density == 0.0) {
        let (mesh, positions) = shape(case.face_count);
        let mut loads = loads(&case, &mesh, &positions);
        let (_, found) = forces(&mut loads, &positions);
        let pressure = 300.0 + 5000.0 * (1.0 - enclosed_volume(&mesh, 0, &positions) / 0.05);
        let mut wanted = vec![Vec3::zeros(); positions.len()];
        for corners in mesh.topology.triangles.iter() {
            let [a, b, c] = corners.map(|vertex| positions[vertex as usize]);
            let weight: f64 =
                corners.iter().map(|v| case.weights.get(*v as usize).unwrap_or(&1.0)).sum::<f64>()
                    / 3.0;
            let force = (b - a).cross(&(c - a)) * (pressure * weight / 6.0);
            for vertex in corners {
                wanted[*vertex as usize] += force;
            }
        }
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!((found - wanted).norm() < 1e-9, "{found:?} {wanted:?}");
        }
    }
}

#[test]
fn the_hessian_is_the_symmetric_part_of_the_change_of_the_forces() {
    for case in cases() {
        let (mesh, positions) = shape(case.face_count);
        let mut loads = loads(&case, &mesh, &positions);
        forces(&mut loads, &positions);
        loads.continue_path();
        let count = positions.len();
        let mut hessian = vec![vec![Matrix3::zeros(); count]; count];
        loads.for_each_block(|[row, column], block| {
            hessian[row][column] += block;
            if row != column {
                hessian[column][row] += block.transpose();
            }
        });
        for VolumeStiffness { factor, first_vertex, gradient } in loads.volume_stiffness() {
            assert_eq!(first_vertex, 0);
            for (row, one) in gradient.iter().enumerate() {
                for (column, other) in gradient.iter().enumerate() {
                    hessian[row][column] += one * other.transpose() * factor;
                }
            }
        }
        let mut changes = hessian.clone();
        for column in 0..count {
            for axis in 0..3 {
                let [up, down] = [DIFFERENCE, -DIFFERENCE]
                    .map(|by| forces(&mut loads, &moved(&positions, column, axis, by)).1);
                for (row, blocks) in changes.iter_mut().enumerate() {
                    let change = (up[row] - down[row]) / (-2.0 * DIFFERENCE);
                    blocks[column].set_column(axis, &change);
                }
            }
        }
        for (row, blocks) in hessian.iter().enumerate() {
            for (column, block) in blocks.iter().enumerate() {
                let symmetric = (changes[row][column] + changes[column][row].transpose()) * 0.5;
                let difference = (symmetric - block).norm();
                assert!(difference < 1e-3, "{row} {column}: {difference}");
            }
        }
    }
}

#[test]
fn the_swept_volume_is_the_change_of_the_enclosed_one() {
    let (mesh, positions) = shape(8);
    let ends: Vec<Vec3> = positions.iter().map(|p| p * 1.5 + Vec3::z() * p.x * p.y).collect();
    let swept = mesh.topology.triangles.iter().map(|corners| {
        let [start, end] =
            [&positions, &ends].map(|points| corners.map(|vertex| points[vertex as usize]));
        swept_volume(&start, &end)
    });
    let change = enclosed_volume(&mesh, 0, &ends) - enclosed_volume(&mesh, 0, &positions);
    assert!((swept.sum::<f64>() / change - 1.0).abs() < 1e-12);
}

/// The reference of the hydrostatic pressure moves with the cloth, so that forces do not depend on the place.
#[test]
fn the_forces_of_a_fluid_move_with_the_cloth() {
    for case in cases() {
        let (mesh, positions) = shape(case.face_count);
        let moved: Vec<Vec3> = positions.iter().map(|x| x + Vec3::new(5.0, -3.0, 20.0)).collect();
        let [here, there] = [positions, moved].map(|positions| {
            let mut loads = loads(&case, &mesh, &positions);
            forces(&mut loads, &positions).1
        });
        for (here, there) in here.iter().zip(&there) {
            assert!((here - there).norm() < 1e-9, "{here:?} {there:?}");
        }
    }
}

#[test]
fn the_net_force_on_a_closed_surface_is_the_weight_of_the_fluid() {
    let case = Case { face_count: 8, weights: Vec::new(), fluid_density: DENSITY };
    let (mesh, positions) = shape(case.face_count);
    let mut loads = loads(&case, &mesh, &positions);
    let ends: Vec<Vec3> = positions.iter().map(|p| p * 1.5 + Vec3::z() * p.x * p.y).collect();
    let weight = GRAVITY * (DENSITY * enclosed_volume(&mesh, 0, &ends));
    let mut weights = vec![Vec3::zeros(); ends.len()];
    loads.add_fluid_weights(&ends, &mut weights);
    let (_, found) = forces(&mut loads, &ends);
    for net in [found, weights].map(|forces| forces.iter().sum::<Vec3>()) {
        assert!((net - weight).norm() < 1e-12 * weight.norm(), "{net:?} {weight:?}");
    }
    assert_eq!(loads.vertices_of_open_cloths().count(), 0);
}

/// The pressure at the mean of the rim is that of the law: water in a bowl exerts none at its rim, and carries the
/// weight of the water above on the ground of the bowl.
#[test]
fn an_open_vessel_is_filled_to_its_rim() {
    let mut positions = vec![Vec3::new(0.0, 0.0, -0.5)];
    positions.extend((0..6).map(|corner| {
        let angle = f64::from(corner) * std::f64::consts::FRAC_PI_3;
        Vec3::new(angle.cos(), angle.sin(), 0.0)
    }));
    let corners: Vec<usize> = (0..6).flat_map(|k| [0, 1 + (k + 1) % 6, 1 + k]).collect();
    let polygons = Polygons::new(&[3; 6], &corners, positions.len()).unwrap();
    let mesh = Mesh::new(&polygons, &positions, None).unwrap();
    let law = PressureLaw {
        pressure: 0.0,
        stiffness: 0.0,
        volume: 0.0,
        fluid_density: DENSITY,
        weights: Vec::new(),
    };
    let mut loads = PressureLoads::new(&mesh, &positions);
    loads.set(&mesh, 0, Some(law));
    loads.begin_path(&positions, &(Vec3::z() * -10.0));
    let net: Vec3 = forces(&mut loads, &positions).1.iter().sum();
    let volume = 1.5 * 3.0_f64.sqrt() * 0.5 / 3.0;
    assert!((net.z / (-10.0 * DENSITY * volume) - 1.0).abs() < 1e-12, "{net:?}");
    assert_eq!(loads.vertices_of_open_cloths().count(), 1);
}
