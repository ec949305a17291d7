//! Standing answers and granted hosts: the list, and what is given and taken back.

use super::{
    Shared,
    held::HeldSession,
    outcome::{begin, first_after},
    performing::malformed,
    row::Doing,
};
use crate::protocol::{DenyWish, ErrorCode, ProtocolError};
use interpreter_core::{
    Coverage, Span, StandingAnswer,
    egress::{Host, authority},
    findings,
    session::Event,
};
use serde_json::{Value, json};

/// The wish of a request.
pub(super) enum GrantWish {
    /// Only the list.
    Nothing,
    Stand(Coverage),
    Revoke(u32),
    Close(Host, u16),
}

fn refused<T>(text: String) -> Result<T, ProtocolError> {
    Err(ProtocolError::new(ErrorCode::Refused, text))
}

impl GrantWish {
    /// The one wish of these fields, for this session.
    pub(super) fn of(
        held: &HeldSession,
        allow: Option<String>,
        deny: Option<DenyWish>,
        revoke: Option<u32>,
        close: Option<String>,
    ) -> Result<Self, ProtocolError> {
        let languages = || held.context.interpreters().languages();
        if let Some(what) = allow {
            let covers = Coverage::yes_to(&what, &languages());
            return match covers {
                Some(covers) => Ok(Self::Stand(covers)),
                None => refused("grant: `allow` takes a language, or `all`".into()),
            };
        }
        if let Some(wish) = deny {
            let covers = match &wish {
                DenyWish::Language(name) => Coverage::no_to_language(name, &languages()),
                DenyWish::Finding(name) => Coverage::no_to_finding(name),
                DenyWish::Line(pattern) => Coverage::no_to_line(pattern),
            };
            return match (covers, wish) {
                (Some(covers), _) => Ok(Self::Stand(covers)),
                (None, DenyWish::Line(_)) => {
                    refused("grant: the pattern of `line` is empty or too long".into())
                }
                (None, DenyWish::Language(_)) => refused("grant: no such language".into()),
                (None, DenyWish::Finding(_)) => {
                    let known = findings::NAMES.join(", ");
                    refused(format!("grant: no such finding; findings: {known}"))
                }
            };
        }
        if let Some(number) = revoke {
            if !held.standing().iter().any(|one| one.number == number) {
                return refused(format!("there is no standing answer {number}"));
            }
            return Ok(Self::Revoke(number));
        }
        let Some(place) = close else { return Ok(Self::Nothing) };
        let (host, port) = authority(&place, Some(443))
            .map_err(|error| malformed(format!("grant: `close`: {error}")))?;
        if !held.granted_hosts().contains(&(host.clone(), port)) {
            let place = host.with_port(port);
            return refused(format!("{place} was not granted in this session"));
        }
        Ok(Self::Close(host, port))
    }

    /// Whether something still holds that is to be taken back.
    fn stands(&self, held: &HeldSession) -> bool {
        match self {
            Self::Revoke(number) => held.standing().iter().any(|one| one.number == *number),
            Self::Close(host, port) => held.granted_hosts().contains(&(host.clone(), *port)),
            Self::Nothing | Self::Stand(_) => false,
        }
    }
}

/// Does it, and says what holds from then on.
pub(super) async fn grant(
    shared: &Shared,
    held: &HeldSession,
    wish: GrantWish,
    who: &str,
) -> Result<Value, ProtocolError> {
    match &wish {
        GrantWish::Nothing => {}
        GrantWish::Stand(covers) => {
            // Between two turns, as in a chat: whoever is asked just now answers that.
            let given = Event::StandingGiven(Span::Session, covers.clone());
            let after = begin(held, vec![given], who).await?;
            let is_given = |record: &Value| record["kind"] == "standing_given";
            if !first_after(shared, held, after, is_given).await?.is_some_and(|one| is_given(&one))
            {
                return refused("there are as many standing answers as there may be".into());
            }
        }
        GrantWish::Revoke(number) => {
            take_back(held, &wish, Event::StandingRevoked(*number), who).await;
        }
        GrantWish::Close(host, port) => {
            take_back(held, &wish, Event::HostRevoked(host.clone(), *port), who).await;
        }
    }
    let told = |one: &StandingAnswer| {
        let mut told = json!(one);
        told["words"] = one.covers.words().into();
        told
    };
    let hosts = held.granted_hosts();
    let hosts = hosts.iter().map(|(host, port)| host.with_port(*port)).collect::<Vec<_>>();
    let standing = held.standing().iter().map(told).collect::<Vec<_>>();
    Ok(json!({ "standing": standing, "hosts": hosts }))
}

/// Also while something is under way: that is when it matters.
async fn take_back(held: &HeldSession, wish: &GrantWish, event: Event, who: &str) {
    let mut progress = held.progress();
    held.session.send_as(who, event);
    while wish.stands(held) && progress.borrow_and_update().doing != Doing::Ended {
        // The sender is held by the session that is waited for.
        _ = progress.changed().await.is_ok();
    }
}
