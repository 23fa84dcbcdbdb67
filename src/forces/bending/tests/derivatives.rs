// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forces against differences of the energy, the product against differences of the forces.

use super::samples::{
    ELASTIC, FABRIC, Noise, Pattern, Point, Sheet, bending, dot, flat, forces, norm, product,
};
use crate::{
    forces::{
        bending::{Bending, angle::extrapolate_angle, moment_passes::MomentPasses},
        strain_history::StrainHistory,
    },
    mesh::{Mesh, Polygons},
    vec3::Vec3,
};

/// Named shapes of a strip that starts at x = −1.
fn shapes(points: &[Point]) -> Vec<(&'static str, Vec<Vec3>)> {
    let mut noise = Noise::new(11);
    let map = |shape: &mut dyn FnMut(f64, f64) -> Vec3| -> Vec<Vec3> {
        points.iter().map(|[x, y]| shape(*x, *y)).collect()
    };
    let shaken = noise.vectors(points.len(), 0.3);
    let (sine, cosine) = 170.0_f64.to_radians().sin_cos();
    vec![
        ("flat", flat(points)),
        ("rolled", map(&mut |x, y| Vec3::new(2.0 * (x / 2.0).sin(), y, 2.0 * (x / 2.0).cos()))),
        (
            "folded",
            map(&mut |x, y| {
                let beyond = (x - 2.0).max(0.0);
                Vec3::new(x.min(2.0) + cosine * beyond, y + 0.01 * x, sine * beyond)
            }),
        ),
        (
            "twisted",
            map(&mut |x, y| Vec3::new(x, y * (0.7 * x).cos(), y * (0.7 * x).sin() + 0.1 * x * x)),
        ),
        ("shaken", flat(points).iter().zip(&shaken).map(|(x, shift)| x + shift).collect()),
    ]
}

/// The same strip with a rest shape that is no developable surface.
fn curved(sheet: &Sheet, points: &[Point]) -> (Mesh, Vec<Vec3>) {
    let rest: Vec<Vec3> =
        points.iter().map(|[x, y]| Vec3::new(*x, *y, 0.2 * x * x - 0.15 * y * y)).collect();
    let corners: Vec<usize> = sheet.triangles.iter().flatten().map(|v| *v as usize).collect();
    let faces = Polygons::new(&vec![3; sheet.triangles.len()], &corners, points.len()).unwrap();
    (Mesh::new(&faces, &rest, None).unwrap(), rest)
}

/// Past angles near those of `positions`.
fn past(bending: &Bending, positions: &[Vec3]) -> Vec<f64> {
    let mut noise = Noise::new(5);
    let mut angles = vec![0.0; bending.hinge_count()];
    bending.angles(positions, &mut angles);
    angles.iter().map(|angle| angle + 0.1 * noise.next()).collect()
}

fn moved(positions: &[Vec3], direction: &[Vec3], step: f64) -> Vec<Vec3> {
    positions.iter().zip(direction).map(|(x, d)| x + d * step).collect()
}

fn check_forces(
    bending: &mut Bending,
    positions: &[Vec3],
    history: StrainHistory<'_, f64>,
    name: &str,
) {
    let found = forces(bending, positions, history);
    let mut noise = Noise::new(3);
    let step = 1e-5;
    for _ in 0..6 {
        let direction = noise.vectors(positions.len(), 1.0);
        let [ahead, behind] = [step, -step].map(|step| {
            let mut unused = vec![Vec3::zeros(); positions.len()];
            bending.evaluate(&moved(positions, &direction, step), history, &mut unused)
        });
        let difference = (behind - ahead) / (2.0 * step);
        let error = (dot(&found, &direction) - difference).abs();
        let scale = norm(&found) * norm(&direction);
        assert!(error <= 1e-7 * (scale + 1.0), "{name}: {difference} {error:e}");
    }
}

#[test]
fn forces_are_the_gradient_of_the_potential() {
    for pattern in [Pattern::Right, Pattern::Poor] {
        let (sheet, points) = Sheet::strip(5, 2, pattern, 2);
        let (curved_mesh, _) = curved(&sheet, &points);
        for (rest, mesh) in [("flat", sheet.mesh(0.4)), ("curved", curved_mesh)] {
            let mut bending = bending(&mesh, FABRIC);
            for (name, positions) in shapes(&points) {
                let past = past(&bending, &positions);
                let viscous = StrainHistory { reference: &past, inverse_beta: 3.0 };
                let name = format!("{pattern:?}, {rest} rest, {name}");
                check_forces(&mut bending, &positions, ELASTIC, &name);
                check_forces(&mut bending, &positions, viscous, &format!("{name}, viscous"));
            }
        }
    }
}

#[test]
fn forces_vanish_at_the_rest_shape_and_the_product_is_their_derivative_there() {
    let (sheet, points) = Sheet::strip(5, 2, Pattern::Poor, 2);
    let (curved_mesh, curved_rest) = curved(&sheet, &points);
    for (mesh, rest) in [(sheet.mesh(0.4), flat(&points)), (curved_mesh, curved_rest)] {
        let mut bending = bending(&mesh, FABRIC);
        let mut angles = vec![0.0; bending.hinge_count()];
        bending.angles(&rest, &mut angles);
        let viscous = StrainHistory { reference: &angles, inverse_beta: 2.0 };
        for history in [ELASTIC, viscous] {
            let direction = Noise::new(9).vectors(points.len(), 1.0);
            let step = 1e-6;
            let ahead = forces(&mut bending, &moved(&rest, &direction, step), history);
            let behind = forces(&mut bending, &moved(&rest, &direction, -step), history);
            assert!(norm(&forces(&mut bending, &rest, history)) < 1e-12);
            let found = product(&mut bending, &direction);
            let difference = moved(&behind, &ahead, -1.0);
            let error = moved(&found, &difference, -0.5 / step);
            assert!(norm(&error) < 1e-6 * norm(&found), "{} {}", norm(&error), norm(&found));
        }
    }
}

