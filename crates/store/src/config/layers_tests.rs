//! How the layers come together: by example, and for any project file by property.

use super::*;
use crate::{
    EndpointSettings, Listed, NetworkMode, Sourced,
    config::{
        declare::{Project, settings},
        describe::{rows, schema, starting_file},
        value::Value,
    },
    quantity::TimeLimit,
};
use interpreter_core::{
    Backend, Choice, Declaration, Opinion, Promise, Rule, Workspace,
    egress::{HostDecision, Hosts},
};
use proptest::prelude::*;
use std::num::NonZeroU32;

fn files(user: &str, profile: &str, project: &str) -> ConfigFiles {
    let file = |path: &str, text: &str| {
        (!text.is_empty()).then(|| ConfigText { path: path.into(), text: text.into() })
    };
    ConfigFiles {
        user: file("/user.toml", user),
        profile: file("/profile.toml", profile),
        project: file("/project.toml", project),
        ..ConfigFiles::default()
    }
}

fn typed(settings: &[(&str, &str)]) -> Overrides {
    let set = |typed: Overrides, (name, words): &(&str, &str)| typed.set(name, [*words]);
    settings.iter().fold(Overrides::default(), set)
}

fn resolve_with(files: &ConfigFiles, overrides: &Overrides) -> Result<Settings, String> {
    Settings::resolve(files, &Environment::default(), overrides).map_err(|error| error.to_string())
}

fn resolved(user: &str, profile: &str, project: &str) -> Result<Settings, String> {
    resolve_with(&files(user, profile, project), &Overrides::default())
}

fn message(text: &str) -> String {
    resolved(text, "", "").unwrap_err()
}

/// The value and the layer of a setting.
fn shown(settings: &Settings, name: &str) -> (String, Layer) {
    let rows = settings.rows_of(name).unwrap();
    let value = rows[0].value.as_str().map_or_else(|| rows[0].value.to_string(), str::to_owned);
    (value, rows[0].origin.layer)
}

#[test]
fn without_files_the_defaults_hold() {
    let settings = resolved("", "", "").unwrap();
    assert_eq!(settings, Settings::default());
    assert_eq!(settings.limits(), interpreter_core::Limits::default());
    assert_eq!(settings.max_calls.value.get(), 20);
    assert!(settings.rows().iter().all(|row| row.origin.layer == Layer::Default));
}

#[test]
fn a_later_layer_wins_and_its_place_is_known() {
    let user = "model = 'openai/a'\nworkspace = 'direct'\nmax_calls = 9\n[limits]\nwall = '1h'\n";
    let profile = "model = 'anthropic/b'\nworkspace = 'stage'\n";
    let project = "workspace = 'read-only'\n\n[limits]\nwall = '10m'\n";
    let overrides = typed(&[("workspace", "direct"), ("limits.memory", "1G")]);
    let settings = resolve_with(&files(user, profile, project), &overrides).unwrap();
    for (name, value, layer) in [
        ("model", "anthropic/b", Layer::Profile),
        ("workspace", "direct", Layer::CommandLine),
        ("max_calls", "9", Layer::User),
        ("limits.wall", "10m", Layer::Project),
        ("limits.memory", "1G", Layer::CommandLine),
        ("limits.output", "1G", Layer::Default),
    ] {
        assert_eq!(shown(&settings, name), (value.into(), layer), "{name}");
    }
    let (path, line) = settings.wall_limit.origin.place.unwrap();
    assert_eq!((path.to_str(), line), (Some("/project.toml"), 4));
}

#[test]
fn a_variable_lies_over_files_and_under_options() {
    let environment =
        Environment::from_pairs([("INTERPRETER_MODEL", "a/env"), ("INTERPRETER_OFFLINE", "1")]);
    let user = files("model = 'a/file'\noffline = false", "", "");
    let resolve = |overrides| Settings::resolve(&user, &environment, &overrides).unwrap();
    let settings = resolve(Overrides::default());
    assert_eq!(shown(&settings, "model"), ("a/env".into(), Layer::Environment));
    assert!(settings.offline.value);
    let settings = resolve(typed(&[("model", "a/typed")]));
    assert_eq!(shown(&settings, "model"), ("a/typed".into(), Layer::CommandLine));
    let wrong = Environment::from_pairs([("INTERPRETER_OFFLINE", "perhaps")]);
    let error = Settings::resolve(&user, &wrong, &Overrides::default()).unwrap_err().to_string();
    assert_eq!(error, "variable `INTERPRETER_OFFLINE`: expected a value such as `true`");
}

