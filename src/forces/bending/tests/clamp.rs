// SPDX-License-Identifier: MIT OR Apache-2.0
//! A strip clamped by holding two columns of vertices, under its weight.

use super::samples::{
    ELASTIC, FABRIC, PATTERNS, Pattern, Point, Sheet, area, flat, forces, product,
};
use crate::{
    forces::bending::{Bending, BendingLaw},
    material::PlateRigidity,
    vec3::Vec3,
};
use nalgebra::{DMatrix, DVector};

/// Rigidity 1 without lateral contraction: a strip of it is a beam of rigidity 1.
const BEAM: BendingLaw =
    BendingLaw { rigidity: PlateRigidity { d11: 1.0, d22: 1.0, d12: 0.0, d66: 0.5 }, damping: 0.0 };

/// Drop of the free end over that of a beam, qL⁴/8B, for small loads.
fn relative_drop(length: usize, width: usize, pattern: Pattern) -> f64 {
    let (sheet, points) = Sheet::strip(length, width, pattern, 1);
    let held: Vec<bool> = points.iter().map(|[x, _]| *x < 1e-9).collect();
    let mut bending = Bending::new(&sheet.mesh(0.0), &[BEAM], &held);
    forces(&mut bending, &flat(&points), ELASTIC);
    let free: Vec<usize> = (0..points.len()).filter(|vertex| !held[*vertex]).collect();
    let mut stiffness = DMatrix::zeros(free.len(), free.len());
    for (column, vertex) in free.iter().enumerate() {
        let mut direction = vec![Vec3::zeros(); points.len()];
        direction[*vertex] = Vec3::z();
        let response = product(&mut bending, &direction);
        for (row, vertex) in free.iter().enumerate() {
            stiffness[(row, column)] = response[*vertex].z;
        }
    }
    let areas = vertex_areas(&sheet);
    let load = DVector::from_iterator(free.len(), free.iter().map(|vertex| areas[*vertex]));
    let drops = stiffness.cholesky().expect("clamped").solve(&load);
    let at_end = |point: &Point| point[0] > length as f64 - 1e-9;
    let end: Vec<f64> = free
        .iter()
        .zip(drops.iter())
        .filter(|(vertex, _)| at_end(&points[**vertex]))
        .map(|(_, drop)| *drop)
        .collect();
    end.iter().sum::<f64>() / end.len() as f64 * 8.0 / (length as f64).powi(4)
}

fn vertex_areas(sheet: &Sheet) -> Vec<f64> {
    let mut areas = vec![0.0; sheet.vertex_count];
    for (vertices, corners) in sheet.triangles.iter().zip(&sheet.corners) {
        for vertex in vertices {
            areas[*vertex as usize] += area(*corners) / 3.0;
        }
    }
    areas
}

#[test]
fn a_clamped_strip_sags_like_a_beam_on_every_triangulation() {
    for pattern in PATTERNS {
        for width in [1, 4] {
            let errors = [10, 20].map(|length| relative_drop(length, width, pattern) - 1.0);
            assert!(
                errors[0].abs() < 0.03 && errors[1].abs() < 0.01,
                "{pattern:?}, {width} cells wide: {errors:?}"
            );
        }
    }
}

#[test]
fn a_sheet_held_along_one_line_swings_freely_about_it() {
    for pattern in PATTERNS {
        let (sheet, points) = Sheet::strip(6, 3, pattern, 4);
        let held: Vec<bool> = points.iter().map(|[x, _]| *x < -0.5).collect();
        let law = BendingLaw { rigidity: FABRIC, damping: 1.0 };
        let mut bending = Bending::new(&sheet.mesh(0.0), &[law], &held);
        let swung: Vec<Vec3> = points
            .iter()
            .map(|[x, y]| Vec3::new((x + 1.0) * 0.6 - 1.0, *y, (x + 1.0) * 0.8))
            .collect();
        let found = forces(&mut bending, &swung, ELASTIC);
        assert!(found.iter().all(|force| force.norm() < 1e-12), "{pattern:?}");
    }
}

#[test]
fn holding_and_releasing_leaves_no_trace() {
    let (sheet, points) = Sheet::strip(6, 3, Pattern::Poor, 4);
    let mesh = sheet.mesh(0.2);
    let law = BendingLaw { rigidity: FABRIC, damping: 1.0 };
    let held: Vec<bool> = points.iter().map(|[x, _]| *x < 0.5).collect();
    let nothing = vec![false; points.len()];
    let bent: Vec<Vec3> =
        points.iter().map(|[x, y]| Vec3::new(*x, *y, 0.1 * x * (x + y))).collect();
    let mut free = Bending::new(&mesh, &[law], &nothing);
    let mut clamped = Bending::new(&mesh, &[law], &held);
    let before = forces(&mut free, &bent, ELASTIC);
    assert_ne!(before, forces(&mut clamped, &bent, ELASTIC));
    free.set_pinned(&mesh, &held);
    assert_eq!(forces(&mut free, &bent, ELASTIC), forces(&mut clamped, &bent, ELASTIC));
    free.set_pinned(&mesh, &nothing);
    assert_eq!(forces(&mut free, &bent, ELASTIC), before);
}

#[test]
fn a_cloth_held_everywhere_carries_nothing() {
    let (sheet, points) = Sheet::strip(4, 2, Pattern::Right, 0);
    let mut bending = Bending::new(&sheet.mesh(0.0), &[BEAM], &vec![true; points.len()]);
    let bent: Vec<Vec3> = points.iter().map(|[x, y]| Vec3::new(*x, *y, x * x)).collect();
    assert!(forces(&mut bending, &bent, ELASTIC).iter().all(|force| *force == Vec3::zeros()));
    assert!(bending.energy(&bent) < f64::MIN_POSITIVE);
}
