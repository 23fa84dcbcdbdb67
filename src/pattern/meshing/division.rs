// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the vertices of the outlines lie: both runs of a stitch are divided alike, at matching places.
//!
//! Corners of either run, and ends of internal lines, are marks that need a vertex. A mark of one run lies on the other at
//! the same part of its length, unless that has a mark of its own within half an edge: these two then belong together.
//! Between two marks both runs get the count of the one that asks for more, so gathers have shorter edges on their short
//! side. What is shorter than a quarter of an edge on both sides becomes one vertex.

use super::{MeshParameters, edge_length::PanelSize};
use crate::pattern::{Arclength, Pattern, Run, validation::PatternLimits};
use kurbo::Point;
use std::collections::BTreeMap;

/// Pieces that an integral of 1/edge length is summed from, for each asked edge.
const PIECES_PER_EDGE: f64 = 8.0;

/// An edge of a contour: 0 is the outline, 1 and on the cut-outs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EdgeId {
    pub(super) panel: usize,
    pub(super) contour: usize,
    pub(super) edge: usize,
}

/// A vertex of an edge, counted from the start of the edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleId {
    pub(super) panel: usize,
    pub(super) contour: usize,
    pub(super) edge: usize,
    pub(super) sample: usize,
}

/// Vertices along all edges.
pub(super) struct Division {
    /// Lengths from the start of each edge, in m, from 0 to its length; only 0 if the edge is merged.
    pub(super) samples: BTreeMap<EdgeId, Vec<f64>>,
    /// For each stitch the vertices that it draws together.
    pub(super) seams: Vec<Vec<[SampleId; 2]>>,
}

/// An edge within a run.
struct RunEdge {
    id: EdgeId,
    curve: Arclength,
    /// Length of the run before it, in m.
    start: f64,
    /// Whether the run goes along it from its end to its start.
    is_reversed: bool,
}

/// A run as it is sewn along.
struct SewnRun<'size> {
    edges: Vec<RunEdge>,
    length: f64,
    size: &'size PanelSize<'size>,
    /// Lengths from its start at which vertices are needed, with the edge that starts there.
    marks: Vec<Mark>,
}

/// A place of a run that needs a vertex.
#[derive(Clone, Copy)]
struct Mark {
    along: f64,
    is_corner: bool,
}

/// Marks of both runs at one vertex.
#[derive(Clone, Copy)]
struct Match {
    along: [f64; 2],
    is_corner: [bool; 2],
}

impl<'size> SewnRun<'size> {
    fn new(
        pattern: &Pattern,
        run: &Run,
        is_reversed: bool,
        sizes: &'size [PanelSize<'size>],
    ) -> Self {
        let contour_index = run.cutout.map_or(0, |cutout| cutout + 1);
        let mut edges: Vec<RunEdge> = Vec::new();
        let mut length = 0.0;
        let order: Vec<usize> =
            if is_reversed { run.edges.iter().rev().copied().collect() } else { run.edges.clone() };
        if let Some(contour) = pattern.contour(run) {
            for edge in order {
                let id = EdgeId { panel: run.panel, contour: contour_index, edge };
                let curve = Arclength::new(contour.segments(edge));
                let start = length;
                length += curve.length();
                edges.push(RunEdge { id, curve, start, is_reversed });
            }
        }
        let mut marks: Vec<Mark> =
            edges.iter().map(|edge| Mark { along: edge.start, is_corner: true }).collect();
        marks.push(Mark { along: length, is_corner: true });
        Self { edges, length, size: &sizes[run.panel], marks }
    }

    /// Adds marks at lengths from the starts of edges.
    fn add_marks(&mut self, needed: &BTreeMap<EdgeId, Vec<f64>>) {
        for edge in &self.edges {
            for along in needed.get(&edge.id).into_iter().flatten() {
                let within = if edge.is_reversed { edge.curve.length() - along } else { *along };
                self.marks.push(Mark { along: edge.start + within, is_corner: false });
            }
        }
        self.marks.sort_by(|first, second| first.along.total_cmp(&second.along));
    }

    fn at(&self, along: f64) -> Point {
        let found = self.edges.partition_point(|edge| edge.start <= along).max(1) - 1;
        let edge = &self.edges[found];
        let within = along - edge.start;
        edge.curve.at(if edge.is_reversed { edge.curve.length() - within } else { within })
    }

    fn size_at(&self, along: f64) -> f64 {
        self.size.at(self.at(along))
    }

    /// Lengths at which a stretch is divided by ∫ ds / edge length, and the number of edges that it asks for.
    fn measure(&self, from: f64, to: f64) -> Measure {
        if self.size.is_uniform() {
            return Measure { edges: (to - from) / self.size.largest(), sums: Vec::new() };
        }
        let smallest =
            self.size_at(from).min(self.size_at(to)).min(self.size_at(f64::midpoint(from, to)));
        let pieces = (PIECES_PER_EDGE * (to - from) / smallest).ceil().max(PIECES_PER_EDGE);
        let step = (to - from) / pieces;
        let mut sums = vec![0.0];
        for piece in 0..whole(pieces) {
            let middle = from + (piece as f64 + 0.5) * step;
            sums.push(sums[piece] + step / self.size_at(middle));
        }
        Measure { edges: sums[sums.len() - 1], sums }
    }

    /// Whether chords between these parts of a stretch keep to the curve.
    fn is_close(&self, from: f64, to: f64, parts: &[f64]) -> bool {
        let place = |part: f64| from + part * (to - from);
        parts.windows(2).all(|pair| {
            let (start, end) = (place(pair[0]), place(pair[1]));
            let (first, last) = (self.at(start), self.at(end));
            let middle = self.at(f64::midpoint(start, end));
            let sagitta = (middle - first.midpoint(last)).hypot();
            sagitta
                <= MeshParameters::DEFAULT.outline_tolerance
                    * self.size_at(f64::midpoint(start, end))
        })
    }
}

