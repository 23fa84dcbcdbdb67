// SPDX-License-Identifier: MIT OR Apache-2.0
//! The passes over four hinges at a time, against the factors multiplied one number after the other.

use super::samples::{FABRIC, Noise, Pattern, Sheet, bending};
use crate::{
    forces::bending::{Bending, moment_passes::MomentPasses},
    material::Material,
};
use nalgebra::{DMatrix, DVector};
use sprs::CsMatI;

/// P, and VVᵀ.
fn factors(bending: &Bending) -> [DMatrix<f64>; 2] {
    let Bending { hinges, stiffness, stabilisation, .. } = bending;
    let count = hinges.count();
    let mut correction = DMatrix::zeros(count, count);
    for hinge in 0..count {
        let row = stiffness.geometric_correction.entries_of_row(hinge, &hinges.neighbours[hinge]);
        for (column, value) in row.filter(|(_, value)| *value != 0.0) {
            correction[(hinge, column as usize)] += value;
        }
    }
    let mut shared = DMatrix::zeros(count, count);
    let own = stabilisation.as_ref().unwrap();
    for (value, (row, column)) in &own.deviation_matrix(hinges, &CsMatI::eye(count)) {
        shared[(row as usize, column as usize)] += *value;
    }
    [correction, shared]
}

/// m of the left and of the right sides for their φ.
fn moments_of_sides(bending: &Bending, sides: &[DVector<f64>; 2]) -> [DVector<f64>; 2] {
    let count = bending.hinge_count();
    let angle = |half: usize| sides[half % 2].get(half / 2).copied().unwrap_or(0.0);
    [0, 1].map(|side| {
        DVector::from_fn(count, |hinge, _| {
            let near = &bending.hinges.neighbours[hinge][2 * side..];
            let [own, next, last] = bending.stiffness.row(hinge, side);
            own * angle(2 * hinge + side)
                + next * angle(near[0] as usize)
                + last * angle(near[1] as usize)
        })
    })
}

#[test]
fn moments_and_work_are_those_of_the_factors() {
    for pattern in [Pattern::Right, Pattern::Poor] {
        let (sheet, _) = Sheet::strip(7, 3, pattern, 5);
        let mesh = sheet.mesh(0.3);
        let mut bending = bending(&mesh, FABRIC);
        bending.set_materials(&mesh, &[Material::default()]);
        bending.stabilise(&mesh, Vec::new());
        let count = bending.hinge_count();
        assert_ne!(count % 4, 0);
        let mut noise = Noise::new(3);
        let [angles, changes] = [(); 2].map(|()| DVector::from_fn(count, |_, _| noise.next()));
        let viscosity = 0.7;
        let [correction, shared] = factors(&bending);
        let stiffened = DVector::from_fn(count, |hinge, _| {
            let own = bending.stabilisation.as_ref().unwrap();
            own.stiffness_of(hinge) * (&shared * &angles)[hinge]
        });
        let mut wanted = &shared * &stiffened;
        let mut work = stiffened.dot(&(&shared * &angles));
        for (angles, factor) in [(&angles, 1.0), (&changes, viscosity)] {
            let own = DVector::from_fn(count, |hinge, _| bending.hinges.share(hinge));
            let shift = &correction * angles;
            let halved = own.component_mul(angles);
            let sides = [&halved + &shift, &halved - &shift];
            let [left, right] = moments_of_sides(&bending, &sides);
            work += factor * (left.dot(&sides[0]) + right.dot(&sides[1]));
            let moments =
                own.component_mul(&(&left + &right)) + correction.tr_mul(&(&left - &right));
            wanted += moments * factor;
        }
        let mut passes = MomentPasses::new(count);
        for (hinge, pair) in passes.angles_mut().iter_mut().enumerate() {
            *pair = [angles[hinge], changes[hinge]];
        }
        let found = bending.factors().side_moments(&mut passes, |_| [viscosity; 4]);
        assert!((found - work).abs() < 1e-12 * work, "{pattern:?} {found} {work}");
        bending.factors().hinge_moments(&mut passes, &vec![1.0; count]);
        let found = DVector::from_column_slice(&passes.loads_and_room().0[..count]);
        assert!((&found - &wanted).norm() < 1e-12 * wanted.norm(), "{pattern:?}");
    }
}
