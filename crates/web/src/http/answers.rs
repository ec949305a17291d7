//! Answers, and the headers that every one of them has.
//!
//! # Mechanism
//! A browser may do with an answer only what the page needs: no other page may frame it, read it or
//! be opened by it, no script but the page's own runs, and no type is guessed. No answer has a
//! header that allows another origin.

use super::{
    api::ApiReply, logins::Known, page_files::PageFile, refusal::HttpRefusal,
    shown_results::ResultKind,
};
use crate::files::FilesDownload;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream::unfold};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Response, StatusCode,
    body::Frame,
    header::{
        CACHE_CONTROL, CONNECTION, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY,
        CONTENT_TYPE, ETAG, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY, SET_COOKIE,
        X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
    },
};
use std::convert::Infallible;

/// An answer: whole, or as it comes.
pub(super) type Answered = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// The page: its own files, and nothing of anybody else.
pub(super) const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' blob:; connect-src 'self'; frame-src 'self'; font-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
    trusted-types 'none'";

/// Whatever is not meant to be looked at.
const DATA_POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'; sandbox";

/// A result that code made. It is one wall of two: a policy does not keep a browser from connecting
/// for a hint or a script, so neither is in the bytes.
const RESULT_POLICY: &str = "default-src 'none'; img-src data:; font-src data:; \
    style-src 'unsafe-inline'; script-src 'none'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'self'; sandbox";

/// A page of a few words, without a script.
const NOTICE_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

const COMMON: [(&str, &str); 6] = [
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-dns-prefetch-control", "off"),
    ("x-permitted-cross-domain-policies", "none"),
    ("origin-agent-cluster", "?1"),
    (
        "permissions-policy",
        "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), \
         hid=(), magnetometer=(), microphone=(), midi=(), payment=(), \
         publickey-credentials-get=(), screen-wake-lock=(), serial=(), usb=()",
    ),
];

/// How long an answer may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Never,
    /// It is asked for anew each time, and comes only if it has changed.
    Checked,
    ForEver,
}

impl Kept {
    const fn header(self) -> &'static str {
        match self {
            Self::Never => "no-store",
            Self::Checked => "no-cache",
            Self::ForEver => "private, max-age=31536000, immutable",
        }
    }
}

fn answer(
    status: StatusCode,
    kind: &'static str,
    policy: &'static str,
    kept: Kept,
    body: Bytes,
) -> Answered {
    let mut answer = Response::new(Full::new(body).boxed_unsync());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    let framed = if policy.contains("frame-ancestors 'self'") { "SAMEORIGIN" } else { "DENY" };
    let fixed = [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, policy),
        (CACHE_CONTROL, kept.header()),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (X_FRAME_OPTIONS, framed),
    ];
    let common = COMMON.map(|(name, value)| (HeaderName::from_static(name), value));
    for (name, value) in fixed.into_iter().chain(common) {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}

const JSON: &str = "application/json";

/// JSON for a program.
pub(super) fn json(body: impl Into<Bytes>) -> Answered {
    answer(StatusCode::OK, JSON, DATA_POLICY, Kept::Never, body.into())
}

/// An answer of the API.
pub(super) fn api(reply: &ApiReply) -> Answered {
    other(reply.status, &reply.body)
}

/// JSON with this status.
pub(super) fn other(status: u16, body: &serde_json::Value) -> Answered {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    answer(status, JSON, DATA_POLICY, Kept::Never, Bytes::from(body.to_string()))
}

/// Events, as they come.
pub(super) fn events(stream: impl Stream<Item = Bytes> + Send + 'static) -> Answered {
    let kind = "text/event-stream";
    let mut answer = answer(StatusCode::OK, kind, DATA_POLICY, Kept::Never, Bytes::new());
    let frames = stream.map(|bytes| Ok(Frame::data(bytes)));
    *answer.body_mut() = StreamBody::new(frames).boxed_unsync();
    // A proxy must pass each event on at once.
    answer.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    answer
}

/// There is nothing more.
pub(super) fn nothing() -> Answered {
    answer(StatusCode::NO_CONTENT, JSON, DATA_POLICY, Kept::Never, Bytes::new())
}

/// Plain text for a program.
pub(super) fn text(body: impl Into<Bytes>) -> Answered {
    let kind = "text/plain; charset=utf-8";
    answer(StatusCode::OK, kind, DATA_POLICY, Kept::Never, body.into())
}

/// A refusal. The connection ends with it, so that nothing behind it is taken for a request.
pub(super) fn refused(refusal: HttpRefusal) -> Answered {
    let body = serde_json::json!({
        "error": { "code": refusal.code(), "message": refusal.message() }
    });
    refused_as(refusal, &body)
}

