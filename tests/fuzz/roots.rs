// SPDX-License-Identifier: MIT OR Apache-2.0
//! The roots of polynomials from 0 to 1, and the signs of others there: all of it exact.
//!
//! Roots are isolated by halving and Descartes' rule: the roots of p in (0, 1) are the positive ones of
//! (1 + x)ᵈ p(1 / (1 + x)), and no more than the changes of sign along its coefficients; none without a
//! change, one with one change.

use crate::polynomial::{Dyadic, Polynomial, sign};
use num_bigint::BigInt;
use num_traits::{One, Zero};

impl Polynomial {
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

    /// Possible signs within an interval.
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
