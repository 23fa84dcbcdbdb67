// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measured curves in every model: cycles of load and release as the Kawabata system makes them.

use crate::{
    fixtures::quads::{Division, Sheet},
    material::inelastic::{Cycle, bending, enclosed, fabric, shear, tension},
};
use weft::{
    Curves, Hysteresis, Material, Model, Vec3,
    forces::{
        BendingKind, Elements, ModelInput, StrainHistory, baraff_witkin, choi_ko, mass_spring,
        particles,
    },
    mesh::{Mesh, Polygons},
};

fn elements(model: Model, mesh: &Mesh, material: &Material) -> Vec<Box<dyn Elements>> {
    let materials = [material.clone()];
    let none = (&[], &[], &[]);
    let sheets = ModelInput {
        mesh,
        materials: &materials,
        rest_scale: none.0,
        stiffness_scale: none.1,
        property_scale: none.2,
    };
    match model {
        Model::Particles => particles(&sheets, BendingKind::ThinPlate).0,
        Model::BaraffWitkin => baraff_witkin(&sheets),
        Model::ChoiKo => choi_ko(&sheets),
        _ => mass_spring(&sheets, false),
    }
}

/// A piece of cloth in a quasi-static test.
struct Piece {
    parts: Vec<Box<dyn Elements>>,
}

impl Piece {
    /// Makes a step to the shape that a strain has, and gives the work of a further strain.
    fn work(&mut self, shape: impl Fn(f64) -> Vec<Vec3>, strain: f64) -> f64 {
        let now = shape(strain);
        let mut forces = vec![Vec3::zeros(); now.len()];
        for part in &mut self.parts {
            part.begin_stage(0.01);
            let history = StrainHistory { reference: &[], inverse_beta: 0.0 };
            part.evaluate(&now, history, &mut forces);
            part.end_step(&now, 0.01);
        }
        let step = 1.0e-6 * strain.abs().max(1.0);
        let [ahead, behind] = [step, -step].map(|step| shape(strain + step));
        let rates = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * step));
        -forces.iter().zip(rates).map(|(force, rate)| force.dot(&rate)).sum::<f64>()
    }
}

/// Fabrics whose curves have nothing beside them that resists.
fn along_the_yarns(model: Model) -> Material {
    if matches!(model, Model::MassSpring | Model::ChoiKo) {
        let curves = Curves { shear: None, bend_warp: None, bend_weft: None, ..fabric().curves };
        let none = Material { shear: 0.0, bend_warp: 0.0, bend_weft: 0.0, ..fabric() };
        return Material { curves, poisson: 0.0, ..none };
    }
    Material { poisson: 0.0, ..fabric() }
}

fn under(points: &[[f64; 2]], ends: [f64; 2]) -> f64 {
    let level = vec![[-1.0, 0.0], [1.0, 0.0]];
    enclosed(ends, &Hysteresis { load: points.to_vec(), unload: level })
}

/// Strain is that of lengths here, and stress the force per width at rest.
#[test]
fn a_tension_cycle_of_every_model_follows_the_curve_and_encloses_its_area() {
    for model in [Model::Particles, Model::BaraffWitkin, Model::ChoiKo, Model::MassSpring] {
        let sheet = Sheet::new(Division::Regular, [0.8, 0.3], [8, 3]);
        let mesh = sheet.mesh(0.0);
        let mut piece = Piece { parts: elements(model, &mesh, &along_the_yarns(model)) };
        let area = sheet.size[0] * sheet.size[1];
        let stretched = |strain: f64| sheet.map(|p| Vec3::new(p.x * (1.0 + strain), p.y, 0.0));
        let mut stress = |strain: f64| piece.work(stretched, strain) / area;
        let mut cycle = Cycle { curve: tension(), stress: &mut stress, steps: 600 };
        let [up_error, up] = cycle.go([0.0, 0.06], 0.0);
        let [down_error, down] = cycle.go([0.06, 0.01], 0.0);
        assert!(up_error < 1.0e-5 && down_error < 1.0e-5, "{model:?}: {up_error} {down_error}");
        let wanted = under(&tension().load, [0.0, 0.06]) - under(&tension().unload, [0.01, 0.06]);
        assert!((up + down - wanted).abs() < 1.0e-3 * wanted, "{model:?}: {up} {down}");
        if model == Model::ChoiKo {
            assert!(stress(0.0).abs() < 1.0e-12);
            assert!((stress(0.03) - 12.5).abs() < 1.0e-5);
        }
    }
}

