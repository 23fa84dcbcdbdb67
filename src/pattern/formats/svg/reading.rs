// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the paths of a page to a pattern.

use super::{
    super::drawing::{DrawnNotch, DrawnPiece},
    page::{Drawn, Role, paths},
    seams::stitches,
};
use crate::{
    error::{Error, Result},
    pattern::{Contour, NotchKind, Pattern},
};
use kurbo::{ParamCurve as _, Point};

/// Reads a pattern.
pub(in crate::pattern::formats) fn parse(text: &str) -> Result<Pattern> {
    let drawn = paths(text)?;
    let mut pieces: Vec<DrawnPiece> = Vec::new();
    for (index, path) in drawn.iter().enumerate().filter(|(_, path)| is_panel(path)) {
        pieces.push(DrawnPiece {
            name: unique_name(&path.name, index, &pieces),
            outline: contour(path),
            ..DrawnPiece::default()
        });
    }
    if pieces.is_empty() {
        return Err(Error::value("svg", "no closed path", "a closed path for each panel"));
    }
    let mut seams: Vec<&Drawn> = Vec::new();
    for path in drawn.iter().filter(|path| !is_panel(path)) {
        match path.role {
            Role::Seam => seams.push(path),
            _ => add(path, &mut pieces)?,
        }
    }
    let stitches = stitches(&seams, &pieces)?;
    let panels = pieces.into_iter().map(DrawnPiece::panel).collect::<Result<_>>()?;
    Ok(Pattern { panels, stitches })
}

fn is_panel(path: &Drawn) -> bool {
    path.role == Role::Panel && path.is_closed && !path.is_further
}

fn unique_name(name: &str, index: usize, pieces: &[DrawnPiece]) -> String {
    let is_free = |name: &str| pieces.iter().all(|piece| piece.name != name);
    if !name.is_empty() && is_free(name) { name.to_owned() } else { format!("{name}#{index}") }
}

fn contour(path: &Drawn) -> Contour {
    Contour::from_segments(&path.segments, path.is_closed)
}

/// Adds a path to the piece that it lies in.
fn add(path: &Drawn, pieces: &mut [DrawnPiece]) -> Result<()> {
    let first = path.segments[0];
    let points = [first.start(), first.eval(0.5)];
    let Some(piece) = piece_around(points, pieces) else {
        let role = format!("<path> \"{}\"", path.name);
        return Err(Error::value(role, "in no closed path", "a place inside a panel"));
    };
    match path.role {
        Role::Grain => piece.grain = Some([first.start(), first.end()]),
        Role::Notch => {
            let depth = (first.end() - first.start()).hypot();
            let ends = [first.start(), first.end()];
            let distance = |point: &Point| {
                piece.outline.nearest(*point).map_or(f64::INFINITY, |near| near.distance)
            };
            let point = if distance(&ends[0]) <= distance(&ends[1]) { ends[0] } else { ends[1] };
            piece.notches.push(DrawnNotch { point, depth, kind: NotchKind::Slit });
        }
        // A further part of the path of a panel is a hole in it.
        Role::Cutout | Role::Panel if path.is_closed => piece.cutouts.push(contour(path)),
        Role::Cutout => {
            let subject = format!("<path> \"{}\"", path.name);
            return Err(Error::value(subject, "an open cut-out", "a closed path"));
        }
        Role::Panel | Role::Internal | Role::Seam => piece.internal_lines.push(contour(path)),
    }
    Ok(())
}

/// The smallest piece that contains one of the points; else, as for notches, the nearest.
fn piece_around(points: [Point; 2], pieces: &mut [DrawnPiece]) -> Option<&mut DrawnPiece> {
    let polygon = |piece: &DrawnPiece| -> Vec<Point> {
        (0..piece.outline.edges.len()).flat_map(|edge| piece.outline.flattened(edge)).collect()
    };
    let contains = |piece: &DrawnPiece| {
        let polygon = polygon(piece);
        points.iter().any(|point| crate::pattern::validation::encloses(&polygon, *point))
    };
    let distance = |piece: &DrawnPiece| {
        piece.outline.nearest(points[0]).map_or(f64::INFINITY, |near| near.distance)
    };
    let around = (0..pieces.len()).filter(|index| contains(&pieces[*index]));
    let area = |index: &usize| pieces[*index].outline.signed_area().abs();
    let smallest = around.min_by(|one, other| area(one).total_cmp(&area(other)));
    let near = |index: &usize| distance(&pieces[*index]) < 1e-3;
    let index = smallest.or_else(|| (0..pieces.len()).find(near))?;
    pieces.get_mut(index)
}