#[test]
fn every_key_can_be_set() {
    let settings = resolved(
        r#"
        model = "local/qwen"
        workspace = "read-only"
        instructions = "Answer briefly."
        temperature = 0
        [endpoint.local]
        base_url = "http://localhost:8080/v1"
        format = "openai"
        key_variable = "LOCAL_KEY"
        tools = false
        small = true
        images = true
        context = 32_768
        model = "qwen"
        [endpoint.other]
        base_url = "https://example.com"
        format = "anthropic"
        [language.zig]
        programs = ["zig"]
        once = { file = "main.zig", run = ["{program}", "run", "{file}"] }
        [limits]
        memory = "2G"
        [[rule]]
        decision = "deny"
        line = "rm *"
        "#,
        "",
        "",
    )
    .unwrap();
    let (local, other) = (&settings.endpoints["local"].value, &settings.endpoints["other"].value);
    assert_eq!(local.key_variable.as_deref(), Some("LOCAL_KEY"));
    assert!(!local.tools && other.tools);
    assert_eq!((local.small, local.images, local.context), (true, true, Some(32_768)));
    assert_eq!((other.small, other.images, other.context), (false, false, None));
    assert_eq!(settings.memory_limit.value.count(), 2 << 30);
    assert_eq!(settings.languages["zig"].value.ways[0].programs, ["zig"]);
    // And every example that the declarations give, in one file.
    let examples = Settings::SETTINGS.iter().flat_map(|setting| {
        let name = setting.info().name;
        setting.examples().into_iter().map(move |one| format!("{name} = {one}\n"))
    });
    examples.for_each(|text| _ = resolved(&text, "", "").unwrap_or_else(|e| panic!("{text}{e}")));
}

#[test]
fn an_unknown_key_suggests_the_nearest() {
    for (text, expected) in [
        (
            "max_calls = 2\nmodle = \"x\"\n",
            "/user.toml:2:1: unknown key `modle`; did you mean `model`?",
        ),
        (
            "[limits]\nmemroy = \"1G\"",
            "/user.toml:2:1: unknown key `memroy`; did you mean `memory`?",
        ),
        ("memory = '1G'", "/user.toml:1:1: unknown key `memory`; did you mean `limits.memory`?"),
        (
            "limits = 3",
            "/user.toml:1:1: `limits` is a table; set a key in it, such as `limits.turn`",
        ),
        (
            "[[rule]]\ndecision = \"deny\"\nlines = \"x\"",
            "/user.toml:3:1: `rule`: unknown key `lines`; did you mean `line`?",
        ),
        (
            "workspace = \"staged\"",
            "/user.toml:1:13: `workspace`: unknown value `staged`; did you mean `stage`?",
        ),
    ] {
        assert_eq!(message(text), expected);
    }
    let far = message("[limits]\nzzzzzz = 1");
    assert!(far.contains("possible here: turn, wall, ask_after, cpu, memory, processes"), "{far}");
}

#[test]
fn every_error_of_a_file_is_named_at_once() {
    assert_eq!(
        message("offline = 3\nmodle = 'x'\n[limits]\nwall = '15'\n"),
        "/user.toml:1:11: `offline`: invalid type: integer `3`, expected a boolean\n\
         /user.toml:2:1: unknown key `modle`; did you mean `model`?\n\
         /user.toml:4:8: `limits.wall`: `15` has no unit; write for example `15s`, `10m`, \
         `1h30m` or `none`"
    );
    let many: Vec<_> = (0..1000).map(|number| format!("key{number} = 1\n")).collect();
    assert_eq!(message(&many.concat()).lines().count(), MOST_FAULTS);
}

#[test]
fn what_is_not_toml_is_named_by_line_and_column() {
    let message = message("model = \"x\"\nworkspace = stage\n");
    assert!(message.starts_with("/user.toml:2:13: "), "{message}");
    assert!(message.contains("string"), "{message}");
}

#[test]
fn a_wrong_value_is_named_by_line_and_column() {
    let endpoint =
        |line: &str| format!("[endpoint.x]\nbase_url='http://h'\nformat='openai'\n{line}");
    for (text, expected) in [
        ("[limits]\nprocesses = 0".into(), "2:13: `limits.processes`: invalid value: integer `0`"),
        ("max_calls = -1".into(), "1:13: `max_calls`: invalid value: integer `-1`"),
        ("temperature = 3".into(), "1:15: `temperature`: expected a number from 0 to 2, not 3"),
        ("temperature = nan".into(), "1:15: `temperature`: expected a number from 0 to 2"),
        ("model = \"\"".into(), "1:9: `model`: expected a name on one line"),
        ("[network]\nhosts = 'a.org'".into(), "2:9: `network.hosts`: expected a list such as"),
        ("[endpoint.x]\nformat = \"openai\"".into(), "1:1: `endpoint`: missing key `base_url`"),
        (endpoint("context = 0"), "4:11: `endpoint`: `context` is the context window"),
        (endpoint("context = '32k'"), "4:11: `endpoint`: `context` is the context window"),
        (endpoint("small = 1"), "4:9: `endpoint`: invalid type: integer `1`, expected a boolean"),
        (endpoint("image = true"), "4:1: `endpoint`: unknown key `image`; did you mean `images`?"),
    ] {
        let message = message(&text);
        assert!(message.starts_with(&format!("/user.toml:{expected}")), "{message}: {expected}");
    }
    let named = message("[endpoint.\"a/b\"]\nbase_url='http://h'\nformat='openai'");
    assert!(named.contains("`a/b` is not the name of an endpoint"), "{named}");
}

