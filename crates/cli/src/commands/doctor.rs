//! `interpreter doctor`: whether this machine is ready, and how to make it so.

use crate::{
    exit::Exit,
    report::{Error, misuse},
    start::{context, wait_for},
    terminal::{generated, json, screen::Screen},
};
use interpreter_agent::{
    AgentError, Context,
    doctor::{Finding, Health, Report, examine},
};
use interpreter_core::{Untrusted, surroundings::apparmor_profile};
use interpreter_store::Overrides;
use std::{fmt::Write, io, process::ExitCode};

/// Rows of the short form: with the prompt of a shell it fits on a window of 24.
const ROWS: usize = 22;

/// Columns of the short form. With the mark of foreign rows it fits into 80.
const COLUMNS: usize = 76;

/// Columns before the words of a row.
const INDENT: usize = 21;

/// Check whether this machine is ready
///
/// Builds every available sandbox, attacks it from inside and removes it; opens the record, and
/// looks for interpreters and the model. Says in one line whether the machine is ready, and then
/// lists only the problems, each with its fix. Exits with 0 only if code would run and every
/// promise would be kept, or else with 4.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Show everything that was checked
    #[arg(short, long, conflicts_with = "json")]
    verbose: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print an AppArmor profile that lets this program, at its path, use user namespaces
    #[arg(long, conflicts_with_all = ["json", "verbose"])]
    apparmor_profile: bool,
}

pub(crate) fn doctor(args: &DoctorArgs) -> Result<ExitCode, Error> {
    if args.apparmor_profile {
        return print_profile();
    }
    let context = context(&Overrides::default())?;
    let report = wait_for(examine(&context))?;
    if args.json {
        json::print_value(&serde_json::to_value(&report).map_err(io::Error::from)?)?;
    } else {
        let text = if args.verbose { full(&report) } else { brief(&report) };
        Screen::stdout(&context.environment).lines(&text)?;
    }
    Ok(if report.is_ready() { Exit::Done } else { Exit::CannotConfine }.into())
}

fn print_profile() -> Result<ExitCode, Error> {
    let program = std::env::current_exe().map_err(AgentError::Program)?;
    let Some(profile) = program.to_str().and_then(apparmor_profile) else {
        return Err(misuse("the path of this program has a character that a profile cannot name"));
    };
    generated::print(profile.as_bytes())?;
    Ok(Exit::Done.into())
}

/// The short form, for a chat.
pub(crate) async fn summary(context: &Context) -> String {
    brief(&examine(context).await)
}

/// Everything that was checked.
fn full(report: &Report) -> String {
    report.rows().iter().map(|finding| row(finding) + &fix(finding)).collect()
}

/// One line that says whether the machine is ready, and only the problems.
fn brief(report: &Report) -> String {
    let problems = report.problems();
    let mut text = report.verdict() + "\n";
    let mut rows = 2;
    for (shown, finding) in problems.iter().enumerate() {
        let (detail, fix) = (wrapped(finding), fix(finding));
        rows += detail.lines().count() + fix.chars().count().div_ceil(COLUMNS);
        if rows > ROWS {
            // Writing to a string cannot fail.
            _ = writeln!(text, "and {} more", problems.len() - shown);
            break;
        }
        text += &(detail + &fix);
    }
    text + "`interpreter doctor -v` shows everything that was checked.\n"
}

fn row(finding: &Finding) -> String {
    let state = match finding.state {
        Health::Good => "ok     ",
        Health::Lacking => "missing",
        Health::Broken => "BROKEN ",
    };
    format!("{state}  {:<11} {}\n", finding.name, finding.detail)
}

/// A row on as many lines as its words need, up to three.
fn wrapped(finding: &Finding) -> String {
    let row = Untrusted::new(row(finding).trim_end()).for_terminal_line(3 * (COLUMNS - INDENT));
    let mut lines = vec![String::new()];
    for word in row.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if line.chars().count() + 1 + word.chars().count() > COLUMNS && line.len() > INDENT {
            lines.push(" ".repeat(INDENT) + word);
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}

fn fix(finding: &Finding) -> String {
    let fix = finding.fix.as_ref();
    fix.map_or_else(String::new, |fix| format!("         {:<11} fix: {fix}\n", ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::surroundings::{Seen, security_modules};

    fn report(chosen: Option<&'static str>, problems: usize) -> Report {
        let finding = |number: usize| Finding {
            name: format!("thing{number}"),
            state: Health::Lacking,
            detail: "x".repeat(10) + &" words".repeat(3 + number),
            fix: Some("`sudo do this`".into()),
        };
        Report {
            chosen,
            why: "it is the strongest".into(),
            fix: None,
            keeps_everything: chosen == Some("native"),
            kernel: "6.1".into(),
            landlock: None,
            root: false,
            obstacles: vec![],
            security_modules: security_modules(&Seen::default(), true),
            sandboxes: vec![],
            findings: (0..problems).map(finding).collect(),
        }
    }

    #[test]
    fn a_ready_machine_takes_two_lines() {
        assert_eq!(
            brief(&report(Some("native"), 0)),
            "Ready: code runs in the native sandbox.\n\
             `interpreter doctor -v` shows everything that was checked.\n"
        );
    }

    #[test]
    fn only_problems_are_shown_each_with_its_fix() {
        let text = brief(&report(None, 1));
        assert_eq!(
            text,
            "Not ready: code would not run.\n\
             BROKEN   sandbox     nothing would run: it is the strongest\n\
             missing  thing0      xxxxxxxxxx words words words\n                     \
             fix: `sudo do this`\n\
             `interpreter doctor -v` shows everything that was checked.\n"
        );
    }

    #[test]
    fn a_broken_record_is_the_reason_and_its_words_are_whole() {
        let mut report = report(Some("native"), 0);
        let detail =
            "`/home/ada/.local/share/interpreter/record.db` was written by another version";
        report.findings.push(Finding {
            name: "record".into(),
            state: Health::Broken,
            detail: detail.into(),
            fix: None,
        });
        assert_eq!(
            brief(&report),
            "Not ready: the record cannot be used.\n\
             BROKEN   record      `/home/ada/.local/share/interpreter/record.db` was\n                     \
             written by another version\n\
             `interpreter doctor -v` shows everything that was checked.\n"
        );
    }

    #[test]
    fn the_short_form_fits_on_a_window_however_much_is_wrong() {
        for problems in 0..40 {
            let text = brief(&report(Some("landlock"), problems));
            assert!(text.lines().count() <= ROWS + 1, "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
            assert_eq!(text.contains(" more\n"), problems > 8, "{problems}: {text}");
        }
    }
}
