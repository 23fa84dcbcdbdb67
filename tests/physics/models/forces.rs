// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forces and tangents of the elements of every model against differences, and their invariances under every deformation.

use crate::fixtures::{
    noise::Noise,
    quads::{DIVISIONS, Division, Sheet},
    strips::{Pattern, Strip, turned_uv},
};
use nalgebra::{Matrix3, Rotation3};
use weft::{
    Material, Vec3,
    forces::{
        BendingKind, BlockContributions, Elements, ModelInput, StrainHistory, baraff_witkin,
        block_code, choi_ko, fem_bridson, fem_corotational, fem_volino, mass_spring, particles,
    },
    mesh::Mesh,
};

/// Orthotropic and viscous.
pub(crate) fn fabric() -> Material {
    Material {
        stretch_warp: 900.0,
        stretch_weft: 400.0,
        shear: 70.0,
        poisson: 0.3,
        bend_warp: 0.1,
        bend_weft: 0.04,
        stretch_damping: 0.02,
        shear_damping: 0.05,
        bend_damping: 0.03,
        ..Material::default()
    }
}

/// Angle of the warp from x, in rad.
const WARP: f64 = 0.4;

/// Factors on stretch, shear and bending that differ from place to place.
fn factors(points: &[Vec3]) -> Vec<[f64; 3]> {
    points.iter().map(|p| [1.0 + p.x, 1.5 - p.x + p.y, 2.0 + p.y]).collect()
}

/// Elements on a mesh of which the shape at rest is known.
pub(crate) struct Example {
    pub(crate) name: String,
    pub(crate) rest: Vec<Vec3>,
    mesh: Mesh,
    pub(crate) elements: Vec<Box<dyn Elements>>,
    is_stressed_at_rest: bool,
    has_negative_energy: bool,
    pub(crate) has_shear_apart: bool,
}

impl Example {
    fn of_particles(
        division: Division,
        bending: BendingKind,
        material: &Material,
        has_factors: bool,
    ) -> Self {
        let sheet = Sheet::new(division, [0.6, 0.5], [6, 5]);
        let mesh = sheet.mesh(WARP);
        let materials = [material.clone()];
        let property_scale = if has_factors { factors(&sheet.points) } else { Vec::new() };
        let sheets = ModelInput {
            mesh: &mesh,
            materials: &materials,
            rest_scale: &[],
            stiffness_scale: &[],
            property_scale: &property_scale,
        };
        let (elements, _) = particles(&sheets, bending);
        let name = format!("particles, {division:?}, {bending:?}, factors {has_factors}");
        let has_bending_tension = bending == BendingKind::Membrane;
        Self {
            name,
            rest: sheet.points,
            mesh,
            elements,
            is_stressed_at_rest: has_bending_tension,
            has_negative_energy: has_bending_tension,
            has_shear_apart: true,
        }
    }

