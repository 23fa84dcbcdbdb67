// SPDX-License-Identifier: MIT OR Apache-2.0
//! The homogenised rigidity of a periodic sheet, against the plate it is made of.

use super::samples::{FABRIC, PATTERNS, Pattern, Point, Sheet, bending};
use crate::{
    forces::bending::{Bending, moment_passes::MomentPasses},
    material::PlateRigidity,
    mesh::Mesh,
};
use nalgebra::{DMatrix, Matrix3, Vector2};
use std::{f64::consts::FRAC_PI_6, sync::Arc};

/// S as a full matrix over the hinges.
fn full_stiffness(bending: &Bending) -> DMatrix<f64> {
    let count = bending.hinge_count();
    let mut full = DMatrix::zeros(count, count);
    for hinge in 0..count {
        let mut passes = MomentPasses::new(count);
        passes.angles_mut()[hinge] = [1.0, 0.0];
        bending.factors().side_moments(&mut passes, |_| [0.0; 4]);
        bending.factors().hinge_moments(&mut passes, &vec![1.0; count]);
        full.column_mut(hinge).copy_from_slice(&passes.loads_and_room().0[..count]);
    }
    full
}

/// Hinge angles in first order: for each vertex height, and for each of (κ₁₁, κ₂₂, 2κ₁₂) imposed.
fn linear_angles(sheet: &Sheet, mesh: &Mesh) -> (DMatrix<f64>, DMatrix<f64>) {
    let edges: Vec<_> = mesh.topology.edges.iter().filter(|edge| !edge.is_boundary()).collect();
    let mut by_height = DMatrix::zeros(edges.len(), sheet.vertex_count);
    let mut by_curvature = DMatrix::zeros(edges.len(), 3);
    for (hinge, edge) in edges.iter().enumerate() {
        let [left, right] = edge.triangles.map(|t| sheet.corners[t as usize]);
        let [i, j] = edge.corners.map(usize::from);
        let (from, to) = (left[(i + 1) % 3], left[(i + 2) % 3]);
        let along = Vector2::new(to[0] - from[0], to[1] - from[1]).normalize();
        let inward = Vector2::new(-along.y, along.x);
        // The right triangle, moved to where the left one is.
        let shift = [from[0] - right[(j + 2) % 3][0], from[1] - right[(j + 2) % 3][1]];
        let right = right.map(|[x, y]| [x + shift[0], y + shift[1]]);
        for (corners, triangle, sign) in
            [(left, edge.triangles[0], 1.0), (right, edge.triangles[1], -1.0)]
        {
            for (slope, (vertex, [x, y])) in shape_gradients(corners)
                .iter()
                .zip(sheet.triangles[triangle as usize].iter().zip(corners))
            {
                let rise = sign * slope.dot(&inward);
                by_height[(hinge, *vertex as usize)] += rise;
                for (k, bent) in [0.5 * x * x, 0.5 * y * y, 0.5 * x * y].iter().enumerate() {
                    by_curvature[(hinge, k)] += rise * bent;
                }
            }
        }
    }
    (by_height, by_curvature)
}

fn shape_gradients(corners: [Point; 3]) -> [Vector2<f64>; 3] {
    let doubled = 2.0 * crate::forces::bending::tests::samples::area(corners);
    [0, 1, 2].map(|i| {
        let (j, k) = (corners[(i + 1) % 3], corners[(i + 2) % 3]);
        Vector2::new(j[1] - k[1], k[0] - j[0]) / doubled
    })
}

/// Energy per area of an imposed mean curvature, the heights free to adapt: a 3×3 matrix.
fn homogenised(sheet: &Sheet, angle: f64, plate: PlateRigidity) -> Matrix3<f64> {
    let mesh = sheet.mesh(angle);
    let stiffness = full_stiffness(&bending(&mesh, plate));
    let (by_height, by_curvature) = linear_angles(sheet, &mesh);
    // The first vertex stays: heights matter but for a constant.
    let free = by_height.columns(1, sheet.vertex_count - 1);
    let softness = (free.transpose() * &stiffness * free).cholesky().expect("definite");
    let pull = free.transpose() * &stiffness * &by_curvature;
    let relaxed = by_curvature.transpose() * &stiffness * &by_curvature
        - pull.transpose() * softness.solve(&pull);
    Matrix3::from_iterator(relaxed.iter().copied()) / mesh.rest.areas.iter().sum::<f64>()
}

/// D in axes x, y of a plate whose warp is at `angle`.
fn turned(plate: PlateRigidity, angle: f64) -> Matrix3<f64> {
    let (s, c) = angle.sin_cos();
    // Curvatures (κ₁₁, κ₂₂, 2κ₁₂) along the yarns from those along x and y.
    let to_yarns = Matrix3::new(
        c * c,
        s * s,
        c * s,
        s * s,
        c * c,
        -c * s,
        -2.0 * c * s,
        2.0 * c * s,
        c * c - s * s,
    );
    to_yarns.transpose() * matrix(plate) * to_yarns
}

fn matrix(plate: PlateRigidity) -> Matrix3<f64> {
    let PlateRigidity { d11, d22, d12, d66 } = plate;
    Matrix3::new(d11, d12, 0.0, d12, d22, 0.0, 0.0, 0.0, d66)
}

fn isotropic(poisson: f64) -> PlateRigidity {
    PlateRigidity { d11: 1.0, d22: 1.0, d12: poisson, d66: 0.5 * (1.0 - poisson) }
}

