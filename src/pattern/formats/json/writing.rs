// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a pattern to the fields of the file.

use super::{
    form::{
        CENTIMETRES, ContourForm, CurvatureForm, CurveForm, EdgeForm, FileForm, NotchForm,
        PanelForm, PatternForm, PropertiesForm, SideForm,
    },
    upright,
};
use crate::{
    error::{Error, Result},
    pattern::{Contour, Curve, Notch, Panel, Pattern, Run, Stitch},
};
use kurbo::Point;
use serde::Serialize;
use serde_json::{Map, Value};
use std::f64::consts::FRAC_PI_2;

/// Text of the file of a pattern, in centimetres.
pub(in crate::pattern::formats) fn text(pattern: &Pattern) -> Result<String> {
    let mut panels = Map::new();
    for panel in &pattern.panels {
        panels.insert(panel.name.clone(), value(&panel_form(panel)?)?);
    }
    let stitches = pattern.stitches.iter().map(|stitch| stitch_value(pattern, stitch));
    let file = FileForm {
        pattern: PatternForm {
            panel_order: Some(pattern.panels.iter().map(|panel| panel.name.clone()).collect()),
            stitches: stitches.collect::<Result<_>>()?,
            panels,
        },
        parameters: Map::new(),
        parameter_order: Vec::new(),
        properties: PropertiesForm::default(),
    };
    serde_json::to_string_pretty(&file).map_err(|cause| unwritable(&cause))
}

fn unwritable(cause: &serde_json::Error) -> Error {
    Error::value("pattern", cause, "finite numbers")
}

fn value(form: &impl Serialize) -> Result<Value> {
    serde_json::to_value(form).map_err(|cause| unwritable(&cause))
}

fn panel_form(panel: &Panel) -> Result<PanelForm> {
    let rotation = upright().inverse() * panel.placement.rotation;
    let (roll, pitch, yaw) = rotation.euler_angles();
    let translation = upright().inverse() * panel.placement.translation * CENTIMETRES;
    let all = |contours: &[Contour]| contours.iter().map(contour_form).collect::<Result<_>>();
    Ok(PanelForm {
        translation: translation.into(),
        rotation: [roll, pitch, yaw].map(f64::to_degrees),
        outline: contour_form(&panel.outline)?,
        grain: is_not(panel.grain, FRAC_PI_2).then(|| panel.grain.to_degrees()),
        notches: panel.notches.iter().map(notch_form).collect(),
        cutouts: all(&panel.cutouts)?,
        internal_lines: all(&panel.internal_lines)?,
        edge_length: panel.edge_length.map(|length| length * CENTIMETRES),
        fabric: panel.fabric.clone(),
        label: panel.label.clone(),
    })
}

/// Whether a value was set to another than its default.
fn is_not(value: f64, default: f64) -> bool {
    value.to_bits() != default.to_bits()
}

fn contour_form(contour: &Contour) -> Result<ContourForm> {
    let count = contour.points.len();
    let edge = |index: usize| {
        value(&EdgeForm {
            endpoints: [index, (index + 1) % count],
            curvature: curvature(contour, index),
            label: contour.edges[index].label.clone(),
        })
    };
    Ok(ContourForm {
        vertices: contour
            .points
            .iter()
            .map(|point| [point.x * CENTIMETRES, point.y * CENTIMETRES])
            .collect(),
        edges: (0..contour.edges.len()).map(edge).collect::<Result<_>>()?,
    })
}

fn curvature(contour: &Contour, edge: usize) -> Option<CurvatureForm> {
    let ends = contour.ends(edge);
    let form = match &contour.edges[edge].curve {
        Curve::Line => return None,
        Curve::Quadratic(control) => CurveForm::Quadratic([relative(*control, ends)]),
        Curve::Cubic(first, second) => {
            CurveForm::Cubic([relative(*first, ends), relative(*second, ends)])
        }
        Curve::Arc { radius, is_large, is_positive } => CurveForm::Circle(
            radius * CENTIMETRES,
            f64::from(u8::from(*is_large)),
            f64::from(u8::from(*is_positive)),
        ),
        Curve::Polyline(points) => {
            CurveForm::Polyline(points.iter().map(|point| relative(*point, ends)).collect())
        }
    };
    Some(CurvatureForm::Typed(form))
}

/// A control point by the direction of its edge and the one across.
fn relative(control: Point, [from, to]: [Point; 2]) -> [f64; 2] {
    let (along, offset) = (to - from, control - from);
    [offset.dot(along) / along.hypot2(), along.cross(offset) / along.hypot2()]
}

fn notch_form(notch: &Notch) -> NotchForm {
    NotchForm {
        edge: notch.edge,
        position: notch.position,
        depth: notch.depth * CENTIMETRES,
        kind: Some(notch.kind.name().to_owned()),
    }
}

fn stitch_value(pattern: &Pattern, stitch: &Stitch) -> Result<Value> {
    let [first, second] = stitch.runs.each_ref().map(|run| side_form(pattern, run));
    let second = SideForm {
        reversed: Some(stitch.is_reversed),
        ratio: stitch.ratio,
        label: stitch.label.clone(),
        ..second
    };
    let mut parts = vec![value(&first)?, value(&second)?];
    if !stitch.is_reversed {
        parts.push("right_wrong".into());
    }
    Ok(Value::Array(parts))
}

fn side_form(pattern: &Pattern, run: &Run) -> SideForm {
    let (edge, edges) = match run.edges.as_slice() {
        [edge] => (Some(*edge), None),
        edges => (None, Some(edges.to_vec())),
    };
    SideForm {
        panel: pattern.panels[run.panel].name.clone(),
        edge,
        edges,
        cutout: run.cutout,
        reversed: None,
        ratio: None,
        label: None,
    }
}