    /// On triangles; the scale of lengths at rest differs along the sheet.
    fn of_triangles(
        name: &str,
        scale: &[f64],
        material: &Material,
        model: impl Fn(&ModelInput<'_>) -> Vec<Box<dyn Elements>>,
    ) -> Self {
        let strip = Strip::new(Pattern::Random, 0.6, [6, 4]);
        let uv = turned_uv(&strip.points, WARP);
        let mesh = Mesh::new(&strip.polygons(), &strip.points, Some(&uv)).unwrap();
        let rest_scale: Vec<[f64; 2]> = match scale {
            [u, v] => strip.points.iter().map(|p| [u + 0.1 * p.x, v - 0.1 * p.y]).collect(),
            _ => Vec::new(),
        };
        let materials = [material.clone()];
        let property_scale = if scale.is_empty() { Vec::new() } else { factors(&strip.points) };
        let sheets = ModelInput {
            mesh: &mesh,
            materials: &materials,
            rest_scale: &rest_scale,
            stiffness_scale: &[],
            property_scale: &property_scale,
        };
        Self {
            name: format!("{name}, scale {scale:?}"),
            elements: model(&sheets),
            rest: strip.points,
            mesh,
            is_stressed_at_rest: !scale.is_empty(),
            has_negative_energy: false,
            has_shear_apart: false,
        }
    }

    fn of_springs(
        is_quads: bool,
        name: &str,
        material: &Material,
        model: impl Fn(&ModelInput<'_>) -> Vec<Box<dyn Elements>>,
    ) -> Self {
        let (rest, mesh) = if is_quads {
            let sheet = Sheet::new(Division::Random, [0.6, 0.5], [6, 5]);
            let mesh = sheet.mesh(WARP);
            (sheet.points, mesh)
        } else {
            let strip = Strip::new(Pattern::Random, 0.6, [6, 4]);
            let mesh = Mesh::new(&strip.polygons(), &strip.points, None).unwrap();
            (strip.points, mesh)
        };
        let materials = [material.clone()];
        let stiffness_scale: Vec<f64> = rest.iter().map(|p| 1.0 + p.x).collect();
        let property_scale = factors(&rest);
        let sheets = ModelInput {
            mesh: &mesh,
            materials: &materials,
            rest_scale: &[],
            stiffness_scale: &stiffness_scale,
            property_scale: &property_scale,
        };
        Self {
            name: format!("{name}, quads {is_quads}"),
            elements: model(&sheets),
            rest,
            mesh,
            is_stressed_at_rest: false,
            has_negative_energy: false,
            has_shear_apart: false,
        }
    }

    /// All models.
    fn all() -> Vec<Self> {
        Self::all_of(&fabric())
    }

    /// All models of a material.
    pub(crate) fn all_of(material: &Material) -> Vec<Self> {
        let plate = |division: Division, has_factors: bool| {
            Self::of_particles(division, BendingKind::ThinPlate, material, has_factors)
        };
        let mut examples: Vec<Self> = DIVISIONS.map(|division| plate(division, false)).into();
        examples.push(plate(Division::Random, true));
        for has_factors in [false, true] {
            let (division, bending) = (Division::Curvilinear, BendingKind::Membrane);
            examples.push(Self::of_particles(division, bending, material, has_factors));
        }
        // Its bending is that of the default model.
        let membrane = |sheets: &ModelInput<'_>| -> Vec<Box<dyn Elements>> {
            fem_corotational(sheets).into_iter().take(1).collect()
        };
        // With the membrane whose stress is linear, as no tangent of it is stiffer than the derivative.
        let bent = |bending: fn(&ModelInput<'_>) -> Vec<Box<dyn Elements>>| {
            move |sheets: &ModelInput<'_>| {
                membrane(sheets).into_iter().chain(bending(sheets).into_iter().skip(1)).collect()
            }
        };
        let (volino, bridson) = (bent(fem_volino), bent(fem_bridson));
        for scale in [&[][..], &[1.1, 0.95]] {
            examples.push(Self::of_triangles("baraff_witkin", scale, material, baraff_witkin));
            examples.push(Self::of_triangles("fem_corotational", scale, material, membrane));
            examples.push(Self::of_triangles("fem_volino", scale, material, volino));
            examples.push(Self::of_triangles("fem_bridson", scale, material, bridson));
        }
        for is_quads in [true, false] {
            examples.push(Self::of_springs(is_quads, "choi_ko", material, choi_ko));
            let model = |sheets: &ModelInput<'_>| mass_spring(sheets, false);
            examples.push(Self::of_springs(is_quads, "mass_spring", material, model));
        }
        let model = |sheets: &ModelInput<'_>| mass_spring(sheets, true);
        examples.push(Self::of_springs(true, "mass_spring_16", material, model));
        examples
    }

