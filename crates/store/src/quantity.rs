//! Amounts of time and of bytes as people write them: `15s`, `1h30m`, `512M`, `1.5G`.
//!
//! Config files and the command line read them here, so that the same text means the same in both.
//! A printed amount can be read again and parses to that amount.
//!
//! Never guesses: a number without a unit is refused, and so is zero.

use interpreter_core::Untrusted;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{fmt, str::FromStr};

/// A number of bytes, at least one. Units are powers of 1024, whatever their spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(u64);

/// How long a run may take. Ordered from strict to loose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeLimit {
    /// This many seconds, at least one.
    Seconds(u64),
    /// Until the person ends it.
    None,
}

/// An amount of money, more than nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Dollars(u64);

/// Billionths of a dollar.
const DOLLAR: f64 = 1e9;

impl Dollars {
    /// It in billionths of a dollar.
    pub fn nano(self) -> u64 {
        self.0
    }
}

impl TryFrom<f64> for Dollars {
    type Error = String;

    #[expect(clippy::cast_possible_truncation, reason = "the bounds are checked")]
    #[expect(clippy::cast_sign_loss, reason = "the bounds are checked")]
    fn try_from(dollars: f64) -> Result<Self, String> {
        if (0.000_001..=1_000_000.0).contains(&dollars) {
            Ok(Self((dollars * DOLLAR).round() as u64))
        } else {
            Err(format!("expected US dollars from 0.000001 to 1000000, not {dollars}"))
        }
    }
}

impl From<Dollars> for f64 {
    #[expect(clippy::cast_precision_loss, reason = "six digits after the point are exact")]
    fn from(dollars: Dollars) -> Self {
        dollars.0 as Self / DOLLAR
    }
}

/// Why a text is not an amount.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// There is a number and nothing else.
    #[error("`{text}` has no unit; write for example {examples}")]
    NoUnit {
        /// The text.
        text: String,
        /// Some that would do.
        examples: &'static str,
    },
    /// It is something else.
    #[error("`{text}` is not {kind}; write for example {examples}")]
    Malformed {
        /// The text.
        text: String,
        /// The expected kind of value.
        kind: &'static str,
        /// Some that would do.
        examples: &'static str,
    },
    /// It is nothing at all.
    #[error("`{text}` is zero; a limit must be greater than zero")]
    Zero {
        /// The text.
        text: String,
    },
    /// It is more than can be counted.
    #[error("`{text}` is too large")]
    TooLarge {
        /// The text.
        text: String,
    },
}

const BYTES: (&str, &str) = ("a number of bytes", "`512M` or `2G`");
const TIME: (&str, &str) = ("a time", "`15s`, `10m`, `1h30m` or `none`");

/// From large to small, so that `1h30m` is in order and `30m1h` is not.
const TIME_UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// From large to small, with their power of two.
const BYTE_UNITS: [(char, u32); 4] = [('T', 40), ('G', 30), ('M', 20), ('K', 10)];

impl Bytes {
    /// That many bytes; one, if the number is zero.
    pub fn new(count: u64) -> Self {
        Self(count.max(1))
    }

    /// How many.
    pub fn count(self) -> u64 {
        self.0
    }
}

impl TimeLimit {
    /// The limit of that many seconds, or none.
    pub fn new(seconds: Option<u64>) -> Self {
        seconds.map_or(Self::None, |seconds| Self::Seconds(seconds.max(1)))
    }

    /// The seconds, if there is a limit.
    pub fn seconds(self) -> Option<u64> {
        match self {
            Self::Seconds(seconds) => Some(seconds),
            Self::None => None,
        }
    }
}