/// Diagonals measure a shear up to its square.
#[test]
fn a_shear_cycle_of_every_model_follows_the_curve_and_encloses_its_area() {
    let cases =
        [(Model::Particles, 1.0e-4), (Model::BaraffWitkin, 1.0e-4), (Model::MassSpring, 0.03)];
    for (model, error) in cases {
        let sheet = Sheet::new(Division::Regular, [0.6, 0.4], [6, 4]);
        let mesh = sheet.mesh(0.0);
        let mut piece = Piece { parts: elements(model, &mesh, &fabric()) };
        let area = sheet.size[0] * sheet.size[1];
        let sheared = |strain: f64| {
            let (sine, cosine) = strain.asin().sin_cos();
            sheet.map(|p| Vec3::new(p.x + sine * p.y, cosine * p.y, 0.0))
        };
        let mut stress = |strain: f64| piece.work(sheared, strain) / area;
        let mut cycle = Cycle { curve: shear(), stress: &mut stress, steps: 800 };
        cycle.go([0.0, 0.14], 0.0);
        let [down_error, down] = cycle.go([0.14, -0.14], 0.02);
        let [up_error, up] = cycle.go([-0.14, 0.14], 0.02);
        let most = 6.0 * error;
        assert!(up_error < most && down_error < most, "{model:?}: {up_error} {down_error}");
        let wanted = enclosed([-0.14, 0.14], &shear());
        let found = up + down;
        assert!((found - wanted).abs() < 3.0 * error * wanted, "{model:?}: {found} for {wanted}");
    }
}

/// Rolled to a cylinder: half a cell at each end, where an edge is free, bends less than the rest.
#[test]
fn a_bending_cycle_of_particles_follows_the_curve_and_encloses_its_area() {
    let sheet = Sheet::new(Division::Regular, [0.06, 0.0015], [120, 3]);
    let mesh = sheet.mesh(0.0);
    let material = Material { poisson: 0.0, ..fabric() };
    let mut piece = Piece { parts: elements(Model::Particles, &mesh, &material) };
    let rolled = |curvature: f64| {
        sheet.map(|p| {
            let half = 0.5 * curvature * p.x;
            let part = if half == 0.0 { 1.0 } else { half.sin() / half };
            Vec3::new(p.x * part * half.cos(), p.y, p.x * part * half.sin())
        })
    };
    let area = sheet.size[0] * sheet.size[1];
    check_bending(&mut |curvature| piece.work(rolled, curvature) / area, 2.0e-5);
}

/// Two equilateral triangles: the curvature is the angle over the height.
#[test]
fn a_fold_of_conditions_follows_the_curve_of_bending() {
    let edge = 2.0e-3;
    let height = 0.75_f64.sqrt() * edge;
    let points = [[0.0, 0.0], [0.0, edge], [height, 0.5 * edge], [-height, 0.5 * edge]]
        .map(|[x, y]| Vec3::new(x, y, 0.0));
    let polygons = Polygons::new(&[3, 3], &[0, 2, 1, 0, 1, 3], 4).unwrap();
    let mesh = Mesh::new(&polygons, &points, None).unwrap();
    let mut piece = Piece { parts: elements(Model::BaraffWitkin, &mesh, &fabric()) };
    let folded = |curvature: f64| {
        let (sine, cosine) = (curvature * height).sin_cos();
        let mut shape = points.to_vec();
        shape[2] = Vec3::new(height * cosine, 0.5 * edge, height * sine);
        shape
    };
    let area = edge * height;
    check_bending(&mut |curvature| piece.work(folded, curvature) / area, 1.0e-6);
}

fn check_bending(moment: &mut dyn FnMut(f64) -> f64, error: f64) {
    let mut cycle = Cycle { curve: bending(), stress: moment, steps: 400 };
    cycle.go([0.0, 250.0], 0.0);
    let [down_error, down] = cycle.go([250.0, -250.0], 20.0);
    let [up_error, up] = cycle.go([-250.0, 250.0], 20.0);
    assert!(up_error < error && down_error < error, "{up_error} {down_error}");
    let area = enclosed([-250.0, 250.0], &bending());
    assert!((up + down - area).abs() < 0.01 * area, "{} for {area}", up + down);
}
