// SPDX-License-Identifier: MIT OR Apache-2.0
//! A page with all panels at 1:1, in millimetres: outlines, cut-outs, internal lines, grain, notches, seams and names.

use crate::pattern::{Arclength, Contour, Notch, Panel, Pattern, Run};
use kurbo::{Affine, BezPath, Point, Rect, Shape as _, Vec2};
use std::{f64::consts::TAU, fmt::Write as _};

/// Millimetres in a metre.
const MILLIMETRES: f64 = 1000.0;
/// Space between panels and around them, in m.
const MARGIN: f64 = 0.03;
/// Widest row of panels, in m: the usual width of cloth.
const ROW: f64 = 1.5;
/// Length of the grain line over the extent of a panel along it.
const GRAIN: f64 = 0.5;
/// Depth of a notch that states none, in m.
const NOTCH: f64 = 0.005;
const HEAD: &str = r#"<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z"/></marker></defs>
<style>path,line{fill:none;stroke:#000;stroke-width:.5}.internal{stroke-dasharray:4 2}.seam{stroke-width:1.5;stroke-opacity:.5}text{font:8px sans-serif}</style>
"#;

/// Place of a panel on the page.
struct Placed<'panel> {
    panel: &'panel Panel,
    /// From the panel in m, y up, to the page in mm, y down.
    to_page: Affine,
    centre: Point,
}

/// Text of the page of a pattern.
pub(in crate::pattern::formats) fn text(pattern: &Pattern) -> String {
    let mut placed = Vec::new();
    let (mut corner, mut row_height, mut width) = (Point::new(MARGIN, MARGIN), 0.0_f64, 0.0_f64);
    for panel in &pattern.panels {
        let bounds = bounds(panel);
        if corner.x > MARGIN && corner.x + bounds.width() > ROW {
            corner = Point::new(MARGIN, corner.y + row_height + MARGIN);
            row_height = 0.0;
        }
        let offset = corner - Point::new(bounds.x0, -bounds.y1);
        let to_page = Affine::scale(MILLIMETRES) * Affine::translate(offset) * Affine::FLIP_Y;
        placed.push(Placed { panel, to_page, centre: bounds.center() });
        corner.x += bounds.width() + MARGIN;
        row_height = row_height.max(bounds.height());
        width = width.max(corner.x);
    }
    let size = [width, corner.y + row_height + MARGIN].map(|length| length * MILLIMETRES);
    let mut page = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}mm\" height=\"{1}mm\" viewBox=\"0 0 {0} {1}\">\n{HEAD}",
        size[0], size[1]
    );
    for placed in &placed {
        write_panel(&mut page, placed);
    }
    for (index, stitch) in pattern.stitches.iter().enumerate() {
        let [first, second] = &stitch.runs;
        let is_own = |label: &&String| {
            pattern.stitches.iter().filter(|other| other.label.as_ref() == Some(*label)).count()
                == 1
        };
        let label = stitch.label.as_ref().filter(is_own);
        let name = label.cloned().unwrap_or_else(|| format!("seam {index}"));
        write_seam(&mut page, &placed[first.panel], first, false, &name, index);
        write_seam(&mut page, &placed[second.panel], second, stitch.is_reversed, &name, index);
    }
    page + "</svg>\n"
}

fn bounds(panel: &Panel) -> Rect {
    let boxes = panel.outline.all_segments().map(|segment| segment.bounding_box());
    boxes.reduce(|one, other| one.union(other)).unwrap_or_default()
}

fn write_panel(page: &mut String, placed: &Placed<'_>) {
    let Placed { panel, to_page, centre } = placed;
    let name = escaped(&panel.name);
    // Writing to a string does not fail.
    let _ = writeln!(page, "<g>\n<path id=\"{name}\" d=\"{}\"/>", data(&panel.outline, *to_page));
    for (class, contours) in [("cut", &panel.cutouts), ("internal", &panel.internal_lines)] {
        for contour in contours {
            let _ = writeln!(page, "<path class=\"{class}\" d=\"{}\"/>", data(contour, *to_page));
        }
    }
    let [from, to] = grain_line(panel, *centre).map(|end| *to_page * end);
    let _ = writeln!(
        page,
        "<line class=\"grain\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" marker-start=\"url(#arrow)\" marker-end=\"url(#arrow)\"/>",
        from.x, from.y, to.x, to.y
    );
    for notch in &panel.notches {
        let [from, to] = notch_line(panel, notch).map(|end| *to_page * end);
        let _ = writeln!(
            page,
            "<line class=\"notch\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            from.x, from.y, to.x, to.y
        );
    }
    let at = *to_page * *centre;
    let _ = writeln!(page, "<text x=\"{}\" y=\"{}\">{name}</text>\n</g>", at.x + 3.0, at.y);
}

fn data(contour: &Contour, to_page: Affine) -> String {
    let mut path = BezPath::from_path_segments(contour.all_segments());
    if contour.is_closed() {
        path.close_path();
    }
    (to_page * path).to_svg()
}

/// A line along the grain through a point, half as long as the panel there.
fn grain_line(panel: &Panel, centre: Point) -> [Point; 2] {
    let along = Vec2::from_angle(panel.grain);
    let places = panel.outline.points.iter().map(|point| (*point - centre).dot(along).abs());
    let reach = GRAIN * places.fold(0.0, f64::max);
    [centre - reach * along, centre + reach * along]
}

/// A line from the outline into the panel.
fn notch_line(panel: &Panel, notch: &Notch) -> [Point; 2] {
    let along = Arclength::new(panel.outline.segments(notch.edge));
    let place = notch.position * along.length();
    let inward = along.tangent(place).turn_90() * if panel.is_clockwise() { -1.0 } else { 1.0 };
    let depth = if notch.depth > 0.0 { notch.depth } else { NOTCH };
    [along.at(place), along.at(place) + depth * inward]
}

fn write_seam(
    page: &mut String,
    placed: &Placed<'_>,
    run: &Run,
    is_against: bool,
    name: &str,
    index: usize,
) {
    let Some(contour) = placed.panel.contour(run.cutout) else { return };
    let segments = run.edges_of(contour).flat_map(|edge| contour.segments(edge));
    let path = BezPath::from_path_segments(segments);
    let path = if is_against { path.reverse_subpaths() } else { path };
    let [red, green, blue] = color(index);
    let _ = writeln!(
        page,
        "<path class=\"seam\" data-seam=\"{}\" style=\"stroke:rgb({red},{green},{blue})\" d=\"{}\"/>",
        escaped(name),
        (placed.to_page * path).to_svg()
    );
}

/// A color of a seam, far from those of its neighbours in the list.
#[expect(clippy::cast_sign_loss, reason = "it is not negative")]
fn color(index: usize) -> [u8; 3] {
    const GOLDEN_ANGLE: f64 = 2.399_963;
    let hue = index as f64 * GOLDEN_ANGLE;
    [0.0, 1.0, 2.0].map(|channel| {
        let light = 0.5 + 0.5 * (hue - channel * TAU / 3.0).cos();
        (light * 255.0) as u8
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