#[test]
fn the_product_is_symmetric_and_positive_in_every_state() {
    let (sheet, points) = Sheet::strip(5, 2, Pattern::Poor, 2);
    let mut bending = bending(&sheet.mesh(0.4), FABRIC);
    let mut noise = Noise::new(21);
    for (name, positions) in shapes(&points) {
        let past = past(&bending, &positions);
        forces(&mut bending, &positions, StrainHistory { reference: &past, inverse_beta: 0.5 });
        for _ in 0..20 {
            let [p, q] = [(); 2].map(|()| noise.vectors(points.len(), 1.0));
            let (on_p, on_q) = (product(&mut bending, &p), product(&mut bending, &q));
            let scale = norm(&on_p) * norm(&q);
            assert!((dot(&on_p, &q) - dot(&on_q, &p)).abs() < 1e-12 * scale, "{name}");
            assert!(dot(&on_p, &p) >= 0.0, "{name}");
        }
    }
}

#[test]
fn gradients_of_hinges_are_those_of_their_angles() {
    let (sheet, points) = Sheet::strip(3, 2, Pattern::Poor, 6);
    let mut bending = bending(&sheet.mesh(0.0), FABRIC);
    for (name, positions) in shapes(&points) {
        forces(&mut bending, &positions, ELASTIC);
        let direction = Noise::new(8).vectors(points.len(), 1.0);
        let [ahead, behind] = [1e-6, -1e-6].map(|step| {
            let mut angles = vec![0.0; bending.hinge_count()];
            bending.angles(&moved(&positions, &direction, step), &mut angles);
            angles
        });
        for hinge in 0..bending.hinge_count() {
            let gradients = bending.gradients(hinge);
            let rate: f64 = bending
                .hinge_vertices(hinge)
                .iter()
                .zip(&gradients)
                .map(|(vertex, gradient)| gradient.dot(&direction[*vertex as usize]))
                .sum();
            let difference = (ahead[hinge] - behind[hinge]) / 2e-6;
            assert!((rate - difference).abs() < 1e-6 * rate.abs().max(1.0), "{name} {hinge}");
        }
    }
}

/// Two triangles folded by an angle about the y axis.
fn folded(angle: f64) -> Vec<Vec3> {
    let (sine, cosine) = angle.sin_cos();
    vec![
        Vec3::new(0.0, 1.0, 0.0),
        Vec3::zeros(),
        Vec3::new(1.0, 0.5, 0.0),
        Vec3::new(-cosine, 0.5, sine),
    ]
}

fn book() -> Mesh {
    let faces = Polygons::new(&[3, 3], &[1, 2, 0, 1, 0, 3], 4).unwrap();
    Mesh::new(&faces, &folded(0.0), None).unwrap()
}

#[test]
fn a_fold_that_passes_through_pi_has_the_short_rate() {
    let mut bending = bending(&book(), FABRIC);
    let mut viscous = |angle: f64, reference: f64| {
        let history = StrainHistory { reference: &[reference], inverse_beta: 1.0 };
        let mut unused = vec![Vec3::zeros(); 4];
        let total = bending.evaluate(&folded(angle), history, &mut unused);
        total - bending.energy(&folded(angle))
    };
    let wanted = viscous(0.03, 0.01);
    assert!(wanted > 0.0);
    let before = std::f64::consts::PI - 0.01;
    for (angle, reference) in [(before + 0.02, before), (-before, before + 0.04), (before, -before)]
    {
        let found = viscous(angle, reference);
        assert!((found - wanted).abs() < 1e-9 * wanted, "{angle} {reference}: {found} {wanted}");
    }
    // From π − 0.01 over π + 0.01 to π + 0.02.
    let extrapolated = extrapolate_angle(-before, before, 0.5);
    assert!((viscous(0.03 - before, extrapolated) - wanted).abs() < 1e-9 * wanted);
}

#[test]
fn of_one_hinge_the_product_is_weight_times_gradients() {
    let mut bending = bending(&book(), FABRIC);
    let positions = folded(2.0);
    let inverse_beta = 0.25;
    forces(&mut bending, &positions, StrainHistory { reference: &[1.0], inverse_beta });
    let direction = Noise::new(2).vectors(4, 1.0);
    let found = product(&mut bending, &direction);
    let gradients = bending.gradients(0);
    let vertices = bending.hinge_vertices(0);
    let rate: f64 =
        vertices.iter().zip(&gradients).map(|(v, g)| g.dot(&direction[*v as usize])).sum();
    let moment = moment_of_unit_angle(&bending) * (1.0 + bending.dampings.of(0) * inverse_beta);
    for (vertex, gradient) in vertices.iter().zip(&gradients) {
        let wanted = gradient * (rate * moment);
        assert!((found[*vertex as usize] - wanted).norm() < 1e-12 * wanted.norm());
    }
}

/// Elastic moment of the first hinge when it alone folds by 1, in N·m.
fn moment_of_unit_angle(bending: &Bending) -> f64 {
    let mut passes = MomentPasses::new(bending.hinge_count());
    passes.angles_mut()[0] = [1.0, 0.0];
    bending.factors().side_moments(&mut passes, |_| [0.0; 4]);
    bending.factors().hinge_moments(&mut passes, &[1.0]);
    passes.loads_and_room().0[0]
}
