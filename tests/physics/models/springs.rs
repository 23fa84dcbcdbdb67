// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of the models one by one: folds along each yarn, cuffs, neighbours of particles, springs of their own stiffness.

use crate::fixtures::{
    equilibrium::{calm, settle},
    quads::{Division, Sheet},
    scenes::sheet,
};
use std::collections::BTreeSet;
use weft::{
    Cloth, Integrator, Material, Model, Settings, Simulation, Vec3,
    forces::{Elements, ModelInput, mass_spring},
    mesh::{Polygons, Uv},
};

/// Two triangles at an edge at an angle to the warp, folded by another: ½kθ² with k = (2/√3)(k_u Δu² + k_v Δv²)/L², in
/// which k_u is that of folds along the warp, which bend the weft.
#[test]
fn a_fold_of_baraff_and_witkins_has_the_stiffness_of_the_yarns_it_bends() {
    let material = Material { bend_warp: 9.0e-3, bend_weft: 2.0e-3, ..Material::default() };
    let angle = 0.1_f64;
    for (direction, wanted) in [
        (0.0_f64, material.bend_weft),
        (std::f64::consts::FRAC_PI_2, material.bend_warp),
        (std::f64::consts::FRAC_PI_4, 0.5 * (material.bend_weft + material.bend_warp)),
        (std::f64::consts::FRAC_PI_6, 0.75 * material.bend_weft + 0.25 * material.bend_warp),
    ] {
        let (sine, cosine) = direction.sin_cos();
        let turned = |x: f64, y: f64| Vec3::new(cosine * x - sine * y, sine * x + cosine * y, 0.0);
        let rest = [turned(0.0, 0.0), turned(1.0, 0.0), turned(0.4, 0.8), turned(0.5, -0.7)];
        let mut folded = rest.to_vec();
        folded[2] = turned(0.4, 0.8 * angle.cos()) + Vec3::z() * (0.8 * angle.sin());
        let uv = Uv::Vertex(rest.iter().map(|point| [point.x, point.y]).collect());
        let faces = Polygons::new(&[3, 3], &[0, 1, 2, 1, 0, 3], 4).unwrap();
        let cloth = Cloth::new(folded, &faces, material.clone(), Some(&rest), Some(&uv)).unwrap();
        let settings = Settings { model: Model::BaraffWitkin, ..calm() };
        let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
        let stiffness = 2.0 * simulation.energy().bend / (angle * angle);
        let wanted = 2.0 / 3.0_f64.sqrt() * wanted;
        assert!((stiffness / wanted - 1.0).abs() < 1.0e-6, "{direction}: {stiffness}, {wanted}");
    }
}

/// The last third of a sheet is to be narrower, as at a wrist: it is, and the rest keeps its width.
#[test]
fn a_cuff_draws_in_where_it_is_and_nowhere_else() {
    for model in [Model::BaraffWitkin, Model::Fem, Model::Particles] {
        let sheet = Sheet::new(Division::Regular, [0.6, 0.2], [18, 6]);
        let cloth = sheet.cloth(Material::default(), sheet.points.clone(), 0.0);
        let scale = sheet.points.iter().map(|x| [1.0, if x.x > 0.4 - 1.0e-6 { 0.7 } else { 1.0 }]);
        let cloth = cloth.with_rest_scale(scale.collect()).unwrap();
        // Flat, so that nothing is taken up by folds.
        let mut simulation = Simulation::new(&[cloth], &[], Settings { model, ..calm() }).unwrap();
        let all: Vec<usize> = (0..sheet.points.len()).collect();
        simulation.set_guided_velocity(0, &all, &[Vec3::z()], Vec3::zeros()).unwrap();
        settle(&mut simulation, 1.0e-5);
        let positions = simulation.positions(0).unwrap();
        let width = |column: usize| (positions[7 * column + 6] - positions[7 * column]).norm();
        let (cuff, sleeve) = (width(17) / 0.2, width(3) / 0.2);
        assert!((cuff - 0.7).abs() < 0.02 && (sleeve - 1.0).abs() < 0.02, "{cuff}, {sleeve}");
    }
}