#[test]
fn a_wrong_language_is_named_with_the_fix() {
    let zig = |rest: &str| format!("[language.zig]\n{rest}");
    let two = "[language.a]\nprograms = ['x']\naliases = ['b']\n[language.b]\nprograms = ['x']";
    for (text, expected) in [
        (
            zig("program = 'zig'"),
            "2:1: `language`: unknown key `program`; did you mean `programs`?",
        ),
        (zig("programs = ['bin/zig']"), "2:12: `language`: `programs` must be names"),
        (
            zig("programs = ['z']\nonce = { run = ['{flie}'] }"),
            "3:16: `language`: unknown placeholder `{flie}`",
        ),
        (zig("endings = ['z']"), "1:1: `language`: missing key `programs`"),
        ("[language.'a b']\nprograms = ['x']".into(), "`a b` is not the name of a language"),
        (two.into(), "`b` is a name of `language.a` and of `language.b`; remove it"),
    ] {
        let message = message(&text);
        assert!(message.contains(expected), "{message} does not say {expected}");
    }
}

#[test]
fn a_secret_in_the_wrong_place_is_neither_repeated_nor_shown() {
    let endpoint =
        |line: &str| format!("[endpoint.x]\nbase_url='http://h'\nformat='openai'\n{line}");
    for text in [
        endpoint("key_variable='sk-canary'"),
        endpoint("api_key='sk-canary'"),
        endpoint("tools='sk-canary'"),
        "[endpoint.x]\nbase_url='https://u:sk-canary@h/'\nformat='openai'".into(),
        "api_key = 'sk-canary'".into(),
        "api_key = sk-canary".into(),
        "offline = 'sk-canary'".into(),
        "[provider.x]\nkey = \"sk-canary\\n\"".into(),
        "[provider.x]\nkey = ['sk-canary']".into(),
        "[network]\nhosts = ['https://me:sk-canary@h.org']\n".into(),
    ] {
        let message = message(&text);
        assert!(!message.contains("canary"), "{message}");
    }
    let fits = "[endpoint.x]\nbase_url = 'https://h/v1?key=sk-canary'\nformat = 'openai'\n\
                [provider.x]\nkey = 'sk-canary'";
    let rows = format!("{:?}", resolved(fits, "", "").unwrap().rows());
    assert!(rows.contains("https://h/v1?(hidden)") && !rows.contains("canary"), "{rows}");
}

#[test]
fn a_key_cannot_move_the_cursor() {
    let message = message("\"\\u001b[2J\" = 1");
    assert!(message.contains(r"unknown key `\u{1b}[2J`"), "{message}");
}

#[test]
fn definitions_of_both_own_files_are_there() {
    let endpoint = |name: &str, host: &str| {
        format!("[endpoint.{name}]\nbase_url = 'http://{host}'\nformat = 'openai'\n")
    };
    let user =
        endpoint("a", "one") + &endpoint("b", "two") + "[language.zig]\nprograms = ['zig']\n";
    let user = user + "[provider.x]\na = '1'\nb = '2'\n";
    let profile = endpoint("b", "three") + "[language.zig]\nprograms = ['other']\n";
    let settings = resolved(&user, &(profile + "[provider.x]\nb = '3'\n"), "").unwrap();
    assert_eq!(settings.endpoints["a"].origin.layer, Layer::User);
    assert_eq!(settings.endpoints["b"].origin.layer, Layer::Profile);
    assert_eq!(settings.endpoints["b"].value.base_url, "http://three");
    let parts: Vec<_> = settings.providers["x"].value.0.values().collect();
    assert_eq!(parts, ["1", "3"]);
    let rows = settings.rows();
    let value = |name: &str| rows.iter().find(|row| row.name == name).unwrap().value.clone();
    assert_eq!(value("language.zig"), "other");
    assert_eq!(value("endpoint.a")["base_url"], "http://one");
}

#[test]
fn rules_are_kept_apart_by_who_wrote_them() {
    let rule = |decision: &str| format!("[[rule]]\ndecision = '{decision}'\n");
    let settings = resolved(&rule("ask"), &rule("deny"), &rule("ask")).unwrap();
    let decisions = |rules: interpreter_core::Rules| {
        rules.0.into_iter().map(|rule| rule.decision).collect::<Vec<_>>()
    };
    assert_eq!(decisions(settings.user_rules()), [Opinion::Ask, Opinion::Deny]);
    assert_eq!(decisions(settings.project_rules()), [Opinion::Ask]);
}

/// It would have no effect, and be believed to have one.
#[test]
fn a_rule_of_a_project_may_not_allow() {
    let rules = "[[rule]]\ndecision = 'deny'\n[[rule]]\ndecision = 'allow'\nlanguage = 'python'\n";
    let refused = resolved("", "", rules).unwrap_err();
    for part in ["`rule` with `decision = \"allow\"` allows code", "make it `ask` or `deny`"] {
        assert!(refused.contains(part), "{refused}");
    }
    // The same is the person's to say.
    assert_eq!(resolved(rules, rules, "").unwrap().user_rules().0.len(), 4);
}

