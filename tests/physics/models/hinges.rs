// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bending elements of Volino and of Bridson (Huber 2018, eq. 2.95 and 2.96) against the formulas of their papers, on sheets that
//! are flat and folded at rest.

use super::forces::{dot, fabric, moved, norm};
use crate::fixtures::noise::Noise;
use nalgebra::Rotation3;
use weft::{
    Material, Vec3,
    forces::{Elements, ModelInput, StrainHistory, fem_bridson, fem_volino},
    mesh::{Mesh, Polygons},
};

type Model = fn(&ModelInput<'_>) -> Vec<Box<dyn Elements>>;

const MODELS: [Model; 2] = [fem_volino, fem_bridson];
const RIGIDITY: f64 = 0.02;

/// Ends 0, 1 of an edge with the corners 2 left and 3 right of it, folded by an angle in rad; the foot of 3 is outside the edge.
fn fold(angle: f64) -> [Vec3; 4] {
    let (sine, cosine) = angle.sin_cos();
    [
        Vec3::zeros(),
        Vec3::new(0.5, 0.0, 0.0),
        Vec3::new(0.2, 0.3, 0.0),
        Vec3::new(0.6, -0.4 * cosine, 0.4 * sine),
    ]
}

/// Bending of a fold.
fn bending(model: Model, rest: &[Vec3; 4]) -> Box<dyn Elements> {
    let material =
        Material { bend_warp: RIGIDITY, bend_weft: RIGIDITY, bend_damping: 0.05, ..fabric() };
    let polygons = Polygons::new(&[3, 3], &[0, 1, 2, 1, 0, 3], 4).unwrap();
    let mesh = Mesh::new(&polygons, rest, None).unwrap();
    let sheets = ModelInput {
        mesh: &mesh,
        materials: &[material],
        rest_scale: &[],
        stiffness_scale: &[],
        property_scale: &[],
    };
    model(&sheets).pop().unwrap()
}

fn evaluate(
    elements: &mut dyn Elements,
    shape: &[Vec3],
    past: &[Vec3],
    inverse_beta: f64,
) -> (f64, Vec<Vec3>) {
    let mut reference = vec![0.0; elements.measure_count()];
    elements.measure(past, &mut reference);
    let mut forces = vec![Vec3::zeros(); shape.len()];
    let history = StrainHistory { reference: &reference, inverse_beta };
    let potential = elements.evaluate(shape, history, &mut forces);
    (potential, forces)
}

/// −λ a_i R with a_i of areas of the unfolded rest shape, the second one negative at the end beyond which a foot stands.
#[test]
fn volinos_force_is_linear_in_the_bending_vector() {
    let mut elements = bending(fem_volino, &fold(0.0));
    let mut noise = Noise::new(3);
    let shape = moved(&fold(0.7), &noise.vectors(4, 1.0), 0.02);
    // Areas of the triangles of three of the four corners, at rest.
    let [a, b, c, d] = fold(0.0).map(|p| (p.x, p.y));
    let area = |p: (f64, f64), q: (f64, f64), r: (f64, f64)| {
        (q.0 - p.0) * (r.1 - p.1) - (q.1 - p.1) * (r.0 - p.0)
    };
    let (at_c, at_d) = (area(b, a, d), area(a, b, c));
    let (at_a, at_b) = (area(c, d, b), area(d, c, a));
    let weights =
        [-at_a / (at_a + at_b), -at_b / (at_a + at_b), at_c / (at_c + at_d), at_d / (at_c + at_d)];
    let vector: Vec3 = shape.iter().zip(weights).map(|(x, weight)| x * weight).sum();
    let (l, c, d) = (0.5, 0.3, 0.4);
    let stiffness = 2.0 * RIGIDITY * l * (c + d) / (c * d * c * d);
    let (_, forces) = evaluate(&mut *elements, &shape, &shape, 0.0);
    for (force, weight) in forces.iter().zip(weights) {
        let error = (force + vector * (stiffness * weight)).norm();
        assert!(error < 1.0e-12, "{force:?}, {weights:?}");
    }
}

/// k b_i (sin θ/2 − sin θ₀/2) with the b_i of Bridson's paper, without stretch.
#[test]
fn bridsons_force_is_linear_in_the_sine_of_half_the_angle() {
    for (rest, angle) in [(0.0, 0.9), (0.4, 1.1), (0.4, -0.6), (-1.0, 2.0)] {
        let mut elements = bending(fem_bridson, &fold(rest));
        let shape = fold(angle);
        let [x3, x4, x1, x2] = shape;
        let (first, second) = ((x1 - x3).cross(&(x1 - x4)), (x2 - x4).cross(&(x2 - x3)));
        let edge = x4 - x3;
        let (l, n1, n2) = (edge.norm(), first.norm_squared(), second.norm_squared());
        let directions = [
            first * ((x1 - x4).dot(&edge) / l / n1) + second * ((x2 - x4).dot(&edge) / l / n2),
            -first * ((x1 - x3).dot(&edge) / l / n1) - second * ((x2 - x3).dot(&edge) / l / n2),
            first * (l / n1),
            second * (l / n2),
        ];
        let strength = l * l / (n1.sqrt() + n2.sqrt());
        // This angle grows where the corners sink against the normals, that of the library where they rise.
        let bent = -(0.5 * angle).sin() + (0.5 * rest).sin();
        let (_, forces) = evaluate(&mut *elements, &shape, &shape, 0.0);
        for (force, direction) in forces.iter().zip(directions) {
            let wanted = direction * (4.0 * RIGIDITY * strength * bent);
            assert!((force - wanted).norm() < 1.0e-12, "{rest}, {angle}: {force:?}, {wanted:?}");
        }
    }
}

/// Of a folded shape at rest, too, elastic and viscous.
#[test]
fn forces_of_a_folded_shape_are_the_gradient_of_their_potential() {
    for model in MODELS {
        for rest in [0.0, 0.8, -1.5] {
            let mut elements = bending(model, &fold(rest));
            let mut noise = Noise::new(7);
            let shape = moved(&fold(rest + 0.6), &noise.vectors(4, 1.0), 0.03);
            let past = moved(&fold(rest), &noise.vectors(4, 1.0), 0.03);
            for inverse_beta in [0.0, 50.0] {
                let (_, forces) = evaluate(&mut *elements, &shape, &past, inverse_beta);
                for _ in 0..6 {
                    let direction = noise.vectors(4, 1.0);
                    let [ahead, behind] = [1.0e-6, -1.0e-6].map(|step| {
                        let moved = moved(&shape, &direction, step);
                        evaluate(&mut *elements, &moved, &past, inverse_beta).0
                    });
                    let error = (dot(&forces, &direction) - (behind - ahead) / 2.0e-6).abs();
                    assert!(error < 1.0e-6 * norm(&forces), "{rest}, {inverse_beta}: {error:e}");
                }
            }
        }
    }
}

#[test]
fn a_folded_shape_at_rest_stays_so_however_it_is_turned() {
    for model in MODELS {
        for rest in [0.0, 0.8, -1.5] {
            let shape = fold(rest);
            let mut elements = bending(model, &shape);
            let turn = Rotation3::new(Vec3::new(0.7, -1.1, 0.4));
            let turned = shape.map(|p| turn * p);
            let (potential, forces) = evaluate(&mut *elements, &turned, &shape, 100.0);
            assert!(norm(&forces) < 1.0e-12 && potential.abs() < 1.0e-14, "{rest}: {forces:?}");
            assert!(elements.energy(&fold(rest + 0.5)).bend > 1.0e-4, "{rest}");
        }
    }
}
