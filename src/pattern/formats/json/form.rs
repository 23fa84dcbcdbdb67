// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fields of the file, as they stand there.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Units of length in a metre: centimetres.
pub(super) const CENTIMETRES: f64 = 100.0;

#[derive(Serialize, Deserialize)]
pub(super) struct FileForm {
    pub(super) pattern: PatternForm,
    #[serde(default)]
    pub(super) parameters: Map<String, Value>,
    #[serde(default)]
    pub(super) parameter_order: Vec<Value>,
    #[serde(default)]
    pub(super) properties: PropertiesForm,
}

#[derive(Serialize, Deserialize)]
pub(super) struct PatternForm {
    pub(super) panels: Map<String, Value>,
    #[serde(default)]
    pub(super) stitches: Vec<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) panel_order: Option<Vec<String>>,
}

#[derive(Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PropertiesForm {
    pub(super) curvature_coords: String,
    pub(super) normalize_panel_translation: bool,
    pub(super) normalized_edge_loops: bool,
    pub(super) units_in_meter: f64,
}

impl Default for PropertiesForm {
    fn default() -> Self {
        Self {
            curvature_coords: "relative".to_owned(),
            normalize_panel_translation: false,
            normalized_edge_loops: true,
            units_in_meter: CENTIMETRES,
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct PanelForm {
    #[serde(default)]
    pub(super) translation: [f64; 3],
    #[serde(default)]
    pub(super) rotation: [f64; 3],
    #[serde(flatten)]
    pub(super) outline: ContourForm,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) grain: Option<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) notches: Vec<NotchForm>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) cutouts: Vec<ContourForm>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) internal_lines: Vec<ContourForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) edge_length: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fabric: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) label: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct ContourForm {
    pub(super) vertices: Vec<[f64; 2]>,
    pub(super) edges: Vec<Value>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct EdgeForm {
    pub(super) endpoints: [usize; 2],
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) curvature: Option<CurvatureForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) label: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum CurvatureForm {
    /// The control point of a quadratic curve, in older files.
    Control([f64; 2]),
    Typed(CurveForm),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", content = "params", rename_all = "lowercase")]
pub(super) enum CurveForm {
    Quadratic([[f64; 2]; 1]),
    Cubic([[f64; 2]; 2]),
    /// Radius, and as numbers whether the arc is large and turns from x to y.
    Circle(f64, f64, f64),
    /// Points between both ends; a form of ours.
    Polyline(Vec<[f64; 2]>),
}

#[derive(Serialize, Deserialize)]
pub(super) struct NotchForm {
    pub(super) edge: usize,
    pub(super) position: f64,
    #[serde(default)]
    pub(super) depth: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct SideForm {
    pub(super) panel: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) edge: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) edges: Option<Vec<usize>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cutout: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reversed: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ratio: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) label: Option<String>,
}
