// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every model gives back of the material it is made of.

use crate::{
    equilibrium::{calm, settle},
    quads::Division,
    samples::{Faces, Sample},
    statics::arc,
    strips::Pattern,
};
use weft::{Material, Model, Settings, Simulation, Vec3};

const GRAVITY: f64 = 9.81;

/// A fabric with moduli in N/m that are not those of springs.
fn fabric() -> Material {
    Material {
        density: 0.2,
        stretch_warp: 1000.0,
        stretch_weft: 400.0,
        shear: 60.0,
        poisson: 0.25,
        bend_warp: 1.0e-6,
        bend_weft: 1.0e-6,
        bend_twist: None,
        ..Material::default()
    }
}

/// Modulus in N/m and contraction of a strip at an angle to the warp, pulled at its end.
fn pull(model: Model, faces: Faces, angle: f64) -> [f64; 2] {
    let sample = Sample::new(faces, 0.4, [16, 6]);
    let force = 0.4;
    let cloth = sample.cloth(fabric(), sample.points.clone(), angle);
    let settings = Settings { model, ..calm() };
    let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
    let (start, end) = (sample.vertices(0..1), sample.vertices(16..17));
    let [x, y, z] = [Vec3::x(), Vec3::y(), Vec3::z()];
    simulation.set_guided_velocity(0, &start, &[x, z], Vec3::zeros()).unwrap();
    simulation.set_guided_velocity(0, &start[..1], &[x, y, z], Vec3::zeros()).unwrap();
    let all: Vec<usize> = (0..sample.points.len()).filter(|v| !start.contains(v)).collect();
    simulation.set_guided_velocity(0, &all, &[z], Vec3::zeros()).unwrap();
    let mut forces = vec![Vec3::zeros(); sample.points.len()];
    for pair in end.windows(2) {
        let length = (sample.points[pair[1]] - sample.points[pair[0]]).norm();
        for vertex in pair {
            forces[*vertex].x += 0.5 * force * length;
        }
    }
    simulation.set_vertex_forces(0, &forces).unwrap();
    settle(&mut simulation, 1.0e-8);
    let strain = sample.mean_position(&simulation, 16).x / 0.4 - 1.0;
    let positions = simulation.positions(0).unwrap();
    let across = |column: usize| {
        sample.extent(positions, column) / sample.extent(&sample.points, column) - 1.0
    };
    let contraction = -(4..13).map(across).sum::<f64>() / (9.0 * strain);
    [force / strain, contraction]
}

/// Shear modulus in N/m: a square sheared by its held boundary, from its energy.
fn shear(model: Model, faces: Faces) -> f64 {
    let sample = Sample::new(faces, 0.4, [12, 12]);
    let angle = 0.02;
    let sheared = sample.map(|p| p + Vec3::x() * (angle * p.y));
    let material = Material { poisson: 0.0, ..fabric() };
    let cloth = sample.cloth(material, sheared, 0.0);
    let settings = Settings { model, ..calm() };
    let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
    let half = 0.5 * sample.width - 1.0e-6;
    let is_outer = |p: &Vec3| p.x < 1.0e-6 || p.x > 0.4 - 1.0e-6 || p.y.abs() > half;
    let outer: Vec<usize> =
        (0..sample.points.len()).filter(|v| is_outer(&sample.points[*v])).collect();
    simulation.set_pins(0, &outer, None).unwrap();
    settle(&mut simulation, 1.0e-8);
    let energy = simulation.energy();
    let area = sample.width * 0.4;
    2.0 * (energy.stretch + energy.shear + energy.bend) / (area * angle * angle)
}

/// Elongation of a hanging strip under its weight, over that of the material.
fn hang(model: Model, faces: Faces) -> f64 {
    let sample = Sample::new(faces, 1.0, [20, 4]);
    let material =
        Material { poisson: 0.0, stretch_warp: 19.62, stretch_weft: 19.62, shear: 5.0, ..fabric() };
    let cloth = sample.cloth(material, sample.points.clone(), 0.0);
    let settings = Settings { model, gravity: Vec3::x() * GRAVITY, ..calm() };
    let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
    simulation.set_pins(0, &sample.vertices(0..1), None).unwrap();
    settle(&mut simulation, 1.0e-7);
    (sample.mean_position(&simulation, 20).x - 1.0) / 0.05
}

