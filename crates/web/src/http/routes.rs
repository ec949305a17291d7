//! The one table of routes: method, path, right, limits.
//!
//! Whatever is not in the table is not served. A route cannot be declared without its right, and
//! nothing but the gate reads the table, so no way in can be forgotten.

use super::{api::ApiCall, jupyter::JupyterCall, oidc::BACK, openai::OpenAiCall};
use crate::Right;
use std::time::Duration;

/// The part of the server that answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Handler {
    /// The page itself.
    Page,
    /// Another file of the page.
    PageFile,
    Login,
    /// The ways to log in.
    LoginWays,
    /// Sends the browser to the login provider.
    ProviderLogin,
    /// The browser comes back from there.
    ProviderReturn,
    Logout,
    /// The protocol over a WebSocket.
    Socket,
    /// One request of the protocol.
    Perform,
    /// The bytes of a result.
    ShownResult,
    /// A file for a session.
    Upload,
    /// Files of a session.
    Download,
    Health,
    Figures,
    /// A route for programs.
    Api(ApiCall),
    /// A route for clients that are made for `OpenAI`.
    OpenAi(OpenAiCall),
    /// A route for clients that are made for Jupyter.
    Jupyter(JupyterCall),
}

/// The condition that a caller must meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Nothing: there is nothing personal in the answer.
    Nothing,
    /// A login or a token. The service checks the right of each verb.
    Login,
    Right(Right),
}

/// Where a key may stand, beside the header `Authorization`, for requests that carry no headers of
/// a page's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyIn {
    Header,
    /// Among the subprotocols of a WebSocket.
    Subprotocol,
    /// As a signature of the path.
    Signature,
    /// As the cookie of a program that has logged in, with a header that no form can send. The
    /// header `Authorization` may also say `token`, as clients of Jupyter do.
    ProgramCookie,
}

/// The form of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyForm {
    Json,
    /// The same, or there is none.
    JsonOrNothing,
    /// The fields of a form.
    Fields,
    /// A file.
    Bytes,
}

/// The pages from which a browser may send the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentFrom {
    /// None: only other programs may.
    NoPage,
    /// Ours.
    OurPage,
    /// Ours, and whatever the person typed or opened.
    OurPageOrPerson,
    /// The same, and links of others that lead to it as a page of its own.
    AnyLink,
}

/// A path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathPattern {
    Exactly(&'static str),
    /// A file of the page, by its name.
    PageFile,
    /// `/o/` and 64 hexadecimal digits.
    Sha256,
    /// A path in which `{name}` stands for an id.
    Template(&'static str),
    /// The same, and the last name stands for the rest: the path of a file.
    Below(&'static str),
}

impl PathPattern {
    /// How it is written in a log.
    pub(super) const fn written(self) -> &'static str {
        match self {
            Self::Exactly(path) => path,
            Self::PageFile => "/{file}",
            Self::Sha256 => "/o/{sha256}",
            Self::Template(template) | Self::Below(template) => template,
        }
    }

    fn fits(self, path: &str, is_page_file: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Exactly(known) => path == known,
            Self::PageFile => path.strip_prefix('/').is_some_and(is_page_file),
            Self::Sha256 => path.strip_prefix("/o/").is_some_and(is_hash),
            Self::Template(template) => {
                let (mut known, mut given) = (template.split('/'), path.split('/'));
                let is_same = known.by_ref().zip(given.by_ref()).all(|(known, given)| {
                    if name(known).is_some() { is_id(given) } else { known == given }
                });
                is_same && template.split('/').count() == path.split('/').count()
            }
            Self::Below(template) => {
                below(template, path).is_some_and(|(start, _)| {
                    let above = template.rsplit_once('/').map_or("", |(above, _)| above);
                    let pairs = above.split('/').zip(start.split('/'));
                    let mut pairs = pairs.map(|(known, given)| {
                        if name(known).is_some() { is_id(given) } else { known == given }
                    });
                    pairs.all(|is_same| is_same)
                })
            }
        }
    }

    /// The names in it.
    #[cfg(test)]
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        self.written().split('/').filter_map(name)
    }

    /// The names in it, with their values in a path that fits.
    pub(super) fn values(self, path: &str) -> Vec<(&'static str, &str)> {
        let (Self::Template(template) | Self::Below(template)) = self else { return Vec::new() };
        let pairs = template.split('/').zip(path.split('/'));
        pairs.filter_map(|(known, given)| Some((name(known)?, given))).collect()
    }
}

/// A path in two: as many parts as a template has before its last one, and the rest.
pub(super) fn below<'a>(template: &str, path: &'a str) -> Option<(&'a str, &'a str)> {
    let parts = template.split('/').count() - 1;
    let (at, _) = path.match_indices('/').nth(parts - 1)?;
    let rest = &path[at + 1..];
    (!rest.is_empty()).then_some((&path[..at], rest))
}

