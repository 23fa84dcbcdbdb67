// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Python module `weft`. It computes nothing: arguments in, arrays out, errors mapped, and the GIL
//! released meanwhile.

mod arrays;
mod cloth;
mod collider;
mod errors;
mod material;
mod pattern;
mod pressure;
mod report;
mod scalars;
mod settings;
mod simulation;

use pyo3::prelude::*;

/// Physically true, penetration-free cloth.
///
/// SI units throughout: metres, kilograms, seconds, newtons; z points up. Arrays are NumPy: points and
/// vectors float64 or float32 of shape (n, 3), indices of any integer dtype.
///
/// What is wrong in an argument raises ValueError or TypeError with the name of the argument, the index
/// of the element, what came and what was wanted. The GIL is released while computing.
#[pymodule]
mod weft {
    #[pymodule_export]
    use super::{
        cloth::PyCloth,
        collider::PyCollider,
        errors::NotFiniteError,
        material::PyMaterial,
        pattern::{PyDressing, PyPattern, PyPatternMesh, PyTrimmedMesh},
        report::PyReport,
        settings::PySettings,
        simulation::PySimulation,
    };
    use pyo3::prelude::*;

    /// Names of the fabrics that Material.preset knows.
    ///
    /// Returns:
    ///     list[str]: The names, in the order of a menu.
    #[pyfunction]
    fn preset_names() -> Vec<&'static str> {
        crate::material::preset_names()
    }

    #[pymodule_init]
    fn initialise(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Without NumPy an import fails here, and not a call later.
        module.py().import("numpy")?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
