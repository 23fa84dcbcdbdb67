// SPDX-License-Identifier: MIT OR Apache-2.0
//! Springs between any two vertices of a cloth as a caller describes them.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Springs between vertices of one cloth, beside its fabric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Springs {
    /// Both ends of each spring.
    pub pairs: Vec<[u32; 2]>,
    /// Stiffness of each spring where it is longer than at rest, in N/m.
    pub stiffness: Vec<f64>,
    /// Stiffness of each spring where it is shorter, in N/m.
    pub compression: Vec<f64>,
    /// Damping of each spring, in N·s/m.
    pub damping: Vec<f64>,
    /// Length at rest of each spring in m; `None`: those in the shape at rest.
    pub lengths: Option<Vec<f64>>,
}

impl Springs {
    /// Returns the springs if they are valid for a number of vertices.
    ///
    /// # Errors
    /// Names the first spring with an end that is no vertex or with one vertex twice, and the first number that is negative, not
    /// finite, or missing.
    pub fn checked(self, vertex_count: usize) -> Result<Self> {
        for (index, [a, b]) in self.pairs.iter().enumerate() {
            let refused =
                |found, wanted: &str| Error::element("springs", "spring", index, found, wanted);
            if let Some(vertex) = [a, b].into_iter().find(|end| **end as usize >= vertex_count) {
                let wanted = format!("indices below the {vertex_count} vertices");
                return Err(refused(format!("vertex {vertex}"), &wanted));
            }
            if a == b {
                return Err(refused(format!("vertex {a} twice"), "two vertices"));
            }
        }
        let count = self.pairs.len();
        let mut lists = vec![
            ("spring_stiffness", &self.stiffness),
            ("spring_compression", &self.compression),
            ("spring_damping", &self.damping),
        ];
        lists.extend(self.lengths.iter().map(|lengths| ("spring_lengths", lengths)));
        for (argument, values) in lists {
            if values.len() != count {
                let wanted = format!("{count}, one per spring");
                return Err(Error::value(argument, format!("{} numbers", values.len()), wanted));
            }
            let is_invalid = |value: &&f64| !(value.is_finite() && **value >= 0.0);
            if let Some(index) = values.iter().position(|value| is_invalid(&value)) {
                let wanted = "a finite number, 0 or more";
                return Err(Error::element(argument, "spring", index, values[index], wanted));
            }
        }
        Ok(self)
    }
}