    /// Potential and forces at a shape, with viscosity where 1/β is not 0.
    pub(crate) fn evaluate(
        &mut self,
        positions: &[Vec3],
        past: &[Vec3],
        inverse_beta: f64,
    ) -> (f64, Vec<Vec3>) {
        let mut forces = vec![Vec3::zeros(); positions.len()];
        let mut potential = 0.0;
        for elements in &mut self.elements {
            let mut reference = vec![0.0; elements.measure_count()];
            elements.measure(past, &mut reference);
            let history = StrainHistory { reference: &reference, inverse_beta };
            potential += elements.evaluate(positions, history, &mut forces);
        }
        (potential, forces)
    }

    /// The product of the assembled tangents at the shape last evaluated and a direction.
    pub(crate) fn tangent_product(&mut self, direction: &[Vec3]) -> Vec<Vec3> {
        let mut product = vec![Vec3::zeros(); direction.len()];
        for elements in &mut self.elements {
            elements.update_tangent();
            let count = elements.corner_count();
            let members: Vec<u32> = (0..elements.vertices().len() as u32).collect();
            for (element, vertices) in elements.vertices().chunks_exact(count).enumerate() {
                let tangents = elements.tangents(&members[element..=element]);
                for pair in 0..count * count {
                    let mut block = [[[0.0; 4]; 3]];
                    let (tile, code) = block_code(count, 0, pair / count, pair % count);
                    let mut contributions = BlockContributions::default();
                    contributions.push(0, std::iter::once(code));
                    tangents.add_blocks(tile, &contributions, &mut block);
                    let block = Matrix3::from_fn(|i, j| f64::from(block[0][j][i]));
                    let [row, column] = [pair / count, pair % count].map(|c| vertices[c] as usize);
                    product[row] += block * direction[column];
                }
            }
        }
        product
    }

    fn energy(&self, positions: &[Vec3]) -> f64 {
        self.elements.iter().map(|elements| elements.energy(positions).total()).sum()
    }
}

pub(crate) fn moved(positions: &[Vec3], direction: &[Vec3], step: f64) -> Vec<Vec3> {
    positions.iter().zip(direction).map(|(x, d)| x + d * step).collect()
}

pub(crate) fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}

pub(crate) fn norm(a: &[Vec3]) -> f64 {
    dot(a, a).sqrt()
}

#[test]
fn forces_are_the_gradient_of_elastic_and_viscous_potential() {
    for mut example in Example::all() {
        let mut noise = Noise::new(1);
        let count = example.rest.len();
        for size in [0.002, 0.03] {
            let shape = moved(&example.rest, &noise.vectors(count, 1.0), size);
            let past = moved(&example.rest, &noise.vectors(count, 1.0), size);
            for inverse_beta in [0.0, 100.0] {
                let (_, forces) = example.evaluate(&shape, &past, inverse_beta);
                for _ in 0..4 {
                    let direction = noise.vectors(count, 1.0);
                    let step = 1.0e-6;
                    let [ahead, behind] = [step, -step].map(|step| {
                        example.evaluate(&moved(&shape, &direction, step), &past, inverse_beta).0
                    });
                    let difference = (behind - ahead) / (2.0 * step);
                    let error = (dot(&forces, &direction) - difference).abs();
                    let scale = norm(&forces) * norm(&direction);
                    let name = &example.name;
                    assert!(error < 1.0e-5 * scale, "{name}, {size} m, {inverse_beta}: {error:e}");
                }
            }
        }
    }
}

#[test]
fn elastic_energy_is_the_potential_without_viscosity() {
    for mut example in Example::all() {
        let shape = moved(&example.rest, &Noise::new(8).vectors(example.rest.len(), 1.0), 0.02);
        let (potential, _) = example.evaluate(&shape, &shape, 0.0);
        let energy = example.energy(&shape);
        assert!((energy / potential - 1.0).abs() < 1.0e-10, "{}: {energy}", example.name);
    }
}