#[test]
fn a_project_may_not_choose_who_is_talked_to() {
    for (text, key) in [
        ("model = 'openai/x'", "model"),
        ("fallback = ['a/b']", "fallback"),
        ("[provider.openai]\nbase_url = 'http://h'", "provider"),
        ("certificates = '/ca.pem'", "certificates"),
        ("threads = 2", "threads"),
        ("[endpoint.x]\nbase_url = 'http://h'\nformat = 'openai'", "endpoint"),
        ("[language.x]\nprograms = ['x']", "language"),
        ("instructions = 'Obey.'", "instructions"),
        ("temperature = 0", "temperature"),
        ("undo_space = '1G'", "undo_space"),
        ("[files]\nallow = ['.env']", "files.allow"),
    ] {
        let message = resolved("", "", text).unwrap_err();
        assert!(message.starts_with("/project.toml:"), "{message}");
        assert!(message.contains(&format!(": a project may not set `{key}`: ")), "{message}");
    }
}

#[test]
fn offline_leaves_code_no_way_out_whoever_says_it() {
    let open = "[network]\nmode = 'open'";
    let overrides = typed(&[("offline", "true"), ("network.mode", "open")]);
    for settings in [
        resolved(&format!("offline = true\n{open}"), "", "").unwrap(),
        resolved(open, "", "offline = true").unwrap(),
        resolve_with(&files(open, "", ""), &overrides).unwrap(),
    ] {
        assert!(settings.offline.value);
        assert_eq!(settings.network_mode.value, NetworkMode::None);
    }
    assert_eq!(resolved(open, "", "").unwrap().network_mode.value, NetworkMode::Open);
    assert!(resolved("offline = true", "", "offline = false").is_err());
}

#[test]
fn a_project_that_loosens_is_refused_with_the_current_value() {
    assert_eq!(
        resolved("[limits]\nmemory = '1G'", "", "[limits]\nmemory = '2G'").unwrap_err(),
        "/project.toml:2:10: a project may only tighten, and `limits.memory = \"2G\"` is looser \
         than \"1G\", from your config file"
    );
    assert_eq!(
        resolved("", "", "workspace = 'direct'").unwrap_err(),
        "/project.toml:1:13: a project may only tighten, and `workspace = \"direct\"` is looser \
         than \"stage\", from the defaults"
    );
    assert!(resolved("workspace = 'direct'", "", "workspace = 'stage'").is_ok());
    assert!(resolved("max_tokens = 5", "", "max_tokens = 6").is_err());
    assert!(resolved("", "", "max_tokens = 6").is_ok());
    assert!(resolved("", "", "max_calls = 21").is_err());
    assert!(resolved("[limits]\nwall = '1m'", "", "[limits]\nwall = 'none'").is_err());
    assert!(resolved("", "", "[limits]\nwall = 'none'").is_ok());
}

#[test]
fn a_file_that_is_not_understood_stops_everything() {
    for (user, profile, project) in [("x", "", ""), ("", "x", ""), ("", "", "x")] {
        assert!(resolved(user, profile, project).is_err());
    }
}

fn hosts(settings: &Settings) -> Vec<String> {
    settings.hosts.iter().map(|one| one.value.to_string()).collect()
}

#[test]
fn lists_of_hosts_add_up_and_a_project_may_narrow_them() {
    let user = "[network]\nhosts = ['*.example.org', 'python']\ndeny = ['*.ads.org']\n";
    let overrides = Overrides::default().set("network.hosts", ["b.org:8080", "npm"]);
    let settings = resolve_with(&files(user, "", ""), &overrides).unwrap();
    assert_eq!(hosts(&settings), ["*.example.org", "python", "b.org:8080", "npm"]);
    assert_eq!(settings.presets().count(), 2);
    assert_eq!(settings.listed_hosts().deny.len(), 1);
    let narrowed = "[network]\nhosts = ['a.example.org:443']\ndeny = ['x.org']\nask = false\n";
    let settings = resolved(user, "", narrowed).unwrap();
    assert_eq!(hosts(&settings), ["a.example.org:443"]);
    assert!(!settings.ask_for_hosts.value);
    assert_eq!(settings.denied_hosts.len(), 2);
    for host in ["evil.org", "example.org", "a.example.org:22", "npm"] {
        let message = resolved(user, "", &format!("[network]\nhosts = ['{host}']\n")).unwrap_err();
        assert!(message.contains("a project may only tighten"), "{message}");
        assert!(message.contains(&format!("`--allow-host {host}`")), "{message}");
    }
    assert!(resolved("[network]\nmode = 'open'", "", "[network]\nhosts = ['any.org']").is_ok());
    assert!(resolved("", "", "[network]\nmode = 'open'\n").is_err());
    // Open is no list of addresses: those of one's own network count only if one lists them.
    for address in ["127.0.0.1:8099", "169.254.169.254", "[::1]:80", "10.0.0.1:22"] {
        let project = format!("[network]\nhosts = ['{address}']");
        let open = "[network]\nmode = 'open'";
        assert!(resolved(open, "", &project).is_err(), "{address}");
        let own = format!("{open}\nhosts = ['{address}']");
        assert!(resolved(&own, "", &project).is_ok(), "{address}");
    }
    assert!(resolved("[network]\nask = false\n", "", "[network]\nask = true\n").is_err());
}

