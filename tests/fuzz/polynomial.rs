// SPDX-License-Identifier: MIT OR Apache-2.0
//! Polynomials with whole coefficients, and the signs of some at the roots of others: all of it exact.
//!
//! Roots are isolated by halving and Descartes' rule: the roots of p in (0, 1) are the positive ones of
//! (1 + x)ᵈ p(1 / (1 + x)), and no more than the changes of sign along its coefficients; none without a
//! change, one with one change. That there are no roots in common, or multiple ones, is nearly always seen
//! in remainders by a prime, where a common divisor would show.

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};
use std::ops::{Add, Mul, Sub};

/// A whole number over a power of two.
#[derive(Clone, Debug)]
pub(crate) struct Dyadic {
    pub(crate) numerator: BigInt,
    pub(crate) exponent: usize,
}

impl Dyadic {
    pub(crate) fn whole(number: i64) -> Self {
        Self { numerator: BigInt::from(number), exponent: 0 }
    }

    fn is_at_most(&self, other: &Self) -> bool {
        let exponent = self.exponent.max(other.exponent);
        let over = |one: &Self| &one.numerator << (exponent - one.exponent);
        over(self) <= over(other)
    }
}

/// Coefficients from that of the constant to the leading one, which is not zero.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Polynomial(Vec<BigInt>);

impl Polynomial {
    pub(crate) fn new(mut coefficients: Vec<BigInt>) -> Self {
        while coefficients.last().is_some_and(Zero::is_zero) {
            coefficients.pop();
        }
        Self(coefficients)
    }

