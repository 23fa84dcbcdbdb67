// SPDX-License-Identifier: MIT OR Apache-2.0
//! Second differences around a particle, and the curvature as a function of them.
//!
//! Every measure of a particle is m = ⟨Σ c_j x_j, N⟩. Along a line of the mesh c is the second difference on nonuniform
//! spacing, c₊ = 2/(h₊(h₊ + h₋)) (Etzmuss 2002, below eq. 2.25, where h is constant); for every quad at the particle it
//! is the mixed difference of its four corners over the lengths of its edges. From each c the multiple of the first
//! differences is subtracted that lets it vanish for every linear function in the plane at rest: lines that are not
//! straight and quads that are no parallelograms then measure nothing but curvature. The measures m of the surface
//! ½pᵀKp are known, and so the curvature K of every quad at the particle follows from three measures: that of both
//! lines through the particle and its own. At a free boundary the line across is missing; the curvature there is the
//! one that costs least, which is the condition that a free edge bears no moment.
//!
//! On a rectangular mesh this is ½(D₁₁e² + 2D₁₂eg + D₂₂g²) at the particles and 2D₆₆f² in the quads. Where the
//! quads do not lie as in a grid, the measures are the curvatures themselves, by the smallest c that find them.
//!
//! A quad with all corners pinned is a clamp: the difference to it is a change of direction within the free half of a
//! line, which is twice the curvature of a whole one.

use super::{
    ParticleParameters,
    vertex_neighbourhood::{Corner, VertexNeighbourhood},
};
use crate::material::PlateRigidity;
use nalgebra::{DMatrix, Matrix3, Matrix3xX, SMatrix};

/// Vertices of a stencil: the particle, four neighbours and four across.
pub(super) const STENCIL_VERTICES: usize = 9;
/// Measures of a particle: along two lines and in four quads.
pub(super) const MEASURES: usize = 6;
/// Stiffness in N·m³ for measures in 1/m.
pub(super) type Stiffness = SMatrix<f64, MEASURES, MEASURES>;
/// Curvature (κ₁₁, κ₂₂, 2κ₁₂) along the yarns over the measures.
pub(super) type CurvatureForm = SMatrix<f64, 3, MEASURES>;

/// Differences around one particle.
#[derive(Clone, Debug)]
pub(super) struct Stencil {
    /// The particle, then its neighbours; a vertex is repeated if there are fewer.
    pub(super) vertices: [u32; STENCIL_VERTICES],
    /// Factors in the derivatives along two axes, in 1/m.
    pub(super) gradients: [[f64; 2]; STENCIL_VERTICES],
    /// Factors in the measures, in 1/m².
    pub(super) coefficients: [[f64; STENCIL_VERTICES]; MEASURES],
    /// Number of quads at the particle.
    pub(super) corner_count: usize,
    quad_curvatures: Vec<QuadCurvature>,
}

/// Curvature of one quad as a function of measures.
#[derive(Clone, Debug)]
struct QuadCurvature {
    /// Which of the quads at the particle.
    place: usize,
    corner: Corner,
    /// Indices of the measures, and their values for (κ₁₁, κ₂₂, 2κ₁₂).
    rows: Vec<(usize, [f64; 3])>,
}

impl Stencil {
    pub(super) fn new(ring: &VertexNeighbourhood, lines: Option<&[[usize; 2]]>) -> Self {
        lines.and_then(|lines| Self::of_grid(ring, lines)).unwrap_or_else(|| Self::of_any(ring))
    }

    /// Lines and quads as in a grid; `None` where that does not determine the curvature.
    fn of_grid(ring: &VertexNeighbourhood, lines: &[[usize; 2]]) -> Option<Self> {
        let mut stencil = Self::empty(ring, (0..ring.vertices.len()).collect());
        let mut rows = Vec::new();
        for (measure, line) in lines.iter().enumerate() {
            if let Some(differences) = along_line(ring, line.map(|end| end + 1)) {
                rows.push((measure, stencil.set(ring, measure, differences)));
            }
        }
        for (index, corner) in ring.corners.iter().enumerate().filter(|(_, c)| !c.is_pinned) {
            let measure = 2 + index;
            let own = (measure, stencil.set(ring, measure, across_quad(ring, corner)));
            let rows: Vec<_> = rows.iter().copied().chain([own]).collect();
            if !is_determined(&rows) {
                return None;
            }
            stencil.quad_curvatures.push(QuadCurvature { place: index, corner: *corner, rows });
        }
        Some(stencil)
    }