#[test]
fn a_typed_host_is_meant() {
    let none = "[network]\nmode = 'none'\nhosts = ['a.org']\n";
    assert_eq!(resolved(none, "", "").unwrap().network_mode.value, NetworkMode::None);
    let b = Overrides::default().set("network.hosts", ["b.org"]);
    let settings = resolve_with(&files(none, "", ""), &b).unwrap();
    assert_eq!(shown(&settings, "network.mode"), ("listed".into(), Layer::CommandLine));
    let open = resolve_with(&files("[network]\nmode = 'open'\n", "", ""), &b).unwrap();
    assert_eq!(open.network_mode.value, NetworkMode::Open);
    let both = resolve_with(&files("", "", ""), &b.set("network.mode", ["none"])).unwrap();
    assert_eq!(both.network_mode.value, NetworkMode::None);
}

#[test]
fn a_project_may_ask_for_a_stronger_sandbox_and_for_no_weaker() {
    let user = "[sandbox]\nbackend = 'none'\nallow_missing = ['reading', 'limits']\n";
    let project = "[sandbox]\nbackend = 'native'\nallow_missing = ['limits']\n";
    let meant = resolved(user, "", project).unwrap().sandboxing();
    assert_eq!(meant.backend, Choice::Only(Backend::named("native")));
    assert_eq!(meant.allow_missing, [Promise::Limits].into());
    for weaker in ["none", "landlock", "firejail", "bubblewrap"] {
        let project = format!("[sandbox]\nbackend = '{weaker}'\n");
        let message = resolved("", "", &project).unwrap_err();
        assert!(message.contains("a project may only tighten"), "{message}");
    }
    let message = resolved("", "", "[sandbox]\nallow_missing = ['reading']\n").unwrap_err();
    assert!(message.contains("`sandbox.allow_missing` names `reading`"), "{message}");
    let typed = Overrides::default()
        .set("sandbox.backend", ["bubblewrap"])
        .set("sandbox.allow_missing", ["network"]);
    let meant = resolve_with(&files(user, "", ""), &typed).unwrap().sandboxing();
    assert_eq!(meant.backend, Choice::Only(Backend::named("bubblewrap")));
    assert_eq!(meant.allow_missing.len(), 3);
}

#[test]
fn a_run_has_no_more_time_than_its_turn() {
    let seconds = |user: &str, typed_ones: &[(&str, &str)]| {
        let settings = resolve_with(&files(user, "", ""), &typed(typed_ones)).unwrap();
        (settings.turn_limit.value.to_string(), settings.wall_limit.value.to_string())
    };
    let both = |turn: &str, wall: &str| (turn.to_owned(), wall.to_owned());
    assert_eq!(seconds("", &[]), both("none", "none"));
    assert_eq!(seconds("limits.wall = '5m'", &[]), both("none", "5m"));
    assert_eq!(seconds("limits.turn = '5m'", &[]), both("5m", "5m"));
    assert_eq!(seconds("limits.turn = '5m'\nlimits.wall = '1m'", &[]), both("5m", "1m"));
    // Whoever types a time wants it for whatever runs.
    assert_eq!(seconds("limits.wall = '1m'", &[("limits.turn", "1h")]), both("1h", "1h"));
    assert_eq!(seconds("limits.wall = '1m'", &[("limits.turn", "none")]), both("none", "none"));
    let typed_both = [("limits.turn", "1h"), ("limits.wall", "2m")];
    assert_eq!(seconds("", &typed_both), both("1h", "2m"));
}

#[test]
fn what_nobody_is_there_to_end_is_bounded_unless_somebody_said_how_long_it_may_take() {
    let seconds = |user: &str, typed_ones: &[(&str, &str)]| {
        let mut settings = resolve_with(&files(user, "", ""), &typed(typed_ones)).unwrap();
        settings.bound_unattended();
        (settings.turn_limit.value.to_string(), settings.wall_limit.value.to_string())
    };
    let both = |turn: &str, wall: &str| (turn.to_owned(), wall.to_owned());
    assert_eq!(seconds("", &[]), both("30m", "10m"));
    assert_eq!(seconds("limits.wall = '5m'", &[]), both("30m", "5m"));
    assert_eq!(seconds("limits.wall = '2h'", &[]), both("2h", "2h"));
    assert_eq!(seconds("limits.wall = 'none'", &[]), both("none", "none"));
    assert_eq!(seconds("limits.turn = '5m'", &[]), both("5m", "5m"));
    assert_eq!(seconds("limits.turn = '1h'", &[]), both("1h", "1h"));
    assert_eq!(seconds("limits.turn = 'none'", &[]), both("none", "10m"));
    assert_eq!(seconds("", &[("limits.turn", "none")]), both("none", "none"));
    assert_eq!(seconds("", &[("limits.turn", "2h"), ("limits.wall", "1h")]), both("2h", "1h"));
}

#[test]
fn a_project_takes_no_bound_of_time_away() {
    for time in ["none", "30d"] {
        let project = format!("limits.wall = '{time}'\nlimits.turn = '{time}'");
        let mut settings = resolve_with(&files("", "", &project), &typed(&[])).unwrap();
        assert_eq!(settings.asks_after(), Some(600));
        settings.bound_unattended();
        assert_eq!(settings.wall_limit.value.to_string(), "10m");
        assert_eq!(settings.turn_limit.value.to_string(), "30m");
    }
    // It may make them shorter.
    let project = "limits.wall = '1m'\nlimits.turn = '2m'";
    let mut settings = resolve_with(&files("", "", project), &typed(&[])).unwrap();
    settings.bound_unattended();
    assert_eq!(settings.wall_limit.value.to_string(), "1m");
    assert_eq!(settings.turn_limit.value.to_string(), "2m");
}

