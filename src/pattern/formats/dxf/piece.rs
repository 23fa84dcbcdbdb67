// SPDX-License-Identifier: MIT OR Apache-2.0
//! From blocks to panels.

use super::{
    entities::{Chain, Entities, Mark},
    groups::{Record, records},
    mirror::MirrorLine,
};
use crate::{
    error::{Error, Result},
    pattern::{
        Contour, Curve, Edge, NotchKind, Pattern,
        formats::drawing::{DrawnNotch, DrawnPiece},
        panel_error,
    },
};
use kurbo::Point;

/// Choices in reading outlines that the standard leaves open.
#[derive(Clone, Copy, Debug)]
struct OutlineParameters {
    /// Turn from which a point is the end of an edge, in pieces without turn points (degrees). Effect: larger joins
    /// edges; smaller splits curves. Evidence: `sharp_turns_end_edges_where_no_turn_points_do`; a quarter circle of 8
    /// pieces turns by 11° at each.
    corner_turn: f64,
    /// Distance within which points are the same, in m. Effect: larger merges points that are apart; smaller leaves
    /// chains open that were rounded. Evidence: files have three or four decimals, in mm or inches;
    /// `sewing_lines_are_joined`.
    same_point: f64,
}

impl OutlineParameters {
    const DEFAULT: Self = Self { corner_turn: 25.0, same_point: 2e-4 };
}

const OUTLINE: u32 = 1;
const TURN_POINTS: u32 = 2;
const MIRROR: u32 = 6;
const GRAIN: u32 = 7;
const INTERNAL: u32 = 8;
const CUTOUTS: u32 = 11;
const SEWING: u32 = 14;
const NOTCHES: [(u32, NotchKind); 5] = [
    (4, NotchKind::V),
    (80, NotchKind::T),
    (81, NotchKind::Castle),
    (82, NotchKind::Check),
    (83, NotchKind::U),
];

/// Reads a pattern.
pub(in crate::pattern::formats) fn parse(text: &str) -> Result<Pattern> {
    let records = records(text)?;
    let everything = Entities::new(&records)?;
    let scale = metres(&everything, &records)?;
    let mut pieces: Vec<DrawnPiece> = Vec::new();
    for block in blocks(&records) {
        let entities = Entities::new(&block[1..])?;
        if entities.on(OUTLINE).chain(entities.on(SEWING)).next().is_some() {
            let code = block[0].text(2).unwrap_or_default();
            let stated = entities.value("piece name").filter(|name| !name.is_empty());
            let is_free = |name: &&str| pieces.iter().all(|piece| piece.name != *name);
            let name = stated.filter(is_free).unwrap_or(code).to_owned();
            pieces.push(Block { name, entities: scaled(entities, scale) }.piece()?);
        }
    }
    if pieces.is_empty() {
        return Err(Error::value("dxf", "no block with an outline", "polylines on layer 1 or 14"));
    }
    let panels = pieces.into_iter().map(DrawnPiece::panel).collect::<Result<_>>()?;
    Ok(Pattern { panels, stitches: Vec::new() })
}

/// Records of each block.
fn blocks<'records, 'text>(records: &'records [Record<'text>]) -> Vec<&'records [Record<'text>]> {
    let starts = (0..records.len()).filter(|index| records[*index].name == "BLOCK");
    let end = |start: usize| {
        let behind = records[start..].iter().position(|record| record.name == "ENDBLK");
        start + behind.unwrap_or(records.len() - start)
    };
    starts.map(|start| &records[start..end(start)]).collect()
}

/// Units of the file in m.
fn metres(everything: &Entities, records: &[Record<'_>]) -> Result<f64> {
    let wanted = "a text \"Units: METRIC\" (mm) or \"Units: ENGLISH\" (inches)";
    match everything.value("units").map(str::to_uppercase).as_deref() {
        Some("METRIC" | "MM") => return Ok(1e-3),
        Some("ENGLISH" | "INCH" | "INCHES") => return Ok(0.0254),
        Some(other) => return Err(Error::value("dxf units", format!("\"{other}\""), wanted)),
        None => {}
    }
    match stated_units(records) {
        Some("1") => Ok(0.0254),
        Some("4") => Ok(1e-3),
        Some("5") => Ok(1e-2),
        _ => Err(Error::value("dxf units", "none stated", wanted)),
    }
}

/// Value of the header variable $INSUNITS.
fn stated_units<'text>(records: &[Record<'text>]) -> Option<&'text str> {
    let header = records.iter().find(|record| record.text(2) == Some("HEADER"))?;
    let place = header.groups.iter().position(|group| group.value == "$INSUNITS")?;
    header.groups.get(place + 1).map(|group| group.value)
}

