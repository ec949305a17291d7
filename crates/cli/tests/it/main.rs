//! The program from outside: each test states a scene and what a person would see.
//!
//! Everything is real: the binary, the sandbox, the interpreters, the record, a pseudo-terminal.
//! Only the model is scripted, through the same interface as any other. The tests need Python 3,
//! bash, Node.js, Perl, Lua, a C compiler and `sqlite3`; `scripts/test` installs what is missing.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::format_push_string,
    clippy::format_collect,
    reason = "a test that cannot go on fails, and tests start the program itself"
)]

mod analysis_rules;
mod apart;
mod api;
mod arrow;
mod attacks;
mod audit;
mod backends;
mod bounds;
mod broker;
mod budgets;
mod called;
mod changes;
mod chat;
mod chat_verbs;
mod circles;
mod config;
mod context;
mod control;
mod copies;
mod denials;
mod docs;
mod doctor;
mod drawing;
mod drawn;
mod embedded;
mod engine;
mod engines;
mod environments;
mod escape;
mod everyday_tasks;
mod exports;
mod faithful;
mod fences;
mod file_headers;
mod first_start;
mod four_eyes;
mod full_disk;
mod going_back;
mod growth;
mod hardened;
mod history;
mod hostile;
mod hunks;
mod import;
mod installing;
mod instructions;
mod jupyter;
mod kernel_front_end;
mod kernels_served;
mod kills;
mod landing;
mod languages;
mod left_running;
mod local;
mod login_provider;
mod look;
mod looking;
mod many_files;
mod meant;
mod models;
mod network;
mod openai;
mod opening;
mod output;
mod own_folders;
mod packages;
mod page_server;
mod pages;
mod peers;
mod people;
mod people_bounds;
mod pictures;
mod pinned;
mod piped;
mod prose;
mod protocol;
mod protocol_client;
mod protocol_ends;
mod quiet;
mod record;
mod redaction;
mod repl;
mod replaying;
mod resuming;
mod rewinding;
mod rules;
mod run;
mod scanners;
mod scene;
mod scripts;
mod seam;
mod secret;
mod secrets;
mod served_elsewhere;
mod serving;
mod serving_canary;
mod serving_leaving;
mod serving_models;
mod serving_order;
mod serving_rights;
mod sessions;
mod sets;
mod shared_terminal;
mod shown;
mod shown_whole;
mod signals;
mod sources;
mod standing;
mod steering;
mod switch;
mod temporary;
mod terminal;
mod time_limit;
mod transcripts;
mod uploading;
mod vicinity;
mod waking;
mod web_exhaustion;
mod web_holes;
mod web_overreach;
