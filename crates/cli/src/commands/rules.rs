//! `interpreter rules`: the rules about code, and what they would decide.

use crate::{
    commands::input::read_text,
    exit::Exit,
    report::{Error, misuse},
    start::{context, wait_for},
    terminal::{found, json, ours::ours, screen::Screen},
};
use clap::{Subcommand, ValueEnum};
use interpreter_agent::{
    Context,
    rules::{AddedRule, AddedRules, Judged, check_file, remove, take_back_host},
};
use interpreter_core::{
    ApprovalMode, Language, Opinion, Origin, Untrusted,
    proposal::{MOST_CODE, unfit},
};
use interpreter_store::{Environment, Layer, Overrides, Sourced};
use serde_json::json;
use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

/// List the rules about code, and test what they decide
///
/// Rules are `[[rule]]` tables of the config file. Deny beats ask, and ask beats allow. Where no
/// rule matches, the setting `approval.mode` decides. Files in `rules` of the config folder add
/// rules for the analysis of code, which find something and decide nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct RulesArgs {
    #[command(subcommand)]
    command: Option<RulesCommand>,
}

#[derive(Debug, Subcommand)]
enum RulesCommand {
    List(ListArgs),
    Test(TestArgs),
    Check(CheckArgs),
    Remove(RemoveArgs),
}

/// List the rules with their numbers, and the allowed hosts
#[derive(Debug, Default, clap::Args)]
struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Show what the rules decide about code, and why
///
/// Analyses the file as a model's code, at the beginning of a session. Runs nothing.
#[derive(Debug, clap::Args)]
struct TestArgs {
    /// File with the code, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Language of the code [default: from the file's ending]
    #[arg(short, long, value_name = "LANGUAGE")]
    language: Option<String>,
    /// Judge it as code that you type yourself
    #[arg(long)]
    typed: bool,
    /// Exit with 1 unless this is the decision
    #[arg(long, value_name = "DECISION")]
    expect: Option<Expected>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Use the settings in profiles/NAME.toml
    #[arg(short, long, value_name = "NAME")]
    profile: Option<String>,
}

