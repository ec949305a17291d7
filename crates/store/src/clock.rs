//! Times for people: in their own time zone, to the second.

use jiff::{Timestamp, tz::TimeZone};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_local_and_without_fractions() {
        let east = TimeZone::fixed(jiff::tz::offset(2));
        let time = in_zone("2026-11-16T23:09:44.982970069Z", east);
        assert_eq!(time, "2026-11-17 01:09:44");
        assert_eq!(local_time("yesterday"), "yesterday");
    }
}