#[test]
fn a_long_run_is_asked_about_unless_somebody_said_how_long_it_may_take() {
    let seconds = |user: &str, typed_ones: &[(&str, &str)]| {
        resolve_with(&files(user, "", ""), &typed(typed_ones)).unwrap().asks_after()
    };
    assert_eq!(seconds("", &[]), Some(600));
    assert_eq!(seconds("limits.ask_after = '5m'", &[]), Some(300));
    assert_eq!(seconds("limits.ask_after = 'none'", &[]), None);
    assert_eq!(seconds("limits.wall = '2h'", &[]), None);
    assert_eq!(seconds("limits.wall = 'none'", &[]), None);
    assert_eq!(seconds("limits.turn = '2h'", &[]), None);
    assert_eq!(seconds("limits.wall = '2h'", &[("limits.ask_after", "1m")]), Some(60));
    let mut unattended = resolve_with(&files("", "", ""), &typed(&[])).unwrap();
    unattended.bound_unattended();
    assert_eq!(unattended.asks_after(), None);
}

#[test]
fn the_words_of_an_option_are_checked_like_a_file() {
    for (name, words, fits) in [
        ("limits.wall", "15s", true),
        ("limits.wall", "15", false),
        ("max_calls", "0", false),
        ("max_calls", "many", false),
        ("workspace", "read-only", true),
        ("workspace", "staged", false),
        ("network.hosts", "*.example.org", true),
        ("network.hosts", "https://x", false),
        ("sandbox.allow_missing", "limits", true),
        ("endpoint", "x", false),
        ("nothing", "x", false),
    ] {
        assert_eq!(Settings::check_words(name, words).is_ok(), fits, "{name} {words}");
    }
}

/// The keys that serde knows of a type, from the error about another one.
fn known_keys<T: Value>() -> Vec<String> {
    let node = toml::de::DeValue::parse("{ no_such_key_at_all = 1 }").unwrap();
    let message = T::read(node).unwrap_err().message;
    let keys = message.split("possible here: ").nth(1).unwrap();
    let mut keys: Vec<_> = keys.split(", ").map(str::to_owned).collect();
    keys.sort();
    keys
}

#[test]
fn the_schema_has_every_setting_and_every_key_of_a_record() {
    let schema = Settings::schema();
    for setting in Settings::SETTINGS {
        let path = format!("/properties/{}", setting.info().name.replace('.', "/properties/"));
        let found = schema.pointer(&path).unwrap_or_else(|| panic!("{path}"));
        assert_eq!(found["description"], setting.info().meaning());
    }
    for (record, keys) in [
        ("endpoint", known_keys::<EndpointSettings>()),
        ("language", known_keys::<Declaration>()),
        ("rule", known_keys::<Rule>()),
    ] {
        let properties = schema["$defs"][record]["properties"].as_object().unwrap();
        let mut described: Vec<_> = properties.keys().cloned().collect();
        described.sort();
        assert_eq!(described, keys, "{record}");
    }
}

#[test]
fn the_starting_file_is_valid_as_it_is_and_without_its_marks() {
    let text = Settings::starting_file();
    assert_eq!(resolved(&text, "", "").unwrap(), Settings::default());
    let set: String =
        text.lines().map(|line| line.strip_prefix('#').unwrap_or(line).to_owned() + "\n").collect();
    // Lines of meaning begin with `# `, so what is left of them is not a key.
    let set: String = set
        .lines()
        .filter(|line| !line.starts_with(' '))
        .map(|line| line.to_owned() + "\n")
        .collect();
    let settings = resolved(&set, "", "").unwrap();
    for setting in Settings::SETTINGS {
        let name = setting.info().name;
        assert_ne!(settings.rows_of(name).unwrap()[0].origin.layer, Layer::Default, "{name}");
    }
}

/// The rows of the documentation's table, as the declarations give them.
fn documented<S: Table>() -> Vec<String> {
    let code = |text: &str| format!("`{text}`");
    let row = |setting: &&dyn Setting<S>| {
        let info = setting.info();
        let default = setting.items(&S::default()).pop().map(|(_, value, _)| value);
        let default = match default {
            None | Some(serde_json::Value::Null) => "-".into(),
            Some(serde_json::Value::Array(items)) if items.is_empty() => "-".into(),
            Some(serde_json::Value::String(text)) => code(&format!("\"{text}\"")),
            Some(other) => code(&other.to_string()),
        };
        let ways = [info.option, info.variable].into_iter().flatten().map(code);
        let ways = ways.collect::<Vec<_>>().join(" ");
        let meaning = info.meaning().replace('*', "\\*");
        format!(
            "| {} | {default} | {} | {} | {meaning} |",
            code(info.name),
            setting.for_project(),
            if ways.is_empty() { "-".into() } else { ways },
        )
    };
    S::SETTINGS.iter().map(row).collect()
}

/// The rows that a page lacks, and those that it has and should not.
fn differences(rows: &[String], page: &str) -> Vec<String> {
    let there: Vec<_> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let missing =
        rows.iter().filter(|row| !there.contains(&row.as_str())).map(|row| format!("+{row}"));
    let extra = there.iter().filter(|line| !rows.iter().any(|row| row == **line));
    missing.chain(extra.map(|line| format!("-{line}"))).collect()
}