/// Check added rules for the analysis of code
///
/// Each rule must fit its example and must not fit its counterexample. Checks a file, or every file
/// that a session here would use: those in `rules` of the config folder and in `.interpreter/rules`.
#[derive(Debug, clap::Args)]
struct CheckArgs {
    /// File with rules [default: all that are in use]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Remove a rule, or an allowed host, from your config file
#[derive(Debug, clap::Args)]
struct RemoveArgs {
    /// Number of the rule, or the host, as `interpreter rules list` shows it
    #[arg(value_name = "NUMBER|HOST")]
    entry: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Expected {
    Allow,
    Ask,
    Deny,
}

pub(crate) fn rules(args: &RulesArgs) -> Result<ExitCode, Error> {
    match &args.command {
        None => list(&ListArgs::default()),
        Some(RulesCommand::List(args)) => list(args),
        Some(RulesCommand::Test(args)) => test(args),
        Some(RulesCommand::Check(args)) => check(args),
        Some(RulesCommand::Remove(args)) => remove_one(args),
    }
}

fn list(args: &ListArgs) -> Result<ExitCode, Error> {
    let context = context(&Overrides::default())?;
    let settings = &context.settings;
    if args.json {
        let of = |rule: &Sourced<_>| json!({"rule": rule.value, "origin": origin(rule)});
        let (mode, up_to) = (settings.approval_mode.value, settings.approval_limit.value);
        let rules: Vec<_> = settings.rules.iter().map(of).collect();
        let added = listed(&context.added_rules);
        let of = |host: &Sourced<_>| json!({"host": host.value, "origin": origin(host)});
        let hosts: Vec<_> = settings.hosts.iter().map(of).collect();
        let all = json!({"mode": mode, "up_to": up_to, "rules": rules, "hosts": hosts,
            "analysis": added});
        json::print_value(&all)?;
        return Ok(Exit::Done.into());
    }
    let mut screen = Screen::stdout(&context.environment);
    for (rule, number) in settings.rules.iter().zip(1..) {
        screen.say(ours("Rule ") + number + ":")?;
        screen.row(&format!("{} ({})", rule.value.words(), origin(rule)))?;
    }
    screen.say(match settings.approval_mode.value {
        ApprovalMode::Ask => ours("A model's code that matches no rule: ask."),
        ApprovalMode::Deny => ours("A model's code that matches no rule: deny."),
        ApprovalMode::Auto => {
            ours("A model's code that matches no rule: run it up to risk ")
                + settings.approval_limit.value.risk().word()
                + ", otherwise ask."
        }
    })?;
    if !settings.hosts.is_empty() {
        screen.say("Hosts that code reaches without a question:")?;
    }
    for host in &settings.hosts {
        screen.row(&format!("{} ({})", host.value, origin(host)))?;
    }
    show_added(&mut screen, &context.added_rules)?;
    Ok(Exit::Done.into())
}

fn check(args: &CheckArgs) -> Result<ExitCode, Error> {
    let checked = match &args.file {
        None => Arc::clone(&context(&Overrides::default())?.added_rules),
        Some(file) => match check_file(file)? {
            Some(rules) => Arc::new(rules),
            None => return Err(misuse(format!("there is no file `{}`", file.display()))),
        },
    };
    if args.json {
        json::print_value(&json!({"analysis": listed(&checked)}))?;
        return Ok(Exit::Done.into());
    }
    let mut screen = Screen::stdout(&Environment::read());
    show_added(&mut screen, &checked)?;
    screen.say(match checked.listed.len() {
        0 => ours("No rules for the analysis were added."),
        1 => ours("1 rule, and its examples hold."),
        count => ours("") + count + " rules, and their examples hold.",
    })?;
    Ok(Exit::Done.into())
}

/// Lists the rules that were added to the analysis.
fn show_added(screen: &mut Screen, rules: &AddedRules) -> Result<(), Error> {
    for rule in &rules.listed {
        screen.say(ours("Analysis, ") + rule.language + ":")?;
        let reason = rule.reason.for_terminal_line(400);
        screen.row(&format!(
            "{}: {reason} ({}:{})",
            rule.names.join(", "),
            rule.path,
            rule.line
        ))?;
    }
    Ok(())
}

/// The same for JSON.
fn listed(rules: &AddedRules) -> Vec<serde_json::Value> {
    let of = |rule: &AddedRule| {
        json!({
            "origin": format!("{}:{}", rule.path, rule.line),
            "language": rule.language,
            "names": rule.names,
            "reason": rule.reason,
        })
    };
    rules.listed.iter().map(of).collect()
}

/// Where a rule comes from.
fn origin<T>(rule: &Sourced<T>) -> String {
    match &rule.origin.place {
        Some((file, line)) => format!("{}:{line}", file.display()),
        None => rule.origin.layer.to_string(),
    }
}

fn remove_one(args: &RemoveArgs) -> Result<ExitCode, Error> {
    let context = context(&Overrides::default())?;
    let Ok(number) = args.entry.parse::<usize>() else {
        return remove_host(&context, &args.entry);
    };
    let rules = &context.settings.rules;
    let at = number.wrapping_sub(1);
    let Some(rule) = rules.get(at) else {
        return Err(misuse(format!(
            "there is no rule {number}; `interpreter rules list` shows them"
        )));
    };
    let is_own = |rule: &Sourced<_>| rule.origin.layer == Layer::User;
    if !is_own(rule) {
        let from = Untrusted::new(origin(rule)).for_terminal_line(200);
        return Err(misuse(format!("rule {number} is not in your config file, but {from}")));
    }
    let place = rules.iter().take(at).filter(|rule| is_own(rule)).count();
    if !remove(&context, place)? {
        return Err(misuse("your config file has changed meanwhile; list the rules again"));
    }
    let mut screen = Screen::stdout(&context.environment);
    screen.say("Removed from your config file:")?;
    screen.row(&rule.value.words())?;
    Ok(Exit::Done.into())
}

fn remove_host(context: &Context, entry: &str) -> Result<ExitCode, Error> {
    let shown = Untrusted::new(entry.to_owned()).for_terminal_line(200);
    if !take_back_host(context, entry)? {
        return Err(misuse(format!(
            "`network.hosts` of your config file has no `{shown}`; `interpreter rules list` shows \
             rules and hosts"
        )));
    }
    let mut screen = Screen::stdout(&context.environment);
    screen.say("Removed from your config file:")?;
    screen.row(&shown)?;
    Ok(Exit::Done.into())
}

fn test(args: &TestArgs) -> Result<ExitCode, Error> {
    let context = context(&Overrides { profile: args.profile.clone(), ..Overrides::default() })?;
    let language = args.language(&context)?;
    let code = read(&args.file)?;
    if let Some(why) = unfit(&code) {
        return Err(misuse(why));
    }
    let origin = if args.typed { Origin::Person } else { Origin::Model };
    let judged = wait_for(context.judge(origin, language, code))?;
    if args.json {
        json::print_value(&told(&judged))?;
    } else {
        print(&mut Screen::stdout(&context.environment), &judged)?;
    }
    let is_expected = |wanted| match wanted {
        Expected::Allow => judged.verdict.opinion == Opinion::Allow,
        Expected::Ask => judged.verdict.opinion == Opinion::Ask,
        Expected::Deny => judged.verdict.opinion == Opinion::Deny,
    };
    Ok(if args.expect.is_none_or(is_expected) { Exit::Done } else { Exit::CodeFailed }.into())
}

/// Prints the findings on code and the decision about it.
pub(super) fn print(screen: &mut Screen, judged: &Judged) -> Result<(), Error> {
    let Judged { findings, opinions, verdict, note } = judged;
    screen.say(ours("Risk: ") + findings.risk.word())?;
    found::findings(screen, &findings.by_severity())?;
    if let Some(note) = note {
        screen.row(note)?;
    }
    if !opinions.is_empty() {
        screen.say("Rules that match:")?;
        for (_, words) in opinions {
            screen.row(words)?;
        }
    }
    screen.say(ours("Decision: ") + word(verdict.opinion))?;
    screen.row(&verdict.rule)?;
    if let Some(words) = verdict.quorum.words().filter(|_| verdict.opinion == Opinion::Ask) {
        screen.row(&format!("To be {words}. A session of one person refuses it."))?;
    }
    Ok(())
}

/// The same as JSON.
pub(super) fn told(judged: &Judged) -> serde_json::Value {
    let Judged { findings, opinions, verdict, note } = judged;
    let rules: Vec<_> =
        opinions.iter().map(|(opinion, rule)| json!({"decision": opinion, "rule": rule})).collect();
    json!({
        "risk": findings.risk,
        "capabilities": findings.capabilities,
        "rules": rules,
        "decision": verdict.opinion,
        "rule": verdict.rule,
        "quorum": verdict.quorum,
        "note": note,
    })
}

fn word(opinion: Opinion) -> &'static str {
    match opinion {
        Opinion::Allow => "allow",
        Opinion::Ask => "ask",
        Opinion::Deny => "deny",
    }
}

impl TestArgs {
    fn language(&self, context: &Context) -> Result<Language, Error> {
        let table = context.interpreters().languages();
        let ending = self.file.extension().and_then(OsStr::to_str);
        let found = match (&self.language, ending) {
            (Some(name), _) => table.known(name),
            (None, Some(ending)) => table.known_of_ending(ending),
            (None, None) => None,
        };
        found.ok_or_else(|| {
            misuse("unknown language: choose one of `interpreter languages` with `-l LANGUAGE`")
        })
    }
}

fn read(file: &Path) -> Result<String, Error> {
    let next = "give less of it";
    if file == Path::new("-") {
        return read_text(io::stdin(), "the code on standard input", MOST_CODE, next);
    }
    let what = format!("the code in {}", file.display());
    let failed = |source| Error::Io { what: format!("{what} cannot be read"), source };
    read_text(fs_err::File::open(file).map_err(failed)?, &what, MOST_CODE, next)
}