/// The name that a part of a template is.
fn name(part: &'static str) -> Option<&'static str> {
    part.strip_prefix('{')?.strip_suffix('}')
}

/// The id of a session or a question.
fn is_id(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !text.is_empty() && text.len() <= LONGEST_ID && text.bytes().all(is_part)
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// One row of the table.
#[derive(Debug)]
pub(super) struct RouteRule {
    pub(super) method: &'static str,
    pub(super) path: PathPattern,
    pub(super) needs: Needs,
    pub(super) key_in: KeyIn,
    pub(super) from: SentFrom,
    /// Bytes of a body at most. Without any there must be none.
    pub(super) body: u64,
    pub(super) body_form: BodyForm,
    /// How long the body and the answer may take together.
    pub(super) time: Duration,
    pub(super) handler: Handler,
}

/// Bytes of one request of the protocol: a prompt with pictures.
pub(super) const MOST_OF_A_REQUEST: usize = 8 << 20;

/// Bytes of a request that has neither code nor pictures.
const SMALL: u64 = 64 << 10;

/// Characters of an id in a path.
const LONGEST_ID: usize = 64;

const SHORT: Duration = Duration::from_secs(10);

/// A login provider is asked for three documents, and each has 8 seconds.
const PROVIDER: Duration = Duration::from_secs(30);

/// Opening a session starts processes, and a folder can be large.
const LONG: Duration = Duration::from_mins(2);

/// An answer of a model that comes whole, with everything that it runs.
const ANSWER: Duration = Duration::from_mins(30);

const fn open(path: PathPattern, from: SentFrom, handler: Handler) -> RouteRule {
    RouteRule {
        method: "GET",
        path,
        needs: Needs::Nothing,
        key_in: KeyIn::Header,
        from,
        body: 0,
        body_form: BodyForm::Json,
        time: SHORT,
        handler,
    }
}

const fn post(
    path: &'static str,
    needs: Needs,
    body: u64,
    time: Duration,
    handler: Handler,
) -> RouteRule {
    RouteRule {
        method: "POST",
        path: PathPattern::Exactly(path),
        needs,
        key_in: KeyIn::Header,
        from: SentFrom::OurPage,
        body,
        body_form: BodyForm::Json,
        time,
        handler,
    }
}

const fn get(
    path: PathPattern,
    needs: Needs,
    key_in: KeyIn,
    from: SentFrom,
    handler: Handler,
) -> RouteRule {
    RouteRule {
        method: "GET",
        path,
        needs,
        key_in,
        from,
        body: 0,
        body_form: BodyForm::Json,
        time: SHORT,
        handler,
    }
}

/// A page on the way through the login provider, which is asked meanwhile.
const fn provider(path: &'static str, from: SentFrom, handler: Handler) -> RouteRule {
    RouteRule { time: PROVIDER, ..open(PathPattern::Exactly(path), from, handler) }
}

const fn api(
    method: &'static str,
    path: &'static str,
    needs: Needs,
    body: u64,
    call: ApiCall,
) -> RouteRule {
    RouteRule {
        method,
        path: PathPattern::Template(path),
        needs,
        key_in: KeyIn::Header,
        from: SentFrom::OurPage,
        body,
        body_form: BodyForm::Json,
        time: LONG,
        handler: Handler::Api(call),
    }
}

/// A route that shows something.
const fn shows(path: &'static str, call: ApiCall) -> RouteRule {
    api("GET", path, Needs::Right(Right::Watch), 0, call)
}

/// A route that does something.
const fn does(path: &'static str, right: Right, body: u64, call: ApiCall) -> RouteRule {
    api("POST", path, Needs::Right(right), body, call)
}

/// A route in the form of `OpenAI`.
const fn openai(path: &'static str, call: OpenAiCall) -> RouteRule {
    post(path, Needs::Right(Right::Prompt), WHOLE, ANSWER, Handler::OpenAi(call))
}

/// A route in the form of Jupyter.
const fn jupyter(
    method: &'static str,
    path: PathPattern,
    needs: Needs,
    call: JupyterCall,
) -> RouteRule {
    RouteRule {
        method,
        path,
        needs,
        key_in: KeyIn::ProgramCookie,
        from: SentFrom::NoPage,
        body: 0,
        body_form: BodyForm::Json,
        time: LONG,
        handler: Handler::Jupyter(call),
    }
}

const SIGN_IN: RouteRule = RouteRule {
    body: 4 << 10,
    body_form: BodyForm::Fields,
    // Strangers may send it.
    time: SHORT,
    ..jupyter("POST", PathPattern::Exactly("/login"), Needs::Nothing, JupyterCall::SignIn)
};

const BEGIN_KERNEL: RouteRule = RouteRule {
    body: 4 << 10,
    body_form: BodyForm::JsonOrNothing,
    ..jupyter(
        "POST",
        PathPattern::Exactly("/api/kernels"),
        Needs::Right(PROMPT),
        JupyterCall::Begin,
    )
};

const PROMPT: Right = Right::Prompt;
const CHANGE: Right = Right::Change;
const WHOLE: u64 = MOST_OF_A_REQUEST as u64;

const FILE: &str = "/v1/sessions/{session}/files/{path}";

/// Gigabytes on a slow line. A connection that makes no headway ends long before.
const HOURS: Duration = Duration::from_hours(12);

const FILE_UP: RouteRule = RouteRule {
    method: "PUT",
    path: PathPattern::Below(FILE),
    needs: Needs::Right(CHANGE),
    key_in: KeyIn::Header,
    from: SentFrom::OurPage,
    // The session's limits and the disk bound it.
    body: u64::MAX,
    body_form: BodyForm::Bytes,
    time: HOURS,
    handler: Handler::Upload,
};

const fn file_down(path: PathPattern) -> RouteRule {
    RouteRule {
        method: "GET",
        path,
        needs: Needs::Right(Right::Watch),
        // A browser saves a file of any size only where it follows a link.
        key_in: KeyIn::Signature,
        from: SentFrom::OurPage,
        body: 0,
        body_form: BodyForm::Json,
        time: LONG,
        handler: Handler::Download,
    }
}

/// All of them.
pub(super) static ROUTES: &[RouteRule] = &[
    open(PathPattern::Exactly("/"), SentFrom::AnyLink, Handler::Page),
    open(PathPattern::PageFile, SentFrom::OurPageOrPerson, Handler::PageFile),
    open(PathPattern::Exactly("/healthz"), SentFrom::OurPageOrPerson, Handler::Health),
    open(PathPattern::Exactly("/v1/login"), SentFrom::OurPage, Handler::LoginWays),
    post("/v1/login", Needs::Nothing, 4 << 10, SHORT, Handler::Login),
    provider("/login/oidc", SentFrom::OurPageOrPerson, Handler::ProviderLogin),
    // The state, and the cookie that belongs to it, say whether it began here.
    provider(BACK, SentFrom::AnyLink, Handler::ProviderReturn),
    post("/v1/logout", Needs::Login, 4 << 10, SHORT, Handler::Logout),
    post("/v1/do", Needs::Login, MOST_OF_A_REQUEST as u64, LONG, Handler::Perform),
    get(
        PathPattern::Exactly("/v1/socket"),
        Needs::Login,
        KeyIn::Subprotocol,
        SentFrom::OurPage,
        Handler::Socket,
    ),
    get(
        PathPattern::Sha256,
        Needs::Right(Right::Watch),
        KeyIn::Signature,
        SentFrom::OurPageOrPerson,
        Handler::ShownResult,
    ),
    get(
        PathPattern::Exactly("/metrics"),
        Needs::Right(Right::Watch),
        KeyIn::Header,
        SentFrom::OurPage,
        Handler::Figures,
    ),
    api("GET", "/v1/openapi.json", Needs::Login, 0, ApiCall::Document),
    shows("/v1/sessions", ApiCall::Sessions),
    does("/v1/sessions", PROMPT, SMALL, ApiCall::Open),
    shows("/v1/sessions/{session}", ApiCall::Session),
    api("DELETE", "/v1/sessions/{session}", Needs::Right(PROMPT), 0, ApiCall::Close),
    does("/v1/sessions/{session}/prompt", PROMPT, WHOLE, ApiCall::Prompt),
    does("/v1/sessions/{session}/run", PROMPT, WHOLE, ApiCall::Run),
    does("/v1/sessions/{session}/interrupt", PROMPT, SMALL, ApiCall::Interrupt),
    does("/v1/sessions/{session}/restart", PROMPT, SMALL, ApiCall::Restart),
    does("/v1/sessions/{session}/resume", PROMPT, SMALL, ApiCall::Resume),
    does("/v1/sessions/{session}/fork", PROMPT, SMALL, ApiCall::Fork),
    shows("/v1/sessions/{session}/changes", ApiCall::Changes),
    does("/v1/sessions/{session}/apply", CHANGE, WHOLE, ApiCall::Apply),
    does("/v1/sessions/{session}/discard", CHANGE, WHOLE, ApiCall::Discard),
    does("/v1/sessions/{session}/undo", CHANGE, SMALL, ApiCall::Undo),
    shows("/v1/sessions/{session}/rewind", ApiCall::RewindPlan),
    does("/v1/sessions/{session}/rewind", CHANGE, SMALL, ApiCall::Rewind),
    shows("/v1/sessions/{session}/grants", ApiCall::Grants),
    shows("/v1/sessions/{session}/records", ApiCall::Records),
    does(
        "/v1/sessions/{session}/questions/{question}/answer",
        Right::Answer,
        WHOLE,
        ApiCall::Answer,
    ),
    FILE_UP,
    file_down(PathPattern::Below(FILE)),
    file_down(PathPattern::Template("/v1/sessions/{session}/files")),
    shows("/v1/questions", ApiCall::Questions),
    shows("/v1/models", ApiCall::Models),
    openai("/v1/chat/completions", OpenAiCall::Chat),
    openai("/v1/responses", OpenAiCall::Responses),
    jupyter("GET", PathPattern::Exactly("/login"), Needs::Nothing, JupyterCall::SignInPage),
    SIGN_IN,
    BEGIN_KERNEL,
    jupyter(
        "GET",
        PathPattern::Template("/api/kernels/{kernel}/channels"),
        Needs::Right(PROMPT),
        JupyterCall::Channels,
    ),
    jupyter(
        "DELETE",
        PathPattern::Template("/api/kernels/{kernel}"),
        Needs::Right(PROMPT),
        JupyterCall::End,
    ),
];

/// The row for a request, if there is one.
pub(super) fn find(
    method: &str,
    path: &str,
    is_page_file: impl Fn(&str) -> bool + Copy,
) -> Option<&'static RouteRule> {
    ROUTES.iter().find(|rule| rule.method == method && rule.path.fits(path, is_page_file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_personal_needs_no_login() {
        let open: Vec<_> = ROUTES
            .iter()
            .filter(|rule| rule.needs == Needs::Nothing)
            .map(|rule| rule.handler)
            .collect();
        let expected = [
            Handler::Page,
            Handler::PageFile,
            Handler::Health,
            Handler::LoginWays,
            Handler::Login,
            Handler::ProviderLogin,
            Handler::ProviderReturn,
            Handler::Jupyter(JupyterCall::SignInPage),
            Handler::Jupyter(JupyterCall::SignIn),
        ];
        assert_eq!(open, expected);
    }

    #[test]
    fn whatever_changes_something_is_sent_from_our_page_with_a_body_of_json() {
        for rule in ROUTES {
            let has_body = matches!(rule.method, "POST" | "PUT");
            assert_eq!(has_body, rule.body > 0, "{rule:?}");
            // Only a file, and the form of a program, are something else than JSON.
            let form = if rule.handler == Handler::Upload {
                BodyForm::Bytes
            } else if rule.handler == Handler::Jupyter(JupyterCall::SignIn) {
                BodyForm::Fields
            } else if rule.handler == Handler::Jupyter(JupyterCall::Begin) {
                BodyForm::JsonOrNothing
            } else {
                BodyForm::Json
            };
            assert_eq!(rule.body_form, form, "{rule:?}");
            assert_eq!(rule.method == "PUT", rule.handler == Handler::Upload, "{rule:?}");
            let for_programs = matches!(rule.handler, Handler::Jupyter(_));
            assert_eq!(rule.from == SentFrom::NoPage, for_programs, "{rule:?}");
            assert_eq!(rule.key_in == KeyIn::ProgramCookie, for_programs, "{rule:?}");
            let is_ours = for_programs || rule.from == SentFrom::OurPage;
            assert!(rule.method == "GET" || is_ours, "{rule:?}");
        }
    }

    #[test]
    fn no_other_spelling_of_a_path_is_a_route() {
        let found = |method: &str, path: &str| {
            find(method, path, |name| name == "app.js").map(|rule| rule.handler)
        };
        let hash = "0a".repeat(32);
        assert_eq!(found("GET", "/"), Some(Handler::Page));
        assert_eq!(found("GET", "/app.js"), Some(Handler::PageFile));
        assert_eq!(found("GET", &format!("/o/{hash}")), Some(Handler::ShownResult));
        for path in [
            "",
            "//",
            "/.",
            "/app.js/",
            "/App.js",
            "/./app.js",
            "/%61pp.js",
            "/../app.js",
            "/app.js%00",
            "/v1/do/",
            "/V1/do",
            "/v1//do",
            "/v1/socket;x",
            "/o/",
            "/o/..",
            "/index.html",
        ] {
            assert_eq!(found("GET", path), None, "{path}");
        }
        assert_eq!(found("GET", &format!("/o/{}", hash.to_uppercase())), None);
        assert_eq!(found("GET", &format!("/o/{hash}0")), None);
        for method in ["HEAD", "PUT", "OPTIONS", "TRACE", "CONNECT", "get", ""] {
            assert_eq!(found(method, "/v1/do"), None, "{method}");
        }
        assert_eq!(found("GET", "/v1/do"), None);
        assert_eq!(found("POST", "/v1/socket"), None);
    }
}
