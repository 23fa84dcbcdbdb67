// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the fields of the file to a pattern.

use super::{
    form::{
        ContourForm, CurvatureForm, CurveForm, EdgeForm, FileForm, NotchForm, PanelForm,
        PropertiesForm, SideForm,
    },
    upright,
};
use crate::{
    error::{Error, Result},
    pattern::{
        Contour, Curve, Edge, Notch, NotchKind, Panel, Pattern, Placement, Run, Stitch,
        panel_by_name, panel_error,
    },
    vec3::Vec3,
};
use kurbo::{Point, Vec2};
use nalgebra::UnitQuaternion;
use serde::{Deserialize as _, de::DeserializeOwned};
use serde_json::Value;

/// Reads a pattern.
pub(in crate::pattern::formats) fn parse(text: &str) -> Result<Pattern> {
    let file: FileForm = serde_json::from_str(text)
        .map_err(|cause| Error::value("pattern", cause, "JSON of GarmentCode"))?;
    let units = Units::new(&file.properties)?;
    let mut panels = Vec::new();
    for name in panel_names(&file)? {
        panels.push(panel(&name, &file.pattern.panels[&name], &units)?);
    }
    let stitches = file.pattern.stitches.iter().enumerate();
    let stitches = stitches.map(|(index, value)| stitch(index, value, &panels));
    Ok(Pattern { stitches: stitches.collect::<Result<_>>()?, panels })
}

/// Names in the stated order, then all others in that of the file.
fn panel_names(file: &FileForm) -> Result<Vec<String>> {
    let known = &file.pattern.panels;
    let mut names = file.pattern.panel_order.clone().unwrap_or_default();
    if let Some(name) = names.iter().find(|name| !known.contains_key(*name)) {
        let offered: Vec<&str> = known.keys().map(String::as_str).collect();
        return Err(Error::unknown("panel_order", name, &offered));
    }
    if let Some(place) = (1..names.len()).find(|place| names[..*place].contains(&names[*place])) {
        return Err(panel_error(
            &names[place],
            None,
            "twice in panel_order".to_owned(),
            "each once",
        ));
    }
    let rest = known.keys().filter(|name| !names.contains(*name)).cloned().collect::<Vec<_>>();
    names.extend(rest);
    Ok(names)
}

/// Conversion of lengths and control points.
struct Units {
    metres: f64,
    is_relative: bool,
    is_centred: bool,
}

impl Units {
    fn new(properties: &PropertiesForm) -> Result<Self> {
        let units = properties.units_in_meter;
        if !(units.is_finite() && units > 0.0) {
            return Err(Error::value("units_in_meter", units, "a number more than 0"));
        }
        let is_relative = match properties.curvature_coords.as_str() {
            "relative" => true,
            "absolute" => false,
            other => {
                return Err(Error::unknown("curvature_coords", other, &["relative", "absolute"]));
            }
        };
        Ok(Self {
            metres: 1.0 / units,
            is_relative,
            is_centred: properties.normalize_panel_translation,
        })
    }

    fn point(&self, [x, y]: [f64; 2]) -> Point {
        Point::new(x * self.metres, y * self.metres)
    }

    /// A control point of an edge.
    fn control(&self, given: [f64; 2], [from, to]: [Point; 2]) -> Point {
        if !self.is_relative {
            return self.point(given);
        }
        let along = to - from;
        from + given[0] * along + given[1] * Vec2::new(-along.y, along.x)
    }
}

fn field<Form: DeserializeOwned>(panel: &str, edge: Option<usize>, value: &Value) -> Result<Form> {
    Form::deserialize(value)
        .map_err(|cause| panel_error(panel, edge, cause.to_string(), "the fields of GarmentCode"))
}

fn panel(name: &str, value: &Value, units: &Units) -> Result<Panel> {
    let form: PanelForm = field(name, None, value)?;
    let outline = contour(name, "outline", &form.outline, units)?;
    if !outline.is_closed() {
        return Err(open_contour(name, "outline", &outline));
    }
    let mut panel = Panel::new(name, outline);
    for cutout in &form.cutouts {
        let hole = contour(name, "cut-out", cutout, units)?;
        if !hole.is_closed() {
            return Err(open_contour(name, "cut-out", &hole));
        }
        panel.cutouts.push(hole);
    }
    let lines = form.internal_lines.iter();
    panel.internal_lines =
        lines.map(|line| contour(name, "internal line", line, units)).collect::<Result<_>>()?;
    let notches = form.notches.iter();
    panel.notches =
        notches.map(|notch| read_notch(name, notch, &panel, units)).collect::<Result<_>>()?;
    panel.grain = form.grain.map_or(panel.grain, f64::to_radians);
    panel.placement = placement(&form, units);
    panel.edge_length = form.edge_length.map(|length| length * units.metres);
    panel.fabric = form.fabric;
    panel.label = form.label;
    Ok(if units.is_centred { centred(panel) } else { panel })
}

fn open_contour(panel: &str, kind: &str, contour: &Contour) -> Error {
    let last = contour.edges.len().saturating_sub(1);
    let found = format!("the {kind} is open behind it");
    panel_error(panel, Some(last), found, "an edge that ends where the first one starts")
}

fn placement(form: &PanelForm, units: &Units) -> Placement {
    let [roll, pitch, yaw] = form.rotation.map(f64::to_radians);
    let rotation = upright() * UnitQuaternion::from_euler_angles(roll, pitch, yaw);
    let translation = upright() * Vec3::from(form.translation) * units.metres;
    Placement { rotation, translation }
}

