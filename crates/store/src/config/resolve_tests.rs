//! How the layers come together: by example, and for any project file by property.

use super::*;
use crate::config::ConfigText;
use interpreter_core::Opinion;
use proptest::prelude::*;

fn files(user: &str, profile: &str, project: &str) -> ConfigFiles {
    let file = |path: &str, text: &str| {
        (!text.is_empty()).then(|| ConfigText { path: path.into(), text: text.into() })
    };
    ConfigFiles {
        user: file("/user.toml", user),
        profile: file("/profile.toml", profile),
        project: file("/project.toml", project),
        providers: Vec::new(),
    }
}

fn resolved(user: &str, profile: &str, project: &str) -> Result<Settings, String> {
    Settings::resolve(&files(user, profile, project), &Overrides::default())
        .map_err(|error| error.to_string())
}

#[test]
fn without_files_the_defaults_hold() {
    let settings = resolved("", "", "").unwrap();
    assert_eq!(settings, Settings::default());
    assert_eq!(settings.limits.limits(), interpreter_core::Limits::default());
    assert_eq!(settings.max_calls.value.get(), 20);
    assert!(settings.entries().iter().all(|entry| entry.layer == Layer::Default));
}

#[test]
fn a_later_layer_wins_and_says_so() {
    let user = "model = 'openai/a'\nworkspace = 'direct'\nmax_calls = 9\n[limits]\nwall = '1h'\n";
    let profile = "model = 'anthropic/b'\nworkspace = 'stage'\n";
    let project = "workspace = 'read-only'\n[limits]\nwall = '10m'\n";
    let overrides = Overrides {
        workspace: Some(Workspace::Direct),
        memory_limit: "1G".parse().ok(),
        ..Overrides::default()
    };
    let settings = Settings::resolve(&files(user, profile, project), &overrides).unwrap();
    let entries = settings.entries();
    let shown = |key: &str| {
        let entry = entries.iter().find(|entry| entry.key == key).unwrap();
        (entry.value.clone().unwrap(), entry.layer)
    };
    assert_eq!(shown("model"), ("anthropic/b".into(), Layer::Profile));
    assert_eq!(shown("workspace"), ("direct".into(), Layer::CommandLine));
    assert_eq!(shown("max_calls"), ("9".into(), Layer::User));
    assert_eq!(shown("limits.wall"), ("10m".into(), Layer::Project));
    assert_eq!(shown("limits.memory"), ("1G".into(), Layer::CommandLine));
    assert_eq!(shown("limits.output"), ("1G".into(), Layer::Default));
}

#[test]
fn endpoints_of_both_own_files_are_there() {
    let endpoint = |name: &str, host: &str| {
        format!("[endpoint.{name}]\nbase_url = 'http://{host}'\nformat = 'openai'\n")
    };
    let user = endpoint("a", "one") + &endpoint("b", "two");
    let settings = resolved(&user, &endpoint("b", "three"), "").unwrap();
    assert_eq!(settings.endpoints["a"].layer, Layer::User);
    assert_eq!(settings.endpoints["b"].layer, Layer::Profile);
    assert_eq!(settings.endpoints["b"].value.base_url, "http://three");
    let keys: Vec<_> = settings.entries().into_iter().map(|entry| entry.key).collect();
    assert!(keys.contains(&"endpoint.a.key_variable".into()));
}

#[test]
fn rules_are_kept_apart_by_who_wrote_them() {
    let rule = |decision: &str| format!("[[rule]]\ndecision = '{decision}'\n");
    let settings = resolved(&rule("ask"), &rule("deny"), &rule("allow")).unwrap();
    let decisions = |rules: interpreter_core::Rules| {
        rules.0.into_iter().map(|rule| rule.decision).collect::<Vec<_>>()
    };
    assert_eq!(decisions(settings.user_rules()), [Opinion::Ask, Opinion::Deny]);
    assert_eq!(decisions(settings.project_rules()), [Opinion::Allow]);
}

#[test]
fn languages_of_both_own_files_are_there() {
    let language =
        |name: &str, program: &str| format!("[language.{name}]\nprograms = ['{program}']\n");
    let user = language("zig", "zig") + &language("python", "/opt/python3");
    let settings = resolved(&user, &language("zig", "other"), "").unwrap();
    assert_eq!(settings.languages["python"].layer, Layer::User);
    assert_eq!(settings.languages["zig"].layer, Layer::Profile);
    let entries = settings.entries();
    let zig = entries.iter().find(|entry| entry.key == "language.zig").unwrap();
    assert_eq!(zig.value.as_deref(), Some("other"));
}

