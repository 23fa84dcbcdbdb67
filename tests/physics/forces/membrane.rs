// SPDX-License-Identifier: MIT OR Apache-2.0
//! The membrane as a material: effective moduli of a strip against those of its material.

use crate::fixtures::{
    equilibrium::{calm, settle},
    noise::Noise,
    strips::{PATTERNS, Pattern, Strip},
};
use std::ops::Range;
use weft::{Material, Settings, Simulation, Vec3};

/// A strip that hangs under its weight stretches by ∫(λ − 1), P(λ) = ½Yλ(λ² − 1) being the weight below
/// (hanging_strip.csv; for small loads ρgL/2Y).
#[test]
fn a_hanging_strip_stretches_under_its_weight() {
    let table = [(0.001, 0.000_499_500_997), (0.01, 0.004_950_974_52), (0.1, 0.045_797_685_4)];
    for pattern in PATTERNS {
        for (load, wanted) in table {
            let strip = Strip::new(pattern, 1.0, [20, 4]);
            let (density, gravity) = (0.2, 9.81);
            let modulus = density * gravity / load;
            let material = Material {
                density,
                stretch_warp: modulus,
                stretch_weft: modulus,
                shear: 0.5 * modulus,
                poisson: 0.0,
                ..Material::default()
            };
            let cloth = strip.cloth(material, strip.points.clone(), 0.0);
            let settings = Settings { gravity: Vec3::x() * gravity, ..calm() };
            let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
            simulation.set_pins(0, &strip.vertices(0..1), None).unwrap();
            settle(&mut simulation, 1.0e-7);
            let found = strip.end_position(&simulation).x - 1.0;
            // The load is lumped at the vertices: second order in 1/20.
            assert!((found / wanted - 1.0).abs() < 0.01, "{pattern:?}, load {load}: {found}");
        }
    }
}

/// Moduli of an orthotropic membrane, in N/m, and its contraction along the weft.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fabric {
    pub(crate) warp: f64,
    pub(crate) weft: f64,
    pub(crate) shear: f64,
    pub(crate) poisson: f64,
}

impl Fabric {
    /// Modulus in N/m and contraction of a strip cut at an angle to the warp (the rotated compliance of an orthotropic
    /// sheet, Jones, Mechanics of composite materials, section 2.8).
    pub(crate) fn strip(self, angle: f64) -> [f64; 2] {
        let (s, c) = angle.sin_cos();
        let [s11, s22, s12, s66] =
            [1.0 / self.warp, 1.0 / self.weft, -self.poisson / self.warp, 1.0 / self.shear];
        let along = s11 * c.powi(4) + s22 * s.powi(4) + (2.0 * s12 + s66) * (s * c).powi(2);
        let across = s12 * (c.powi(4) + s.powi(4)) + (s11 + s22 - s66) * (s * c).powi(2);
        [1.0 / along, -across / along]
    }

    fn material(self) -> Material {
        Material {
            stretch_warp: self.warp,
            stretch_weft: self.weft,
            shear: self.shear,
            poisson: self.poisson,
            ..Material::default()
        }
    }
}

/// Pulls at the end of a strip, whose other end keeps its line, and gives modulus and contraction.
fn measure(pattern: Pattern, fabric: Fabric, angle: f64) -> [f64; 2] {
    let strip = Strip::new(pattern, 0.4, [16, 6]);
    let force = 1.0e-3 * fabric.warp.min(fabric.weft);
    let cloth = strip.cloth(fabric.material(), strip.points.clone(), angle);
    let mut simulation = Simulation::new(&[cloth], &[], calm()).unwrap();
    let (start, end) = (strip.vertices(0..1), strip.end().collect::<Vec<_>>());
    let [x, y, z] = [Vec3::x(), Vec3::y(), Vec3::z()];
    simulation.set_guided_velocity(0, &start, &[x, z], Vec3::zeros()).unwrap();
    simulation.set_guided_velocity(0, &start[..1], &[x, y, z], Vec3::zeros()).unwrap();
    simulation.set_guided_velocity(0, &end, &[z], Vec3::zeros()).unwrap();
    let mut forces = vec![Vec3::zeros(); strip.points.len()];
    for pair in end.windows(2) {
        let length = (strip.points[pair[1]] - strip.points[pair[0]]).norm();
        for vertex in pair {
            forces[*vertex].x += 0.5 * force * length;
        }
    }
    simulation.set_vertex_forces(0, &forces).unwrap();
    settle(&mut simulation, 1.0e-9);
    let positions = simulation.positions(0).unwrap();
    let green = |stretch: f64| 0.5 * (stretch * stretch - 1.0);
    let stretch = strip.end_position(&simulation).x / strip.length;
    // Shear tilts the columns, which stay parallel: their extent across the strip counts.
    let across = |column: &Range<usize>| {
        let extent = |points: &[Vec3]| points[column.end - 1].y - points[column.start].y;
        green(extent(positions) / extent(&strip.points))
    };
    let strain = green(stretch);
    let contraction =
        -strip.columns.iter().map(across).sum::<f64>() / (strip.columns.len() as f64 * strain);
    [force / stretch / strain, contraction]
}

#[test]
fn pulling_a_strip_gives_back_its_modulus_and_contraction() {
    let fabrics = [
        Fabric { warp: 800.0, weft: 800.0, shear: 800.0 / 2.6, poisson: 0.3 },
        Fabric { warp: 1000.0, weft: 400.0, shear: 60.0, poisson: 0.25 },
    ];
    for fabric in fabrics {
        for pattern in PATTERNS {
            for degrees in [0.0_f64, 90.0, 45.0] {
                let wanted = fabric.strip(degrees.to_radians());
                let found = measure(pattern, fabric, degrees.to_radians());
                for (found, wanted) in found.into_iter().zip(wanted) {
                    let name = format!("{fabric:?}, {pattern:?}, {degrees} degrees");
                    assert!((found / wanted - 1.0).abs() < 0.01, "{name}: {found}, not {wanted}");
                }
            }
        }
    }
}

#[test]
fn an_irregular_mesh_with_its_boundary_stretched_alike_stretches_alike_inside() {
    let strip = Strip::new(Pattern::Random, 1.0, [10, 10]);
    let fabric = Fabric { warp: 1000.0, weft: 400.0, shear: 60.0, poisson: 0.25 };
    let affine =
        |x: &Vec3| Vec3::new(1.1 * x.x + 0.1 * x.y, 0.03 * x.x + 1.05 * x.y, 0.2 * x.x - 0.1 * x.y);
    let is_inside =
        |x: &Vec3| x.x > 1.0e-6 && x.x < 1.0 - 1.0e-6 && x.y.abs() < 0.5 * strip.width - 1.0e-6;
    let mut noise = Noise::new(5);
    let start = strip.map(|x| {
        let shift = Vec3::new(noise.next(), noise.next(), noise.next()) * 0.02;
        affine(x) + if is_inside(x) { shift } else { Vec3::zeros() }
    });
    let pinned: Vec<usize> =
        (0..strip.points.len()).filter(|vertex| !is_inside(&strip.points[*vertex])).collect();
    let cloth = strip.cloth(fabric.material(), start, 0.5);
    let mut simulation = Simulation::new(&[cloth], &[], calm()).unwrap();
    simulation.set_pins(0, &pinned, None).unwrap();
    settle(&mut simulation, 1.0e-9);
    for (vertex, found) in simulation.positions(0).unwrap().iter().enumerate() {
        let error = (found - affine(&strip.points[vertex])).norm();
        assert!(error < 1.0e-7, "vertex {vertex}: {error:e} m");
    }
}
