// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stitches from paths that are drawn over the edges which they sew.

use super::{super::drawing::DrawnPiece, page::Drawn};
use crate::{
    error::{Error, Result},
    pattern::{Contour, Run, Stitch},
};
use kurbo::{ParamCurve as _, Point};

/// Farthest that a seam may lie from the corners and edges that it is drawn over, in m.
const ON_EDGE: f64 = 1e-3;

/// A seam path: the run below it, and whether it is drawn against the outline.
struct DrawnRun {
    run: Run,
    is_against: bool,
}

/// Stitches of all seam paths, in the order of their first paths.
pub(super) fn stitches(paths: &[&Drawn], pieces: &[DrawnPiece]) -> Result<Vec<Stitch>> {
    let mut names: Vec<&str> = Vec::new();
    for path in paths {
        let Some(name) = path.seam.as_deref() else {
            let found = format!("path \"{}\" without", path.name);
            return Err(Error::value("data-seam", found, "one name for both paths of a seam"));
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.into_iter().map(|name| stitch(name, paths, pieces)).collect()
}

fn stitch(name: &str, paths: &[&Drawn], pieces: &[DrawnPiece]) -> Result<Stitch> {
    let own: Vec<&&Drawn> =
        paths.iter().filter(|path| path.seam.as_deref() == Some(name)).collect();
    let [first, second] = own[..] else {
        let subject = format!("seam \"{name}\"");
        return Err(Error::value(subject, format!("{} paths", own.len()), "two"));
    };
    let (first, second) = (run_below(name, first, pieces)?, run_below(name, second, pieces)?);
    // Both paths start where the seam does.
    let is_reversed = first.is_against != second.is_against;
    Ok(Stitch {
        runs: [first.run, second.run],
        is_reversed,
        ratio: None,
        label: Some(name.to_owned()),
    })
}

fn run_below(name: &str, path: &Drawn, pieces: &[DrawnPiece]) -> Result<DrawnRun> {
    let start = path.segments[0].start();
    let middle = path.segments[path.segments.len() / 2].eval(0.5);
    let end = path.segments[path.segments.len() - 1].end();
    for (panel, piece) in pieces.iter().enumerate() {
        for (contour_index, contour) in
            std::iter::once(&piece.outline).chain(&piece.cutouts).enumerate()
        {
            let (Some(from), Some(to)) = (corner(contour, start), corner(contour, end)) else {
                continue;
            };
            for (is_against, [first, last]) in [(false, [from, to]), (true, [to, from])] {
                let edges = edges_between(contour, first, last);
                if lies_on(contour, &edges, middle) {
                    let cutout = contour_index.checked_sub(1);
                    return Ok(DrawnRun { run: Run { panel, cutout, edges }, is_against });
                }
            }
        }
    }
    let found =
        format!("a path from ({:.4}, {:.4}) m to ({:.4}, {:.4}) m", start.x, start.y, end.x, end.y);
    Err(Error::value(
        format!("seam \"{name}\""),
        found,
        "one over edges of a panel, from corner to corner",
    ))
}

/// The corner of a contour at a point.
fn corner(contour: &Contour, point: Point) -> Option<usize> {
    let distance = |corner: &usize| (contour.points[*corner] - point).hypot();
    let nearest =
        (0..contour.points.len()).min_by(|one, other| distance(one).total_cmp(&distance(other)));
    nearest.filter(|corner| distance(corner) < ON_EDGE)
}

fn edges_between(contour: &Contour, first: usize, last: usize) -> Vec<usize> {
    let count = contour.edges.len();
    let length = (last + count - first - 1) % count + 1;
    (0..length).map(|step| (first + step) % count).collect()
}

fn lies_on(contour: &Contour, edges: &[usize], point: Point) -> bool {
    let nearest = contour.nearest(point);
    nearest.is_some_and(|near| near.distance < ON_EDGE && edges.contains(&near.edge))
}
