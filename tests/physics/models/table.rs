// SPDX-License-Identifier: MIT OR Apache-2.0
//! Effective moduli of every model as fractions of those of its material: the table of docs/models.md, in which 1 is right.
//!
//! Columns: modulus along the warp, along the weft and at 45 degrees to them; contraction; shear modulus; elongation under
//! its weight; sag; tip drop of a cantilever of 12 and of 24 cells.

use crate::{
    fixtures::{
        equilibrium::{calm, settle},
        quads::Division,
        samples::{Faces, Sample},
        strips::Pattern,
    },
    forces::{membrane::Fabric, statics::arc},
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

/// A strip of some faces in some model.
#[derive(Clone, Copy)]
struct Trial {
    model: Model,
    faces: Faces,
}

impl Trial {
    fn scene(self, cloth: weft::Cloth, gravity: Vec3) -> Simulation {
        Simulation::new(&[cloth], &[], Settings { model: self.model, gravity, ..calm() }).unwrap()
    }

    /// Modulus and contraction of a strip at an angle to the warp, pulled at its end, over those of the material.
    fn pull(self, angle: f64) -> [f64; 2] {
        let sample = Sample::new(self.faces, 0.4, [16, 6]);
        let force = 0.4;
        let cloth = sample.cloth(fabric(), sample.points.clone(), angle);
        let mut simulation = self.scene(cloth, Vec3::zeros());
        let (start, end) = (sample.vertices(0..1), sample.vertices(16..17));
        let [x, y, z] = [Vec3::x(), Vec3::y(), Vec3::z()];
        simulation.set_guided_velocity(0, &start, &[x, z], Vec3::zeros()).unwrap();
        simulation.set_guided_velocity(0, &start[..1], &[x, y, z], Vec3::zeros()).unwrap();
        let rest: Vec<usize> = (start.len()..sample.points.len()).collect();
        simulation.set_guided_velocity(0, &rest, &[z], Vec3::zeros()).unwrap();
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
        let wanted = Fabric { warp: 1000.0, weft: 400.0, shear: 60.0, poisson: 0.25 }.strip(angle);
        [force / strain / wanted[0], contraction / wanted[1]]
    }

    /// Shear modulus of a square sheared by its pinned boundary, from its energy, over that of the material.
    fn shear(self) -> f64 {
        let sample = Sample::new(self.faces, 0.4, [12, 12]);
        let angle = 0.02;
        let sheared = sample.map(|p| p + Vec3::x() * (angle * p.y));
        let cloth = sample.cloth(Material { poisson: 0.0, ..fabric() }, sheared, 0.0);
        let mut simulation = self.scene(cloth, Vec3::zeros());
        let half = 0.5 * sample.width - 1.0e-6;
        let is_outer = |p: &Vec3| p.x < 1.0e-6 || p.x > 0.4 - 1.0e-6 || p.y.abs() > half;
        let outer: Vec<usize> =
            (0..sample.points.len()).filter(|v| is_outer(&sample.points[*v])).collect();
        simulation.set_pins(0, &outer, None).unwrap();
        settle(&mut simulation, 1.0e-8);
        let energy = simulation.energy();
        let elastic = energy.stretch + energy.shear + energy.bend;
        2.0 * elastic / (60.0 * sample.width * 0.4 * angle * angle)
    }

    /// Elongation of a strip under its weight, over that of small strains.
    fn hang(self) -> f64 {
        let sample = Sample::new(self.faces, 1.0, [20, 4]);
        let modulus = 100.0 * 0.2 * GRAVITY;
        let material = Material {
            stretch_warp: modulus,
            stretch_weft: modulus,
            shear: 0.25 * modulus,
            poisson: 0.0,
            ..fabric()
        };
        let cloth = sample.cloth(material, sample.points.clone(), 0.0);
        let mut simulation = self.scene(cloth, Vec3::x() * GRAVITY);
        simulation.set_pins(0, &sample.vertices(0..1), None).unwrap();
        settle(&mut simulation, 1.0e-7);
        (sample.mean_position(&simulation, 20).x - 1.0) / 0.005
    }

    /// Sag of a strip hung by two edges .8 apart, over that of the catenary (catenary.csv).
    fn sag(self) -> f64 {
        let sample = Sample::new(self.faces, 1.0, [40, 4]);
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
        let mut simulation = self.scene(cloth, Vec3::z() * -GRAVITY);
        let ends = [sample.vertices(0..1), sample.vertices(40..41)].concat();
        simulation.set_pins(0, &ends, None).unwrap();
        settle(&mut simulation, 1.0e-5);
        let positions = simulation.positions(0).unwrap().iter();
        -positions.map(|p| p.z).fold(f64::INFINITY, f64::min) / 0.265_437_509
    }

    /// Tip drop of a clamped strip of 1 m under its weight, over that of the elastica at Γ = 10
    /// (heavy_elastica_cantilever.csv).
    fn drop(self, cells: [usize; 2]) -> f64 {
        let sample = Sample::clamped(self.faces, 1.0, cells);
        let bending = 0.2 * GRAVITY / 10.0;
        let modulus = 1.0e6 * bending;
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
        let mut simulation = self.scene(cloth, Vec3::z() * -GRAVITY);
        simulation.set_pins(0, &sample.vertices(0..2), None).unwrap();
        settle(&mut simulation, 1.0e-4);
        -sample.mean_position(&simulation, sample.last()).z / 0.700_199_716
    }

    /// A row of the table.
    fn all(self) -> [f64; 9] {
        let [warp, contraction] = self.pull(0.0);
        let [bias, _] = self.pull(std::f64::consts::FRAC_PI_4);
        let [weft, _] = self.pull(std::f64::consts::FRAC_PI_2);
        let [coarse, fine] = [[12, 2], [24, 4]].map(|cells| self.drop(cells));
        [warp, weft, bias, contraction, self.shear(), self.hang(), self.sag(), coarse, fine]
    }
}

const SQUARES: Faces = Faces::Quads(Division::Regular);
const CURVED: Faces = Faces::Quads(Division::Curvilinear);
const EQUILATERAL: Faces = Faces::Triangles(Pattern::Equilateral);
const RANDOM: Faces = Faces::Triangles(Pattern::Random);

/// Compares the effective moduli of a model with those of the page.
fn check(model: Model, rows: &[(Faces, [f64; 9])]) {
    for (faces, wanted) in rows {
        let found = Trial { model, faces: *faces }.all();
        for (column, (found, wanted)) in found.iter().zip(wanted).enumerate() {
            let name = format!("{model:?}, {faces:?}, column {column}");
            assert!((found - wanted).abs() < 0.01 * wanted.max(1.0), "{name}: {found}");
        }
    }
}

#[test]
fn fem_gives_back_its_material() {
    let row = [1.0, 1.0, 1.0, 1.0, 1.0, 0.99, 1.0, 1.007, 1.002];
    check(Model::Fem, &[(SQUARES, row), (RANDOM, row)]);
}

#[test]
fn co_rotational_triangles_give_back_their_material() {
    let row = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.007, 1.002];
    check(Model::FemCorotational, &[(SQUARES, row)]);
}