/// Edges that a stretch asks for.
struct Measure {
    edges: f64,
    /// Sums of the integral at equal steps; empty if the edge length is the same everywhere.
    sums: Vec<f64>,
}

impl Measure {
    /// Parts of the stretch at which `count` edges end.
    fn parts(&self, count: usize) -> Vec<f64> {
        (0..=count).map(|edge| self.part(edge as f64 / count as f64)).collect()
    }

    fn part(&self, share: f64) -> f64 {
        let Some(pieces) = self.sums.len().checked_sub(1) else { return share };
        let wanted = share * self.edges;
        let piece = self.sums.partition_point(|sum| *sum <= wanted).clamp(1, pieces) - 1;
        let within = (wanted - self.sums[piece]) / (self.sums[piece + 1] - self.sums[piece]);
        ((piece as f64 + within) / pieces as f64).clamp(0.0, 1.0)
    }
}

impl Division {
    /// Divides all edges of a pattern that has no mistakes.
    pub(super) fn new(pattern: &Pattern, sizes: &[PanelSize<'_>]) -> Self {
        let needed = line_ends(pattern, sizes);
        let mut division = Self { samples: BTreeMap::new(), seams: Vec::new() };
        for stitch in &pattern.stitches {
            let mut runs = [
                SewnRun::new(pattern, &stitch.runs[0], false, sizes),
                SewnRun::new(pattern, &stitch.runs[1], stitch.is_reversed, sizes),
            ];
            for run in &mut runs {
                run.add_marks(&needed);
            }
            let matches = matched(&runs);
            let pairs = division.divide(&runs.each_ref(), &matches);
            division.seams.push(pairs);
        }
        for (panel, contours) in pattern.panels.iter().enumerate() {
            for (contour, shape) in contours.contours().enumerate() {
                for edge in 0..shape.edges.len() {
                    if !division.samples.contains_key(&EdgeId { panel, contour, edge }) {
                        let run = Run { panel, cutout: contour.checked_sub(1), edges: vec![edge] };
                        let mut run = SewnRun::new(pattern, &run, false, sizes);
                        run.add_marks(&needed);
                        let alone = |mark: &Mark| Match {
                            along: [mark.along; 2],
                            is_corner: [mark.is_corner; 2],
                        };
                        let matches: Vec<Match> = run.marks.iter().map(alone).collect();
                        division.divide(&[&run], &matches);
                    }
                }
            }
        }
        division
    }

    /// Divides one or two runs at their matches; the vertices that belong together.
    fn divide(&mut self, runs: &[&SewnRun<'_>], matches: &[Match]) -> Vec<[SampleId; 2]> {
        let mut samples = runs.iter().map(|_| vec![vec![]]).collect::<Vec<Vec<Vec<f64>>>>();
        for pair in matches.windows(2) {
            let parts = parts_between(runs, pair);
            for (side, samples) in samples.iter_mut().enumerate() {
                let (from, to) = (pair[0].along[side], pair[1].along[side]);
                let current = samples.len() - 1;
                let inner =
                    parts.iter().take(parts.len() - 1).map(|part| from + part * (to - from));
                samples[current].extend(inner);
                if pair[1].is_corner[side] {
                    samples.push(Vec::new());
                }
            }
        }
        let lists: Vec<Vec<SampleId>> =
            runs.iter().zip(samples).map(|(run, samples)| self.store(run, samples)).collect();
        match lists.as_slice() {
            [first, second] => {
                first.iter().zip(second).map(|(one, other)| [*one, *other]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Keeps the lengths along each edge of a run, and numbers all vertices of the run in its order.
    fn store(&mut self, run: &SewnRun<'_>, samples: Vec<Vec<f64>>) -> Vec<SampleId> {
        let mut ids = Vec::new();
        for (position, (edge, places)) in run.edges.iter().zip(samples).enumerate() {
            let (length, count) = (edge.curve.length(), places.len());
            let mut within: Vec<f64> = places.iter().map(|along| along - edge.start).collect();
            let EdgeId { panel, contour, edge: index } = edge.id;
            let place = |sample: usize| if edge.is_reversed { count - sample } else { sample };
            ids.extend((0..count).map(|sample| SampleId {
                panel,
                contour,
                edge: index,
                sample: place(sample),
            }));
            within.push(if count > 0 { length } else { 0.0 });
            if edge.is_reversed && count > 0 {
                within = within.iter().rev().map(|along| length - along).collect();
            }
            self.samples.insert(edge.id, within);
            if position + 1 == run.edges.len() {
                ids.push(SampleId { panel, contour, edge: index, sample: place(count) });
            }
        }
        ids
    }
}

/// A count that was computed as a number, 0 or more.
#[expect(clippy::cast_sign_loss, reason = "it is not negative")]
pub(super) fn whole(count: f64) -> usize {
    count as usize
}

/// Parts of the stretch between two matches at which vertices lie; none inside if it is merged.
fn parts_between(runs: &[&SewnRun<'_>], pair: &[Match]) -> Vec<f64> {
    let stretch = |side: usize| (pair[0].along[side], pair[1].along[side]);
    let sides = || runs.iter().enumerate().map(|(side, run)| (run, stretch(side)));
    let tiny = PatternLimits::DEFAULT.tiny_edge;
    if sides().all(|(run, (from, to))| to - from < tiny * run.size_at(f64::midpoint(from, to))) {
        return vec![0.0];
    }
    let measures = sides().map(|(run, (from, to))| run.measure(from, to));
    let measure =
        measures.reduce(|most, other| if other.edges > most.edges { other } else { most });
    let Some(measure) = measure else { return vec![0.0] };
    let mut count = whole(measure.edges.round().max(1.0));
    loop {
        let parts = measure.parts(count);
        if sides().all(|(run, (from, to))| run.is_close(from, to, &parts)) {
            return parts;
        }
        count += 1;
    }
}

/// Marks of both runs, each with its place on the other; the ends of the runs always belong together.
fn matched(runs: &[SewnRun<'_>; 2]) -> Vec<Match> {
    let lengths = runs.each_ref().map(|run| run.length);
    let end = |along: [f64; 2]| Match { along, is_corner: [true; 2] };
    let mut matches = vec![end([0.0; 2])];
    let mut last: Option<(f64, usize)> = None;
    for (part, side, mark) in inner_marks(runs) {
        let near = |(before, other): (f64, usize)| {
            let apart = (part - before) * lengths[0].max(lengths[1]);
            let other_size = runs[other].size_at(before * lengths[other]);
            other != side && apart < 0.5 * runs[side].size_at(mark.along).min(other_size)
        };
        if last.is_some_and(near)
            && let Some(joined) = matches.last_mut()
        {
            joined.along[side] = mark.along;
            joined.is_corner[side] = mark.is_corner;
            last = None;
            continue;
        }
        let mut is_corner = [false; 2];
        is_corner[side] = mark.is_corner;
        let mut along = lengths.map(|length| part * length);
        along[side] = mark.along;
        matches.push(Match { along, is_corner });
        last = Some((part, side));
    }
    matches.push(end(lengths));
    matches
}

/// Marks between the ends of both runs: part of the length, run, mark.
fn inner_marks(runs: &[SewnRun<'_>; 2]) -> Vec<(f64, usize, Mark)> {
    let mut marks = Vec::new();
    for (side, run) in runs.iter().enumerate() {
        let inner = &run.marks[1..run.marks.len() - 1];
        marks.extend(inner.iter().map(|mark| (mark.along / run.length, side, *mark)));
    }
    marks.sort_by(|first, second| first.0.total_cmp(&second.0).then(first.1.cmp(&second.1)));
    marks
}

/// Lengths along edges at which internal lines end, where there is no corner near.
fn line_ends(pattern: &Pattern, sizes: &[PanelSize<'_>]) -> BTreeMap<EdgeId, Vec<f64>> {
    let mut needed: BTreeMap<EdgeId, Vec<f64>> = BTreeMap::new();
    for (index, panel) in pattern.panels.iter().enumerate() {
        let open = panel.internal_lines.iter().filter(|line| !line.is_closed());
        let ends = open.flat_map(|line| [line.points.first(), line.points.last()]);
        for end in ends.flatten() {
            let size = sizes[index].at(*end);
            for (contour, shape) in panel.contours().enumerate() {
                let Some(nearest) = shape.nearest(*end) else { continue };
                let length = shape.length(nearest.edge);
                let is_on = nearest.distance < MeshParameters::DEFAULT.outline_tolerance * size;
                let from_corner = nearest.along.min(length - nearest.along);
                let id = EdgeId { panel: index, contour, edge: nearest.edge };
                let others = needed.entry(id).or_default();
                let is_apart =
                    others.iter().all(|other| (other - nearest.along).abs() >= 0.5 * size);
                if is_on && from_corner >= 0.5 * size && is_apart {
                    others.push(nearest.along);
                }
            }
        }
    }
    needed
}
