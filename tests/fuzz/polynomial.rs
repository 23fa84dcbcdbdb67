// SPDX-License-Identifier: MIT OR Apache-2.0
//! Polynomials with whole coefficients.
//!
//! That two have no roots in common is nearly always seen in remainders by a prime, where a common
//! divisor would show.

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

    pub(crate) fn is_at_most(&self, other: &Self) -> bool {
        let exponent = self.exponent.max(other.exponent);
        let over = |one: &Self| &one.numerator << (exponent - one.exponent);
        over(self) <= over(other)
    }
}

/// Coefficients from that of the constant to the leading one, which is not zero.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Polynomial(pub(crate) Vec<BigInt>);

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

    pub(crate) fn is_constant(&self) -> bool {
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

    /// The polynomial with the same roots, each of them once.
    pub(crate) fn without_multiple_roots(&self) -> Self {
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

    /// A multiple of the remainder of a division.
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

    pub(crate) fn common_divisor(&self, other: &Self) -> Self {
        let (mut one, mut other) = (self.clone(), other.clone());
        while !other.is_zero() {
            let rest = one.remainder(&other);
            one = std::mem::replace(&mut other, rest);
        }
        one.primitive()
    }

    /// Whether remainders by a prime show that both have no divisor in common. It would be one of the
    /// remainders, too, as long as no leading coefficient is lost.
    pub(crate) fn is_prime_to(&self, other: &Self) -> bool {
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

/// −1, 0 or 1.
pub(crate) fn sign(number: &BigInt) -> i8 {
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
