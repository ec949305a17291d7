//! Each route of the API: its verb, its parameters and the fields of its body.
//!
//! One description serves the adapter and the document that is served at `/v1/openapi.json`. That it
//! agrees with the protocol is tested here. Pure.

/// One route of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::http) enum ApiCall {
    Sessions,
    Open,
    Session,
    Close,
    Prompt,
    Run,
    Interrupt,
    Restart,
    Resume,
    Fork,
    Changes,
    Apply,
    Discard,
    Undo,
    RewindPlan,
    Rewind,
    Grants,
    Questions,
    Answer,
    Models,
    Records,
    /// The description of all of them.
    Document,
}

/// The kind of a field or parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    Text,
    Flag,
    /// A whole number from 0.
    Whole,
    Texts,
    OneOf(&'static [&'static str]),
    Pictures,
    TextFiles,
    Picks,
    /// 64 hexadecimal digits.
    Hash,
}

/// A field of a body, or a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ApiField {
    pub(super) name: &'static str,
    pub(super) kind: FieldKind,
    pub(super) is_needed: bool,
    pub(super) about: &'static str,
}

/// The shape of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gives {
    /// The reply of the protocol, as the document describes it under this name.
    Reply(&'static str),
    /// A session that has begun.
    NewSession,
    OneSession,
    OpenQuestions,
    ModelList,
    Records,
    Document,
}

/// The work of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallDescription {
    /// Its name in the document.
    pub(super) name: &'static str,
    /// The verb of the protocol.
    pub(super) verb: &'static str,
    pub(super) about: &'static str,
    pub(super) query: &'static [ApiField],
    /// Fields of the body, beside those that the path has.
    pub(super) body: &'static [ApiField],
    pub(super) gives: Gives,
}

const fn needed(name: &'static str, kind: FieldKind, about: &'static str) -> ApiField {
    ApiField { name, kind, is_needed: true, about }
}

const fn possible(name: &'static str, kind: FieldKind, about: &'static str) -> ApiField {
    ApiField { name, kind, is_needed: false, about }
}

const fn call(
    name: &'static str,
    verb: &'static str,
    about: &'static str,
    gives: Gives,
) -> CallDescription {
    CallDescription { name, verb, about, query: &[], body: &[], gives }
}

const NOTHING: Gives = Gives::Reply("Nothing");
const DECIDED: Gives = Gives::Reply("Changes");

const PATHS: ApiField =
    possible("paths", FieldKind::Texts, "Paths in the work folder; all of it without any");
const PICKS: ApiField =
    possible("picks", FieldKind::Picks, "Files or hunks; everything without any");
const SEEN: ApiField = possible(
    "seen",
    FieldKind::Hash,
    "The `hash` of the outline that was shown; needed for more than 50 changes",
);

const DECISIONS: &[&str] = &[
    "run", "edit", "reject", "stand", "give", "end", "allow", "refuse", "install", "apply",
    "discard", "later",
];

const ANSWER: &[ApiField] = &[
    needed("hash", FieldKind::Hash, "The hash of the question that was shown"),
    needed("decision", FieldKind::OneOf(DECISIONS), "The decision; the question says which fit"),
    possible("code", FieldKind::Text, "With `edit`: the code to run instead"),
    possible("reason", FieldKind::Text, "With `reject`: the reason for the model"),
    possible("span", FieldKind::OneOf(&["turn", "session", "always"]), "With `stand`: how long"),
    possible("covers", FieldKind::OneOf(&["kind", "all"]), "With `stand`: which other code"),
    possible("text", FieldKind::Text, "With `give`: the line for the code"),
    possible("for", FieldKind::OneOf(&["once", "session", "always"]), "With `allow`: how long"),
    PICKS,
    SEEN,
];