#[test]
fn the_documentation_has_the_table_of_settings() {
    let page = include_str!("../../../../docs/reference/config.md");
    let table = page.split("<!-- settings -->").nth(1).expect("the table has its marks");
    let differences = differences(&documented::<Settings>(), table);
    assert!(
        differences.is_empty(),
        "docs/reference/config.md differs:\n{}",
        differences.join("\n")
    );
    for setting in Settings::SETTINGS {
        assert!(setting.info().meaning().ends_with('.'), "{}", setting.info().name);
    }
}

settings! {
    /// Settings with one that exists nowhere else.
    struct WithNew {
        /// Limit calls of the model in one turn.
        "max_calls" max_calls: Sourced<Option<NonZeroU32>>, Project::Tighten(|new, old| new > old);

        /// Do the new thing.
        "new.thing" thing: Sourced<bool>, Project::Never("it is new"),
            option "--new-thing", variable "INTERPRETER_NEW";
    }
}

#[test]
fn a_new_setting_is_declared_in_one_place() {
    let user = files("[new]\nthing = true\n", "", "");
    let (environment, typed) = (Environment::default(), Overrides::default());
    let settings: WithNew = resolve(&user, &environment, &typed).unwrap();
    assert!(settings.thing.value && settings.max_calls.value.is_none());
    let rows = rows(&settings);
    assert_eq!((rows[1].name.as_str(), &rows[1].value), ("new.thing", &true.into()));
    assert_eq!(rows[1].origin.place.as_ref().unwrap().1, 2);
    let described = schema::<WithNew>();
    assert_eq!(described["properties"]["new"]["properties"]["thing"]["type"], "boolean");
    assert!(
        starting_file::<WithNew>().contains("\n[new]\n\n# Do the new thing.\n#thing = false\n")
    );
    let documented = documented::<WithNew>();
    let row = "| `new.thing` | `false` | may not set | `--new-thing` `INTERPRETER_NEW` | Do the new thing. |";
    assert_eq!(differences(&documented, &documented[0]), [format!("+{row}")]);
    let variable = Environment::from_pairs([("INTERPRETER_NEW", "true")]);
    assert!(resolve::<WithNew>(&files("", "", ""), &variable, &typed).unwrap().thing.value);
    let typed = Overrides::default().set("new.thing", ["true"]);
    assert!(resolve::<WithNew>(&files("", "", ""), &environment, &typed).unwrap().thing.value);
    let near = resolve::<WithNew>(&files("[new]\nthign = true", "", ""), &environment, &typed);
    assert!(near.unwrap_err().to_string().contains("did you mean `thing`?"));
    let project = resolve::<WithNew>(&files("", "", "new.thing = true"), &environment, &typed);
    assert!(project.unwrap_err().to_string().contains("a project may not set `new.thing`"));
}

/// A file that sets some of the settings to some of their examples.
fn anything() -> impl Strategy<Value = String> {
    let line = |setting: &&'static dyn Setting<Settings>| {
        let name = setting.info().name;
        prop::option::weighted(0.2, prop::sample::select(setting.examples()))
            .prop_map(move |one| one.map_or_else(String::new, |one| format!("{name} = {one}\n")))
    };
    Settings::SETTINGS.iter().map(line).collect::<Vec<_>>().prop_map(|lines| lines.concat())
}

/// A file that sets one setting which a project may set, tighter or looser.
fn one_bound() -> impl Strategy<Value = String> {
    let settings: Vec<_> = Settings::SETTINGS
        .iter()
        .filter(|setting| setting.for_project() != "may not set")
        .flat_map(|setting| {
            let name = setting.info().name;
            setting.examples().into_iter().map(move |one| format!("{name} = {one}\n"))
        })
        .collect();
    prop::sample::select(settings)
}

/// The settings of `with` that are looser than those of `without`, by name.
fn looser(with: &Settings, without: &Settings) -> Vec<&'static str> {
    let looser = Settings::SETTINGS.iter().filter(|setting| setting.is_looser(with, without));
    let names = looser.map(|setting| setting.info().name);
    // A list of hosts means nothing where nothing is reached.
    let is_reached = with.network_mode.value != NetworkMode::None;
    names.filter(|name| *name != "network.hosts" || is_reached).collect()
}

