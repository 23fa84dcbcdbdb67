// SPDX-License-Identifier: MIT OR Apache-2.0
//! Elements of an SVG page as paths in m, y up, with the role that their names give them.

use super::super::drawing::SAME;
use crate::error::{Error, Result};
use kurbo::{Affine, BezPath, Circle, Ellipse, ParamCurve as _, PathSeg, Point, Rect, Shape as _};
use roxmltree::{Document, Node};
use std::str::FromStr as _;
use svgtypes::{Length, LengthUnit, PointsParser, Transform, ViewBox};

/// Pixels of CSS in a metre.
const PIXELS: f64 = 96.0 / 0.0254;
const INKSCAPE: &str = "http://www.inkscape.org/namespaces/inkscape";
/// Deviation of circles that become cubics, over their radius.
const ROUND: f64 = 1e-6;

/// What an element stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Panel,
    Grain,
    Notch,
    Cutout,
    Internal,
    Seam,
}

const ROLES: [(&str, Role); 5] = [
    ("grain", Role::Grain),
    ("notch", Role::Notch),
    ("cut", Role::Cutout),
    ("internal", Role::Internal),
    ("seam", Role::Seam),
];

/// A connected path of the page.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    pub(super) role: Role,
    pub(super) name: String,
    /// What pairs seams: `data-seam`, or else the stroke colour.
    pub(super) seam: Option<String>,
    pub(super) segments: Vec<PathSeg>,
    pub(super) is_closed: bool,
    /// Whether it is a further part of the path before it: a hole.
    pub(super) is_further: bool,
}

/// All paths of a page.
pub(super) fn paths(text: &str) -> Result<Vec<Drawn>> {
    let document = Document::parse(text).map_err(|cause| Error::value("svg", cause, "SVG"))?;
    let root = document.root_element();
    if root.tag_name().name() != "svg" {
        return Err(Error::value("svg", format!("<{}>", root.tag_name().name()), "<svg>"));
    }
    let mut drawn = Vec::new();
    collect(root, page_transform(root)?, Role::Panel, &mut drawn)?;
    Ok(drawn)
}

/// From user units to m, with y up.
fn page_transform(root: Node<'_, '_>) -> Result<Affine> {
    let malformed = |name: &str, value: &str| Error::value(name, value, "as SVG writes it");
    let length = |name: &str| -> Result<Option<f64>> {
        let Some(value) = root.attribute(name) else { return Ok(None) };
        let length = Length::from_str(value).map_err(|_| malformed(name, value))?;
        Ok(in_metres(length))
    };
    let (width, height) = (length("width")?, length("height")?);
    let scale = match root.attribute("viewBox") {
        None => 1.0 / PIXELS,
        Some(value) => {
            let view = ViewBox::from_str(value).map_err(|_| malformed("viewBox", value))?;
            let by_width = width.map(|width| width / view.w);
            by_width.or(height.map(|height| height / view.h)).unwrap_or(1.0 / PIXELS)
        }
    };
    Ok(Affine::scale_non_uniform(scale, -scale))
}

/// A length in m, unless it depends on a window or a font.
fn in_metres(length: Length) -> Option<f64> {
    let metres = match length.unit {
        LengthUnit::None | LengthUnit::Px => 1.0 / PIXELS,
        LengthUnit::In => 0.0254,
        LengthUnit::Cm => 0.01,
        LengthUnit::Mm => 0.001,
        LengthUnit::Pt => 0.0254 / 72.0,
        LengthUnit::Pc => 0.0254 / 6.0,
        LengthUnit::Percent | LengthUnit::Em | LengthUnit::Ex => return None,
    };
    Some(length.number * metres)
}

fn collect(node: Node<'_, '_>, outer: Affine, role: Role, drawn: &mut Vec<Drawn>) -> Result<()> {
    let is_hidden = node.attribute("display") == Some("none")
        || node
            .attribute("style")
            .is_some_and(|style| style.replace(' ', "").contains("display:none"));
    let kind = node.tag_name().name();
    if is_hidden
        || !node.is_element()
        || matches!(kind, "defs" | "symbol" | "clipPath" | "mask" | "marker" | "pattern")
    {
        return Ok(());
    }
    let transform = outer * own_transform(node)?;
    let role = own_role(node).unwrap_or(role);
    if let Some(path) = shape(node)? {
        add(node, &(transform * path), role, drawn);
    }
    for child in node.children() {
        collect(child, transform, role, drawn)?;
    }
    Ok(())
}

fn own_transform(node: Node<'_, '_>) -> Result<Affine> {
    let Some(value) = node.attribute("transform") else { return Ok(Affine::IDENTITY) };
    let Transform { a, b, c, d, e, f } =
        Transform::from_str(value).map_err(|_| refused(node, "transform", value))?;
    Ok(Affine::new([a, b, c, d, e, f]))
}