    pub(crate) fn constant(value: BigInt) -> Self {
        Self::new(vec![value])
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn is_constant(&self) -> bool {
        self.0.len() <= 1
    }

    pub(crate) fn squared(&self) -> Self {
        self * self
    }

    /// −1, 0 or 1.
    pub(crate) fn sign_at(&self, place: &Dyadic) -> i8 {
        let mut value = BigInt::zero();
        for (power, coefficient) in self.0.iter().rev().enumerate() {
            value = value * &place.numerator + (coefficient << (power * place.exponent));
        }
        sign(&value)
    }

    /// Its roots in (0, 1].
    pub(crate) fn roots_within_one(&self) -> Vec<Root> {
        let all = Interval { numerator: BigInt::zero(), exponent: 0 };
        let end = Dyadic::whole(1);
        let mut roots = Vec::new();
        if self.is_constant() || self.signs_along(&all).is_constant() && self.sign_at(&end) != 0 {
            return roots;
        }
        let polynomial = self.without_multiple_roots();
        if polynomial.sign_at(&end) == 0 {
            roots.push(Root::At(end));
        }
        let mut parts = vec![all];
        while let Some(part) = parts.pop() {
            let signs = polynomial.signs_along(&part);
            match signs.changes {
                0 => {}
                1 => roots.push(Root::Within {
                    polynomial: polynomial.clone(),
                    interval: part,
                    sign_before: signs.first,
                }),
                _ => {
                    let (low, high) = part.halves();
                    let middle = high.low();
                    if polynomial.sign_at(&middle) == 0 {
                        roots.push(Root::At(middle));
                    }
                    parts.extend([low, high]);
                }
            }
        }
        roots
    }

    /// What the signs within an interval can be.
    fn signs_along(&self, interval: &Interval) -> Signs {
        let degree = self.0.len().saturating_sub(1);
        let scaled = self.0.iter().enumerate();
        let scaled = scaled.map(|(power, one)| one << ((degree - power) * interval.exponent));
        let mut coefficients: Vec<BigInt> = scaled.collect();
        shift(&mut coefficients, &interval.numerator);
        coefficients.reverse();
        shift(&mut coefficients, &BigInt::one());
        let signs = coefficients.iter().rev().map(sign).filter(|sign| *sign != 0);
        signs.fold(Signs::default(), Signs::followed_by)
    }

    /// The polynomial with the same roots, each of them once.
    fn without_multiple_roots(&self) -> Self {
        let derivative = self.derivative();
        if self.is_prime_to(&derivative) {
            return self.clone();
        }
        let divisor = self.common_divisor(&derivative);
        let mut rest = self.clone().primitive().0;
        let Some(leading) = divisor.0.last() else { return Self(rest) };
        // Whole numbers all along, by Gauss's lemma on primitive polynomials.
        let mut quotient = vec![BigInt::zero(); (rest.len() + 1).saturating_sub(divisor.0.len())];
        for shift in (0..quotient.len()).rev() {
            let factor = &rest[shift + divisor.0.len() - 1] / leading;
            for (coefficient, other) in rest[shift..].iter_mut().zip(&divisor.0) {
                *coefficient -= &factor * other;
            }
            quotient[shift] = factor;
        }
        assert!(rest.iter().all(Zero::is_zero), "a rest of an exact division");
        Self::new(quotient)
    }

    fn derivative(&self) -> Self {
        let terms = self.0.iter().enumerate().skip(1);
        Self::new(terms.map(|(power, coefficient)| coefficient * power).collect())
    }

    /// Without factors that all coefficients have in common.
    fn primitive(mut self) -> Self {
        let common = self.0.iter().fold(BigInt::zero(), |common, one| common.gcd(one));
        if common > BigInt::one() {
            for coefficient in &mut self.0 {
                *coefficient /= &common;
            }
        }
        self
    }

    /// A multiple of what is left when divided.
    fn remainder(&self, divisor: &Self) -> Self {
        let (Some(leading), mut rest) = (divisor.0.last(), self.0.clone()) else {
            return self.clone();
        };
        while rest.len() >= divisor.0.len() {
            let shift = rest.len() - divisor.0.len();
            let highest = rest.pop().unwrap_or_default();
            for coefficient in &mut rest {
                *coefficient *= leading;
            }
            for (coefficient, other) in rest[shift..].iter_mut().zip(&divisor.0) {
                *coefficient -= &highest * other;
            }
        }
        Self::new(rest).primitive()
    }

    fn common_divisor(&self, other: &Self) -> Self {
        let (mut one, mut other) = (self.clone(), other.clone());
        while !other.is_zero() {
            let rest = one.remainder(&other);
            one = std::mem::replace(&mut other, rest);
        }
        one.primitive()
    }

    /// Whether remainders by a prime show that both have no divisor in common. It would be one of the
    /// remainders, too, as long as no leading coefficient is lost.
    fn is_prime_to(&self, other: &Self) -> bool {
        let (Some(mut one), Some(mut other)) = (self.modulo(), other.modulo()) else {
            return false;
        };
        while let Some(leading) = other.last() {
            let inverse = power_modulo(*leading, PRIME - 2);
            while one.len() >= other.len() {
                let shift = one.len() - other.len();
                let highest = one.pop().unwrap_or_default();
                let factor = PRIME - times_modulo(highest, inverse);
                for (coefficient, other) in one[shift..].iter_mut().zip(&other) {
                    *coefficient = (*coefficient + times_modulo(factor, *other)) % PRIME;
                }
            }
            while one.last() == Some(&0) {
                one.pop();
            }
            std::mem::swap(&mut one, &mut other);
        }
        one.len() == 1
    }

    /// Its coefficients as remainders by a prime, if the leading one is not zero.
    fn modulo(&self) -> Option<Vec<u64>> {
        let prime = BigInt::from(PRIME);
        let remainder = |one: &BigInt| one.mod_floor(&prime).to_u64().unwrap_or_default();
        let remainders: Vec<u64> = self.0.iter().map(remainder).collect();
        remainders.last().is_some_and(|leading| *leading != 0).then_some(remainders)
    }
}

/// 2⁶¹ − 1.
const PRIME: u64 = (1 << 61) - 1;

fn times_modulo(one: u64, other: u64) -> u64 {
    (u128::from(one) * u128::from(other) % u128::from(PRIME)) as u64
}

fn power_modulo(base: u64, exponent: u64) -> u64 {
    let bits = (0..u64::BITS).rev().map(|bit| exponent >> bit & 1);
    bits.fold(1, |power, bit| {
        let squared = times_modulo(power, power);
        if bit == 1 { times_modulo(squared, base) } else { squared }
    })
}

/// Makes p(x + by) of p(x).
fn shift(coefficients: &mut [BigInt], by: &BigInt) {
    if by.is_zero() {
        return;
    }
    for first in 0..coefficients.len() {
        for power in (first + 1..coefficients.len()).rev() {
            let (below, from) = coefficients.split_at_mut(power);
            if let (Some(below), Some(from)) = (below.last_mut(), from.first()) {
                *below += from * by;
            }
        }
    }
}

/// From n / 2ᵏ to (n + 1) / 2ᵏ, without either.
#[derive(Clone, Debug)]
pub(crate) struct Interval {
    numerator: BigInt,
    exponent: usize,
}

impl Interval {
    fn low(&self) -> Dyadic {
        Dyadic { numerator: self.numerator.clone(), exponent: self.exponent }
    }

