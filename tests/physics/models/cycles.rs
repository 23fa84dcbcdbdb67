// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measured curves in every model: cycles of load and release as the Kawabata system makes them.

use crate::{
    fixtures::quads::{Division, Sheet},
    material::inelastic::{Cycle, bending, enclosed, fabric, on, shear, tension},
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
    elements: Vec<Box<dyn Elements>>,
}

impl Piece {
    /// Makes a step to the shape that a strain has, and gives the work of a further strain.
    fn work(&mut self, shape: impl Fn(f64) -> Vec<Vec3>, strain: f64) -> f64 {
        let now = shape(strain);
        let mut forces = vec![Vec3::zeros(); now.len()];
        for elements in &mut self.elements {
            elements.begin_stage(0.01);
            let history = StrainHistory { reference: &[], inverse_beta: 0.0 };
            elements.evaluate(&now, history, &mut forces);
            elements.end_step(&now, 0.01);
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
    enclosed(ends, &Hysteresis { load: points.to_vec(), unload: level, ..Hysteresis::default() })
}

/// Strain is that of lengths here, and stress the force per width at rest.
#[test]
fn a_tension_cycle_of_every_model_follows_the_curve_and_encloses_its_area() {
    for model in [Model::Particles, Model::BaraffWitkin, Model::ChoiKo, Model::MassSpring] {
        let sheet = Sheet::new(Division::Regular, [0.8, 0.3], [8, 3]);
        let mesh = sheet.mesh(0.0);
        let mut piece = Piece { elements: elements(model, &mesh, &along_the_yarns(model)) };
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
        let mut piece = Piece { elements: elements(model, &mesh, &fabric()) };
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
    let mut piece = Piece { elements: elements(Model::Particles, &mesh, &material) };
    let rolled = |curvature: f64| {
        sheet.map(|p| {
            let half = 0.5 * curvature * p.x;
            let sinc = if half == 0.0 { 1.0 } else { half.sin() / half };
            Vec3::new(p.x * sinc * half.cos(), p.y, p.x * sinc * half.sin())
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
    let mut piece = Piece { elements: elements(Model::BaraffWitkin, &mesh, &fabric()) };
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

/// The arc of a beam: the curvature follows from its chord, and the beam never pulls.
#[test]
fn a_buckled_beam_follows_the_curve_of_bending_with_the_curvature_of_its_arc() {
    let curve = Hysteresis {
        load: vec![[0.0, 0.0], [200.0, 1.0e-3], [400.0, 3.0e-3]],
        unload: vec![[0.0, 0.0], [100.0, 0.0], [400.0, 2.6e-3]],
        ..Hysteresis::default()
    };
    let curves = Curves { bend_warp: Some(curve.clone()), ..Curves::NONE };
    let material = Material { shear: 0.0, stretch_warp: 1.0e7, curves, ..fabric() };
    let sheet = Sheet::new(Division::Regular, [0.008, 0.001], [8, 1]);
    let mesh = sheet.mesh(0.0);
    let mut piece = Piece { elements: elements(Model::ChoiKo, &mesh, &material) };
    // A fold of every second column shortens beams over two cells.
    let length = 2.0e-3;
    let shape = |curvature: f64| {
        let y = 0.5 * curvature * length;
        let chord = if y > 0.0 { y.sin() / y } else { 1.0 };
        sheet.map(|p| {
            let column = (p.x / 1.0e-3).round();
            let height = 1.0e-3 * (1.0 - chord * chord).sqrt();
            Vec3::new(chord * p.x, p.y, if column % 2.0 == 0.0 { 0.0 } else { height })
        })
    };
    let mut first = None;
    for (curvature, branch) in [
        (100.0, &curve.load),
        (200.0, &curve.load),
        (350.0, &curve.load),
        (300.0, &curve.unload),
        (150.0, &curve.unload),
        (50.0, &curve.unload),
        (300.0, &curve.load),
    ] {
        let work = piece.work(shape, curvature);
        let wanted = on(branch, curvature);
        // All beams are bent alike; their area is that of the first load.
        let area = *first.get_or_insert(work / wanted);
        assert!((work - area * wanted).abs() < 2.0e-3 * area * 3.0e-3, "{curvature}: {work}");
    }
}
