// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measured curves whose branches are chosen by the largest and smallest strain so far.

use super::inelastic::{fabric, forces_of_step, on, shear};
use crate::fixtures::strips::{Pattern, Strip};
use weft::{Curves, Hysteresis, HysteresisCycle, Material, Vec3, forces::Membrane, mesh::Mesh};

/// Branches by the largest strain so far, as steep as three times the modulus: loaded to two peaks.
#[test]
fn a_second_tension_cycle_reloads_below_the_virgin_curve_up_to_the_peak() {
    let curve = Hysteresis {
        virgin: Some(vec![[0.0, 0.0], [0.02, 8.0], [0.04, 40.0], [0.06, 120.0], [0.061, 126.0]]),
        load: vec![[0.0, 0.0], [0.03, 6.0], [0.04, 20.0], [0.06, 110.0]],
        unload: vec![[0.0, 0.0], [0.03, 1.0], [0.04, 15.0], [0.06, 90.0]],
        cycles: vec![HysteresisCycle {
            largest: Some(0.04),
            load: vec![[0.0, 0.0], [0.02, 5.0], [0.04, 35.0]],
            unload: vec![[0.0, 0.0], [0.02, 2.0], [0.04, 30.0]],
            ..HysteresisCycle::default()
        }],
    };
    let strip = Strip::new(Pattern::Random, 1.0, [8, 3]);
    let mesh = Mesh::new(&strip.polygons(), &strip.points, None).unwrap();
    let curves = Curves { stretch_warp: Some(curve.clone()), ..Curves::NONE };
    let material = Material { poisson: 0.0, stretch_warp: 1300.0, curves, ..fabric() };
    let mut membrane = Membrane::new(&mesh, &[material.checked().unwrap()]);
    let mut stress = |strain: f64| {
        let stretch = (1.0 + 2.0 * strain).sqrt();
        let shape = strip.map(|point| Vec3::new(point.x * stretch, point.y, 0.0));
        let forces = forces_of_step(&mut membrane, &shape);
        -strip.end().map(|vertex| forces[vertex].x).sum::<f64>() / (strip.width * stretch)
    };
    let virgin = curve.virgin.as_ref().unwrap();
    let small = &curve.cycles[0];
    for (strain, branch) in [
        (0.01, virgin),
        (0.04, virgin),
        (0.03, &small.unload),
        (0.01, &small.unload),
        (0.02, &small.load),
        (0.035, &small.load),
        (0.05, virgin),
        (0.06, virgin),
        (0.03, &curve.unload),
        (0.01, &curve.unload),
        (0.04, &curve.load),
        (0.05, &curve.load),
        (0.065, virgin),
    ] {
        let found = stress(strain);
        assert!((found - on(branch, strain)).abs() < 1.0e-6, "{found} at {strain}");
    }
}

#[test]
fn cycles_that_would_give_energy_or_have_no_range_are_refused() {
    let with = |curve: Hysteresis| {
        Material { curves: Curves { shear: Some(curve), ..Curves::NONE }, ..fabric() }
            .checked()
            .unwrap_err()
            .to_string()
    };
    let bounded = |largest| HysteresisCycle {
        largest,
        load: shear().load,
        unload: shear().unload,
        ..HysteresisCycle::default()
    };
    let virgin = Some(vec![[-0.14, -9.0], [0.14, 9.0]]);
    let alone = Hysteresis { cycles: vec![bounded(Some(0.1))], ..shear() };
    assert!(with(alone).contains("a virgin curve beside cycles"));
    let endless = Hysteresis { virgin: virgin.clone(), cycles: vec![bounded(None)], ..shear() };
    assert!(with(endless).contains("shear_curve.cycles[0]: the range"));
    let generous = HysteresisCycle {
        unload: vec![[-0.14, -6.0], [0.0, -1.2], [0.14, 5.0]],
        ..bounded(Some(0.1))
    };
    let generous = Hysteresis { virgin, cycles: vec![generous], ..shear() };
    assert!(with(generous).contains("by the next cycle"));
    let shifted = Hysteresis { virgin: Some(vec![[-0.1, 0.0], [0.1, 6.0]]), ..shear() };
    assert!(with(shifted).contains("shear_curve.virgin"));
}
