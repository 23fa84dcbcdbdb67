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

fn loads(mesh: &Mesh, weights: Vec<f64>, positions: &[Vec3]) -> PressureLoads {
    let law = PressureLaw { pressure: 300.0, stiffness: 5000.0, volume: 0.05, weights };
    let mut loads = PressureLoads::new(mesh, positions);
    loads.set(mesh, 0, Some(law));
    loads.begin_path(positions);
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

/// Closed; with a hole; with weights; with both.
fn cases() -> Vec<(usize, Vec<f64>)> {
    let weights = vec![1.0, 0.2, 0.7, 0.0, 1.0, 0.4];
    vec![(8, vec![]), (7, vec![]), (8, weights.clone()), (7, weights)]
}

#[test]
fn forces_are_those_of_the_potential() {
    for (face_count, weights) in cases() {
        let (mesh, positions) = shape(face_count);
        let mut loads = loads(&mesh, weights, &positions);
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
    for (face_count, weights) in cases() {
        let (mesh, positions) = shape(face_count);
        let mut loads = loads(&mesh, weights.clone(), &positions);
        let (_, found) = forces(&mut loads, &positions);
        let pressure = 300.0 + 5000.0 * (1.0 - enclosed_volume(&mesh, 0, &positions) / 0.05);
        let mut wanted = vec![Vec3::zeros(); positions.len()];
        for corners in mesh.topology.triangles.iter() {
            let [a, b, c] = corners.map(|vertex| positions[vertex as usize]);
            let weight: f64 =
                corners.iter().map(|v| weights.get(*v as usize).unwrap_or(&1.0)).sum::<f64>() / 3.0;
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
    for (face_count, weights) in cases() {
        let (mesh, positions) = shape(face_count);
        let mut loads = loads(&mesh, weights, &positions);
        forces(&mut loads, &positions);
        loads.continue_path();
        let count = positions.len();
        let mut hessian = vec![vec![Matrix3::zeros(); count]; count];
        loads.for_each_block(|[row, column], block| {
            hessian[row][column] += block;
            hessian[column][row] += block.transpose();
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
