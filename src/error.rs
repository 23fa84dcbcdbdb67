// SPDX-License-Identifier: MIT OR Apache-2.0
//! Everything a caller can get wrong, and the one thing a computation can: a value that is no number.

use std::fmt;

/// `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, with the argument, the element, what came and what was wanted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// An argument whose value cannot be used.
    Value {
        /// Name of the argument, as the caller knows it.
        argument: String,
        /// The offending element and its index, such as `("face", 7)`.
        element: Option<(&'static str, usize)>,
        /// What came.
        found: String,
        /// What was wanted.
        wanted: String,
    },
    /// Something asked for by a name that does not exist here.
    Unknown {
        /// Name of the argument, as the caller knows it.
        argument: String,
        /// The name that came.
        found: String,
        /// The names there are.
        offered: Vec<String>,
    },
    /// A position, velocity or force that is no longer a number, or a vertex that an explicit scheme has thrown away. The
    /// state before the step is kept.
    NotFinite {
        /// Index of the cloth.
        cloth: usize,
        /// Index of the vertex in that cloth.
        vertex: usize,
        /// Simulated time at the start of the step, in s.
        time: f64,
    },
    /// A checkpoint that is damaged, or belongs to another simulation.
    Checkpoint {
        /// What is wrong with it.
        reason: String,
    },
    /// A sewing pattern that cannot be meshed.
    Pattern {
        /// Stitch, panel and edge, as far as they are at fault.
        subject: String,
        /// What is found there, and what is wanted.
        reason: String,
    },
    /// A file that the operating system would not read or write.
    File {
        /// Its path.
        path: String,
        /// What was refused.
        reason: String,
    },
    /// The operating system refused something (threads).
    System {
        /// What was refused.
        reason: String,
    },
}

impl Error {
    /// A value that cannot be used, with nothing to index.
    pub fn value(
        argument: impl Into<String>,
        found: impl fmt::Display,
        wanted: impl Into<String>,
    ) -> Self {
        Self::Value {
            argument: argument.into(),
            element: None,
            found: found.to_string(),
            wanted: wanted.into(),
        }
    }

    /// A value that cannot be used, at an index: `kind` says what the index counts.
    pub fn element(
        argument: impl Into<String>,
        kind: &'static str,
        index: usize,
        found: impl fmt::Display,
        wanted: impl Into<String>,
    ) -> Self {
        Self::Value {
            argument: argument.into(),
            element: Some((kind, index)),
            found: found.to_string(),
            wanted: wanted.into(),
        }
    }

    /// A name that is not among those `offered`.
    pub fn unknown(
        argument: impl Into<String>,
        found: impl Into<String>,
        offered: &[&str],
    ) -> Self {
        Self::Unknown {
            argument: argument.into(),
            found: found.into(),
            offered: offered.iter().map(ToString::to_string).collect(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { argument, element: None, found, wanted } => {
                write!(formatter, "{argument}: {found}; wanted {wanted}")
            }
            Self::Value { argument, element: Some((kind, index)), found, wanted } => {
                write!(formatter, "{argument}: {kind} {index}: {found}; wanted {wanted}")
            }
            Self::Unknown { argument, found, offered } => {
                write!(
                    formatter,
                    "{argument}: \"{found}\" does not exist here; there is {}",
                    offered.join(", ")
                )
            }
            Self::NotFinite { cloth, vertex, time } => write!(
                formatter,
                "cloth {cloth}: vertex {vertex}: not a finite number, or thrown away, in the step from \
                 {time} s; the state before that step is kept"
            ),
            Self::Checkpoint { reason } => write!(formatter, "checkpoint: {reason}"),
            Self::Pattern { subject, reason } => write!(formatter, "{subject}: {reason}"),
            Self::File { path, reason } => write!(formatter, "{path}: {reason}"),
            Self::System { reason } => write!(formatter, "system: {reason}"),
        }
    }
}

impl std::error::Error for Error {}