fn scaled(entities: Entities, scale: f64) -> Entities {
    let point = |point: Point| (scale * point.to_vec2()).to_point();
    Entities {
        chains: entities
            .chains
            .into_iter()
            .map(|chain| Chain { points: chain.points.into_iter().map(point).collect(), ..chain })
            .collect(),
        marks: entities
            .marks
            .into_iter()
            .map(|mark| Mark { point: point(mark.point), depth: scale * mark.depth, ..mark })
            .collect(),
        texts: entities.texts,
    }
}

/// A block in m.
struct Block {
    name: String,
    entities: Entities,
}

impl Block {
    fn piece(&self) -> Result<DrawnPiece> {
        let mirror = self.mirror()?;
        let mut outline = self.outline(mirror.as_ref())?;
        if let Some(line) = &mirror {
            let tolerance = OutlineParameters::DEFAULT.same_point;
            outline = line.unfolded(&outline, tolerance).ok_or_else(|| {
                let wanted = "one edge of the outline on the mirror line";
                panel_error(&self.name, None, "a mirror line off the outline".to_owned(), wanted)
            })?;
        }
        let turns = Self::both_sides(mirror.as_ref(), self.turn_points());
        let mut piece = DrawnPiece {
            name: self.name.clone(),
            outline: edges(&outline, &turns, true),
            notches: self.notches(mirror.as_ref()),
            grain: self
                .entities
                .on(GRAIN)
                .next()
                .map(|chain| [chain.points[0], chain.points[chain.points.len() - 1]]),
            ..DrawnPiece::default()
        };
        for chain in self.entities.on(CUTOUTS) {
            for side in Self::chain_sides(mirror.as_ref(), chain) {
                piece.cutouts.push(edges(&self.closed(&side)?, &turns, true));
            }
        }
        for chain in self.entities.on(INTERNAL) {
            for side in Self::chain_sides(mirror.as_ref(), chain) {
                let points = without_repeats(&side.points);
                piece.internal_lines.push(edges(&points, &turns, side.is_closed));
            }
        }
        Ok(piece)
    }

    fn mirror(&self) -> Result<Option<MirrorLine>> {
        let Some(chain) = self.entities.on(MIRROR).next() else { return Ok(None) };
        let line = MirrorLine::new(chain.points[0], chain.points[chain.points.len() - 1]);
        let found = || {
            panel_error(
                &self.name,
                None,
                "a mirror line without length".to_owned(),
                "two ends apart",
            )
        };
        Ok(Some(line.ok_or_else(found)?))
    }

    /// The sewing line if there is one, otherwise the outline.
    fn outline(&self, mirror: Option<&MirrorLine>) -> Result<Vec<Point>> {
        let layer = if self.entities.on(SEWING).next().is_some() { SEWING } else { OUTLINE };
        let mut waiting: Vec<&Chain> = self.entities.on(layer).collect();
        let mut joined = waiting.remove(0).clone();
        while let Some(found) = waiting.iter().position(|chain| follows(&joined, chain)) {
            append(&mut joined, waiting.remove(found));
        }
        // A half piece may end on the line that it is folded along.
        let tolerance = OutlineParameters::DEFAULT.same_point;
        let ends = [joined.points[0], joined.points[joined.points.len() - 1]];
        if mirror.is_some_and(|line| ends.iter().all(|end| line.has(*end, tolerance))) {
            joined.is_closed = true;
        }
        self.closed(&joined)
    }

    /// Points of a closed chain, its first one not repeated.
    fn closed(&self, chain: &Chain) -> Result<Vec<Point>> {
        let points = without_repeats(&chain.points);
        let ends = [points[0], points[points.len() - 1]];
        let is_same = are_same(ends[0], ends[1]);
        if !(chain.is_closed || is_same) {
            let found = format!(
                "a contour of layer {} that is open between ({:.4}, {:.4}) m and ({:.4}, {:.4}) m",
                chain.layer, ends[0].x, ends[0].y, ends[1].x, ends[1].y
            );
            return Err(panel_error(&self.name, None, found, "a closed one"));
        }
        let kept = points.len() - usize::from(is_same && points.len() > 1);
        Ok(points[..kept].to_vec())
    }

    fn turn_points(&self) -> Vec<Point> {
        let marks = self.entities.marks.iter().filter(|mark| mark.layer == TURN_POINTS);
        marks.map(|mark| mark.point).collect()
    }

