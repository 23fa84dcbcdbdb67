// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fabrics by name.
//!
//! Areal density, tensile, shear and bending figures have the size that the Kawabata evaluation
//! system (KES-F) reports for apparel fabrics of each kind; bending rigidities in its unit gf·cm²/cm
//! are multiplied by 9.81e-5 to give N·m, shear stiffness in gf/(cm·degree) by 56.2 to give N/m.

use super::Material;
use crate::error::{Error, Result};

/// A light plain-weave cotton (poplin).
pub(super) const COTTON: Material = Material {
    density: 0.15,
    stretch_warp: 1500.0,
    stretch_weft: 900.0,
    shear: 60.0,
    poisson: 0.15,
    bend_warp: 8.0e-6,
    bend_weft: 5.0e-6,
    bend_twist: None,
    stretch_damping: 2.0e-3,
    shear_damping: 4.0e-3,
    bend_damping: 4.0e-3,
    air_drag: 1.0,
    air_lift: 0.1,
    friction: 0.4,
    thickness: 1.0e-3,
};

/// Names and fabrics, in the order of a menu.
const PRESETS: [(&str, Material); 7] = [
    ("cotton", COTTON),
    (
        "denim",
        Material {
            density: 0.4,
            stretch_warp: 4000.0,
            stretch_weft: 2500.0,
            shear: 250.0,
            bend_warp: 8.0e-5,
            bend_weft: 4.0e-5,
            friction: 0.5,
            thickness: 1.5e-3,
            ..COTTON
        },
    ),
    (
        "silk",
        Material {
            density: 0.06,
            stretch_warp: 1000.0,
            stretch_weft: 700.0,
            shear: 25.0,
            bend_warp: 2.5e-6,
            bend_weft: 2.0e-6,
            friction: 0.25,
            thickness: 5.0e-4,
            ..COTTON
        },
    ),
    (
        "wool",
        Material {
            density: 0.22,
            stretch_warp: 800.0,
            stretch_weft: 500.0,
            shear: 40.0,
            bend_warp: 1.2e-5,
            bend_weft: 8.0e-6,
            friction: 0.5,
            thickness: 1.5e-3,
            ..COTTON
        },
    ),
    (
        "polyester",
        Material {
            density: 0.12,
            stretch_warp: 1800.0,
            stretch_weft: 1200.0,
            shear: 40.0,
            bend_warp: 5.0e-6,
            bend_weft: 4.0e-6,
            friction: 0.3,
            thickness: 8.0e-4,
            ..COTTON
        },
    ),
    (
        "jersey",
        Material {
            density: 0.18,
            stretch_warp: 120.0,
            stretch_weft: 60.0,
            shear: 30.0,
            poisson: 0.4,
            bend_warp: 3.0e-6,
            bend_weft: 2.0e-6,
            friction: 0.5,
            ..COTTON
        },
    ),
    (
        "leather",
        Material {
            density: 0.8,
            stretch_warp: 12000.0,
            stretch_weft: 10000.0,
            shear: 3000.0,
            poisson: 0.3,
            bend_warp: 8.0e-4,
            bend_weft: 7.0e-4,
            friction: 0.6,
            thickness: 2.0e-3,
            ..COTTON
        },
    ),
];

/// The names that [`Material::preset`] knows, in the order of a menu.
#[must_use]
pub fn preset_names() -> Vec<&'static str> {
    PRESETS.iter().map(|(name, _)| *name).collect()
}

pub(super) fn find(name: &str) -> Result<Material> {
    let found = PRESETS.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, material)| material.clone())
        .ok_or_else(|| Error::unknown("name", name, &preset_names()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_passes_its_own_checks() {
        for name in preset_names() {
            let material = Material::preset(name).unwrap();
            assert_eq!(material.clone().checked().unwrap(), material, "{name}");
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_list() {
        let message = Material::preset("velvet").unwrap_err().to_string();
        assert!(message.contains("velvet") && message.contains("cotton"), "{message}");
    }
}
