//! Redaction of a run's output, piece by piece.

use super::{RedactedStream, Redactor, Scope};
use crate::{Output, Stream, session::Event};

/// The output of a session: a text for each of the streams of the run that prints.
#[derive(Debug, Default)]
pub struct RedactedOutput {
    /// The run that prints.
    run: String,
    stdout: RedactedStream,
    stderr: RedactedStream,
}

impl RedactedOutput {
    /// Takes in a piece; returns the pieces that can be given out by now.
    pub fn feed(&mut self, redactor: &Redactor, mut output: Output) -> Vec<Output> {
        if redactor.is_empty() {
            return vec![output];
        }
        let mut ready = Vec::new();
        if self.run != output.proposal {
            ready = self.finish(redactor);
            self.run.clone_from(&output.proposal);
        }
        redactor.beside(&mut output);
        let text = match output.stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
            Stream::Result => {
                if is_text(&output.mime) {
                    output.text = redactor.untrusted(output.text, Scope::All);
                }
                ready.push(output);
                return ready;
            }
        };
        let clean = text.feed(redactor, Scope::All, output.text.raw());
        if clean != output.text.raw() {
            // The exact bytes would tell what was taken out.
            output.bytes = None;
            output.text = clean.into();
        }
        if !output.text.raw().is_empty() || !output.bundle.is_empty() {
            ready.push(output);
        }
        ready
    }

    /// Whether no more output of a run follows, or none before the person has answered.
    pub fn is_ended_by(event: &Event) -> bool {
        matches!(
            event,
            Event::Ran(_)
                | Event::InputWanted(_)
                | Event::NotBegun
                | Event::KernelEnded { .. }
                | Event::Restarted(_)
                | Event::RunnerFailed(_)
                | Event::Quit
                | Event::ServerEnds
        )
    }

    /// Gives out whatever was held back.
    pub fn finish(&mut self, redactor: &Redactor) -> Vec<Output> {
        let run = &self.run;
        let streams = [(Stream::Stdout, &mut self.stdout), (Stream::Stderr, &mut self.stderr)];
        let rest = streams.into_iter().map(|(stream, text)| {
            Output::text(run.clone(), stream, text.finish(redactor, Scope::All))
        });
        rest.filter(|output| !output.text.raw().is_empty()).collect()
    }
}

impl Redactor {
    /// The parts of an output beside its text.
    fn beside(&self, output: &mut Output) {
        for (kind, text) in &mut output.bundle {
            if is_text(kind) {
                *text = self.untrusted(text.clone(), Scope::All);
            }
        }
        if let Some(display) = &mut output.display {
            self.clean(display, Scope::All);
        }
    }
}

/// Whether a kind of output is searched: everything but pixels.
fn is_text(kind: &str) -> bool {
    !kind.starts_with("image/") || kind == "image/svg+xml"
}
