//! One connection to a kernel: runs what it is sent, one after the other.
//!
//! # Threat
//! Requests that pile up, a run that goes on for nobody, code that runs where a rule asks.
//!
//! # Mechanism
//! A bounded number of requests waits. A client that leaves interrupts the run that it began, unless
//! that waits for an answer, which is somebody else's to give. Where only a person can answer, the
//! run is over for the client, with an error that has the link.

use super::{
    kernels::ConnectedKernel,
    messages::{KernelMessage, KernelRequest, KernelWish, read},
    performing::perform,
    refusal::KernelRefusal,
    run_seen::{RunFailure, RunNews, RunSeen},
};
use crate::{
    Caller, Lines, Service,
    http::api::{Piece, Subscription},
};
use serde_json::{Value, json};
use std::{collections::VecDeque, sync::Arc};

/// Requests that wait for the one before them.
const MOST_WAITING: usize = 16;

/// A connection to a kernel.
struct Channels<S: Service> {
    service: Arc<S>,
    caller: Caller,
    kernel: ConnectedKernel,
    /// The page of its session.
    link: String,
    subscription: Subscription,
    waiting: VecDeque<KernelRequest>,
    run: Option<CurrentRun>,
    /// Runs and messages so far.
    runs: u64,
    messages: u64,
}

/// The run that is under way.
struct CurrentRun {
    parent: Value,
    seen: RunSeen,
    count: u64,
}

/// The connection has ended, or must.
struct Over;

/// Serves a connection until its client is gone.
pub(in crate::http) async fn serve_channels<S: Service>(
    service: &Arc<S>,
    caller: Caller,
    kernel: ConnectedKernel,
    origin: &str,
    mut lines: impl Lines,
) {
    let session = kernel.session.clone();
    let list = json!({ "do": "list", "session": session });
    let Ok(listed) = perform(&**service, &caller, list).await else { return };
    let after = listed["sessions"][0]["seq"].as_u64().unwrap_or_default();
    let mut channels = Channels {
        service: Arc::clone(service),
        subscription: Subscription::begin(service, caller.clone(), &session, after),
        link: format!("{origin}/#/s/{session}"),
        caller,
        kernel,
        waiting: VecDeque::new(),
        run: None,
        runs: 0,
        messages: 0,
    };
    loop {
        let done = tokio::select! {
            biased;
            message = lines.next() => match message {
                Some(text) => channels.hear(&text, &mut lines).await,
                None => Err(Over),
            },
            news = channels.subscription.next() => match news {
                Some(news) => channels.follow(news, &mut lines).await,
                None => Err(Over),
            },
        };
        if done.is_err() {
            return;
        }
    }
}

impl<S: Service> Channels<S> {
    async fn send(
        &mut self,
        parent: &Value,
        messages: Vec<KernelMessage>,
        lines: &mut impl Lines,
    ) -> Result<(), Over> {
        let (session, number) = (&self.kernel.session, self.kernel.number);
        let texts = messages.into_iter().map(|message| {
            self.messages += 1;
            message.text(session, &format!("{session}_{number}_{}", self.messages), parent)
        });
        let texts: Vec<_> = texts.collect();
        lines.send(texts).await.map_err(|_| Over)
    }

    /// A message of the client.
    async fn hear(&mut self, text: &str, lines: &mut impl Lines) -> Result<(), Over> {
        let request = read(text).ok_or(Over)?;
        match request.wish {
            KernelWish::Interrupt => {
                self.interrupt().await;
                self.send(&request.parent, vec![KernelMessage::interrupted()], lines).await
            }
            KernelWish::Execute { .. } | KernelWish::Describe | KernelWish::Other => {
                if self.waiting.len() >= MOST_WAITING {
                    return Err(Over);
                }
                self.waiting.push_back(request);
                self.go_on(lines).await
            }
        }
    }

    async fn interrupt(&mut self) {
        if self.run.is_some() {
            let request = json!({ "do": "interrupt", "session": self.kernel.session });
            // It may have come to its end meanwhile.
            _ = perform(&*self.service, &self.caller, request).await.is_ok();
        }
    }

