// SPDX-License-Identifier: MIT OR Apache-2.0
//! The law of inelastic materials by itself: derivatives, what it stores, and that no cycle gives energy.

use super::law::{DeformationMode, InelasticLaw, InternalVariables};
use crate::material::{ConstantQ, Curves, Hysteresis, HysteresisCycle, Material};

/// Numbers between −1 and 1, the same every time.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn strain(&mut self, size: f64) -> [f64; 3] {
        [self.next() * size, self.next() * size, self.next() * size]
    }
}

/// Curves everywhere, the yarns coupled, with memory or without.
fn fabric(quality: Option<ConstantQ>) -> Material {
    let stretch = Hysteresis {
        load: vec![[0.0, 0.0], [0.02, 4.0], [0.05, 20.0]],
        unload: vec![[0.005, 0.0], [0.03, 4.0], [0.05, 20.0]],
        ..Hysteresis::default()
    };
    let shear = Hysteresis {
        load: vec![[-0.1, -3.0], [-0.05, -0.5], [0.0, 0.5], [0.1, 3.0]],
        unload: vec![[-0.1, -3.0], [0.0, -0.5], [0.05, 0.5], [0.1, 3.0]],
        ..Hysteresis::default()
    };
    Material {
        stretch_warp: 900.0,
        stretch_weft: 850.0,
        shear: 70.0,
        poisson: 0.4,
        curves: Curves {
            stretch_warp: Some(stretch.clone()),
            stretch_weft: Some(stretch),
            shear: Some(shear),
            ..Curves::NONE
        },
        quality,
        ..Material::default()
    }
    .checked()
    .unwrap()
}

const QUALITY: ConstantQ = ConstantQ { q: 4.0, low: 0.1, high: 10.0 };

/// Branches by the largest and smallest strain so far, and curves up to three times as steep as the moduli.
fn fabric_with_cycles(quality: Option<ConstantQ>) -> Material {
    let stretch = Hysteresis {
        virgin: Some(vec![[-0.05, -1.0], [0.0, 0.0], [0.02, 8.0], [0.05, 36.0]]),
        load: vec![[-0.05, -1.0], [0.0, 0.0], [0.03, 3.0], [0.05, 34.0]],
        unload: vec![[-0.05, -1.0], [0.0, -0.5], [0.03, 0.0], [0.05, 30.0]],
        cycles: vec![HysteresisCycle {
            largest: Some(0.02),
            load: vec![[-0.05, -1.0], [0.0, 0.0], [0.02, 7.0]],
            unload: vec![[-0.05, -1.0], [0.0, -0.5], [0.005, 0.0], [0.02, 5.0]],
            ..HysteresisCycle::default()
        }],
    };
    let shear = Hysteresis {
        virgin: Some(vec![[-0.1, -6.0], [0.0, 0.0], [0.1, 6.0]]),
        load: vec![[-0.1, -3.0], [-0.05, -0.5], [0.0, 0.5], [0.1, 3.0]],
        unload: vec![[-0.1, -3.0], [0.0, -0.5], [0.05, 0.5], [0.1, 3.0]],
        cycles: vec![HysteresisCycle {
            largest: Some(0.03),
            smallest: Some(-0.03),
            load: vec![[-0.1, -5.0], [0.0, 0.1], [0.1, 5.2]],
            unload: vec![[-0.1, -5.2], [0.0, -0.1], [0.1, 5.0]],
        }],
    };
    Material {
        stretch_warp: 400.0,
        stretch_weft: 1200.0,
        shear: 70.0,
        poisson: 0.3,
        curves: Curves {
            stretch_warp: Some(stretch.clone()),
            stretch_weft: Some(stretch),
            shear: Some(shear),
            ..Curves::NONE
        },
        quality,
        ..Material::default()
    }
    .checked()
    .unwrap()
}

fn laws() -> [InelasticLaw; 5] {
    let without_curves = Material { curves: Curves::NONE, ..fabric(Some(QUALITY)) };
    [
        fabric(None),
        fabric(Some(QUALITY)),
        without_curves,
        fabric_with_cycles(None),
        fabric_with_cycles(Some(QUALITY)),
    ]
    .map(|m| InelasticLaw::new(&m, DeformationMode::Membrane))
}

#[test]
fn stress_is_the_derivative_of_the_potential_and_moduli_that_of_stress() {
    let mut noise = Noise(1);
    for mut law in laws() {
        let mut memory = InternalVariables::default();
        for _ in 0..300 {
            law.begin_step(0.01);
            let strain = noise.strain(0.05);
            let here = law.respond(&strain, &memory);
            let step = 1.0e-7;
            for k in 0..3 {
                let at = |size: f64| {
                    let mut moved = strain;
                    moved[k] += size;
                    law.respond(&moved, &memory)
                };
                let (ahead, behind) = (at(step), at(-step));
                let slope = (ahead.potential() - behind.potential()) / (2.0 * step);
                assert!((slope - here.stress[k]).abs() < 1.0e-4, "{slope} {}", here.stress[k]);
                let [c11, c22, c12, c33] = here.moduli;
                let column = [[c11, c12, 0.0], [c12, c22, 0.0], [0.0, 0.0, c33]][k];
                for (row, wanted) in column.into_iter().enumerate() {
                    let right = (ahead.stress[row] - here.stress[row]) / step;
                    let left = (here.stress[row] - behind.stress[row]) / step;
                    // At a kink the two sides differ.
                    if (right - left).abs() < 1.0e-3 {
                        assert!((right - wanted).abs() < 1.0e-2, "{right} {wanted}");
                    }
                }
            }
            law.update_variables(&strain, &mut memory);
        }
    }
}