/// The same, in another form.
pub(super) fn refused_as(refusal: HttpRefusal, body: &serde_json::Value) -> Answered {
    let body = Bytes::from(body.to_string());
    let mut answer = answer(refusal.status(), JSON, DATA_POLICY, Kept::Never, body);
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// A refusal in the form of `OpenAI`. Its clients would send the same once more by themselves, which
/// would be another prompt.
pub(super) fn openai_refused(status: u16, body: &serde_json::Value) -> Answered {
    let mut answer = other(status, body);
    answer.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
    answer
}

/// The same answer, after which the connection ends: a body may be left unread.
pub(super) fn closed(mut answer: Answered) -> Answered {
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// Files of a session, to be saved and never shown. One that breaks off is shorter than it says.
pub(super) fn download(files: FilesDownload, known: Known) -> Answered {
    let mut answer = answer(StatusCode::OK, files.kind, DATA_POLICY, Kept::Never, Bytes::new());
    let headers = answer.headers_mut();
    headers.insert(CONTENT_LENGTH, files.bytes.into());
    let saved = format!("attachment; filename=\"{}\"", files.name);
    if let Ok(saved) = HeaderValue::from_str(&saved) {
        headers.insert(CONTENT_DISPOSITION, saved);
    }
    let frames = unfold((files, known), async |(files, known)| {
        let (piece, files) = files.next().await?;
        // A login that has ended, or a file that changed, ends it early.
        let piece = piece.ok().filter(|_| !known.is_gone())?;
        Some((Ok(Frame::data(piece)), (files, known)))
    });
    *answer.body_mut() = StreamBody::new(frames).boxed_unsync();
    answer
}

/// Another address for the browser, which it asks for with GET.
pub(super) fn redirect(location: &str) -> Answered {
    let mut answer = answer(StatusCode::SEE_OTHER, JSON, DATA_POLICY, Kept::Never, Bytes::new());
    if let Ok(mut location) = HeaderValue::from_str(location) {
        location.set_sensitive(true);
        answer.headers_mut().insert(LOCATION, location);
    }
    answer
}

/// A few words for a person whose browser is not on our page.
pub(super) struct Notice<'a> {
    pub(super) text: &'static str,
    /// Text of somebody else.
    pub(super) detail: Option<&'a str>,
}

/// A page with them.
pub(super) fn notice(status: StatusCode, notice: &Notice<'_>) -> Answered {
    let detail = notice.detail.map(escaped).unwrap_or_default();
    let detail = if detail.is_empty() { detail } else { format!("<p><code>{detail}</code></p>") };
    let body = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Interpreter</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <link rel=\"icon\" href=\"/icon.svg\" type=\"image/svg+xml\">\
         <link rel=\"stylesheet\" href=\"/page.css\"></head>\
         <body><main class=\"welcome\"><h1>Interpreter</h1><p class=\"problem\">{}</p>{detail}\
         <p><a class=\"chip provider\" href=\"/\">Back to the login</a></p></main></body></html>",
        escaped(notice.text)
    );
    answer(status, "text/html; charset=utf-8", NOTICE_POLICY, Kept::Never, body.into())
}

/// Text as HTML: nothing in it is a mark.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for one in text.chars() {
        match one {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            one => html.push(one),
        }
    }
    html
}

/// A file of the page, or that it has not changed.
pub(super) fn page_file(file: &PageFile, known: Option<&str>) -> Answered {
    let is_known = known == Some(file.tag.as_str());
    let (status, body) = if is_known {
        (StatusCode::NOT_MODIFIED, Bytes::new())
    } else {
        (StatusCode::OK, Bytes::from_static(file.bytes))
    };
    let mut answer = answer(status, file.kind, PAGE_POLICY, Kept::Checked, body);
    if let Ok(tag) = HeaderValue::from_str(&file.tag) {
        answer.headers_mut().insert(ETAG, tag);
    }
    answer
}

/// A result that code made.
pub(super) fn result(kind: ResultKind, bytes: Vec<u8>) -> Answered {
    let (kind, kept) = match kind {
        // Made anew each time, so that a browser keeps none that an older version let through.
        ResultKind::Page => ("text/html; charset=utf-8", Kept::Never),
        ResultKind::Drawing => ("image/svg+xml", Kept::ForEver),
        ResultKind::Still(kind) => (kind, Kept::ForEver),
    };
    let mut answer = answer(StatusCode::OK, kind, RESULT_POLICY, kept, bytes.into());
    // It has no origin, and a browser complains about one who wants the page's for itself.
    answer.headers_mut().remove("origin-agent-cluster");
    if kind == "image/svg+xml" {
        // Pictures do not look at it, and nothing else shows it then.
        let saved = HeaderValue::from_static("attachment; filename=\"drawing.svg\"");
        answer.headers_mut().insert(CONTENT_DISPOSITION, saved);
    }
    answer
}

