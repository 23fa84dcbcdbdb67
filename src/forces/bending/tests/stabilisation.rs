// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stabilisation: what it leaves alone, what it stiffens, and derivatives.

use super::samples::{
    ELASTIC, FABRIC, Noise, PATTERNS, Pattern, Point, Sheet, bending, dot, flat, forces, norm,
    product,
};
use crate::{
    forces::{
        bending::{Bending, scalar_stiffness},
        elements::ScalarStiffness,
        strain_history::StrainHistory,
    },
    material::Material,
    mesh::Mesh,
    vec3::Vec3,
};
use std::f64::consts::PI;

/// Cotton too limp for triangles of 1 m: k is 2·10⁻³ of the membrane modulus times h².
fn stabilised(mesh: &Mesh) -> Bending {
    let mut bending = bending(mesh, FABRIC);
    bending.set_materials(mesh, &[Material::default()]);
    bending.stabilise(mesh, Vec::new());
    bending
}

/// Energy of the stabilisation alone, in J.
fn added_energy(mesh: &Mesh, positions: &[Vec3]) -> f64 {
    stabilised(mesh).energy(positions) - bending(mesh, FABRIC).energy(positions)
}

fn lifted(points: &[Point], height: impl Fn(f64, f64) -> f64) -> Vec<Vec3> {
    points.iter().map(|[x, y]| Vec3::new(*x, *y, height(*x, *y))).collect()
}

#[test]
fn constant_curvature_is_left_alone_on_every_triangulation() {
    for pattern in PATTERNS {
        let (sheet, points) = Sheet::strip(10, 6, pattern, 3);
        let mesh = sheet.mesh(0.3);
        let rough = Noise::new(4).vectors(points.len(), 1.0e-5);
        let bent = lifted(&points, |x, y| 1.0e-5 * (x * x - 0.7 * y * y + 0.4 * x * y));
        let noisy: Vec<Vec3> = flat(&points).iter().zip(&rough).map(|(x, r)| x + r).collect();
        let (of_bent, of_noise) = (added_energy(&mesh, &bent), added_energy(&mesh, &noisy));
        assert!(of_noise > 0.0 && of_bent.abs() < 1e-6 * of_noise, "{pattern:?} {of_bent:e}");
    }
}

/// Energy of a wave along x of so many edges over that of a plate with k, on squares.
fn relative_stiffness(pattern: Pattern, edges: f64) -> f64 {
    let (sheet, points) = Sheet::strip(48, 24, pattern, 1);
    let mesh = sheet.mesh(0.0);
    let amplitude = 1.0e-5;
    let wave = lifted(&points, |x, _| amplitude * (2.0 * PI * x / edges + 0.4).cos());
    let material = Material::default();
    let modulus = (material.stretch_warp * material.stretch_weft).sqrt();
    let rigidity = 2.0e-3 * modulus - (material.bend_warp * material.bend_weft).sqrt();
    // Of each second difference on squares of 1 m.
    let curved = points
        .iter()
        .zip(&wave)
        .filter(|([x, y], _)| x.abs() < 47.5 && *x > -0.5 && *y > 0.5 && *y < 23.5);
    let second = 2.0 - 2.0 * (2.0 * PI / edges).cos();
    let plate: f64 = curved.map(|(_, w)| 0.5 * rigidity * (second * w.z).powi(2)).sum();
    // The lines of vertices along both long edges carry half.
    let lines = 24.0 / 23.0;
    added_energy(&mesh, &wave) / (plate * lines)
}

#[test]
fn only_waves_of_few_edges_are_stiffened() {
    for edges in [2.0, 3.0, 4.0, 8.0, 16.0] {
        let wanted = ((1.0 - (2.0 * PI / edges).cos()) / 4.0_f64).powi(2);
        let found = relative_stiffness(Pattern::Alternating, edges);
        assert!((found - wanted).abs() < 0.25 * wanted + 1e-3, "{edges} edges: {found} {wanted}");
    }
    // Where all squares are cut alike twist and curvature mix in the angles.
    let [short, long] = [2.0, 16.0].map(|edges| relative_stiffness(Pattern::Right, edges));
    assert!((0.1..1.0).contains(&short) && long < 0.01, "{short} {long}");
}

