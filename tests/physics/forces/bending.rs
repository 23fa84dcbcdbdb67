// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bending as a plate: strips that are clamped by holding two columns of vertices.

use crate::fixtures::{
    equilibrium::{calm, settle},
    strips::{PATTERNS, Pattern, Strip},
};
use weft::{Material, Settings, Simulation, Vec3};

pub(crate) const DENSITY: f64 = 0.2;
const GRAVITY: f64 = 9.81;

/// A fabric without transverse contraction whose strips have the rigidity `bending` in N·m, and whose membrane
/// stretches and shears by less than a thousandth under a load in N/m.
pub(crate) fn stiff(bending: f64, load: f64) -> Material {
    let modulus = (1.0e4 * bending).max(1.0e3 * load);
    Material {
        density: DENSITY,
        stretch_warp: modulus,
        stretch_weft: modulus,
        shear: 0.5 * modulus,
        poisson: 0.0,
        bend_warp: bending,
        bend_weft: bending,
        bend_twist: None,
        ..Material::default()
    }
}

/// Tip drop of a strip of 1 m under its weight, for Γ = ρgL³/B.
fn drop(pattern: Pattern, cells: [usize; 2], gamma: f64) -> f64 {
    let strip = Strip::clamped(pattern, 1.0, cells);
    let load = DENSITY * GRAVITY;
    let cloth = strip.cloth(stiff(load / gamma, load), strip.points.clone(), 0.0);
    let settings = Settings { gravity: Vec3::z() * -GRAVITY, ..calm() };
    let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
    simulation.set_pins(0, &strip.vertices(0..2), None).unwrap();
    settle(&mut simulation, 1.0e-6);
    -strip.end_position(&simulation).z
}

/// heavy_elastica_cantilever.csv
#[test]
fn a_heavy_cantilever_drops_as_the_elastica_does() {
    let table =
        [(1.0, 0.123_471_402), (4.0, 0.425_159_284), (10.0, 0.700_199_716), (100.0, 0.937_523_935)];
    for pattern in PATTERNS {
        for cells in [[12, 2], [24, 5]] {
            for (gamma, wanted) in table {
                let found = drop(pattern, cells, gamma);
                let name = format!("{pattern:?}, {cells:?} cells, gamma {gamma}");
                assert!((found / wanted - 1.0).abs() < 0.03, "{name}: {found}, not {wanted}");
            }
        }
    }
}
