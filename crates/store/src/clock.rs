//! Times for people: in their own time zone, to the second.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

/// A time of the record, which is RFC 3339 in UTC, as `2026-11-17 15:04:05` where the person is.
/// Text that is no time stays as it is.
pub fn local_time(recorded: &str) -> String {
    in_zone(recorded, TimeZone::system())
}

fn in_zone(recorded: &str, zone: TimeZone) -> String {
    match recorded.parse::<Timestamp>() {
        Ok(time) => time.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => recorded.to_owned(),
    }
}

/// A time that a person wrote, as the record has it: a date such as `2026-11-17`, with or without a
/// time of day, where the person is, or RFC 3339. `None` if it is no time.
pub fn recorded_time(written: &str) -> Option<String> {
    recorded_in(written, TimeZone::system())
}

fn recorded_in(written: &str, zone: TimeZone) -> Option<String> {
    let time = match written.parse::<Timestamp>() {
        Ok(time) => time,
        Err(_) => written.parse::<DateTime>().ok()?.to_zoned(zone).ok()?.timestamp(),
    };
    Some(format!("{time:.6}"))
}

/// The day of a time in seconds since 1970, as `2026-11-17` where the person is.
pub fn recorded_day(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|at| Timestamp::from_second(at).ok());
    let day = |time: Timestamp| time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d").to_string();
    time.map_or_else(|| "-".to_owned(), day)
}

/// A time of the record in milliseconds since 1970.
pub fn unix_milliseconds(recorded: &str) -> Option<i64> {
    recorded.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_time_is_local_unless_it_says_otherwise() {
        let east = || TimeZone::fixed(jiff::tz::offset(2));
        let day = Some("2026-11-16T22:00:00.000000Z".to_owned());
        for written in ["2026-11-17", "2026-11-17 00:00", "2026-11-17T00:00:00+02:00"] {
            assert_eq!(recorded_in(written, east()), day, "{written}");
        }
        assert_eq!(recorded_in("yesterday", east()), None);
        assert_eq!(unix_milliseconds("1970-01-01T00:00:01.500000Z"), Some(1500));
    }

    #[test]
    fn a_time_is_local_and_without_fractions() {
        let east = TimeZone::fixed(jiff::tz::offset(2));
        let time = in_zone("2026-11-16T23:09:44.982970069Z", east);
        assert_eq!(time, "2026-11-17 01:09:44");
        assert_eq!(local_time("yesterday"), "yesterday");
    }
}
