//! Figures of the server, in the format of Prometheus. They count and name no content.

use super::routes::{ROUTES, RouteRule};
use crate::service::SessionCount;
use std::{
    fmt::Write,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

/// Classes of statuses, from 1xx to 5xx.
const CLASSES: usize = 5;

/// Counters, one per route and class, and one row for requests without a route.
#[derive(Debug)]
pub(super) struct Figures {
    since: Instant,
    answered: Vec<[AtomicU64; CLASSES]>,
    pub(super) logins: AtomicU64,
    pub(super) wrong_codes: AtomicU64,
    pub(super) wrong_keys: AtomicU64,
    /// Logins through a provider that were refused.
    pub(super) refused_logins: AtomicU64,
}

/// Numbers that are counted elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Present {
    pub(super) strangers: usize,
    pub(super) known: usize,
    pub(super) passes: usize,
    pub(super) sessions: SessionCount,
}

impl Figures {
    pub(super) fn new(now: Instant) -> Self {
        let answered = (0..=ROUTES.len()).map(|_| Default::default()).collect();
        let none = || AtomicU64::new(0);
        Self {
            since: now,
            answered,
            logins: none(),
            wrong_codes: none(),
            wrong_keys: none(),
            refused_logins: none(),
        }
    }

    /// Counts an answer.
    pub(super) fn count(&self, rule: Option<&'static RouteRule>, status: u16) {
        let place = rule.and_then(|rule| ROUTES.iter().position(|one| std::ptr::eq(one, rule)));
        let class = usize::from(status / 100).saturating_sub(1).min(CLASSES - 1);
        self.answered[place.unwrap_or(ROUTES.len())][class].fetch_add(1, Ordering::Relaxed);
    }

    /// All of them as text.
    pub(super) fn text(&self, present: Present, now: Instant) -> String {
        let mut text = String::new();
        let mut plain = |name: &str, kind: &str, value: u64| {
            // Writing to a string cannot fail.
            _ = write!(text, "# TYPE interpreter_{name} {kind}\ninterpreter_{name} {value}\n");
        };
        let up = now.saturating_duration_since(self.since).as_secs();
        plain("up_seconds", "gauge", up);
        plain("strangers", "gauge", present.strangers as u64);
        plain("connections", "gauge", present.known as u64);
        plain("passes", "gauge", present.passes as u64);
        plain("sessions", "gauge", present.sessions.running as u64);
        plain("sessions_of_one_person", "gauge", present.sessions.of_one as u64);
        plain("logins_total", "counter", self.logins.load(Ordering::Relaxed));
        plain("wrong_codes_total", "counter", self.wrong_codes.load(Ordering::Relaxed));
        plain("wrong_keys_total", "counter", self.wrong_keys.load(Ordering::Relaxed));
        plain("refused_logins_total", "counter", self.refused_logins.load(Ordering::Relaxed));
        text.push_str("# TYPE interpreter_requests_total counter\n");
        for (place, classes) in self.answered.iter().enumerate() {
            let route = ROUTES.get(place).map_or("none", |rule| rule.path.written());
            for (class, count) in classes.iter().enumerate() {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let class = class + 1;
                    _ = writeln!(
                        text,
                        "interpreter_requests_total{{route=\"{route}\",status=\"{class}xx\"}} {count}"
                    );
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_route_and_class() {
        let now = Instant::now();
        let figures = Figures::new(now);
        figures.count(Some(&ROUTES[0]), 200);
        figures.count(Some(&ROUTES[0]), 304);
        figures.count(None, 404);
        let sessions = SessionCount { running: 5, of_one: 4 };
        let present = Present { strangers: 1, known: 2, passes: 3, sessions };
        let text = figures.text(present, now);
        assert!(
            text.contains("interpreter_requests_total{route=\"/\",status=\"2xx\"} 1\n"),
            "{text}"
        );
        assert!(text.contains("interpreter_requests_total{route=\"none\",status=\"4xx\"} 1\n"));
        assert!(text.contains("interpreter_connections 2\n"));
        assert!(text.contains("interpreter_sessions 5\n"));
        assert!(text.contains("interpreter_sessions_of_one_person 4\n"));
    }
}