#[test]
fn forces_and_product_are_derivatives_of_the_energy() {
    let (sheet, points) = Sheet::strip(5, 3, Pattern::Poor, 2);
    let mut bending = stabilised(&sheet.mesh(0.4));
    let mut noise = Noise::new(3);
    let shaken: Vec<Vec3> = flat(&points)
        .iter()
        .zip(noise.vectors(points.len(), 0.3))
        .map(|(x, shift)| x + shift)
        .collect();
    let moved = |from: &[Vec3], direction: &[Vec3], step: f64| -> Vec<Vec3> {
        from.iter().zip(direction).map(|(x, d)| x + d * step).collect()
    };
    for _ in 0..4 {
        let direction = noise.vectors(points.len(), 1.0);
        let found = forces(&mut bending, &shaken, ELASTIC);
        let step = 1e-5;
        let [ahead, behind] =
            [step, -step].map(|step| bending.energy(&moved(&shaken, &direction, step)));
        let slope = (behind - ahead) / (2.0 * step);
        let scale = norm(&found) * norm(&direction);
        assert!((dot(&found, &direction) - slope).abs() < 1e-7 * scale, "{slope}");

        let rest = flat(&points);
        let [ahead, behind] = [1e-6, -1e-6]
            .map(|step| forces(&mut bending, &moved(&rest, &direction, step), ELASTIC));
        forces(&mut bending, &rest, ELASTIC);
        let found = product(&mut bending, &direction);
        let difference = moved(&moved(&behind, &ahead, -1.0), &found, -2e-6);
        assert!(norm(&difference) < 1e-6 * 2e-6 * norm(&found));
    }
}

#[test]
fn rigid_motions_and_curved_rest_shapes_cost_nothing() {
    let (sheet, points) = Sheet::strip(6, 3, Pattern::Poor, 1);
    let mesh = sheet.mesh(0.3);
    let turn = nalgebra::Rotation3::from_euler_angles(0.5, -1.1, 2.3);
    let moved: Vec<Vec3> =
        flat(&points).iter().map(|x| turn * x + Vec3::new(50.0, 1.0, 7.0)).collect();
    let mut bending = stabilised(&mesh);
    assert!(bending.energy(&moved) < 1e-20);
    assert!(norm(&forces(&mut bending, &moved, ELASTIC)) < 1e-9);
}

#[test]
fn a_fabric_that_is_stiff_for_its_mesh_is_left_alone() {
    let (sheet, points) = Sheet::strip(6, 3, Pattern::Alternating, 1);
    let mesh = sheet.mesh(0.0);
    let stiff = Material { bend_warp: 10.0, bend_weft: 10.0, ..Material::default() };
    let mut bending = bending(&mesh, FABRIC);
    let zigzag = lifted(&points, |x, _| 0.1 * (PI * x).cos());
    let before = bending.energy(&zigzag);
    bending.set_materials(&mesh, &[stiff]);
    bending.stabilise(&mesh, Vec::new());
    assert!((bending.energy(&zigzag) - before).abs() < 1e-15 * before);
    bending.set_material(&mesh, 0, &Material::default());
    assert!(stabilised(&mesh).energy(&zigzag) > before);
}

/// Out of the plane of a flat shape at rest the scalar stiffness is the whole derivative of the forces: with clamped
/// triangles, stabilisation and viscosity too.
#[test]
fn the_scalar_stiffness_is_the_tangent_of_the_flat_shape() {
    for pattern in PATTERNS {
        let (sheet, points) = Sheet::strip(9, 7, pattern, 2);
        let mesh = sheet.mesh(0.4);
        let clamped: Vec<bool> = points.iter().map(|[x, y]| *x < 1.5 && *y < 3.5).collect();
        let mut held = stabilised(&mesh);
        assert!(held.set_pinned(&mesh, &clamped));
        for mut bending in [stabilised(&mesh), bending(&mesh, FABRIC), held] {
            for inverse_beta in [0.0, 0.5] {
                let error = error_of_scalar_stiffness(&mesh, &mut bending, &points, inverse_beta);
                assert!(error < 1e-5, "{pattern:?} {inverse_beta} {error}");
            }
        }
    }
}

/// Relative error of the product of the scalar stiffness with noise across a flat sheet at rest.
fn error_of_scalar_stiffness(
    mesh: &Mesh,
    bending: &mut Bending,
    points: &[Point],
    inverse_beta: f64,
) -> f64 {
    let reference = vec![0.0; bending.hinge_count()];
    forces(bending, &flat(points), StrainHistory { reference: &reference, inverse_beta });
    let mut noise = Noise::new(5);
    let heights: Vec<Vec3> = points.iter().map(|_| Vec3::z() * noise.next()).collect();
    let exact = product(bending, &heights);
    let ScalarStiffness { entries, .. } = scalar_stiffness(bending, mesh);
    let mut error: Vec<Vec3> = exact.iter().map(|force| -force).collect();
    for (value, (row, column)) in &entries {
        let [elastic, viscous] = [value.x, value.y].map(f64::from);
        error[row as usize] += heights[column as usize] * (elastic + viscous * inverse_beta);
    }
    norm(&error) / norm(&exact)
}