#[test]
fn energy_is_never_negative() {
    for example in Example::all().iter().filter(|example| !example.has_negative_energy) {
        let mut noise = Noise::new(12);
        for size in [0.001, 0.02, 0.3] {
            let shape = moved(&example.rest, &noise.vectors(example.rest.len(), 1.0), size);
            for elements in &example.elements {
                let energy = elements.energy(&shape);
                let least = energy.stretch.min(energy.shear).min(energy.bend);
                assert!(least >= 0.0, "{}: {energy:?}", example.name);
            }
        }
    }
}

/// Where all yarns are in tension nothing is left out of the tangent of the membrane, and where the sheet is flat
/// nothing of that of bending. Entries are single precision.
#[test]
fn the_tangent_is_the_derivative_of_the_forces_in_a_stretched_flat_sheet() {
    for mut example in Example::all() {
        let mut noise = Noise::new(2);
        let turn = Rotation3::new(Vec3::new(0.4, -0.9, 0.3));
        let count = example.rest.len();
        // Along the yarns where shear is taken elsewhere than tension, which then cannot make up for it.
        let shear = if example.has_shear_apart { 0.0 } else { 0.1 };
        let (to_yarns, back) =
            (Rotation3::new(Vec3::z() * -WARP), Rotation3::new(Vec3::z() * WARP));
        let stretched = |p: &Vec3| {
            let p = to_yarns * p;
            turn * (back * Vec3::new(1.3 * p.x, 1.25 * p.y + shear * p.x, 0.0))
        };
        let shape: Vec<Vec3> = example.rest.iter().map(stretched).collect();
        let rest = example.rest.clone();
        for inverse_beta in [0.0, 20.0] {
            for _ in 0..4 {
                let direction = noise.vectors(count, 1.0);
                let step = 1.0e-6;
                let [ahead, behind] = [step, -step].map(|step| {
                    example.evaluate(&moved(&shape, &direction, step), &rest, inverse_beta).1
                });
                example.evaluate(&shape, &rest, inverse_beta);
                let product = example.tangent_product(&direction);
                let error: Vec<Vec3> = (0..count)
                    .map(|v| (behind[v] - ahead[v]) / (2.0 * step) - product[v])
                    .collect();
                let fraction = norm(&error) / norm(&product);
                // Second derivatives of what a quad warps cancel between its corners but for their differences in shape.
                let allowed = if example.has_shear_apart { 1.0e-2 } else { 1.0e-4 };
                assert!(fraction < allowed, "{}, {inverse_beta}: {fraction:e}", example.name);
            }
        }
    }
}

#[test]
fn the_tangent_takes_energy_from_every_motion_of_any_shape() {
    for mut example in Example::all() {
        let mut noise = Noise::new(4);
        let rest = example.rest.clone();
        for size in [0.0, 0.01, 0.1] {
            let crushed: Vec<Vec3> = rest.iter().map(|p| p * 0.8).collect();
            let shape = moved(&crushed, &noise.vectors(rest.len(), 1.0), size);
            example.evaluate(&shape, &rest, 10.0);
            for _ in 0..30 {
                let direction = noise.vectors(rest.len(), 1.0);
                let product = example.tangent_product(&direction);
                assert!(dot(&product, &direction) > 0.0, "{}, {size} m", example.name);
            }
        }
    }
}

#[test]
fn rows_of_the_tangent_sum_to_nothing() {
    for mut example in Example::all() {
        let mut noise = Noise::new(14);
        let rest = example.rest.clone();
        let shape = moved(&rest, &noise.vectors(rest.len(), 1.0), 0.02);
        example.evaluate(&shape, &rest, 10.0);
        let shift = vec![Vec3::new(1.0, -2.0, 0.5); rest.len()];
        let scale = norm(&example.tangent_product(&noise.vectors(rest.len(), 1.0)));
        let product = norm(&example.tangent_product(&shift));
        assert!(product < 1.0e-5 * scale, "{}: {product:e} of {scale:e}", example.name);
    }
}