    /// The curvatures themselves, by the smallest factors that are exact for quadratic functions.
    fn of_any(ring: &VertexNeighbourhood) -> Self {
        let count = ring.spoke_count.min(STENCIL_VERTICES - 1);
        let edges = (0..count).map(|index| 1 + index * ring.spoke_count / count);
        let far = 1 + ring.spoke_count..ring.vertices.len();
        let places: Vec<usize> =
            std::iter::once(0).chain(edges).chain(far).take(STENCIL_VERTICES).collect();
        let mut stencil = Self::empty(ring, places.clone());
        let around = &places[1..];
        let scale = 1.0 / ring.points[1][0].abs();
        let moments = DMatrix::from_fn(5, around.len(), |row, column| {
            let place = around[column];
            match row {
                0 | 1 => scale * ring.points[place][row],
                _ => scale * scale * ring.heights(place)[row - 2],
            }
        });
        let inverse =
            moments.pseudo_inverse(1.0e-9).unwrap_or_else(|_| DMatrix::zeros(around.len(), 5));
        for measure in 0..3 {
            let factors = &mut stencil.coefficients[measure];
            for column in 0..around.len() {
                let factor = scale * scale * inverse[(column, 2 + measure)];
                factors[1 + column] = factor;
                factors[0] -= factor;
            }
        }
        let axis = |measure: usize| (measure, [0, 1, 2].map(|k| f64::from(u8::from(k == measure))));
        let rows = [0, 1, 2].map(axis).to_vec();
        let free = ring.corners.iter().enumerate().filter(|(_, corner)| !corner.is_pinned);
        let rule = |(place, corner): (usize, &Corner)| QuadCurvature {
            place,
            corner: *corner,
            rows: rows.clone(),
        };
        stencil.quad_curvatures = free.map(rule).collect();
        stencil
    }

    fn empty(ring: &VertexNeighbourhood, places: Vec<usize>) -> Self {
        let all = ring.gradients();
        let mut stencil = Self {
            vertices: [ring.vertices[0]; STENCIL_VERTICES],
            gradients: [[0.0; 2]; STENCIL_VERTICES],
            coefficients: [[0.0; STENCIL_VERTICES]; MEASURES],
            corner_count: ring.corners.len(),
            quad_curvatures: Vec::new(),
        };
        for (index, place) in places.iter().enumerate() {
            stencil.vertices[index] = ring.vertices[*place];
            stencil.gradients[index] = all[*place];
        }
        stencil
    }

    /// Sets a measure from differences over some places, less their linear part. Returns its factors of (κ₁₁, κ₂₂,
    /// 2κ₁₂).
    fn set(
        &mut self,
        ring: &VertexNeighbourhood,
        measure: usize,
        differences: Vec<(usize, f64)>,
    ) -> [f64; 3] {
        let slope = |axis: usize| -> f64 {
            differences.iter().map(|(place, factor)| factor * ring.points[*place][axis]).sum()
        };
        let slopes = [slope(0), slope(1)];
        let factors = &mut self.coefficients[measure];
        for (factor, gradient) in factors.iter_mut().zip(&self.gradients) {
            *factor = -(slopes[0] * gradient[0] + slopes[1] * gradient[1]);
        }
        for (place, factor) in differences {
            factors[place] += factor;
        }
        let entry = |k: usize| -> f64 {
            (0..ring.points.len()).map(|place| factors[place] * ring.heights(place)[k]).sum()
        };
        [entry(0), entry(1), entry(2)]
    }

    /// S of the energy ½mᵀSm.
    pub(super) fn stiffness(&self, plate: &PlateRigidity) -> Stiffness {
        let mut stiffness = Stiffness::zeros();
        for rule in &self.quad_curvatures {
            let own = rule.stiffness(&turned(plate, rule.corner.warp));
            for (row, (first, _)) in rule.rows.iter().enumerate() {
                for (column, (second, _)) in rule.rows.iter().enumerate() {
                    stiffness[(*first, *second)] += rule.corner.area * own[(row, column)];
                }
            }
        }
        stiffness
    }

    /// Place, area in m² and curvature form of every quad at the particle that bends.
    pub(super) fn forms(&self, plate: &PlateRigidity) -> Vec<(usize, f64, CurvatureForm)> {
        let of_rule = |rule: &QuadCurvature| {
            let turn = turn(rule.corner.warp);
            let own = turn * rule.curvature(&turned(plate, rule.corner.warp));
            let mut form = CurvatureForm::zeros();
            for (column, (measure, _)) in rule.rows.iter().enumerate() {
                form.set_column(*measure, &own.column(column));
            }
            (rule.place, rule.corner.area, form)
        };
        self.quad_curvatures.iter().map(of_rule).collect()
    }
}

