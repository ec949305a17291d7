//! `--quiet`: the answer alone on standard output, and everything else on standard error.
//!
//! The answer is the last reply, if no code followed it. A small model is not asked what the output of
//! its code means: then that output is the answer.

use super::{
    plain::exactly,
    screen::{Screen, Section},
    transcript,
};
use interpreter_core::{Body, Origin, Output, Record, Stream, Untrusted, forms};
use interpreter_store::Environment;
use std::io;

/// Bytes of output that are kept as an answer.
const MOST: usize = 16 << 20;

/// Collects the answer of a turn.
#[derive(Debug)]
pub(crate) struct FinalAnswer {
    stdout: Screen,
    stderr: Screen,
    said: Untrusted,
    printed: Untrusted,
    /// The code that printed more than is kept.
    cut: Option<String>,
}

impl FinalAnswer {
    pub(crate) fn new(environment: &Environment) -> Self {
        let stderr = Screen::stderr(environment).named_elsewhere("interpreter: ");
        let (said, printed) = Default::default();
        Self { stdout: Screen::stdout(environment), stderr, said, printed, cut: None }
    }

    /// The screen for rows of ours.
    pub(crate) fn screen(&mut self) -> &mut Screen {
        &mut self.stderr
    }

    /// Takes in a record.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are not shown")]
    pub(crate) fn record(&mut self, record: &Record) -> io::Result<()> {
        match &record.body {
            Body::Reply { text, .. } => self.said = text.clone(),
            Body::Proposal { origin: Origin::Model, .. } => {
                self.said = Untrusted::default();
                self.printed = Untrusted::default();
                self.cut = None;
            }
            Body::Output(Output { stream: Stream::Stdout, text, proposal, .. }) => {
                self.keep(text, proposal);
            }
            Body::Output(Output { stream: Stream::Result, text, mime, proposal, .. }) => {
                if let Some(text) = forms::legible(mime, text) {
                    self.keep(&Untrusted::new(format!("{}\n", text.raw())), proposal);
                }
            }
            Body::RunStarted { .. }
            | Body::Effects { .. }
            | Body::TriedLate { .. }
            | Body::Changes(_)
            | Body::Error { .. }
            | Body::Note { .. } => transcript::show(&mut self.stderr, &record.body, false)?,
            _ => {}
        }
        Ok(())
    }

    fn keep(&mut self, text: &Untrusted, proposal: &str) {
        if self.printed.raw().len() + text.raw().len() > MOST {
            self.cut = Some(proposal.to_owned());
        } else {
            self.printed.push(text);
        }
    }

    /// The answer.
    pub(crate) fn text(&self) -> &Untrusted {
        if self.said.raw().trim().is_empty() { &self.printed } else { &self.said }
    }

    /// Prints the answer.
    pub(crate) fn print(&mut self) -> io::Result<()> {
        if let (Some(proposal), true) = (&self.cut, self.said.raw().trim().is_empty()) {
            self.stderr.tell(&format!(
                "the output is longer than {} MiB; `interpreter history show --output {proposal}` \
                 prints all of it",
                MOST >> 20
            ))?;
        }
        let text = self.text().raw().trim_end();
        if text.is_empty() {
            return Ok(());
        }
        let text = Untrusted::new(format!("{text}\n"));
        self.print_text(&text)
    }

    /// Prints this as the answer: byte for byte where another program reads it.
    pub(crate) fn print_text(&mut self, text: &Untrusted) -> io::Result<()> {
        if !self.stdout.is_terminal() {
            return exactly(Stream::Stdout, text, None);
        }
        self.stdout.stream(Section::Prose, text)?;
        self.stdout.close()
    }
}