/// The work of a step is at least that of its potential's derivative at the end less what the path could save: it is
/// summed along fine paths.
#[test]
fn no_path_gives_back_more_than_was_stored() {
    let mut noise = Noise(7);
    for mut law in laws() {
        let mut memory = InternalVariables::default();
        let mut strain = [0.0; 3];
        let mut work = 0.0;
        law.begin_step(2.0e-3);
        for _ in 0..60 {
            let goal = noise.strain(0.06);
            let start = strain;
            let count = 200;
            for step in 1..=count {
                let part = f64::from(step) / f64::from(count);
                let next = [0, 1, 2].map(|k| start[k] + part * (goal[k] - start[k]));
                let before = law.stored_energy(&strain, &memory);
                let stress = law.respond(&next, &memory).stress;
                let done: f64 = (0..3).map(|k| stress[k] * (next[k] - strain[k])).sum();
                work += done;
                law.update_variables(&next, &mut memory);
                strain = next;
                let after = law.stored_energy(&strain, &memory);
                let gained: f64 = after.iter().sum::<f64>() - before.iter().sum::<f64>();
                assert!(done >= gained - 1.0e-9, "{done} for {gained}");
            }
        }
        let kept: f64 = law.stored_energy(&strain, &memory).iter().sum();
        assert!(kept >= 0.0 && work > 2.0 * kept, "{work} {kept}");
    }
}

#[test]
fn a_strip_pulled_along_either_yarn_follows_the_given_branches() {
    let mut law = InelasticLaw::new(&fabric(None), DeformationMode::Membrane);
    law.begin_step(0.01);
    for k in [0, 1] {
        let mut memory = InternalVariables::default();
        let cycle =
            [(0.02, 4.0), (0.035, 12.0), (0.05, 20.0), (0.04, 12.0), (0.03, 4.0), (0.005, 0.0)];
        for (along, wanted) in cycle {
            // The other yarn carries nothing.
            let (mut low, mut high) = (-0.1, 0.1);
            for _ in 0..60 {
                let across = 0.5 * (low + high);
                let mut strain = [across; 3];
                (strain[k], strain[2]) = (along, 0.0);
                let stress = law.respond(&strain, &memory).stress;
                if stress[1 - k] < 0.0 { low = across } else { high = across }
            }
            let mut strain = [low; 3];
            (strain[k], strain[2]) = (along, 0.0);
            let stress = law.respond(&strain, &memory).stress;
            assert!((stress[k] - wanted).abs() < 1.0e-6, "{k} at {along}: {stress:?}");
            law.update_variables(&strain, &mut memory);
        }
    }
}

/// A sine of small strain: the loss angle of the stress gives Q.
#[test]
fn small_cycles_have_the_quality_wanted_at_any_speed() {
    let material = Material { quality: Some(QUALITY), curves: Curves::NONE, ..Material::default() };
    let mut law = InelasticLaw::new(&material, DeformationMode::Membrane);
    for frequency in [0.1, 0.3, 1.0, 3.0, 10.0] {
        let mut memory = InternalVariables::default();
        let count = 400;
        law.begin_step(1.0 / (frequency * f64::from(count)));
        let (mut real, mut imaginary) = (0.0, 0.0);
        let cycles = 4 + (frequency * 30.0) as i32;
        for step in 1..=cycles * count {
            let angle = std::f64::consts::TAU * f64::from(step) / f64::from(count);
            let strain = [0.0, 0.0, angle.sin()];
            let stress = law.respond(&strain, &memory).stress[2];
            law.update_variables(&strain, &mut memory);
            if step > (cycles - 1) * count {
                real += stress * angle.sin();
                imaginary += stress * angle.cos();
            }
        }
        let found = real / imaginary;
        assert!((found / QUALITY.q - 1.0).abs() < 0.05, "Q {found} at {frequency} Hz");
    }
}

#[test]
fn a_memory_survives_being_written() {
    let mut noise = Noise(3);
    let mut law = InelasticLaw::new(&fabric(Some(QUALITY)), DeformationMode::Membrane);
    law.begin_step(0.01);
    let mut memory = InternalVariables::default();
    for _ in 0..20 {
        law.update_variables(&noise.strain(0.05), &mut memory);
    }
    let mut values = Vec::new();
    memory.write(&mut values);
    assert_eq!(values.len(), InternalVariables::COUNT);
    assert_eq!(InternalVariables::read(&values), memory);
}