impl QuadCurvature {
    /// Matrix from the curvature to the measures.
    fn rows(&self) -> DMatrix<f64> {
        DMatrix::from_fn(self.rows.len(), 3, |row, column| self.rows[row].1[column])
    }

    /// The curvature that has these measures and costs least, as a matrix over them.
    fn curvature(&self, plate: &Matrix3<f64>) -> Matrix3xX<f64> {
        let (count, rows) = (self.rows.len(), self.rows());
        let none = Matrix3xX::zeros(count);
        if count == 3 {
            return rows
                .try_inverse()
                .map_or(none, |inverse| inverse.fixed_rows::<3>(0).into_owned());
        }
        let Some(compliance) = compliance(plate) else { return none };
        let moments = (&rows * compliance * rows.transpose()).try_inverse();
        moments.map_or(none, |moments| compliance * rows.transpose() * moments)
    }

    /// The least ½KᵀDK that has these measures, as a matrix over them: (RD⁻¹Rᵀ)⁻¹.
    fn stiffness(&self, plate: &Matrix3<f64>) -> DMatrix<f64> {
        let count = self.rows.len();
        let rows = self.rows();
        let none = DMatrix::zeros(count, count);
        if count == 3 {
            let Some(inverse) = rows.try_inverse() else { return none };
            return inverse.transpose() * plate * inverse;
        }
        let Some(compliance) = compliance(plate) else { return none };
        (&rows * compliance * rows.transpose()).try_inverse().unwrap_or(none)
    }
}

/// The second difference along a line through the particle; `None` where both ends are behind a clamp.
fn along_line(ring: &VertexNeighbourhood, ends: [usize; 2]) -> Option<Vec<(usize, f64)>> {
    let lengths = ends.map(|end| ring.points[end][0].hypot(ring.points[end][1]));
    let behind = ends.map(|end| ring.is_beyond_clamp[end]);
    // Over the free part of the line alone.
    let width = match behind {
        [true, true] => return None,
        [true, false] => lengths[1],
        [false, true] => lengths[0],
        [false, false] => lengths[0] + lengths[1],
    };
    let factors = lengths.map(|length| 2.0 / (length * width));
    Some(vec![(0, -factors[0] - factors[1]), (ends[0], factors[0]), (ends[1], factors[1])])
}

/// The mixed difference of a quad over the lengths of its edges.
fn across_quad(ring: &VertexNeighbourhood, corner: &Corner) -> Vec<(usize, f64)> {
    let [a, b] = corner.edges;
    let factor = [a, b].map(|edge| 1.0 / ring.points[edge][0].hypot(ring.points[edge][1]));
    let factor = factor[0] * factor[1];
    vec![(0, factor), (a, -factor), (corner.far, factor), (b, -factor)]
}

/// Whether measures are independent of each other.
fn is_determined(rows: &[(usize, [f64; 3])]) -> bool {
    let unit = |row: usize| nalgebra::RowVector3::from(rows[row].1).normalize();
    let matrix = DMatrix::from_fn(rows.len(), 3, |row, column| unit(row)[column]);
    let values = matrix.singular_values();
    values.min() > ParticleParameters::DEFAULT.min_singular_value_ratio * values.max()
}

/// The inverse of the matrix of a plate, of one without rigidity as well.
fn compliance(plate: &Matrix3<f64>) -> Option<Matrix3<f64>> {
    let added = plate.trace() * ParticleParameters::DEFAULT.min_rigidity_fraction;
    (plate + Matrix3::identity() * added).try_inverse()
}

/// From curvatures in axes in which the warp has the direction (c, s) to those along the yarns.
fn turn([c, s]: [f64; 2]) -> Matrix3<f64> {
    Matrix3::new(
        c * c,
        s * s,
        c * s,
        s * s,
        c * c,
        -c * s,
        -2.0 * c * s,
        2.0 * c * s,
        c * c - s * s,
    )
}

/// The matrix of a plate for curvatures in axes in which its warp has a direction.
fn turned(plate: &PlateRigidity, warp: [f64; 2]) -> Matrix3<f64> {
    let turn = turn(warp);
    let PlateRigidity { d11, d22, d12, d66 } = *plate;
    turn.transpose() * Matrix3::new(d11, d12, 0.0, d12, d22, 0.0, 0.0, 0.0, d66) * turn
}