#[test]
fn particles_give_back_their_material() {
    let row = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.007, 1.002];
    check(Model::Particles, &[(SQUARES, row), (CURVED, row)]);
}

#[test]
fn particles_bent_as_a_membrane_are_limp() {
    let row = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.428, 1.428];
    check(Model::ParticlesMembrane, &[(SQUARES, row)]);
}

#[test]
fn conditions_on_triangles_do_not_contract_and_bend_by_their_shape() {
    let row = |coarse: f64, fine: f64| [1.0, 1.0, 0.978, 0.0, 1.0, 1.0, 1.0, coarse, fine];
    let rows = [
        (SQUARES, row(1.057, 1.067)),
        (EQUILATERAL, row(1.004, 1.013)),
        (RANDOM, row(1.087, 1.028)),
    ];
    check(Model::BaraffWitkin, &rows);
}

#[test]
fn springs_that_only_pull_collapse_across_the_pull() {
    let row = [1.01, 1.01, 3.476, 3.662, 1.011, 0.968, 1.0, 1.174, 1.191];
    check(Model::ChoiKo, &[(SQUARES, row)]);
}

#[test]
fn linear_springs_are_right_on_squares_but_for_what_they_couple() {
    let squares = [1.0, 1.0, 3.447, 0.595, 1.0, 0.995, 1.0, 1.328, 1.348];
    let equilateral = [0.796, 1.461, 3.147, 2.438, 5.176, 0.939, 1.0, 1.332, 1.351];
    let random = [0.971, 1.155, 3.515, 0.928, 2.499, 0.966, 1.0, 1.34, 1.358];
    check(Model::MassSpring, &[(SQUARES, squares), (EQUILATERAL, equilateral), (RANDOM, random)]);
    let squares = [1.0, 1.0, 3.447, 0.595, 1.0, 0.995, 1.0, 1.323, 1.343];
    let curved = [0.972, 0.975, 3.278, 1.073, 1.134, 1.067, 1.0, 1.321, 1.342];
    check(Model::MassSpring16, &[(SQUARES, squares), (CURVED, curved)]);
}

#[test]
fn the_bending_elements_of_volino_and_bridson_are_soft_by_their_triangles() {
    let row = |coarse: f64, fine: f64| [1.0, 1.0, 1.0, 1.0, 1.0, 0.99, 1.0, coarse, fine];
    let rows = [
        (SQUARES, row(1.097, 1.086)),
        (EQUILATERAL, row(1.084, 1.046)),
        (RANDOM, row(1.106, 1.057)),
    ];
    for model in [Model::FemVolino, Model::FemBridson] {
        check(model, &rows);
    }
}