fn own_role(node: Node<'_, '_>) -> Option<Role> {
    if node.has_attribute("data-seam") {
        return Some(Role::Seam);
    }
    let words =
        [node.attribute("class"), node.attribute((INKSCAPE, "label")), node.attribute("id")];
    words.into_iter().flatten().find_map(|word| {
        let word = word.to_lowercase();
        ROLES.iter().find(|(start, _)| word.starts_with(start)).map(|(_, role)| *role)
    })
}

fn label<'node>(node: Node<'node, '_>) -> &'node str {
    node.attribute((INKSCAPE, "label")).or(node.attribute("id")).unwrap_or_default()
}

fn refused(node: Node<'_, '_>, attribute: &str, found: &str) -> Error {
    let name = label(node);
    let subject = format!("<{}> \"{name}\": {attribute}", node.tag_name().name());
    let shown: String = found.chars().take(60).collect();
    Error::value(subject, format!("\"{shown}\""), "as SVG writes it")
}

/// Path of an element in its own units.
fn shape(node: Node<'_, '_>) -> Result<Option<BezPath>> {
    let number = |name: &str| -> Result<f64> {
        let Some(value) = node.attribute(name) else { return Ok(0.0) };
        let length = Length::from_str(value).map_err(|_| refused(node, name, value))?;
        Ok(in_metres(length).ok_or_else(|| refused(node, name, value))? * PIXELS)
    };
    let path = match node.tag_name().name() {
        "path" => {
            let data = node.attribute("d").unwrap_or_default();
            BezPath::from_svg(data).map_err(|_| refused(node, "d", data))?
        }
        "polygon" | "polyline" => {
            let data = node.attribute("points").unwrap_or_default();
            polygon(data, node.tag_name().name() == "polygon")
        }
        "line" => {
            let mut path = BezPath::new();
            path.move_to((number("x1")?, number("y1")?));
            path.line_to((number("x2")?, number("y2")?));
            path
        }
        "rect" => {
            let (x, y) = (number("x")?, number("y")?);
            Rect::new(x, y, x + number("width")?, y + number("height")?).to_path(ROUND)
        }
        "circle" => {
            let radius = number("r")?;
            Circle::new((number("cx")?, number("cy")?), radius).to_path(ROUND * radius)
        }
        "ellipse" => {
            let radii = (number("rx")?, number("ry")?);
            let ellipse = Ellipse::new((number("cx")?, number("cy")?), radii, 0.0);
            ellipse.to_path(ROUND * radii.0.max(radii.1))
        }
        _ => return Ok(None),
    };
    Ok(Some(path))
}

fn polygon(data: &str, is_closed: bool) -> BezPath {
    let mut path = BezPath::new();
    for (index, point) in PointsParser::from(data).enumerate() {
        if index == 0 { path.move_to(point) } else { path.line_to(point) }
    }
    if is_closed && !path.is_empty() {
        path.close_path();
    }
    path
}

/// Adds each connected part of a path.
fn add(node: Node<'_, '_>, path: &BezPath, role: Role, drawn: &mut Vec<Drawn>) {
    for (index, part) in path.subpaths().enumerate() {
        let has_length = |segment: &PathSeg| {
            (segment.end() - segment.start()).hypot() > SAME || !matches!(segment, PathSeg::Line(_))
        };
        let mut segments: Vec<PathSeg> =
            kurbo::segments(part.iter().copied()).filter(has_length).collect();
        let (Some(first), Some(last)) = (segments.first(), segments.last()) else { continue };
        let start = first.start();
        let is_closed = (last.end() - start).hypot() < SAME;
        if let Some(last) = segments.last_mut().filter(|_| is_closed) {
            set_end(last, start);
        }
        drawn.push(Drawn {
            role,
            name: label(node).to_owned(),
            seam: node.attribute("data-seam").map(ToOwned::to_owned).or_else(|| stroke(node)),
            segments,
            is_closed,
            is_further: index > 0,
        });
    }
}

fn set_end(segment: &mut PathSeg, end: Point) {
    match segment {
        PathSeg::Line(line) => line.p1 = end,
        PathSeg::Quad(quad) => quad.p2 = end,
        PathSeg::Cubic(cubic) => cubic.p3 = end,
    }
}

fn stroke(node: Node<'_, '_>) -> Option<String> {
    let style = node.attribute("style").unwrap_or_default();
    let mut entries = style.split(';').filter_map(|entry| entry.split_once(':'));
    let styled = entries.find(|(name, _)| name.trim() == "stroke").map(|(_, value)| value.trim());
    styled.or(node.attribute("stroke")).map(ToOwned::to_owned)
}