impl FromStr for Bytes {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let trimmed = text.trim();
        let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(end);
        let (whole, fraction) = match number.split_once('.') {
            Some((whole, fraction)) if is_digits(fraction) && fraction.len() <= 9 => {
                (whole, fraction)
            }
            Some(_) => return Err(malformed(text, BYTES)),
            None => (number, ""),
        };
        if !is_digits(whole) {
            return Err(malformed(text, BYTES));
        }
        let Some(power) = byte_power(unit) else {
            return Err(if unit.is_empty() {
                no_unit(text, BYTES)
            } else {
                malformed(text, BYTES)
            });
        };
        if power == 0 && !fraction.is_empty() {
            return Err(malformed(text, BYTES));
        }
        let whole: u64 = whole.parse().map_err(|_| too_large(text))?;
        let scale = 10_u128.pow(u32::try_from(fraction.len()).expect("at most nine digits"));
        let fraction: u128 = if fraction.is_empty() { 0 } else { fraction.parse().unwrap_or(0) };
        // 64 + 40 bits at most, so this cannot overflow.
        let count = (u128::from(whole) << power) + (fraction << power) / scale;
        match u64::try_from(count) {
            Ok(0) => Err(QuantityError::Zero { text: shown(text) }),
            Ok(count) => Ok(Self(count)),
            Err(_) => Err(too_large(text)),
        }
    }
}

impl FromStr for TimeLimit {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let mut rest = text.trim();
        if rest == "none" {
            return Ok(Self::None);
        }
        let mut units = TIME_UNITS.iter();
        let mut total: u64 = 0;
        // The first part is looked for even in an empty text, which is then malformed.
        loop {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let (number, after) = rest.split_at(end);
            if number.is_empty() {
                return Err(malformed(text, TIME));
            }
            let Some(unit) = after.chars().next() else { return Err(no_unit(text, TIME)) };
            let Some((_, seconds)) = units.find(|(name, _)| *name == unit) else {
                return Err(malformed(text, TIME));
            };
            let part = number.parse::<u64>().ok().and_then(|number| number.checked_mul(*seconds));
            total = part.and_then(|part| total.checked_add(part)).ok_or_else(|| too_large(text))?;
            rest = &after[unit.len_utf8()..];
            if rest.is_empty() {
                break;
            }
        }
        if total == 0 {
            return Err(QuantityError::Zero { text: shown(text) });
        }
        Ok(Self::Seconds(total))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match BYTE_UNITS.iter().find(|(_, power)| self.0.trailing_zeros() >= *power) {
            Some((unit, power)) => write!(f, "{}{unit}", self.0 >> power),
            None => write!(f, "{}B", self.0),
        }
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = match self {
            Self::Seconds(seconds) => *seconds,
            Self::None => return f.write_str("none"),
        };
        for (unit, seconds) in TIME_UNITS {
            if rest >= seconds {
                write!(f, "{}{unit}", rest / seconds)?;
                rest %= seconds;
            }
        }
        Ok(())
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn byte_power(unit: &str) -> Option<u32> {
    let unit = unit.to_ascii_uppercase();
    if unit == "B" {
        return Some(0);
    }
    let prefix = unit.strip_suffix("IB").or_else(|| unit.strip_suffix('B')).unwrap_or(&unit);
    BYTE_UNITS
        .iter()
        .find(|(name, _)| prefix.len() == 1 && prefix.starts_with(*name))
        .map(|(_, power)| *power)
}

/// The text as a message may hold it: it can come from a stranger's project.
fn shown(text: &str) -> String {
    Untrusted::new(text).for_terminal_line(40)
}

fn malformed(text: &str, (kind, examples): (&'static str, &'static str)) -> QuantityError {
    QuantityError::Malformed { text: shown(text), kind, examples }
}

fn no_unit(text: &str, (_, examples): (&'static str, &'static str)) -> QuantityError {
    QuantityError::NoUnit { text: shown(text), examples }
}

fn too_large(text: &str) -> QuantityError {
    QuantityError::TooLarge { text: shown(text) }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for TimeLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for TimeLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(text: &str) -> Result<u64, String> {
        text.parse().map(Bytes::count).map_err(|error: QuantityError| error.to_string())
    }

    fn seconds(text: &str) -> Result<Option<u64>, String> {
        text.parse().map(TimeLimit::seconds).map_err(|error: QuantityError| error.to_string())
    }

    #[test]
    fn bytes_are_read_as_people_write_them() {
        for (text, count) in [
            ("1B", 1),
            ("2K", 2 << 10),
            ("512M", 512 << 20),
            ("512 MiB".replace(' ', "").as_str(), 512 << 20),
            ("512mb", 512 << 20),
            (" 2G ", 2 << 30),
            ("1.5G", 3 << 29),
            ("0.5K", 512),
            ("3T", 3 << 40),
        ] {
            assert_eq!(bytes(text), Ok(count), "{text}");
        }
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, count) in [
            ("15s", Some(15)),
            ("10m", Some(600)),
            ("1h30m", Some(5_400)),
            ("2d", Some(172_800)),
            ("90s", Some(90)),
            ("none", None),
        ] {
            assert_eq!(seconds(text), Ok(count), "{text}");
        }
    }