/// Of a particle inside a grid: 4 structural, 4 shear and 4 bend springs, and in the layout of 16 neighbours 4 more
/// along the diagonals.
#[test]
fn particles_of_a_grid_have_12_or_16_neighbours() {
    let sheet = Sheet::new(Division::Regular, [0.6, 0.6], [6, 6]);
    let mesh = sheet.mesh(0.0);
    let materials = [Material::default()];
    let sheets = ModelInput {
        mesh: &mesh,
        materials: &materials,
        rest_scale: &[],
        stiffness_scale: &[],
        property_scale: &[],
    };
    let middle = 3 * 7 + 3;
    for (has_diagonals, wanted) in [(false, 12), (true, 16)] {
        let elements: Vec<Box<dyn Elements>> = mass_spring(&sheets, has_diagonals);
        let springs = elements
            .iter()
            .flat_map(|elements| elements.vertices().chunks(elements.corner_count()));
        let around = springs.filter(|ends| ends.contains(&middle));
        let neighbours: BTreeSet<u32> =
            around.flatten().copied().filter(|v| *v != middle).collect();
        assert_eq!(neighbours.len(), wanted, "{neighbours:?}");
    }
}

/// The half with stiffer springs stretches as much less under the same pull.
#[test]
fn every_spring_has_the_stiffness_of_its_place() {
    for model in [Model::MassSpring, Model::MassSpring16, Model::ChoiKo] {
        let sheet = Sheet::new(Division::Regular, [0.8, 0.1], [16, 2]);
        let material = Material { poisson: 0.0, ..Material::default() };
        let cloth = sheet.cloth(material, sheet.points.clone(), 0.0);
        let factors = sheet.points.iter().map(|x| if x.x > 0.4 { 4.0 } else { 1.0 }).collect();
        let cloth = cloth.with_stiffness_scale(factors).unwrap();
        let mut simulation = Simulation::new(&[cloth], &[], Settings { model, ..calm() }).unwrap();
        simulation.set_pins(0, &sheet.columns(0..1), None).unwrap();
        let mut forces = vec![Vec3::zeros(); sheet.points.len()];
        for (vertex, share) in sheet.columns(16..17).into_iter().zip([0.25, 0.5, 0.25]) {
            forces[vertex] = Vec3::x() * (0.5 * share);
        }
        simulation.set_vertex_forces(0, &forces).unwrap();
        settle(&mut simulation, 1.0e-8);
        let positions = simulation.positions(0).unwrap();
        let place = |column: usize| positions[3 * column + 1].x;
        let (soft, stiff) = (place(7) - place(2) - 0.25, place(15) - place(10) - 0.25);
        // What springs couple across differs at the ends and in the middle.
        assert!((soft / stiff - 4.0).abs() < 0.2, "{model:?}: {soft} {stiff}");
    }
}

/// What Choi and Ko claim, and Hayler's solver could not do (Hayler 2004, section 2.2.2): a step of 100 s is all but the
/// equilibrium, and the next ones stay there.
#[test]
fn springs_of_choi_and_ko_take_steps_of_a_hundred_seconds() {
    for integrator in [Integrator::Bdf2, Integrator::ImplicitEuler] {
        let settings = Settings {
            model: Model::ChoiKo,
            integrator,
            self_collision: false,
            max_iterations: 300,
            threads: 1,
            ..Settings::default()
        };
        let cloth = sheet(11, 0.5, 0.0, Material::default());
        let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
        simulation.set_pins(0, &[110, 120], None).unwrap();
        for step in 0..6 {
            let report = simulation.step(100.0).unwrap();
            let positions = simulation.positions(0).unwrap();
            let furthest = positions.iter().map(Vec3::norm).fold(0.0, f64::max);
            assert!(furthest < 1.0, "{integrator:?}, step {step}: {furthest} m, {report:?}");
        }
        let lowest = simulation.positions(0).unwrap().iter().map(|x| x.z).fold(0.0, f64::min);
        assert!((-0.55..-0.45).contains(&lowest), "{integrator:?}: {lowest} m");
    }
}