    fn high(&self) -> Dyadic {
        Dyadic { numerator: &self.numerator + 1, exponent: self.exponent }
    }

    fn halves(&self) -> (Self, Self) {
        let exponent = self.exponent + 1;
        let low: BigInt = &self.numerator * 2;
        let high = &low + 1;
        (Self { numerator: low, exponent }, Self { numerator: high, exponent })
    }
}

/// Signs in a row, zeros left out.
#[derive(Default)]
struct Signs {
    first: i8,
    last: i8,
    changes: usize,
}

impl Signs {
    fn followed_by(self, sign: i8) -> Self {
        Self {
            first: if self.first == 0 { sign } else { self.first },
            last: sign,
            changes: self.changes + usize::from(self.last == -sign),
        }
    }

    fn is_constant(&self) -> bool {
        self.changes == 0
    }
}

/// A root of a polynomial.
#[derive(Clone, Debug)]
pub(crate) enum Root {
    /// It is this number.
    At(Dyadic),
    /// It is the only one in an interval, with this sign below it.
    Within { polynomial: Polynomial, interval: Interval, sign_before: i8 },
}

impl Root {
    /// The sign of another polynomial there.
    pub(crate) fn sign_of(&mut self, other: &Polynomial) -> i8 {
        if other.is_constant() {
            return other.0.first().map_or(0, sign);
        }
        if self.is_root_of(other) {
            return 0;
        }
        loop {
            match self {
                Self::At(place) => return other.sign_at(place),
                Self::Within { interval, .. } => {
                    let signs = other.signs_along(interval);
                    if signs.is_constant() {
                        return signs.first;
                    }
                }
            }
            for _ in 0..8 {
                self.narrow();
            }
        }
    }

    fn is_root_of(&self, other: &Polynomial) -> bool {
        match self {
            Self::At(place) => other.sign_at(place) == 0,
            Self::Within { polynomial, interval, .. } => {
                if polynomial.is_prime_to(other) {
                    return false;
                }
                // A divisor without multiple roots has at most this one here, and changes its sign.
                let common = polynomial.common_divisor(other);
                common.signs_along(interval).changes % 2 == 1
            }
        }
    }

    pub(crate) fn is_before(&mut self, time: &Dyadic) -> bool {
        loop {
            match self {
                Self::At(place) => return !time.is_at_most(place),
                Self::Within { polynomial, interval, .. } => {
                    if interval.high().is_at_most(time) {
                        return true;
                    }
                    if time.is_at_most(&interval.low()) || polynomial.sign_at(time) == 0 {
                        return false;
                    }
                }
            }
            self.narrow();
        }
    }