/// The same answer, which also sets a cookie.
pub(super) fn with_cookie(mut answer: Answered, cookie: &str) -> Answered {
    if let Ok(mut cookie) = HeaderValue::from_str(cookie) {
        cookie.set_sensitive(true);
        answer.headers_mut().insert(SET_COOKIE, cookie);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Answered> {
        let file = PageFile { bytes: b"x", kind: "text/html; charset=utf-8", tag: "\"1\"".into() };
        vec![
            json("{}"),
            text("ok"),
            refused(HttpRefusal::Unknown),
            redirect("/#x"),
            notice(StatusCode::FORBIDDEN, &Notice { text: "No.", detail: Some("<b>") }),
            page_file(&file, None),
            page_file(&file, Some("\"1\"")),
            result(ResultKind::Page, b"<b>".to_vec()),
            result(ResultKind::Drawing, b"<svg/>".to_vec()),
            result(ResultKind::Still("image/png"), b"\x89PNG".to_vec()),
        ]
    }

    #[test]
    fn no_answer_may_be_framed_by_others_guessed_or_read_from_elsewhere() {
        for answer in all() {
            let headers = answer.headers();
            let policy = headers[CONTENT_SECURITY_POLICY].to_str().unwrap();
            assert!(policy.starts_with("default-src 'none'; "), "{policy}");
            assert!(
                policy.contains("frame-ancestors 'none'")
                    || policy.contains("frame-ancestors 'self'")
            );
            assert_eq!(headers[X_CONTENT_TYPE_OPTIONS], "nosniff");
            assert_eq!(headers[REFERRER_POLICY], "no-referrer");
            assert_eq!(headers["cross-origin-resource-policy"], "same-origin");
            assert!(headers.keys().all(|name| !name.as_str().starts_with("access-control-")));
        }
    }

    #[tokio::test]
    async fn no_text_is_a_mark_in_a_notice() {
        let detail = Some("<script>alert('1')</script>\"&amp;");
        let answer = notice(StatusCode::FORBIDDEN, &Notice { text: "No.", detail });
        let policy = answer.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(!policy.contains("script-src"), "{policy}");
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let body = String::from_utf8(body.to_vec()).unwrap();
        let shown = "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;amp;";
        assert!(body.contains(shown) && !body.contains("<script"), "{body}");
        assert!(body.contains("<p class=\"problem\">No.</p>"));
    }

    /// The directives of a policy. A browser takes the first of two with one name.
    fn directives(policy: &str) -> Vec<(&str, Vec<&str>)> {
        let all = policy.split(';').map(str::split_ascii_whitespace);
        all.map(|mut words| (words.next().unwrap(), words.collect())).collect()
    }

    #[test]
    fn a_result_has_no_origin_no_script_and_loads_nothing() {
        for kind in [ResultKind::Page, ResultKind::Drawing, ResultKind::Still("image/png")] {
            let answer = result(kind, Vec::new());
            let policy = answer.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
            // Exactly these: whatever is added must be thought about here.
            let wanted: [(&str, &[&str]); 9] = [
                ("default-src", &["'none'"]),
                ("img-src", &["data:"]),
                ("font-src", &["data:"]),
                ("style-src", &["'unsafe-inline'"]),
                ("script-src", &["'none'"]),
                ("base-uri", &["'none'"]),
                ("form-action", &["'none'"]),
                ("frame-ancestors", &["'self'"]),
                ("sandbox", &[]),
            ];
            let wanted: Vec<_> = wanted.map(|(name, words)| (name, words.to_vec())).into();
            assert_eq!(directives(policy), wanted);
        }
    }

    #[test]
    fn a_drawing_is_saved_where_it_is_no_picture_and_no_page_is_kept() {
        let drawing = result(ResultKind::Drawing, Vec::new());
        let saved = drawing.headers()[CONTENT_DISPOSITION].to_str().unwrap();
        assert!(saved.starts_with("attachment"), "{saved}");
        let page = result(ResultKind::Page, Vec::new());
        assert!(page.headers().get(CONTENT_DISPOSITION).is_none());
        assert_eq!(page.headers()[CACHE_CONTROL], "no-store");
    }
}
