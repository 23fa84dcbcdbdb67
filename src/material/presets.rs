// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fabrics by name.
//!
//! The source of each value, measured or estimated, is given field by field in `addon/presets`, whose files have the
//! same values; a test compares them. Measured are, above all: areal density, stretch, shear and contraction of poplin,
//! denim, silk, wool and canvas (Clyde, Teran, Tamstorf, Modeling and data-driven parameter estimation for woven
//! fabrics, 2017); bending of fabrics of the same weight (Feng, Huang, Xu, Wang, Learning-based bending stiffness
//! parameter estimation by a drape tester, ACM Transactions on Graphics 41, 2022); rubber (Treloar, Stress-strain data
//! for vulcanised rubber under various types of deformation, Transactions of the Faraday Society 40, 1944); rigidity B
//! and hysteresis 2HB of bending of four fabrics by the Kawabata system (Matsudaira, Masuda, Wada, Yokura, Shape
//! factor of flared skirts compared with that of circular fabrics, Journal of Textile Engineering 61, 2015, table 1;
//! Regenerated cellulose-based denim fabric for tropical regions, Journal of Textiles 2016, 4614168, table 5,
//! fabric A).

use super::{
    CurvePoint, Hysteresis, Material,
    curve::{Curves, mirrored},
};
use crate::error::{Error, Result};

/// A plain-weave cotton.
pub(super) const COTTON: Material = Material {
    density: 0.15,
    stretch_warp: 1500.0,
    stretch_weft: 900.0,
    shear: 60.0,
    poisson: 0.243,
    bend_warp: 8.6e-6,
    bend_weft: 5.0e-6,
    bend_twist: None,
    stretch_damping: 2.0e-3,
    shear_damping: 4.0e-3,
    bend_damping: 4.0e-3,
    air_drag: 1.0,
    air_lift: 0.1,
    friction: 0.4,
    thickness: 1.0e-3,
    curves: Curves::NONE,
    quality: None,
};