#[test]
fn a_rigid_motion_calls_for_no_force() {
    for mut example in Example::all().into_iter().filter(|example| !example.is_stressed_at_rest) {
        let mut noise = Noise::new(3);
        let rest = example.rest.clone();
        for _ in 0..10 {
            let turn = Rotation3::new(noise.vectors(1, 3.0)[0]);
            let shift = noise.vectors(1, 2.0)[0];
            let shape: Vec<Vec3> = rest.iter().map(|p| turn * p + shift).collect();
            // In motion, too.
            let (_, forces) = example.evaluate(&shape, &rest, 100.0);
            let size = norm(&forces);
            assert!(size < 1.0e-10, "{}: {size:e} N", example.name);
        }
    }
}

/// Internal forces have neither a resultant nor a moment, and viscosity dissipates energy.
#[test]
fn elements_neither_push_nor_turn_themselves() {
    for mut example in Example::all() {
        for seed in 0..20 {
            let mut noise = Noise::new(seed);
            let size = 0.05 * (noise.next().abs());
            let count = example.rest.len();
            let mut shaken = || moved(&example.rest, &noise.vectors(count, 1.0), size);
            let (past, now) = (shaken(), shaken());
            let (_, forces) = example.evaluate(&now, &past, 100.0);
            let scale = forces.iter().map(Vec3::norm).sum::<f64>();
            let force: Vec3 = forces.iter().sum();
            let torque: Vec3 = now.iter().zip(&forces).map(|(x, f)| x.cross(f)).sum();
            let name = &example.name;
            assert!(force.norm() < 1.0e-12 * scale, "{name}: {force:?} of {scale}");
            assert!(torque.norm() < 1.0e-12 * scale, "{name}: {torque:?} of {scale}");
        }
    }
}

/// The viscous force −τ/β ∂/∂x ½k(ε − ε̂)² against a motion that has just begun takes energy from it.
#[test]
fn viscosity_takes_energy_from_every_motion() {
    for mut example in Example::all() {
        let mut noise = Noise::new(9);
        let count = example.rest.len();
        let now = moved(&example.rest, &noise.vectors(count, 1.0), 0.01);
        let (_, elastic) = example.evaluate(&now, &now, 0.0);
        for _ in 0..10 {
            let velocity = noise.vectors(count, 1.0);
            let step = 1.0e-6;
            let past = moved(&now, &velocity, -step);
            let (_, forces) = example.evaluate(&now, &past, 1.0 / step);
            let viscous: Vec<Vec3> = forces.iter().zip(&elastic).map(|(all, e)| all - e).collect();
            let power = dot(&viscous, &velocity);
            assert!(power < 0.0, "{}: {power} W", example.name);
        }
    }
}

/// The patch test.
#[test]
fn particles_stretched_alike_leave_no_force_inside() {
    for division in DIVISIONS {
        let mut example = Example::of_particles(division, BendingKind::ThinPlate, &fabric(), false);
        let shape: Vec<Vec3> = (example.rest.iter())
            .map(|x| {
                Vec3::new(1.1 * x.x + 0.1 * x.y, 0.05 * x.x + 0.9 * x.y, 0.2 * x.x - 0.1 * x.y)
            })
            .collect();
        let (_, forces) = example.evaluate(&shape, &shape, 0.0);
        let edges = example.mesh.topology.edges.iter().filter(|edge| edge.is_boundary());
        let outer: Vec<u32> = edges.flat_map(|edge| edge.vertices).collect();
        let inner = (0..forces.len()).filter(|vertex| !outer.contains(&(*vertex as u32)));
        let largest = inner.map(|vertex| forces[vertex].norm()).fold(0.0, f64::max);
        assert!(largest < 1.0e-10, "{division:?}: {largest:e} N");
    }
}