    fn both_sides(mirror: Option<&MirrorLine>, points: Vec<Point>) -> Vec<Point> {
        let other: Vec<Point> = mirror
            .map(|line| points.iter().map(|point| line.reflected(*point)).collect())
            .unwrap_or_default();
        points.into_iter().chain(other).collect()
    }

    /// A chain, and its mirror image if it lies on one side of the mirror line.
    fn chain_sides(mirror: Option<&MirrorLine>, chain: &Chain) -> Vec<Chain> {
        let tolerance = OutlineParameters::DEFAULT.same_point;
        let other =
            mirror.filter(|line| chain.points.iter().any(|point| !line.has(*point, tolerance)));
        let reflected = other.map(|line| Chain {
            points: chain.points.iter().map(|point| line.reflected(*point)).collect(),
            ..chain.clone()
        });
        std::iter::once(chain.clone()).chain(reflected).collect()
    }

    fn notches(&self, mirror: Option<&MirrorLine>) -> Vec<DrawnNotch> {
        let tolerance = OutlineParameters::DEFAULT.same_point;
        let mut notches = Vec::new();
        for mark in &self.entities.marks {
            let Some((_, kind)) = NOTCHES.iter().find(|(layer, _)| *layer == mark.layer) else {
                continue;
            };
            let notch = DrawnNotch { point: mark.point, depth: mark.depth, kind: *kind };
            notches.push(notch);
            let other = mirror.filter(|line| !line.has(mark.point, tolerance));
            notches.extend(
                other.map(|line| DrawnNotch { point: line.reflected(mark.point), ..notch }),
            );
        }
        // Slits are drawn as lines on the layer of notches.
        for chain in self.entities.on(NOTCHES[0].0) {
            let (from, to) = (chain.points[0], chain.points[chain.points.len() - 1]);
            notches.push(DrawnNotch {
                point: from,
                depth: (to - from).hypot(),
                kind: NotchKind::Slit,
            });
        }
        notches
    }
}

fn are_same(one: Point, other: Point) -> bool {
    (other - one).hypot() <= OutlineParameters::DEFAULT.same_point
}

fn without_repeats(points: &[Point]) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    for point in points {
        if kept.last().is_none_or(|last| (*point - *last).hypot() > 0.0) {
            kept.push(*point);
        }
    }
    kept
}

/// Whether a chain goes on where another ends, in either direction.
fn follows(joined: &Chain, next: &Chain) -> bool {
    let end = joined.points[joined.points.len() - 1];
    let [from, to] = [next.points[0], next.points[next.points.len() - 1]];
    !joined.is_closed && !next.is_closed && (are_same(end, from) || are_same(end, to))
}

fn append(joined: &mut Chain, next: &Chain) {
    let end = joined.points[joined.points.len() - 1];
    let mut points = next.points.clone();
    if !are_same(end, points[0]) {
        points.reverse();
    }
    joined.points.extend(&points[1..]);
}

/// Edges between turn points, or between sharp turns where no turn point lies on the contour.
fn edges(points: &[Point], turns: &[Point], is_closed: bool) -> Contour {
    let count = points.len();
    let mut corners: Vec<usize> = (0..count)
        .filter(|index| turns.iter().any(|turn| are_same(*turn, points[*index])))
        .collect();
    if corners.len() < 2 {
        corners = (0..count).filter(|index| is_sharp(points, *index)).collect();
    }
    if !is_closed {
        corners.retain(|corner| (1..count - 1).contains(corner));
        corners = std::iter::once(0).chain(corners).chain([count - 1]).collect();
    } else if corners.len() < 2 {
        // A contour without corners has edges of half its length.
        corners = vec![0, count / 2];
    }
    let mut contour = Contour::default();
    let ends =
        corners.iter().zip(corners.iter().skip(1).chain(corners.first().filter(|_| is_closed)));
    for (from, to) in ends {
        contour.points.push(points[*from]);
        let inner: Vec<Point> =
            (1..(to + count - from) % count).map(|step| points[(from + step) % count]).collect();
        let curve = if inner.is_empty() { Curve::Line } else { Curve::Polyline(inner) };
        contour.edges.push(Edge::new(curve));
    }
    if !is_closed {
        contour.points.push(points[count - 1]);
    }
    contour
}

fn is_sharp(points: &[Point], index: usize) -> bool {
    let count = points.len();
    let [before, here, after] =
        [index + count - 1, index, index + 1].map(|place| points[place % count]);
    let (from, to) = (here - before, after - here);
    from.cross(to).atan2(from.dot(to)).abs().to_degrees() >= OutlineParameters::DEFAULT.corner_turn
}
