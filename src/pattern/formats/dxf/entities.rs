// SPDX-License-Identifier: MIT OR Apache-2.0
//! Entities of a block: chains of points, single points, and texts, by their layer.

use super::groups::Record;
use crate::error::Result;
use kurbo::{Arc, ParamCurve as _, Point, Shape as _, SvgArc, Vec2};

/// Points along a quarter of a circle that a bulge stands for.
const BULGE_POINTS: usize = 8;
const IS_CLOSED: i64 = 1;

/// A chain of points, in units of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    pub(super) layer: u32,
    pub(super) points: Vec<Point>,
    pub(super) is_closed: bool,
}

/// A point with its depth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) layer: u32,
    pub(super) point: Point,
    pub(super) depth: f64,
}

/// What a block holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Entities {
    pub(super) chains: Vec<Chain>,
    pub(super) marks: Vec<Mark>,
    pub(super) texts: Vec<String>,
}

/// A vertex of a polyline, and how the piece behind it is bulged: the tangent of a quarter of its angle.
#[derive(Clone, Copy)]
struct Vertex {
    point: Point,
    bulge: f64,
}

impl Entities {
    /// Reads the records of a block.
    pub(super) fn new(records: &[Record<'_>]) -> Result<Self> {
        let mut entities = Self::default();
        let mut open: Option<(Chain, Vec<Vertex>)> = None;
        for record in records {
            let layer = record.text(8).and_then(|layer| layer.parse().ok()).unwrap_or(0);
            let mut chain = Chain { layer, ..Chain::default() };
            match record.name {
                "POLYLINE" => {
                    chain.is_closed = is_closed(record)?;
                    open = Some((chain, Vec::new()));
                }
                "VERTEX" => {
                    if let Some((_, vertices)) = &mut open {
                        vertices.push(Vertex {
                            point: point(record, [10, 20])?,
                            bulge: record.number(42)?.unwrap_or(0.0),
                        });
                    }
                }
                "SEQEND" => {
                    if let Some((chain, vertices)) = open.take() {
                        entities.push(chain, &vertices);
                    }
                }
                "LWPOLYLINE" => {
                    chain.is_closed = is_closed(record)?;
                    entities.push(chain, &light_vertices(record)?);
                }
                "LINE" => {
                    chain.points = vec![point(record, [10, 20])?, point(record, [11, 21])?];
                    entities.chains.push(chain);
                }
                "POINT" => {
                    let depth = record.number(30)?.unwrap_or(0.0).abs();
                    entities.marks.push(Mark { layer, point: point(record, [10, 20])?, depth });
                }
                "TEXT" => entities.texts.extend(record.text(1).map(ToOwned::to_owned)),
                _ => {}
            }
        }
        Ok(entities)
    }

    fn push(&mut self, mut chain: Chain, vertices: &[Vertex]) {
        let nexts = vertices.iter().skip(1).chain(vertices.first().filter(|_| chain.is_closed));
        for (vertex, next) in vertices.iter().zip(nexts) {
            chain.points.push(vertex.point);
            chain.points.extend(bulged(vertex, next.point));
        }
        if !chain.is_closed {
            chain.points.extend(vertices.last().map(|vertex| vertex.point));
        }
        self.chains.push(chain);
    }

    /// Chains of a layer.
    pub(super) fn on(&self, layer: u32) -> impl Iterator<Item = &Chain> {
        self.chains.iter().filter(move |chain| chain.layer == layer && chain.points.len() > 1)
    }

    /// Value of a text "key: value", whatever its case.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        self.texts.iter().find_map(|text| {
            let (found, value) = text.split_once(':')?;
            found.trim().eq_ignore_ascii_case(key).then(|| value.trim())
        })
    }
}

fn is_closed(record: &Record<'_>) -> Result<bool> {
    Ok(record.number(70)?.is_some_and(|flags| flags as i64 & IS_CLOSED != 0))
}

fn point(record: &Record<'_>, codes: [i32; 2]) -> Result<Point> {
    let [x, y] = codes.map(|code| record.number(code));
    Ok(Point::new(x?.unwrap_or(0.0), y?.unwrap_or(0.0)))
}

fn light_vertices(record: &Record<'_>) -> Result<Vec<Vertex>> {
    let mut vertices: Vec<Vertex> = Vec::new();
    for group in &record.groups {
        match (group.code, vertices.last_mut()) {
            (10, _) => {
                vertices.push(Vertex { point: Point::new(group.number()?, 0.0), bulge: 0.0 });
            }
            (20, Some(vertex)) => vertex.point.y = group.number()?,
            (42, Some(vertex)) => vertex.bulge = group.number()?,
            _ => {}
        }
    }
    Ok(vertices)
}

/// Points inside an arc from a vertex to the next.
fn bulged(vertex: &Vertex, to: Point) -> Vec<Point> {
    let from = vertex.point;
    let (chord, bulge) = ((to - from).hypot(), vertex.bulge);
    if bulge == 0.0 || chord == 0.0 {
        return Vec::new();
    }
    let radius = chord * (1.0 + bulge * bulge) / (4.0 * bulge.abs());
    let arc = SvgArc {
        from,
        to,
        radii: Vec2::new(radius, radius),
        x_rotation: 0.0,
        large_arc: bulge.abs() > 1.0,
        sweep: bulge > 0.0,
    };
    let Some(arc) = Arc::from_svg_arc(&arc) else { return Vec::new() };
    let segments = arc.path_segments(1e-6 * radius);
    let inner = segments.flat_map(|segment| {
        (0..BULGE_POINTS).map(move |place| segment.eval(place as f64 / BULGE_POINTS as f64))
    });
    inner.skip(1).collect()
}