    #[test]
    fn what_is_not_an_amount_is_refused_with_an_example() {
        assert_eq!(bytes("2"), Err("`2` has no unit; write for example `512M` or `2G`".into()));
        assert_eq!(
            seconds("15"),
            Err("`15` has no unit; write for example `15s`, `10m`, `1h30m` or `none`".into())
        );
        assert_eq!(
            bytes("lots"),
            Err("`lots` is not a number of bytes; write for example `512M` or `2G`".into())
        );
        assert_eq!(bytes("0G"), Err("`0G` is zero; a limit must be greater than zero".into()));
        assert_eq!(seconds("0s"), Err("`0s` is zero; a limit must be greater than zero".into()));
        assert_eq!(bytes("99999999T"), Err("`99999999T` is too large".into()));
        assert_eq!(seconds("999999999999999999999s").unwrap_err().matches("large").count(), 1);
        for text in ["", "G", ".5G", "5.G", "1.2.3G", "-1G", "1iB", "1XB", "1.5B", "1KK", "1Bi"] {
            assert!(bytes(text).unwrap_err().contains("is not a number of bytes"), "{text}");
        }
        for text in ["", "s", "1m1h", "1s1s", "15 s", "500ms", "-1s", "1.5h", "1sé", "1é"] {
            assert!(seconds(text).unwrap_err().contains("is not a time"), "{text}");
        }
    }

    #[test]
    fn a_message_holds_no_control_character() {
        let message = bytes("\u{1b}[2J").unwrap_err();
        assert!(message.contains(r"\u{1b}[2J"), "{message}");
    }

    #[test]
    fn no_limit_is_the_loosest() {
        assert!(TimeLimit::None > TimeLimit::Seconds(u64::MAX));
        assert!(TimeLimit::Seconds(2) > TimeLimit::Seconds(1));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            prop_assert!(bytes(&text).is_ok_and(|count| count > 0) || bytes(&text).is_err());
            prop_assert!(seconds(&text).is_ok_and(|count| count != Some(0)) || seconds(&text).is_err());
        }

        #[test]
        fn near_amounts_are_read_or_refused(text in "[0-9]{0,22}[.]?[0-9]{0,12}[dhmsbkgti]{0,3}") {
            prop_assert!(bytes(&text).is_ok_and(|count| count > 0) || bytes(&text).is_err());
            prop_assert!(seconds(&text).is_ok_and(|count| count != Some(0)) || seconds(&text).is_err());
        }

        #[test]
        fn bytes_can_be_read_again(count in 1_u64.., power in 0_u32..50) {
            for count in [count, Bytes::new(count >> (64 - power.max(1)) << 10).count()] {
                prop_assert_eq!(bytes(&Bytes::new(count).to_string()), Ok(count));
            }
        }

        #[test]
        fn times_can_be_read_again(count in 1_u64..) {
            prop_assert_eq!(seconds(&TimeLimit::Seconds(count).to_string()), Ok(Some(count)));
        }
    }
}