/// The order from strict to loose, by hand: the declarations must agree with it.
#[test]
fn looser_means_more_freedom() {
    let with = |text: &str| resolved(text, "", "").unwrap();
    for (strict, loose, name) in [
        ("workspace = 'read-only'", "workspace = 'stage'", "workspace"),
        ("workspace = 'stage'", "workspace = 'direct'", "workspace"),
        ("max_calls = 1", "max_calls = 2", "max_calls"),
        ("max_tokens = 1", "", "max_tokens"),
        ("requests_per_minute = 1", "requests_per_minute = 61", "requests_per_minute"),
        ("offline = true", "offline = false", "offline"),
        ("network.ask = false", "network.ask = true", "network.ask"),
        ("network.mode = 'none'", "network.mode = 'listed'", "network.mode"),
        ("network.mode = 'listed'", "network.mode = 'open'", "network.mode"),
        ("sandbox.backend = 'native'", "sandbox.backend = 'auto'", "sandbox.backend"),
        ("sandbox.backend = 'auto'", "sandbox.backend = 'bubblewrap'", "sandbox.backend"),
        ("sandbox.backend = 'landlock'", "sandbox.backend = 'none'", "sandbox.backend"),
        ("", "sandbox.allow_missing = ['limits']", "sandbox.allow_missing"),
        ("", "network.hosts = ['a.org']", "network.hosts"),
        ("network.deny = ['a.org']", "", "network.deny"),
        ("limits.turn = '1s'", "limits.turn = 'none'", "limits.turn"),
        ("limits.wall = '1s'", "limits.wall = 'none'", "limits.wall"),
        ("limits.cpu = '1s'", "limits.cpu = '2s'", "limits.cpu"),
        ("limits.memory = '1G'", "limits.memory = '2G'", "limits.memory"),
        ("limits.processes = 1", "limits.processes = 2", "limits.processes"),
        ("limits.file_size = '1G'", "limits.file_size = '2G'", "limits.file_size"),
        ("limits.open_files = 1", "limits.open_files = 2", "limits.open_files"),
        ("limits.temporary = '1G'", "limits.temporary = '2G'", "limits.temporary"),
        ("limits.staged = '1G'", "limits.staged = '2G'", "limits.staged"),
        ("limits.staged_files = 1", "limits.staged_files = 2", "limits.staged_files"),
        ("limits.output = '1G'", "limits.output = '2G'", "limits.output"),
        ("rule = [{ decision = 'deny' }]", "", "rule"),
    ] {
        assert!(looser(&with(loose), &with(strict)).contains(&name), "{strict}: {loose}");
        assert!(!looser(&with(strict), &with(loose)).contains(&name), "{loose}: {strict}");
    }
}

proptest! {
    #[test]
    fn no_project_file_loosens_anything(
        user in anything(), profile in anything(), project in prop_oneof![anything(), one_bound()],
    ) {
        let without = resolved(&user, &profile, "").unwrap();
        if let Ok(with) = resolved(&user, &profile, &project) {
            let looser = looser(&with, &without);
            prop_assert!(looser.is_empty(), "{looser:?} by {project}");
            prop_assert_eq!(with.user_rules(), without.user_rules());
        }
    }

    #[test]
    fn a_project_file_that_only_tightens_is_taken(user in anything(), project in one_bound()) {
        // Resolving the project's bounds as the person's shows what they mean on their own.
        let without = resolved(&user, "", "").unwrap();
        let meant = resolved(&user, &project, "").unwrap();
        let offline = without.offline.value;
        // Without a network no list means anything, and a project's is refused all the same.
        let closed = user.contains("network.mode = \"none\"");
        match resolved(&user, "", &project) {
            Ok(with) => prop_assert!(looser(&with, &without).is_empty()),
            Err(error) => prop_assert!(offline || closed || !looser(&meant, &without).is_empty(), "{}", error),
        }
    }

    #[test]
    fn no_project_reaches_further(
        user in prop::collection::vec("(\\*\\.)?[ab]\\.x\\.org(:[12]|:\\*)?", 0..4),
        project in prop::collection::vec("(\\*\\.)?([ab]\\.){1,2}x\\.org(:[12]|:\\*)?", 0..4),
        host in "([abc]\\.){1,3}x\\.org",
        port in prop::sample::select(vec![1_u16, 2, 80, 443]),
    ) {
        let file = |list: &[String]| format!("[network]\nhosts = {list:?}\n");
        let without: Hosts = resolved(&file(&user), "", "").unwrap().listed_hosts();
        if let Ok(with) = resolved(&file(&user), "", &file(&project)) {
            let host = host.parse().unwrap();
            if with.listed_hosts().judge(&host, port) == HostDecision::Allow {
                prop_assert_eq!(without.judge(&host, port), HostDecision::Allow);
            }
        }
    }

    #[test]
    fn a_typed_option_wins_over_every_file(user in anything(), project in one_bound(), seconds in 1_u64..) {
        let overrides = typed(&[
            ("model", "openai/typed"),
            ("workspace", "direct"),
            ("limits.wall", &TimeLimit::Seconds(seconds).to_string()),
        ]);
        if let Ok(settings) = resolve_with(&files(&user, "", &project), &overrides) {
            prop_assert_eq!(settings.model.value.as_deref(), Some("openai/typed"));
            prop_assert_eq!(settings.wall_limit.value, TimeLimit::Seconds(seconds));
            prop_assert_eq!(settings.workspace.value, Workspace::Direct);
            prop_assert_eq!(settings.model.origin.layer, Layer::CommandLine);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        if let Err(message) = resolved(&text, "", "") {
            prop_assert!(message.chars().all(|c| !c.is_control() || c == '\n'));
        }
    }

    #[test]
    fn a_listed_host_is_written_as_it_is_read(host in "(\\*\\.)?[ab]\\.x\\.org(:[12]|:\\*)?") {
        let listed: Listed = host.parse().unwrap();
        prop_assert_eq!(listed.to_string(), host);
    }
}
