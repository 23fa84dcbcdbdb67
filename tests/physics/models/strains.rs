// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linear and co-rotational strain of triangles (Huber 2018, eq. 2.66 and 2.67) against closed forms.

use super::forces::{dot, fabric, moved, norm};
use crate::fixtures::{
    noise::Noise,
    strips::{Pattern, Strip, turned_uv},
};
use nalgebra::Rotation3;
use weft::{
    Material, Vec3,
    forces::{Elements, ModelInput, StrainHistory, fem_corotational, fem_linear},
    mesh::Mesh,
};

/// The membrane of a model on a strip with its warp at an angle in rad from x.
fn membrane(is_corotational: bool, material: Material, warp: f64) -> (Strip, Box<dyn Elements>) {
    let strip = Strip::new(Pattern::Random, 0.6, [6, 4]);
    let uv = turned_uv(&strip.points, warp);
    let mesh = Mesh::new(&strip.polygons(), &strip.points, Some(&uv)).unwrap();
    let sheets = ModelInput {
        mesh: &mesh,
        materials: &[material],
        rest_scale: &[],
        stiffness_scale: &[],
        property_scale: &[],
    };
    let model = if is_corotational { fem_corotational(&sheets) } else { fem_linear(&sheets) };
    (strip, model.into_iter().next().unwrap())
}

fn evaluate(elements: &mut dyn Elements, shape: &[Vec3]) -> (f64, Vec<Vec3>) {
    let mut forces = vec![Vec3::zeros(); shape.len()];
    let history = StrainHistory { reference: &[], inverse_beta: 0.0 };
    let potential = elements.evaluate(shape, history, &mut forces);
    (potential, forces)
}

/// Force per width of a strip without transverse contraction, stretched along the warp: Y(λ − 1), pushed as well.
#[test]
fn stress_is_linear_in_the_stretch() {
    let material = Material { poisson: 0.0, ..fabric() };
    for is_corotational in [true, false] {
        let (strip, mut elements) = membrane(is_corotational, material.clone(), 0.0);
        for stretch in [0.7, 0.95, 1.02, 1.4] {
            let shape = strip.map(|p| Vec3::new(stretch * p.x, p.y, 0.0));
            let (_, forces) = evaluate(&mut *elements, &shape);
            let found = -strip.end().map(|vertex| forces[vertex].x).sum::<f64>() / strip.width;
            let wanted = 900.0 * (stretch - 1.0);
            assert!((found - wanted).abs() < 1.0e-8, "{is_corotational}, {stretch}: {found}");
        }
    }
}

/// The linear strain of a rotation by θ in the plane is (cos θ − 1)I; the co-rotational one is 0.
#[test]
fn a_rotation_strains_the_linear_triangles_by_one_less_cosine_and_the_others_by_nothing() {
    for is_corotational in [true, false] {
        let (strip, mut elements) = membrane(is_corotational, fabric(), 0.3);
        let mut strains = vec![0.0; elements.measure_count()];
        for angle in [5.0_f64, 30.0, 90.0] {
            let turn = Rotation3::new(Vec3::z() * angle.to_radians());
            elements.measure(&strip.map(|p| turn * p), &mut strains);
            let wanted = if is_corotational { 0.0 } else { angle.to_radians().cos() - 1.0 };
            for strain in strains.as_chunks::<3>().0 {
                let [warp, weft, shear] = strain;
                let error = (warp - wanted).abs().max((weft - wanted).abs()).max(shear.abs());
                assert!(error < 1.0e-12, "{is_corotational}, {angle}°: {strain:?}");
            }
        }
        let turn = Rotation3::new(Vec3::new(1.1, -0.4, 0.8));
        let (energy, _) = evaluate(&mut *elements, &strip.map(|p| turn * p));
        assert_eq!(energy < 1.0e-20, is_corotational, "{energy}");
    }
}

/// U of a stretch by 1.1 and 0.9 at 30° to the warp, and then any rotation.
#[test]
fn co_rotational_strain_is_the_stretch_less_one() {
    let (strip, elements) = membrane(true, fabric(), 0.0);
    let mut strains = vec![0.0; elements.measure_count()];
    let principal = Rotation3::new(Vec3::z() * 30.0_f64.to_radians());
    let turn = Rotation3::new(Vec3::new(-0.7, 0.2, 1.9));
    let stretched = |p: &Vec3| {
        let p = principal.inverse() * p;
        turn * (principal * Vec3::new(1.1 * p.x, 0.9 * p.y, 0.0))
    };
    elements.measure(&strip.map(stretched), &mut strains);
    let (square, product) = (0.75, 0.25 * 3.0_f64.sqrt());
    let wanted = [0.1 * square - 0.1 * 0.25, 0.1 * 0.25 - 0.1 * square, 2.0 * 0.2 * product];
    for strain in strains.as_chunks::<3>().0 {
        for (found, wanted) in strain.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1.0e-12, "{strain:?}, not {wanted}");
        }
    }
}

/// The force of the linear strain is the gradient of its energy.
#[test]
fn forces_of_linear_triangles_are_the_gradient_of_their_energy() {
    let (strip, mut elements) = membrane(false, fabric(), 0.3);
    let mut noise = Noise::new(5);
    let shape = moved(&strip.points, &noise.vectors(strip.points.len(), 1.0), 0.03);
    let (energy, forces) = evaluate(&mut *elements, &shape);
    assert!((elements.energy(&shape).total() / energy - 1.0).abs() < 1.0e-12);
    for _ in 0..4 {
        let direction = noise.vectors(shape.len(), 1.0);
        let [ahead, behind] = [1.0e-5, -1.0e-5]
            .map(|step| evaluate(&mut *elements, &moved(&shape, &direction, step)).0);
        let error = (dot(&forces, &direction) - (behind - ahead) / 2.0e-5).abs();
        assert!(error < 1.0e-8 * norm(&forces) * norm(&direction), "{error}");
    }
}