#[test]
fn a_project_may_not_choose_who_is_talked_to() {
    for (text, key) in [
        ("model = 'openai/x'", "model"),
        ("fallback = ['a/b']", "fallback"),
        ("[provider.openai]\nbase_url = 'http://h'", "provider"),
        ("certificates = '/ca.pem'", "certificates"),
        ("offline = false", "offline = false"),
        ("[endpoint.x]\nbase_url = 'http://h'\nformat = 'openai'", "endpoint"),
        ("[language.x]\nprograms = ['x']", "language"),
        ("instructions = 'Obey.'", "instructions"),
        ("temperature = 0", "temperature"),
        ("undo_space = '1G'", "undo_space"),
    ] {
        let message = resolved("", "", text).unwrap_err();
        let beginning = format!("/project.toml: a project may not set `{key}`: ");
        assert!(message.starts_with(&beginning), "{message}");
    }
}

#[test]
fn offline_leaves_code_no_way_out_whoever_says_it() {
    let open = "[network]\nmode = 'open'";
    for settings in [
        resolved(&format!("offline = true\n{open}"), "", "").unwrap(),
        resolved(open, "", "offline = true").unwrap(),
        Settings::resolve(
            &files(open, "", ""),
            &Overrides { offline: true, network: Some(NetworkMode::Open), ..Overrides::default() },
        )
        .unwrap(),
    ] {
        assert!(settings.offline.value);
        assert_eq!(settings.network.mode.value, NetworkMode::None);
    }
    assert_eq!(resolved(open, "", "").unwrap().network.mode.value, NetworkMode::Open);
}

