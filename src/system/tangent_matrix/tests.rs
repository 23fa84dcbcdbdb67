// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::{
    material::Material,
    mesh::Polygons,
    scene::{Cloth, Report, Settings},
    simd::Row3,
    time_integration::State,
};

/// Vertices along a side of the sheet.
const SIDE: usize = 7;

/// A wavy sheet that was flat at rest, and a displacement of its vertices in long waves.
fn sheet() -> (EquationsOfMotion, Vec<Vec3>, Vec<Vec3>) {
    let place = |index: usize| [index % SIDE, index / SIDE].map(|k| 0.02 * k as f64);
    let flat: Vec<Vec3> =
        (0..SIDE * SIDE).map(|index| Vec3::new(place(index)[0], place(index)[1], 0.0)).collect();
    let first = (0..SIDE * SIDE).filter(|v| v % SIDE + 1 < SIDE && v / SIDE + 1 < SIDE);
    let corners: Vec<usize> =
        first.flat_map(|v| [v, v + 1, v + SIDE + 1, v, v + SIDE + 1, v + SIDE]).collect();
    let counts = vec![3; corners.len() / 3];
    let polygons = Polygons::new(&counts, &corners, flat.len()).unwrap();
    let cotton = Material::preset("cotton").unwrap();
    let cloth = Cloth::new(flat.clone(), &polygons, cotton, None, None).unwrap();
    let dynamics = EquationsOfMotion::new(&[cloth], &Settings::default());
    let wave = |x: &Vec3| Vec3::z() * (30.0 * x.x + 12.0 * x.y).sin();
    let bent = flat.iter().map(|x| x + wave(x) * 2.0e-4).collect();
    let direction = flat.iter().map(|x| Vec3::z() * (25.0 * x.y - 9.0 * x.x).cos()).collect();
    (dynamics, bent, direction)
}

fn residuals(dynamics: &mut EquationsOfMotion, stage: &Stage, at: &[Vec3]) -> Vec<Vec3> {
    let mut residuals = vec![Vec3::zeros(); at.len()];
    dynamics.evaluate(stage, at, &mut residuals, &mut Report::default());
    residuals
}

/// Derivative of the residuals along a direction, by differences, with its sign turned round.
fn derivative(
    dynamics: &mut EquationsOfMotion,
    stage: &Stage,
    at: &[Vec3],
    direction: &[Vec3],
) -> Vec<Vec3> {
    let step = 1.0e-7;
    let moved = |factor: f64| -> Vec<Vec3> {
        at.iter().zip(direction).map(|(x, d)| x + d * factor).collect()
    };
    let [ahead, behind] = [step, -step].map(|factor| residuals(dynamics, stage, &moved(factor)));
    ahead.iter().zip(&behind).map(|(a, b)| (b - a) / (2.0 * step)).collect()
}

/// Product of the tangent and a direction, relative to what it should be.
fn relative_error(tangent: &TangentMatrix, direction: &[Vec3], expected: &[Vec3]) -> f64 {
    let mut rows = vec![[0.0; 4]; direction.len()];
    tangent.ordering.gather(direction, &mut rows);
    let mut image: Vec<Row3> = rows.clone();
    tangent.matrix.times_and_dot(&rows, &mut image);
    let mut found = vec![Vec3::zeros(); direction.len()];
    tangent.ordering.scatter_with(&image, &mut found, |_, force| force);
    let error: f64 = found.iter().zip(expected).map(|(a, b)| (a - b).norm_squared()).sum();
    (error / expected.iter().map(Vec3::norm_squared).sum::<f64>()).sqrt()
}

/// Small entries of the scalar part are left out (with all of them the error is 0.002), and moments times the second
/// derivative of angles: slopes are of the order of 0.006.
#[test]
fn both_parts_of_the_tangent_together_are_the_derivative_of_the_forces() {
    let (mut dynamics, bent, direction) = sheet();
    let state = State::at_rest(bent.clone());
    let measures = dynamics.elements.measure(&bent);
    let stage = Stage::implicit_euler(&state, measures, 0.02, [Vec::new(), Vec::new()]);
    let expected = derivative(&mut dynamics, &stage, &bent, &direction);
    residuals(&mut dynamics, &stage, &bent);
    let mut tangent = TangentMatrix::new(&dynamics);
    tangent.assemble(&mut dynamics, &stage);
    let error = relative_error(&tangent, &direction, &expected);
    assert!(error < 0.06, "{error}");
    // Long waves tell whether what has no block is there: the membrane hardly resists them.
    tangent.clear_scalars();
    let without = relative_error(&tangent, &direction, &expected);
    assert!(without > 0.3, "{without}");
}

/// A part that has been removed or replaced comes back, and the next assembly follows the stage.
#[test]
fn the_scalar_part_is_that_of_the_last_assembly() {
    let (mut dynamics, bent, direction) = sheet();
    let state = State::at_rest(bent.clone());
    let mut tangent = TangentMatrix::new(&dynamics);
    for duration in [0.02, 0.001, 0.02] {
        let measures = dynamics.elements.measure(&bent);
        let stage = Stage::implicit_euler(&state, measures, duration, [Vec::new(), Vec::new()]);
        let expected = derivative(&mut dynamics, &stage, &bent, &direction);
        residuals(&mut dynamics, &stage, &bent);
        tangent.assemble(&mut dynamics, &stage);
        let error = relative_error(&tangent, &direction, &expected);
        assert!(error < 0.06, "{duration} {error}");
        tangent.clear_scalars();
    }
}