    fn narrow(&mut self) {
        let Self::Within { polynomial, interval, sign_before } = self else { return };
        let (low, high) = interval.halves();
        let middle = high.low();
        match polynomial.sign_at(&middle) {
            0 => *self = Self::At(middle),
            sign if sign == *sign_before => *interval = high,
            _ => *interval = low,
        }
    }
}

fn sign(number: &BigInt) -> i8 {
    match number.sign() {
        Sign::Minus => -1,
        Sign::NoSign => 0,
        Sign::Plus => 1,
    }
}

/// Coefficients of both put together, where one is shorter with zeros.
fn combined(
    one: &Polynomial,
    other: &Polynomial,
    of_both: impl Fn(&BigInt, &BigInt) -> BigInt,
) -> Polynomial {
    let zero = BigInt::zero();
    let of_power = |power: usize| {
        let [one, other] = [one, other].map(|it| it.0.get(power).unwrap_or(&zero));
        of_both(one, other)
    };
    Polynomial::new((0..one.0.len().max(other.0.len())).map(of_power).collect())
}

impl Add for &Polynomial {
    type Output = Polynomial;

    fn add(self, other: &Polynomial) -> Polynomial {
        combined(self, other, |one, other| one + other)
    }
}

impl Sub for &Polynomial {
    type Output = Polynomial;

    fn sub(self, other: &Polynomial) -> Polynomial {
        combined(self, other, |one, other| one - other)
    }
}

impl Mul for &Polynomial {
    type Output = Polynomial;

    fn mul(self, other: &Polynomial) -> Polynomial {
        let mut product = vec![BigInt::zero(); self.0.len() + other.0.len()];
        for (power, one) in self.0.iter().enumerate() {
            for (other_power, other) in other.0.iter().enumerate() {
                product[power + other_power] += one * other;
            }
        }
        Polynomial::new(product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polynomial(coefficients: &[i64]) -> Polynomial {
        Polynomial::new(coefficients.iter().map(|one| BigInt::from(*one)).collect())
    }

    fn from_roots(roots: &[(i64, i64)]) -> Polynomial {
        roots.iter().fold(polynomial(&[1]), |product, (numerator, denominator)| {
            &product * &polynomial(&[-numerator, *denominator])
        })
    }

    #[test]
    fn roots_are_counted_once_and_at_both_ends() {
        let roots = |roots: &[(i64, i64)]| from_roots(roots).roots_within_one().len();
        assert_eq!(roots(&[(0, 1), (1, 1), (2, 1), (-1, 2)]), 1);
        assert_eq!(roots(&[(1, 3), (1, 3), (1, 3)]), 1);
        assert_eq!(roots(&[(1, 3), (1000, 3001), (1, 2), (1, 2)]), 3);
        assert_eq!(polynomial(&[1, 0, 1]).roots_within_one().len(), 0);
        assert_eq!(polynomial(&[]).roots_within_one().len(), 0);
        assert_eq!(polynomial(&[5]).roots_within_one().len(), 0);
    }

    #[test]
    fn signs_at_a_root_are_exact() {
        // The root of 1/2, and what is just below it, at it and just above it.
        let half = polynomial(&[-1, 0, 2]);
        let mut root = half.roots_within_one().remove(0);
        assert_eq!(root.sign_of(&polynomial(&[-1, 0, 2])), 0);
        assert_eq!(root.sign_of(&(&half * &polynomial(&[3, 7]))), 0);
        assert_eq!(root.sign_of(&polynomial(&[-707_106_781, 1_000_000_000])), 1);
        assert_eq!(root.sign_of(&polynomial(&[-707_106_782, 1_000_000_000])), -1);
        assert_eq!(root.sign_of(&polynomial(&[-4])), -1);
        assert_eq!(root.sign_of(&polynomial(&[])), 0);
    }

    #[test]
    fn before_is_strictly_before() {
        let at = |numerator: i64, exponent| Dyadic { numerator: numerator.into(), exponent };
        let mut quarter = from_roots(&[(1, 4)]).roots_within_one().remove(0);
        assert!(!quarter.is_before(&at(1, 2)) && !quarter.is_before(&at(0, 0)));
        assert!(quarter.is_before(&at(1, 0)) && quarter.is_before(&at(257, 10)));
        assert!(!quarter.is_before(&at(255, 10)));
        let mut third = from_roots(&[(1, 3)]).roots_within_one().remove(0);
        assert!(third.is_before(&at(0x5556, 16)) && !third.is_before(&at(0x5555, 16)));
    }
}