#[test]
fn a_project_that_loosens_is_told_what_holds_and_why() {
    assert_eq!(
        resolved("[limits]\nmemory = '1G'", "", "[limits]\nmemory = '2G'").unwrap_err(),
        "/project.toml: a project may only tighten, and `limits.memory = \"2G\"` is looser than \
         \"1G\", from your config file"
    );
    assert_eq!(
        resolved("", "", "workspace = 'direct'").unwrap_err(),
        "/project.toml: a project may only tighten, and `workspace = \"direct\"` is looser than \
         \"stage\", from the defaults"
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

fn line(key: &'static str, values: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::option::weighted(0.3, prop::sample::select(values))
        .prop_map(move |value| value.map_or_else(String::new, |value| format!("{key} = {value}\n")))
}

const BYTES: &[&str] = &["'1B'", "'10M'", "'1G'", "'2G'", "'4G'", "'5G'", "'1T'"];
const NUMBERS: &[&str] = &["1", "20", "21", "511", "512", "1024", "4000000"];

/// A file that sets what a project may set, tighter or looser.
fn bounds() -> impl Strategy<Value = String> {
    (
        line("workspace", &["'stage'", "'direct'", "'read-only'"]),
        line("max_calls", NUMBERS),
        (line("max_tokens", NUMBERS), line("requests_per_minute", NUMBERS))
            .prop_map(|(a, b)| format!("{a}{b}")),
        (
            line("wall", &["'1s'", "'1h'", "'2d'", "'none'"]),
            line("cpu", &["'1s'", "'1m'", "'none'"]),
            line("memory", BYTES),
            line("processes", NUMBERS),
            line("file_size", BYTES),
            line("open_files", NUMBERS),
            line("temporary", BYTES),
            line("output", BYTES),
        )
            .prop_map(|(a, b, c, d, e, f, g, h)| format!("[limits]\n{a}{b}{c}{d}{e}{f}{g}{h}")),
        line("[[rule]]\ndecision", &["'allow'", "'ask'", "'deny'"]),
    )
        .prop_map(|(a, b, c, limits, rule)| format!("{a}{b}{c}{limits}{rule}"))
}

/// A file that may also set what only the person may.
fn anything() -> impl Strategy<Value = String> {
    (
        line("model", &["'openai/a'", "'scripted:f'"]),
        line("instructions", &["'Be brief.'", "''"]),
        (
            line("temperature", &["0", "1.5"]),
            line("offline", &["true", "false"]),
            line("certificates", &["'/ca.pem'"]),
            line("fallback", &["['a/b']"]),
            line("threads", NUMBERS),
        )
            .prop_map(|(a, b, c, d, e)| format!("{a}{b}{c}{d}{e}")),
        bounds(),
        line("[endpoint.x]\nformat = 'openai'\nbase_url", &["'http://a'", "'https://b'"]),
        line("[language.python]\nprograms", &["['x']", "['/usr/bin/env', 'y']"]),
        line("[files]\nallow", &["['.env']", "[]"]),
    )
        .prop_map(|(a, b, c, bounds, d, e, f)| format!("{a}{b}{c}{bounds}{d}{e}{f}"))
}

/// Whether no setting of `one` is looser than that of `other`. Taken apart field by field, so
/// that a new setting does not compile until it is compared here.
fn is_no_looser(one: &Settings, other: &Settings) -> bool {
    fn no_looser<T: Bound>(one: &Sourced<T>, other: &Sourced<T>) -> bool {
        !one.value.is_looser_than(&other.value)
    }
    let Settings {
        model,
        fallback,
        providers,
        offline,
        certificates,
        requests_per_minute,
        threads,
        endpoints,
        languages,
        workspace,
        instructions,
        max_calls,
        max_tokens,
        temperature,
        undo_space,
        sandbox,
        network,
        allowed_files,
        limits,
        rules: _,
    } = one;
    let LimitSettings {
        wall,
        cpu,
        memory,
        processes,
        file_size,
        open_files,
        temporary,
        staged,
        staged_files,
        output,
    } = limits;
    *model == other.model
        && *fallback == other.fallback
        && *providers == other.providers
        && *certificates == other.certificates
        && offline.value >= other.offline.value
        && no_looser(requests_per_minute, &other.requests_per_minute)
        && *threads == other.threads
        && *endpoints == other.endpoints
        && *languages == other.languages
        && *instructions == other.instructions
        && *temperature == other.temperature
        && *undo_space == other.undo_space
        && *sandbox == other.sandbox // `sandbox.rs` compares what projects may say of it.
        && *allowed_files == other.allowed_files
        // Whether a list is narrower is looked at in `network.rs`.
        && no_looser(&network.mode, &other.network.mode)
        && network.deny.len() >= other.network.deny.len()
        && (!network.ask.value || other.network.ask.value)
        && one.user_rules() == other.user_rules()
        && no_looser(workspace, &other.workspace)
        && no_looser(max_calls, &other.max_calls)
        && no_looser(max_tokens, &other.max_tokens)
        && no_looser(wall, &other.limits.wall)
        && no_looser(cpu, &other.limits.cpu)
        && no_looser(memory, &other.limits.memory)
        && no_looser(processes, &other.limits.processes)
        && no_looser(file_size, &other.limits.file_size)
        && no_looser(open_files, &other.limits.open_files)
        && no_looser(temporary, &other.limits.temporary)
        && no_looser(staged, &other.limits.staged)
        && no_looser(staged_files, &other.limits.staged_files)
        && no_looser(output, &other.limits.output)
}

proptest! {
    #[test]
    fn no_project_file_loosens_anything(
        user in anything(), profile in anything(), project in anything(),
    ) {
        let without = resolved(&user, &profile, "").unwrap();
        if let Ok(with) = resolved(&user, &profile, &project) {
            prop_assert!(is_no_looser(&with, &without), "{with:?} is looser than {without:?}");
        }
    }

    #[test]
    fn a_project_file_that_only_tightens_is_taken(user in bounds(), project in bounds()) {
        // Resolving the project's bounds as the person's tells what they mean on their own.
        let without = resolved(&user, "", "").unwrap();
        let meant = resolved(&user, &project, "").unwrap();
        if is_no_looser(&meant, &Settings { rules: meant.rules.clone(), ..without }) {
            let with = resolved(&user, "", &project).unwrap();
            prop_assert_eq!(with.limits.limits(), meant.limits.limits());
            prop_assert_eq!(with.workspace.value, meant.workspace.value);
        } else {
            prop_assert!(resolved(&user, "", &project).is_err());
        }
    }

    #[test]
    fn what_was_typed_wins_over_every_file(user in anything(), project in bounds(), seconds in 1_u64..) {
        let overrides = Overrides {
            model: Some("openai/typed".into()),
            workspace: Some(Workspace::Direct),
            time_limit: Some(TimeLimit::Seconds(seconds)),
            ..Overrides::default()
        };
        if let Ok(settings) = Settings::resolve(&files(&user, "", &project), &overrides) {
            let typed = |layer| layer == Layer::CommandLine;
            prop_assert_eq!(settings.model.value.as_deref(), Some("openai/typed"));
            prop_assert_eq!(settings.limits.wall.value, TimeLimit::Seconds(seconds));
            prop_assert!(typed(settings.model.layer) && typed(settings.workspace.layer));
        }
    }
}