/// Names and fabrics, in the order of a menu.
static PRESETS: [(&str, Material); 25] = [
    ("cotton", COTTON),
    (
        "denim",
        Material {
            density: 0.4,
            stretch_warp: 1670.0,
            stretch_weft: 3150.0,
            shear: 808.0,
            poisson: 0.5,
            bend_warp: 5.2e-5,
            bend_weft: 3.0e-5,
            friction: 0.5,
            thickness: 1.5e-3,
            ..COTTON
        },
    ),
    (
        "silk",
        Material {
            density: 8.3e-2,
            stretch_warp: 327.0,
            stretch_weft: 755.0,
            shear: 51.3,
            poisson: 0.5,
            bend_warp: 3.5e-6,
            bend_weft: 3.0e-6,
            friction: 0.25,
            thickness: 5.0e-4,
            ..COTTON
        },
    ),
    (
        "wool",
        Material {
            density: 0.481,
            stretch_warp: 2170.0,
            stretch_weft: 2110.0,
            shear: 237.0,
            poisson: 0.516,
            bend_warp: 3.3e-5,
            bend_weft: 2.2e-5,
            friction: 0.5,
            thickness: 1.5e-3,
            ..COTTON
        },
    ),
    (
        "polyester",
        Material {
            density: 0.165,
            stretch_warp: 1800.0,
            stretch_weft: 1200.0,
            shear: 40.0,
            poisson: 0.381,
            bend_warp: 1.36e-5,
            bend_weft: 5.6e-6,
            friction: 0.3,
            thickness: 8.0e-4,
            ..COTTON
        },
    ),
    (
        "jersey",
        Material {
            density: 0.186,
            stretch_warp: 120.0,
            stretch_weft: 60.0,
            shear: 30.0,
            poisson: 0.4,
            bend_warp: 8.1e-7,
            bend_weft: 8.5e-7,
            friction: 0.5,
            ..COTTON
        },
    ),
    (
        "leather",
        Material {
            density: 0.692,
            stretch_warp: 12000.0,
            stretch_weft: 10000.0,
            shear: 3000.0,
            poisson: 0.3,
            bend_warp: 1.65e-4,
            bend_weft: 1.02e-4,
            friction: 0.6,
            thickness: 2.0e-3,
            ..COTTON
        },
    ),
    (
        "poplin",
        Material {
            density: 0.104,
            stretch_warp: 2360.0,
            stretch_weft: 3800.0,
            shear: 96.8,
            poisson: 0.311,
            bend_warp: 9.0e-6,
            bend_weft: 4.3e-6,
            ..COTTON
        },
    ),
    (
        "canvas",
        Material {
            density: 0.294,
            stretch_warp: 2650.0,
            stretch_weft: 9790.0,
            shear: 532.0,
            poisson: 0.135,
            bend_warp: 6.4e-5,
            bend_weft: 3.2e-5,
            friction: 0.5,
            thickness: 1.5e-3,
            ..COTTON
        },
    ),
    (
        "flag_nylon",
        Material {
            density: 3.97e-2,
            stretch_warp: 12000.0,
            stretch_weft: 10000.0,
            shear: 100.0,
            poisson: 0.14,
            bend_warp: 1.2e-6,
            bend_weft: 8.3e-7,
            friction: 0.25,
            thickness: 5.0e-4,
            ..COTTON
        },
    ),
    (
        "felt",
        Material {
            density: 0.25,
            stretch_weft: 1500.0,
            shear: 600.0,
            poisson: 0.25,
            bend_warp: 4.0e-5,
            bend_weft: 4.0e-5,
            friction: 0.6,
            thickness: 2.0e-3,
            ..COTTON
        },
    ),
    (
        "tulle",
        Material {
            density: 2.3e-2,
            stretch_warp: 150.0,
            stretch_weft: 80.0,
            shear: 10.0,
            poisson: 0.3,
            bend_warp: 1.25e-6,
            bend_weft: 1.05e-6,
            air_drag: 0.5,
            friction: 0.3,
            thickness: 5.0e-4,
            ..COTTON
        },
    ),
    (
        "rubber",
        Material {
            density: 0.465,
            stretch_warp: 585.0,
            stretch_weft: 585.0,
            shear: 195.0,
            poisson: 0.5,
            bend_warp: 1.22e-5,
            bend_weft: 1.22e-5,
            stretch_damping: 5.0e-3,
            shear_damping: 5.0e-3,
            bend_damping: 5.0e-3,
            friction: 1.0,
            ..COTTON
        },
    ),
    (
        "paper",
        Material {
            density: 8.0e-2,
            stretch_warp: 500_000.0,
            stretch_weft: 250_000.0,
            shear: 130_000.0,
            poisson: 0.3,
            bend_warp: 4.2e-4,
            bend_weft: 2.1e-4,
            friction: 0.3,
            thickness: 5.0e-4,
            ..COTTON
        },
    ),
    (
        "cotton_broadcloth",
        Material { density: 0.1238, bend_warp: 5.8e-5, bend_weft: 5.8e-5, ..COTTON },
    ),
    (
        "wool_tropical",
        Material { density: 0.1629, bend_warp: 3.3e-5, bend_weft: 3.3e-5, friction: 0.5, ..COTTON },
    ),
    (
        "polyester_faille",
        Material {
            density: 0.1043,
            stretch_warp: 1800.0,
            stretch_weft: 1200.0,
            shear: 40.0,
            poisson: 0.381,
            bend_warp: 9.3e-6,
            bend_weft: 9.3e-6,
            friction: 0.3,
            thickness: 8.0e-4,
            ..COTTON
        },
    ),
    (
        "denim_with_hysteresis",
        Material {
            density: 0.4,
            stretch_warp: 1670.0,
            stretch_weft: 3150.0,
            shear: 808.0,
            poisson: 0.5,
            bend_warp: 8.4e-5,
            bend_weft: 8.4e-5,
            friction: 0.5,
            thickness: 1.5e-3,
            ..COTTON
        },
    ),
    (
        "wool_suiting",
        Material {
            density: 0.2348,
            stretch_warp: 1200.0,
            stretch_weft: 900.0,
            shear: 45.0,
            poisson: 0.277,
            bend_warp: 7.4e-6,
            bend_weft: 6.6e-6,
            friction: 0.5,
            ..COTTON
        },
    ),
    (
        "wool_stretch",
        Material {
            density: 0.1782,
            stretch_warp: 900.0,
            stretch_weft: 300.0,
            shear: 35.0,
            poisson: 7.1e-2,
            bend_warp: 4.6e-6,
            bend_weft: 3.7e-6,
            friction: 0.5,
            ..COTTON
        },
    ),
    (
        "linen",
        Material {
            density: 0.22,
            stretch_warp: 3000.0,
            stretch_weft: 2500.0,
            shear: 80.0,
            poisson: 0.2,
            bend_warp: 3.8e-5,
            bend_weft: 2.3e-5,
            ..COTTON
        },
    ),
    (
        "velvet",
        Material {
            density: 0.175,
            stretch_warp: 1000.0,
            stretch_weft: 700.0,
            shear: 40.0,
            poisson: 0.3,
            bend_warp: 5.7e-6,
            bend_weft: 5.2e-6,
            friction: 0.6,
            thickness: 1.5e-3,
            ..COTTON
        },
    ),
    (
        "chiffon",
        Material {
            density: 3.04e-2,
            stretch_warp: 300.0,
            stretch_weft: 200.0,
            shear: 10.0,
            poisson: 0.3,
            bend_warp: 1.08e-6,
            bend_weft: 1.1e-6,
            friction: 0.25,
            thickness: 5.0e-4,
            ..COTTON
        },
    ),
    (
        "georgette",
        Material {
            density: 4.34e-2,
            stretch_warp: 400.0,
            stretch_weft: 250.0,
            shear: 15.0,
            poisson: 0.3,
            bend_warp: 1.5e-6,
            bend_weft: 8.9e-7,
            friction: 0.3,
            thickness: 5.0e-4,
            ..COTTON
        },
    ),
    (
        "organza",
        Material {
            density: 2.17e-2,
            stretch_warp: 800.0,
            stretch_weft: 600.0,
            shear: 30.0,
            poisson: 0.2,
            bend_warp: 2.7e-6,
            bend_weft: 2.0e-6,
            friction: 0.25,
            thickness: 5.0e-4,
            ..COTTON
        },
    ),
];

