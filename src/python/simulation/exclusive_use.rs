// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls into a simulation by one thread at a time.

use super::PySimulation;
use crate::{error::Result, python::errors::guarded, simulation::Simulation};
use pyo3::{exceptions::PyRuntimeError, prelude::*};
use std::sync::{
    MutexGuard,
    atomic::{AtomicBool, Ordering},
};

/// Exclusive use of a simulation until it is dropped.
struct ExclusiveUse<'flag>(&'flag AtomicBool);

impl Drop for ExclusiveUse<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl PySimulation {
    /// Runs `work` on the simulation, unless another thread uses it.
    pub(super) fn with<Value>(
        &self,
        work: impl FnOnce(&mut Simulation) -> Result<Value>,
    ) -> PyResult<Value> {
        let _claim = self.claim()?;
        guarded(|| Ok(work(&mut *self.locked()?)?))
    }

    /// Runs `work` on the simulation without the GIL, unless another thread uses it.
    pub(in crate::python) fn compute<Value: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Simulation) -> Result<Value> + Send,
    ) -> PyResult<Value> {
        let _claim = self.claim()?;
        py.detach(|| guarded(|| Ok(work(&mut *self.locked()?)?)))
    }

    /// What is in the simulation, or why that cannot be told.
    pub(super) fn description(&self) -> String {
        let text = self.with(|simulation| {
            let (cloths, colliders) = (simulation.cloth_count(), simulation.collider_count());
            let time = simulation.time();
            Ok(format!("<weft.Simulation: {cloths} cloths, {colliders} colliders, {time} s>"))
        });
        text.unwrap_or_else(|_| "<weft.Simulation: computing, or stopped by an error>".to_owned())
    }

    fn claim(&self) -> PyResult<ExclusiveUse<'_>> {
        if self.is_claimed.swap(true, Ordering::Acquire) {
            let message =
                "this simulation is computing in another thread: wait for that call to return";
            return Err(PyRuntimeError::new_err(message));
        }
        Ok(ExclusiveUse(&self.is_claimed))
    }

    /// The simulation, for the call with exclusive use.
    fn locked(&self) -> PyResult<MutexGuard<'_, Simulation>> {
        self.simulation.lock().map_err(|_poisoned| {
            PyRuntimeError::new_err(
                "this simulation was stopped by an internal error: build a new one and restore a \
                 checkpoint",
            )
        })
    }
}
