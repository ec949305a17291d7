//! Files up and down over HTTP.
//!
//! # Threat
//! A path in another spelling, a body that stalls or breaks off, a sender whose login ends meanwhile,
//! and a file that a browser would show as a page of ours.
//!
//! # Mechanism
//! A path is unescaped once, part by part; an escaped slash is refused. Its name is judged by the
//! service. A piece of a body must come within a time. Answers are saved, never shown. A link of the
//! page carries a signature of its path (`k`), which opens nothing without the login's cookie.

use super::{
    answers::{self, Answered},
    api::ApiReply,
    logins::Known,
    refusal::HttpRefusal,
    routes::{PathPattern, RouteRule, below},
};
use crate::{
    Service,
    files::{FilesForm, FilesWish},
    protocol::{ErrorCode, ProtocolError},
    service::ServiceUpload,
};
use http_body_util::BodyExt;
use hyper::{Request, Uri, body::Incoming, header::CONTENT_LENGTH};
use interpreter_agent::ExportOf;
use std::time::Duration;
use tokio::time::timeout;

/// How long a body may make no headway.
const PATIENCE: Duration = Duration::from_secs(30);

fn refused(error: &ProtocolError) -> Answered {
    answers::closed(answers::api(&ApiReply::refused(error)))
}

fn malformed(text: &str) -> ProtocolError {
    ProtocolError::new(ErrorCode::Malformed, text)
}

/// The session and the file of a path.
fn parts(rule: &RouteRule, uri: &Uri) -> Result<(String, Option<String>), ProtocolError> {
    let session = rule.path.values(uri.path()).into_iter().find(|(name, _)| *name == "session");
    let session = session.map(|(_, session)| session.to_owned()).unwrap_or_default();
    let PathPattern::Below(template) = rule.path else { return Ok((session, None)) };
    let rest = below(template, uri.path()).map_or("", |(_, rest)| rest);
    let parts: Option<Vec<_>> = rest.split('/').map(unescaped).collect();
    let parts = parts.ok_or_else(|| malformed("the path is not escaped as UTF-8"))?;
    if parts.iter().any(|part| part.contains('/')) {
        return Err(malformed("the path has an escaped slash"));
    }
    Ok((session, Some(parts.join("/"))))
}

/// A part of a path, with its escapes undone once.
fn unescaped(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            let digit = |byte: u8| char::from(byte).to_digit(16);
            bytes.push(u8::try_from(digit(digits[0])? << 4 | digit(digits[1])?).ok()?);
            rest = after;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

/// A query without the signature of its path, which the gate has looked at. Nothing if that was all.
fn asked(query: Option<&str>) -> Option<String> {
    let mut pairs: Vec<_> = query?.split('&').collect();
    if let Some(at) = pairs.iter().position(|pair| pair.starts_with("k=")) {
        pairs.remove(at);
    }
    (!pairs.is_empty()).then(|| pairs.join("&"))
}

/// The files that a query asks for.
fn wish(query: Option<&str>) -> Option<FilesWish> {
    let (mut of, mut form) = (None, None);
    for pair in query.unwrap_or_default().split('&') {
        match pair {
            "of=staged" if of.is_none() => of = Some(ExportOf::Staged),
            "of=applied" if of.is_none() => of = Some(ExportOf::Applied),
            "form=zip" if form.is_none() => form = Some(FilesForm::Zip),
            "form=patch" if form.is_none() => form = Some(FilesForm::Patch),
            _ => return None,
        }
    }
    Some(FilesWish::Many { of: of?, form: form? })
}

/// Takes in a file and has it staged.
pub(super) async fn upload<S: Service>(
    service: &S,
    mut known: Known,
    rule: &RouteRule,
    request: &mut Request<Incoming>,
) -> Result<Answered, HttpRefusal> {
    let length = request.headers().get(CONTENT_LENGTH).and_then(|text| text.to_str().ok());
    let length = length.and_then(|text| text.parse().ok()).ok_or(HttpRefusal::NoLength)?;
    let caller = known.caller.clone();
    let begun = async {
        if request.uri().query().is_some() {
            return Err(malformed("there is no such parameter"));
        }
        let (session, path) = parts(rule, request.uri())?;
        service.begin_upload(&caller, &session, &path.unwrap_or_default(), length).await
    };
    let mut upload = match begun.await {
        Ok(upload) => upload,
        Err(error) => return Ok(refused(&error)),
    };
    loop {
        let frame = tokio::select! {
            biased;
            () = known.ended() => return Err(HttpRefusal::NotLoggedIn),
            frame = timeout(PATIENCE, request.body_mut().frame()) => frame,
        };
        let piece = match frame {
            Err(_) => return Err(HttpRefusal::TooLate),
            Ok(None) => break,
            // It was cut: nothing of it is kept.
            Ok(Some(Err(_))) => return Err(HttpRefusal::Ambiguous),
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
        };
        if !piece.is_empty() {
            upload = match upload.take(piece).await {
                Ok(upload) => upload,
                Err(error) => return Ok(refused(&error)),
            };
        }
    }
    Ok(match upload.finish().await {
        Ok(done) => answers::json(done.to_string()),
        Err(error) => refused(&error),
    })
}

/// Sends one file, or several as an archive or a patch.
pub(super) async fn download<S: Service>(
    service: &S,
    known: Known,
    rule: &RouteRule,
    uri: &Uri,
) -> Result<Answered, HttpRefusal> {
    let opened = async {
        let (session, path) = parts(rule, uri)?;
        let wish = match (path, asked(uri.query())) {
            (Some(path), None) => FilesWish::One(path),
            (None, query) => wish(query.as_deref()).ok_or_else(|| {
                malformed("`of` must be `staged` or `applied`, `form` must be `zip` or `patch`")
            })?,
            (Some(_), Some(_)) => return Err(malformed("there is no such parameter")),
        };
        service.open_files(&known.caller, &session, wish).await
    };
    Ok(match opened.await {
        Ok(files) => answers::download(files, known),
        Err(error) => refused(&error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone_once_and_the_query_is_strict() {
        assert_eq!(unescaped("a%20b%2e").as_deref(), Some("a b."));
        assert_eq!(unescaped("%252e").as_deref(), Some("%2e"));
        for wrong in ["%", "%2", "%gg", "%ff"] {
            assert_eq!(unescaped(wrong), None, "{wrong}");
        }
        assert!(wish(Some("of=staged&form=zip")).is_some());
        let left = |query| asked(Some(query));
        assert_eq!(left("k=0a"), None);
        assert_eq!(left("of=staged&k=0a&form=zip").as_deref(), Some("of=staged&form=zip"));
        assert_eq!(left("k=0a&k=0b").as_deref(), Some("k=0b"));
        for wrong in ["", "of=staged", "form=zip", "of=staged&of=staged&form=zip", "of=x&form=zip"]
        {
            assert!(wish(Some(wrong)).is_none(), "{wrong}");
        }
    }
}