/// Upper branch of bending by both yarns, Bκ + HB, by name; the lower one is Bκ − HB.
const BENDING_HYSTERESIS: [(&str, [CurvePoint; 2]); 4] = [
    ("cotton_broadcloth", [[-250.0, -2.292e-3], [250.0, 3.508e-3]]),
    ("wool_tropical", [[-250.0, -1.4805e-3], [250.0, 1.8045e-3]]),
    ("polyester_faille", [[-250.0, -4.314e-4], [250.0, 5.0e-4]]),
    ("denim_with_hysteresis", [[-250.0, -3.543e-3], [250.0, 4.907e-3]]),
];

/// The names that [`Material::preset`] knows, in the order of a menu.
#[must_use]
pub fn preset_names() -> Vec<&'static str> {
    PRESETS.iter().map(|(name, _)| *name).collect()
}

pub(super) fn find(name: &str) -> Result<Material> {
    let found = PRESETS.iter().find(|(known, _)| *known == name);
    let (_, material) = found.ok_or_else(|| Error::unknown("name", name, &preset_names()))?;
    let load = BENDING_HYSTERESIS.iter().find(|(known, _)| *known == name);
    let bend = load.map(|(_, load)| Hysteresis {
        load: load.to_vec(),
        unload: mirrored(load),
        ..Hysteresis::default()
    });
    let curves = Curves { bend_warp: bend.clone(), bend_weft: bend, ..material.curves.clone() };
    Ok(Material { curves, ..material.clone() })
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
        let message = Material::preset("brocade").unwrap_err().to_string();
        assert!(message.contains("brocade") && message.contains("cotton"), "{message}");
    }

    /// B and 2HB in gf·cm²/cm and gf·cm/cm, as they are in the tables.
    #[test]
    fn loops_of_bending_have_the_slope_and_the_width_of_the_tables() {
        let gram_force = 9.80665e-3;
        for (name, rigidity, width) in [
            ("cotton_broadcloth", 0.118, 0.124),
            ("wool_tropical", 0.067, 0.033),
            ("polyester_faille", 0.019, 0.007),
            ("denim_with_hysteresis", 0.172, 0.139),
        ] {
            let material = Material::preset(name).unwrap();
            for curve in [material.curves.bend_warp, material.curves.bend_weft] {
                let Hysteresis { load, unload, .. } = curve.unwrap();
                let slope = (load[1][1] - load[0][1]) / (load[1][0] - load[0][0]);
                assert!((slope / (rigidity * gram_force * 1.0e-2) - 1.0).abs() < 3.0e-3, "{name}");
                let found = load[1][1] - unload[1][1];
                assert!((found / (width * gram_force) - 1.0).abs() < 3.0e-3, "{name}: {found}");
                assert!(material.bend_warp > 4.0 * slope);
            }
        }
    }
}