#[test]
fn the_moduli_are_those_of_the_plate_on_every_triangulation() {
    let strong = PlateRigidity { d11: 1.0, d22: 0.1, d12: 0.02, d66: 0.05 };
    let cases = [
        (isotropic(0.0), 0.0),
        (isotropic(0.3), 0.0),
        (FABRIC, 0.0),
        (FABRIC, FRAC_PI_6),
        (strong, FRAC_PI_6),
    ];
    for pattern in PATTERNS {
        for seed in 0..3 {
            let sheet = Sheet::periodic(6, pattern, seed);
            for (plate, angle) in cases {
                let error = (homogenised(&sheet, angle, plate) - turned(plate, angle)).amax();
                assert!(error < 1e-9, "{pattern:?} {seed} {plate:?} {angle}: {error:e}");
            }
        }
    }
}

/// S of Morley's element itself, its edge rotations ψ wherever the energy is least.
fn least_stiffness(bending: &Bending) -> DMatrix<f64> {
    let count = bending.hinge_count();
    let mut by_halves = DMatrix::zeros(2 * count, 2 * count);
    for hinge in 0..count {
        for side in 0..2 {
            let half = 2 * hinge + side;
            let row = bending.stiffness.row(hinge, side);
            let near = &bending.hinges.neighbours[hinge][2 * side..];
            by_halves[(half, half)] += row[0];
            for (place, value) in row[1..].iter().enumerate() {
                if (near[place] as usize) < 2 * count {
                    by_halves[(half, near[place] as usize)] += value;
                }
            }
        }
    }
    let half_to = |left: f64, right: f64| {
        DMatrix::from_fn(2 * count, count, |half, hinge| {
            if half / 2 != hinge {
                0.0
            } else if half % 2 == 0 {
                left
            } else {
                right
            }
        })
    };
    let (mean, shift) = (half_to(0.5, 0.5), half_to(1.0, -1.0));
    let coupling = shift.transpose() * &by_halves * &mean;
    let inner = (shift.transpose() * &by_halves * &shift).cholesky().expect("definite");
    mean.transpose() * &by_halves * &mean - coupling.transpose() * inner.solve(&coupling)
}

/// Smallest and largest energy relative to Morley's over all shapes of the sheet.
fn energy_ratios(sheet: &Sheet, angle: f64, plate: PlateRigidity) -> (f64, f64) {
    let mesh = sheet.mesh(angle);
    let bending = bending(&mesh, plate);
    let (by_height, _) = linear_angles(sheet, &mesh);
    let free = by_height.columns(1, sheet.vertex_count - 1);
    let least = free.transpose() * least_stiffness(&bending) * free;
    let factor = least.cholesky().expect("definite").l();
    let own = free.transpose() * full_stiffness(&bending) * free;
    let half = factor.solve_lower_triangular(&own).expect("regular");
    let ratios = factor.solve_lower_triangular(&half.transpose()).expect("regular");
    let values = ratios.symmetric_eigenvalues();
    (values.min(), values.max())
}

#[test]
fn no_shape_is_softer_than_morley_and_rough_ones_are_little_stiffer() {
    // Largest ratio for an isotropic and an orthotropic plate.
    let bounds = [
        (Pattern::Equilateral, 1.05, 1.2),
        (Pattern::Right, 1.13, 1.3),
        (Pattern::Alternating, 1.13, 1.6),
        (Pattern::Irregular, 1.5, 2.0),
    ];
    for (pattern, isotropic_bound, fabric_bound) in bounds {
        let sheet = Sheet::periodic(8, pattern, 0);
        for (plate, bound) in [(isotropic(0.0), isotropic_bound), (FABRIC, fabric_bound)] {
            let (least, most) = energy_ratios(&sheet, FRAC_PI_6, plate);
            assert!(least > 1.0 - 1e-9 && most < bound, "{pattern:?} {plate:?}: {least} {most}");
        }
    }
}

#[test]
fn constant_curvature_has_the_energy_of_the_plate_and_no_forces() {
    for pattern in PATTERNS {
        let sheet = Sheet::periodic(6, pattern, 5);
        let mesh = sheet.mesh(FRAC_PI_6);
        let stiffness = full_stiffness(&bending(&mesh, FABRIC));
        let (by_height, by_curvature) = linear_angles(&sheet, &mesh);
        let moments = &stiffness * &by_curvature;
        let forces = by_height.transpose() * &moments;
        assert!(forces.amax() < 1e-6 * moments.amax(), "{pattern:?}: {}", forces.amax());
        let energy = by_curvature.transpose() * moments;
        let wanted = turned(FABRIC, FRAC_PI_6) * mesh.rest.areas.iter().sum::<f64>();
        let error = (Matrix3::from_iterator(energy.iter().copied()) - wanted).amax();
        assert!(error < 1e-9 * wanted.amax(), "{pattern:?}: {error:e}");
    }
}

#[test]
fn the_frame_of_each_triangle_is_its_own_affair() {
    let sheet = Sheet::periodic(6, Pattern::Irregular, 2);
    let common = sheet.mesh(0.0);
    let mut turned_each = common.clone();
    for (triangle, gradients) in
        Arc::make_mut(&mut turned_each.rest.gradients).iter_mut().enumerate()
    {
        let (sine, cosine) = (triangle as f64).sin_cos();
        *gradients = gradients.map(|[x, y]| [cosine * x - sine * y, sine * x + cosine * y]);
    }
    let wanted = full_stiffness(&bending(&common, isotropic(0.3)));
    let found = full_stiffness(&bending(&turned_each, isotropic(0.3)));
    assert!((found - &wanted).amax() < 1e-6 * wanted.amax());
}