    /// Takes what waits, until something runs.
    async fn go_on(&mut self, lines: &mut impl Lines) -> Result<(), Over> {
        while self.run.is_none() {
            let Some(KernelRequest { parent, wish }) = self.waiting.pop_front() else { break };
            let busy = KernelMessage::status("busy");
            match wish {
                KernelWish::Execute { code, is_silent } => {
                    let first = vec![busy, KernelMessage::input(&code, self.runs + 1)];
                    self.send(&parent, first, lines).await?;
                    self.begin(parent, &code, is_silent, lines).await?;
                }
                KernelWish::Describe => {
                    let idle = KernelMessage::status("idle");
                    let all = vec![busy, KernelMessage::description(), idle];
                    self.send(&parent, all, lines).await?;
                }
                KernelWish::Interrupt | KernelWish::Other => {
                    let all = vec![busy, KernelMessage::status("idle")];
                    self.send(&parent, all, lines).await?;
                }
            }
        }
        Ok(())
    }

    async fn begin(
        &mut self,
        parent: Value,
        code: &str,
        is_silent: bool,
        lines: &mut impl Lines,
    ) -> Result<(), Over> {
        self.runs += u64::from(!is_silent);
        let count = self.runs;
        if code.trim().is_empty() {
            return self.end(&parent, count, None, lines).await;
        }
        let session = self.kernel.session.as_str();
        let run = json!({ "do": "run", "session": session, "language": "python", "code": code });
        match perform(&*self.service, &self.caller, run).await {
            Ok(ok) => {
                let Some(proposal) = ok["proposal"].as_str() else {
                    let failure = RunFailure { name: "Failed", words: "it did not run".into() };
                    return self.end(&parent, count, Some(failure), lines).await;
                };
                let seen = RunSeen::new(proposal, &self.link);
                self.run = Some(CurrentRun { parent, seen, count });
                Ok(())
            }
            Err(KernelRefusal { message, .. }) => {
                let failure = RunFailure { name: "Refused", words: message };
                self.end(&parent, count, Some(failure), lines).await
            }
        }
    }

    /// Ends a run for the client.
    async fn end(
        &mut self,
        parent: &Value,
        count: u64,
        failure: Option<RunFailure>,
        lines: &mut impl Lines,
    ) -> Result<(), Over> {
        let mut all = match failure {
            None => vec![KernelMessage::executed(count)],
            Some(RunFailure { name, words }) => vec![
                KernelMessage::error(name, &words),
                KernelMessage::not_executed(count, name, &words),
            ],
        };
        all.push(KernelMessage::status("idle"));
        self.send(parent, all, lines).await
    }

    /// News of the session.
    async fn follow(&mut self, news: Vec<String>, lines: &mut impl Lines) -> Result<(), Over> {
        for line in news {
            match Piece::of(&line) {
                Piece::Broken | Piece::Record { is_last: true, .. } => return Err(Over),
                Piece::Reply(reply) if reply["error"].is_object() => return Err(Over),
                Piece::Reply(_) | Piece::Live => {}
                Piece::Record { .. } => {
                    let record = serde_json::from_str(&line).unwrap_or_default();
                    self.take(&record, lines).await?;
                }
            }
        }
        Ok(())
    }

    async fn take(&mut self, record: &Value, lines: &mut impl Lines) -> Result<(), Over> {
        let Some(run) = &mut self.run else { return Ok(()) };
        let (parent, count) = (run.parent.clone(), run.count);
        match run.seen.record(record) {
            RunNews::Messages(messages) => self.send(&parent, messages, lines).await,
            RunNews::Answer { question, decision, first } => {
                self.send(&parent, first.into_iter().collect(), lines).await?;
                let mut answer = question;
                answer["do"] = "answer".into();
                answer["session"] = self.kernel.session.as_str().into();
                answer["decision"] = decision.into();
                // Somebody on the page may have been first.
                _ = perform(&*self.service, &self.caller, answer).await.is_ok();
                Ok(())
            }
            RunNews::Asks(failure) => {
                self.run = None;
                self.end(&parent, count, Some(failure), lines).await?;
                self.go_on(lines).await
            }
            RunNews::Ended(failure) => {
                self.run = None;
                self.end(&parent, count, failure, lines).await?;
                self.go_on(lines).await
            }
        }
    }
}

impl<S: Service> Drop for Channels<S> {
    fn drop(&mut self) {
        if self.run.is_none() {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (service, caller) = (Arc::clone(&self.service), self.caller.clone());
        let request = json!({ "do": "interrupt", "session": self.kernel.session });
        runtime.spawn(async move {
            // A session that has ended needs none.
            _ = perform(&*service, &caller, request).await.is_ok();
        });
    }
}