/// The panel with its origin in the mean of the ends of its edges, as `normalize_panel_translation` asks.
fn centred(panel: Panel) -> Panel {
    let points = &panel.outline.points;
    let sum = points.iter().fold(Vec2::ZERO, |sum, point| sum + point.to_vec2());
    let mean = sum / points.len().max(1) as f64;
    let moved = |contour: &Contour| contour.mapped(1.0, |point| point - mean);
    let offset = upright() * Vec3::new(mean.x, mean.y, 0.0);
    Panel {
        outline: moved(&panel.outline),
        cutouts: panel.cutouts.iter().map(moved).collect(),
        internal_lines: panel.internal_lines.iter().map(moved).collect(),
        placement: Placement {
            translation: panel.placement.translation + offset,
            ..panel.placement
        },
        ..panel
    }
}

fn contour(panel: &str, kind: &str, form: &ContourForm, units: &Units) -> Result<Contour> {
    let vertices: Vec<Point> = form.vertices.iter().map(|vertex| units.point(*vertex)).collect();
    let mut contour = Contour::default();
    let mut ends = Vec::new();
    for (index, value) in form.edges.iter().enumerate() {
        let form: EdgeForm = field(panel, Some(index), value)?;
        let refused = |found: String, wanted: &str| panel_error(panel, Some(index), found, wanted);
        let [from, to] = form.endpoints;
        if from.max(to) >= vertices.len() {
            let wanted = format!("a vertex below {}", vertices.len());
            return Err(refused(format!("endpoint {} in the {kind}", from.max(to)), &wanted));
        }
        if ends.last().is_some_and(|last| *last != from) {
            let found = format!("starts at vertex {from}: the {kind} is open before it");
            return Err(refused(found, "an edge that starts where the one before it ends"));
        }
        ends.push(to);
        contour.points.push(vertices[from]);
        let between = [vertices[from], vertices[to]];
        let curve =
            form.curvature.map_or(Curve::Line, |curvature| curve(&curvature, between, units));
        contour.edges.push(Edge { curve, label: form.label });
    }
    let Some(last) = ends.last() else {
        return Err(panel_error(
            panel,
            None,
            format!("no edge in the {kind}"),
            "at least two edges",
        ));
    };
    // A contour that ends in its first vertex is closed.
    if vertices[*last] != contour.points[0] {
        contour.points.push(vertices[*last]);
    }
    Ok(contour)
}

fn curve(form: &CurvatureForm, ends: [Point; 2], units: &Units) -> Curve {
    match form {
        CurvatureForm::Control(control) => Curve::Quadratic(units.control(*control, ends)),
        CurvatureForm::Typed(CurveForm::Quadratic([control])) => {
            Curve::Quadratic(units.control(*control, ends))
        }
        CurvatureForm::Typed(CurveForm::Cubic([first, second])) => {
            Curve::Cubic(units.control(*first, ends), units.control(*second, ends))
        }
        CurvatureForm::Typed(CurveForm::Circle(radius, large, positive)) => Curve::Arc {
            radius: radius * units.metres,
            is_large: *large != 0.0,
            is_positive: *positive != 0.0,
        },
        CurvatureForm::Typed(CurveForm::Polyline(points)) => {
            Curve::Polyline(points.iter().map(|point| units.control(*point, ends)).collect())
        }
    }
}

fn read_notch(name: &str, form: &NotchForm, panel: &Panel, units: &Units) -> Result<Notch> {
    let count = panel.outline.edges.len();
    if form.edge >= count {
        let found = format!("a notch at edge {}", form.edge);
        return Err(panel_error(name, None, found, &format!("an edge below {count}")));
    }
    let kind = form.kind.as_deref().unwrap_or(NotchKind::Slit.name());
    let names = NotchKind::NAMES;
    let Some((kind, _)) = names.iter().find(|(_, known)| *known == kind) else {
        return Err(Error::unknown(
            format!("notch of panel \"{name}\""),
            kind,
            &names.map(|n| n.1),
        ));
    };
    Ok(Notch {
        edge: form.edge,
        position: form.position,
        depth: form.depth * units.metres,
        kind: *kind,
    })
}

fn stitch(index: usize, value: &Value, panels: &[Panel]) -> Result<Stitch> {
    let refused = |found: String| {
        let wanted = "two sides {panel, edge}, and \"right_wrong\" if right sides do not meet";
        Error::element("stitches", "stitch", index, found, wanted)
    };
    let parts = value.as_array().ok_or_else(|| refused("no list".to_owned()))?;
    let is_turned = match parts.get(2).map(Value::as_str) {
        None => false,
        Some(Some("right_wrong")) => true,
        Some(_) => return Err(refused(parts[2].to_string())),
    };
    if !(2..=3).contains(&parts.len()) {
        return Err(refused(format!("{} parts", parts.len())));
    }
    let side = |part: usize| -> Result<SideForm> {
        SideForm::deserialize(&parts[part]).map_err(|cause| refused(cause.to_string()))
    };
    let (first, second) = (side(0)?, side(1)?);
    Ok(Stitch {
        runs: [run(index, &first, panels)?, run(index, &second, panels)?],
        is_reversed: second.reversed.unwrap_or(!is_turned),
        ratio: second.ratio,
        label: second.label,
    })
}

fn run(stitch: usize, form: &SideForm, panels: &[Panel]) -> Result<Run> {
    let panel = panel_by_name(panels, &format!("stitch {stitch}"), &form.panel)?;
    let edges = match (&form.edges, form.edge) {
        (Some(edges), _) => edges.clone(),
        (None, Some(edge)) => vec![edge],
        (None, None) => Vec::new(),
    };
    Ok(Run { panel, cutout: form.cutout, edges })
}
