// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must not change the result, or must change it exactly so.

use super::samples::{
    ELASTIC, FABRIC, Noise, Pattern, Point, Sheet, bending, dot, flat, forces, norm, product,
};
use crate::{
    forces::{
        bending::{Bending, BendingLaw},
        strain_history::StrainHistory,
    },
    material::PlateRigidity,
    mesh::Mesh,
    vec3::Vec3,
};
use nalgebra::Rotation3;

fn shaken(points: &[Point], size: f64) -> Vec<Vec3> {
    let shifts = Noise::new(17).vectors(points.len(), size);
    flat(points).iter().zip(shifts).map(|(x, shift)| x + shift).collect()
}

#[test]
fn a_rigid_motion_costs_nothing() {
    let (sheet, points) = Sheet::strip(6, 3, Pattern::Poor, 1);
    let mut bending = bending(&sheet.mesh(0.3), FABRIC);
    let turn = Rotation3::from_euler_angles(0.5, -1.1, 2.3);
    let moved: Vec<Vec3> =
        flat(&points).iter().map(|x| turn * x + Vec3::new(50.0, -20.0, 7.0)).collect();
    let reference = vec![0.0; bending.hinge_count()];
    let viscous = StrainHistory { reference: &reference, inverse_beta: 100.0 };
    assert!(norm(&forces(&mut bending, &moved, viscous)) < 1e-9);
    assert!(bending.energy(&moved) < 1e-20);
}

#[test]
fn forces_turn_with_the_cloth_and_leave_both_momenta() {
    let (sheet, points) = Sheet::strip(6, 3, Pattern::Poor, 1);
    let mut bending = bending(&sheet.mesh(0.3), FABRIC);
    let positions = shaken(&points, 0.25);
    let found = forces(&mut bending, &positions, ELASTIC);
    let torques: Vec<Vec3> = positions.iter().zip(&found).map(|(x, f)| x.cross(f)).collect();
    let scale = norm(&found);
    assert!(scale > 1e-3);
    assert!(found.iter().sum::<Vec3>().norm() < 1e-13 * scale);
    assert!(torques.iter().sum::<Vec3>().norm() < 1e-12 * scale);
    let turn = Rotation3::from_euler_angles(0.5, -1.1, 2.3);
    let turned: Vec<Vec3> = positions.iter().map(|x| turn * x).collect();
    for (after, before) in forces(&mut bending, &turned, ELASTIC).iter().zip(&found) {
        assert!((after - turn * before).norm() < 1e-12 * scale);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let sheet = Sheet::strip(60, 60, Pattern::Alternating, 3);
    let (mesh, points) = (sheet.0.mesh(0.3), sheet.1);
    let positions = shaken(&points, 0.2);
    let direction = Noise::new(4).vectors(points.len(), 1.0);
    let run = || {
        let mut bending = bending(&mesh, FABRIC);
        let reference = vec![0.1; bending.hinge_count()];
        let history = StrainHistory { reference: &reference, inverse_beta: 2.0 };
        let mut forces = vec![Vec3::zeros(); points.len()];
        let potential = bending.evaluate(&positions, history, &mut forces);
        let energy = bending.energy(&positions);
        (potential.to_bits(), energy.to_bits(), forces, product(&mut bending, &direction))
    };
    let with = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
    };
    let one = with(1);
    assert!(one == with(2) && one == with(8));
}

#[test]
fn the_numbering_of_vertices_and_triangles_does_not_matter() {
    let (sheet, points) = Sheet::strip(6, 4, Pattern::Poor, 9);
    let count = points.len();
    // A fixed permutation: 7 and the number of vertices have no common divisor.
    assert_ne!(count % 7, 0);
    let new_of = |vertex: u32| (vertex * 7 + 3) % count as u32;
    let mut other = sheet.clone();
    other.triangles.reverse();
    other.corners.reverse();
    for (triangle, corners) in other.triangles.iter_mut().zip(&mut other.corners) {
        *triangle = triangle.map(new_of);
        triangle.rotate_left(1);
        corners.rotate_left(1);
    }
    let positions = shaken(&points, 0.25);
    let mut renumbered = vec![Vec3::zeros(); count];
    for (vertex, position) in positions.iter().enumerate() {
        renumbered[new_of(vertex as u32) as usize] = *position;
    }
    let found = forces(&mut bending(&sheet.mesh(0.3), FABRIC), &positions, ELASTIC);
    let again = forces(&mut bending(&other.mesh(0.3), FABRIC), &renumbered, ELASTIC);
    for (vertex, force) in found.iter().enumerate() {
        let error = (again[new_of(vertex as u32) as usize] - force).norm();
        assert!(error < 1e-6 * norm(&found), "{vertex}: {error:e}");
    }
}

#[test]
fn cloths_of_a_scene_do_not_touch_each_other() {
    let sheets = [Sheet::strip(4, 2, Pattern::Right, 0), Sheet::strip(5, 3, Pattern::Poor, 2)];
    let [mut first, mut second] = [0, 1].map(|i| sheets[i].0.mesh(0.2 * i as f64));
    for mesh in [&mut first, &mut second] {
        mesh.rest.vertex_areas = std::sync::Arc::new(vec![1.0; mesh.topology.vertex_count]);
    }
    let positions = [0, 1].map(|i| shaken(&sheets[i].1, 0.2));
    let laws = [FABRIC, PlateRigidity { d11: 3.0, ..FABRIC }]
        .map(|rigidity| BendingLaw { rigidity, damping: 0.0 });
    let alone = |mesh: &Mesh, law: BendingLaw, positions: &[Vec3]| {
        let mut bending = Bending::new(mesh, &[law], &vec![false; positions.len()]);
        forces(&mut bending, positions, ELASTIC)
    };
    let joined = Mesh::join(&[&first, &second]);
    let all = positions.concat();
    let mut bending = Bending::new(&joined, &[laws[0]; 2], &vec![false; all.len()]);
    bending.set_law(&joined, 1, laws[1]);
    let wanted = [alone(&first, laws[0], &positions[0]), alone(&second, laws[1], &positions[1])];
    assert_eq!(forces(&mut bending, &all, ELASTIC), wanted.concat());
}

#[test]
fn viscosity_takes_energy_from_every_motion_but_rigid_ones() {
    let (sheet, points) = Sheet::strip(6, 3, Pattern::Irregular, 1);
    let mut bending = bending(&sheet.mesh(0.3), FABRIC);
    let before = shaken(&points, 0.2);
    let velocity = Noise::new(23).vectors(points.len(), 1.0);
    let (step, damping) = (1e-5, 1.0);
    let after: Vec<Vec3> = before.iter().zip(&velocity).map(|(x, v)| x + v * step).collect();
    let mut reference = vec![0.0; bending.hinge_count()];
    bending.angles(&before, &mut reference);
    let history = StrainHistory { reference: &reference, inverse_beta: damping / step };
    let elastic = forces(&mut bending, &after, ELASTIC);
    let both = forces(&mut bending, &after, history);
    let viscous: Vec<Vec3> =
        both.iter().zip(&elastic).map(|(both, elastic)| both - elastic).collect();
    // Without rates the product is the elastic matrix: viscous force = −τ K v to first order.
    forces(&mut bending, &after, ELASTIC);
    let wanted = product(&mut bending, &velocity);
    let error: f64 =
        viscous.iter().zip(&wanted).map(|(found, wanted)| (found + wanted).norm()).sum();
    assert!(dot(&viscous, &velocity) < 0.0);
    assert!(error < 1e-3 * norm(&wanted), "{error} {}", norm(&wanted));
}
