// SPDX-License-Identifier: MIT OR Apache-2.0
//! All cloth models: elements, moduli, cycles, scenes.

pub(crate) mod combinations;
pub(crate) mod cycles;
pub(crate) mod experiments;
pub(crate) mod forces;
pub(crate) mod free_springs;
pub(crate) mod hinges;
pub(crate) mod memory;
pub(crate) mod projected;
pub(crate) mod springs;
pub(crate) mod strains;
pub(crate) mod table;