impl ApiCall {
    #[expect(clippy::too_many_lines, reason = "it is a table")]
    pub(super) const fn description(self) -> CallDescription {
        match self {
            Self::Sessions => CallDescription {
                query: const {
                    &[
                        possible("search", FieldKind::Text, "Words to look for in the record"),
                        possible("limit", FieldKind::Whole, "Sessions at most"),
                        possible(
                            "before",
                            FieldKind::Text,
                            "Only sessions that are older than this one",
                        ),
                    ]
                },
                ..call(
                    "listSessions",
                    "list",
                    "List sessions and open questions",
                    Gives::Reply("Sessions"),
                )
            },
            Self::Open => CallDescription {
                body: const {
                    &[
                        possible("folder", FieldKind::Text, "Work folder, an absolute path"),
                        possible("model", FieldKind::Text, "Model"),
                        possible(
                            "profile",
                            FieldKind::Text,
                            "Profile of your settings; takes the right `answer` too",
                        ),
                        possible(
                            "mode",
                            FieldKind::OneOf(&["chat", "run"]),
                            "`run` needs no model",
                        ),
                    ]
                },
                ..call("openSession", "open", "Begin a session", Gives::NewSession)
            },
            Self::Session => call("getSession", "list", "Show one session", Gives::OneSession),
            Self::Close => {
                call("closeSession", "close", "End a session; its record stays", NOTHING)
            }
            Self::Prompt => CallDescription {
                body: const {
                    &[
                        needed("text", FieldKind::Text, "The prompt"),
                        possible("images", FieldKind::Pictures, "Pictures that go with it"),
                        possible("files", FieldKind::TextFiles, "Text files that go with it"),
                    ]
                },
                ..call("prompt", "prompt", "Ask the model; records tell the rest", NOTHING)
            },
            Self::Run => CallDescription {
                body: const {
                    &[
                        needed("language", FieldKind::Text, "Language"),
                        needed("code", FieldKind::Text, "Code"),
                    ]
                },
                ..call(
                    "run",
                    "run",
                    "Run code of your own; takes the right `answer` too",
                    Gives::Reply("Proposed"),
                )
            },
            Self::Interrupt => call("interrupt", "interrupt", "Stop what is under way", NOTHING),
            Self::Restart => CallDescription {
                body: const {
                    &[
                        possible("language", FieldKind::Text, "Language; all of them without one"),
                        possible("replay", FieldKind::Flag, "Run the cells of before again"),
                    ]
                },
                ..call("restart", "restart", "Start fresh interpreters", NOTHING)
            },
            Self::Resume => call(
                "resume",
                "resume",
                "Go on with the conversation of a session that has ended",
                Gives::NewSession,
            ),
            Self::Fork => CallDescription {
                body: const {
                    &[possible(
                        "before",
                        FieldKind::Text,
                        "Cell before which the conversation is cut",
                    )]
                },
                ..call(
                    "fork",
                    "fork",
                    "Begin another session with the same conversation",
                    Gives::NewSession,
                )
            },
            Self::Changes => CallDescription {
                query: const {
                    &[possible("path", FieldKind::Text, "Show only what is at or below this path")]
                },
                ..call("getChanges", "changes", "Show what is staged", DECIDED)
            },
            Self::Apply => CallDescription {
                body: const {
                    &[
                        needed(
                            "changes",
                            FieldKind::Text,
                            "The `id` of the changes that were shown",
                        ),
                        PICKS,
                        SEEN,
                    ]
                },
                ..call("applyChanges", "apply", "Put what was shown into the work folder", DECIDED)
            },
            Self::Discard => CallDescription {
                body: const {
                    &[
                        possible(
                            "changes",
                            FieldKind::Text,
                            "The `id` of the changes that were shown",
                        ),
                        PATHS,
                    ]
                },
                ..call("discardChanges", "discard", "Forget what is staged", DECIDED)
            },
            Self::Undo => CallDescription {
                body: const {
                    &[
                        possible(
                            "newest",
                            FieldKind::Whole,
                            "Number of the newest record `changes` that you have",
                        ),
                        possible("redo", FieldKind::Flag, "Put it there once more instead"),
                    ]
                },
                ..call("undoChanges", "undo", "Take back what was applied last", DECIDED)
            },
            Self::RewindPlan => CallDescription {
                query: const {
                    &[possible(
                        "before",
                        FieldKind::Text,
                        "Show what going back to before this cell means; without it, list the cells",
                    )]
                },
                ..call(
                    "planRewind",
                    "rewind",
                    "List the cells to go back to, or show what going back means",
                    Gives::Reply("RewindPlan"),
                )
            },
            Self::Rewind => CallDescription {
                body: const {
                    &[
                        needed("before", FieldKind::Text, "The cell to go back to before"),
                        needed("hash", FieldKind::Hash, "The hash of the plan that was shown"),
                        possible(
                            "undo",
                            FieldKind::Flag,
                            "Undo what was applied since; takes the right `answer` too",
                        ),
                    ]
                },
                ..call("rewind", "rewind", "Go back to before a cell", NOTHING)
            },
            Self::Grants => call(
                "getGrants",
                "grant",
                "List standing answers and granted hosts",
                Gives::Reply("Grants"),
            ),
            Self::Questions => call(
                "listQuestions",
                "list",
                "List open questions of all sessions",
                Gives::OpenQuestions,
            ),
            Self::Answer => CallDescription {
                body: ANSWER,
                ..call("answerQuestion", "answer", "Answer an open question", NOTHING)
            },
            Self::Models => call("listModels", "look", "List models", Gives::ModelList),
            Self::Records => CallDescription {
                query: const {
                    &[
                        possible(
                            "after",
                            FieldKind::Whole,
                            "Number of the last record that you have",
                        ),
                        possible("limit", FieldKind::Whole, "Records at most"),
                    ]
                },
                ..call(
                    "getRecords",
                    "subscribe",
                    "Read or follow the records of a session",
                    Gives::Records,
                )
            },
            Self::Document => call("getDocument", "", "This document", Gives::Document),
        }
    }
}