/// Sag of a strip hung by two edges .8 apart, over that of the catenary.
fn sag(model: Model, faces: Faces) -> f64 {
    let sample = Sample::new(faces, 1.0, [40, 4]);
    let modulus = 1.0e4 * 0.2 * GRAVITY;
    let material = Material {
        stretch_warp: modulus,
        stretch_weft: modulus,
        shear: 0.5 * modulus,
        poisson: 0.0,
        bend_warp: 0.0,
        bend_weft: 0.0,
        ..fabric()
    };
    let cloth = sample.cloth(material, sample.map(arc(0.8)), 0.0);
    let settings = Settings { model, gravity: Vec3::z() * -GRAVITY, ..calm() };
    let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
    let ends = [sample.vertices(0..1), sample.vertices(40..41)].concat();
    simulation.set_pins(0, &ends, None).unwrap();
    settle(&mut simulation, 1.0e-6);
    -sample.mean_position(&simulation, 20).z / 0.265_437_509
}

/// Tip drop of a clamped strip of 1 m under its weight over that of the elastica, at Γ = 10.
fn drop(model: Model, faces: Faces, cells: [usize; 2]) -> f64 {
    let sample = Sample::clamped(faces, 1.0, cells);
    let load = 0.2 * GRAVITY;
    let bending = load / 10.0;
    let modulus = 1.0e3 * load;
    let material = Material {
        stretch_warp: modulus,
        stretch_weft: modulus,
        shear: 0.4 * modulus,
        poisson: 0.0,
        bend_warp: bending,
        bend_weft: bending,
        ..fabric()
    };
    let cloth = sample.cloth(material, sample.points.clone(), 0.0);
    let settings = Settings { model, gravity: Vec3::z() * -GRAVITY, ..calm() };
    let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
    simulation.set_pins(0, &sample.vertices(0..2), None).unwrap();
    settle(&mut simulation, 1.0e-5);
    -sample.mean_position(&simulation, sample.last()).z / 0.700_199_716
}

const QUADS: [Faces; 2] = [Faces::Quads(Division::Regular), Faces::Quads(Division::Curvilinear)];
const TRIANGLES: [Faces; 3] = [
    Faces::Triangles(Pattern::Equilateral),
    Faces::Triangles(Pattern::Right),
    Faces::Triangles(Pattern::Random),
];

#[test]
fn table() {
    let only = std::env::var("MODEL").unwrap_or_default();
    for model in [
        Model::Fem,
        Model::Particles,
        Model::ParticlesMembrane,
        Model::BaraffWitkin,
        Model::ChoiKo,
        Model::MassSpring,
        Model::MassSpring16,
    ] {
        if !only.is_empty() && only != model.name() {
            continue;
        }
        let triangles = if model.needs_quads() { &TRIANGLES[..0] } else { &TRIANGLES[..] };
        for faces in QUADS.iter().chain(triangles) {
            let attempt = |name: &str, f: &(dyn Fn() -> String + std::panic::RefUnwindSafe)| {
                let r = std::panic::catch_unwind(f).unwrap_or("fails".into());
                eprintln!("{:16} {faces:?} {name}: {r}", model.name());
            };
            for angle in [0.0_f64, 90.0, 45.0] {
                attempt(&format!("pull {angle}"), &|| {
                    format!("{:?}", pull(model, *faces, angle.to_radians()))
                });
            }
            attempt("shear", &|| shear(model, *faces).to_string());
            attempt("hang", &|| hang(model, *faces).to_string());
            attempt("sag", &|| sag(model, *faces).to_string());
            attempt("drop 12", &|| drop(model, *faces, [12, 2]).to_string());
            attempt("drop 24", &|| drop(model, *faces, [24, 4]).to_string());
        }
    }
}
