//! Sessions begin: anew, with the conversation of one that has ended, or as a fork.
//!
//! # Threat
//! A client that gets a session which asks less than the person's settings say, or less than the
//! session that it comes from; or has its conversation go on in wider bounds, or with another model.
//!
//! # Mechanism
//! Settings, rules and trust are those of the folder, read anew. A request names a folder, a model
//! that the settings offer or a profile of the person's, and nothing else: a name is looked up in a
//! list, and no client says which script is played or which address is asked. A resumed or forked session has the folder of the one
//! that it comes from, talks to the same model, asks no less and reaches no further: the record says
//! how that was. The conversation goes to no provider that has not heard it.

use super::{
    Seat, SessionHub, Shared,
    allowed::check,
    held::HeldSession,
    reading::{elsewhere, failed, on_record},
};
use crate::{
    caller::{Caller, Right},
    protocol::{ErrorCode, ModelName, OpenMode, ProtocolError},
};
use interpreter_agent::{AgentError, Context, Mode, Session};
use interpreter_core::{
    Body, Confinement,
    session::{Approval, Earlier, Event, HowAsked},
};
use interpreter_store::{Overrides, RunningSession, SessionSummary, StoreError};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// How a session is to be.
struct Wanted {
    folder: PathBuf,
    overrides: Overrides,
    /// The client's word for a model, if there is one.
    model: Option<ModelName>,
    mode: Mode,
    approval: Approval,
    /// How the session was that it comes from.
    origin: SessionOrigin,
}

/// The conversation that a session begins with.
struct FromSession {
    id: String,
    /// The cell before which it is left.
    before: Option<String>,
    /// The question at which it goes on, if it is begun for that alone; and who answers that.
    at: Option<(String, String)>,
}

/// How a session was, by its record. Records of early versions do not say all of it, and a
/// conversation of another program says nothing.
#[derive(Default)]
struct SessionOrigin {
    /// How much it asked.
    asks: Option<HowAsked>,
    /// Its bounds.
    bounds: Option<Box<Confinement>>,
    /// The model that it talked to last.
    model: Option<String>,
}

impl SessionOrigin {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest says nothing about it")]
    fn take(&mut self, body: Body) {
        match body {
            Body::SessionStarted { model, confinement, asks, imported: false, .. } => {
                *self = Self { asks, bounds: Some(confinement), model };
            }
            Body::ModelChanged { model, .. } => self.model = Some(model),
            _ => {}
        }
    }
}

impl SessionHub {
    /// Begins a session.
    pub(super) async fn open(
        &self,
        caller: &Caller,
        folder: Option<String>,
        model: Option<ModelName>,
        profile: Option<String>,
        mode: OpenMode,
    ) -> Result<String, ProtocolError> {
        let setup = &self.shared.setup;
        let folder = folder.map_or_else(|| setup.work_folder.clone(), PathBuf::from);
        let folder = self.allowed_folder(caller, folder)?;
        let mut overrides = setup.overrides.clone();
        overrides.profile = profile.or(overrides.profile);
        let mode = match mode {
            OpenMode::Chat => Mode::Chat,
            OpenMode::Run => Mode::Run,
        };
        let (approval, origin) = (Approval::AsRulesSay, SessionOrigin::default());
        let wanted = Wanted { folder, overrides, model, mode, approval, origin };
        Ok(begin(&self.shared, wanted, None, caller).await?.id.clone())
    }

    /// Goes on with the conversation of a session that has ended, in a new one.
    pub(super) async fn resume(&self, caller: &Caller, id: &str) -> Result<String, ProtocolError> {
        if self.shared.find(id).is_some_and(|held| !held.has_ended()) {
            let text = format!("session {id} runs here");
            return Err(
                ProtocolError::new(ErrorCode::Running, text).hint("subscribe to it, or fork it")
            );
        }
        self.go_on(caller, FromSession { id: id.to_owned(), before: None, at: None }).await
    }

    /// The same as its owner, for its open question alone, which `by` answers. Nothing begins if that
    /// cannot be put again.
    pub(super) async fn resume_at(
        &self,
        owner: &Caller,
        id: &str,
        question: &str,
        by: &str,
    ) -> Result<String, ProtocolError> {
        let at = Some((question.to_owned(), by.to_owned()));
        self.go_on(owner, FromSession { id: id.to_owned(), before: None, at }).await
    }

    async fn go_on(&self, caller: &Caller, from: FromSession) -> Result<String, ProtocolError> {
        let summary = self.past(&from.id).await?;
        let wanted = self.like(caller, &from.id, &summary).await?;
        Ok(begin(&self.shared, wanted, Some(from), caller).await?.id.clone())
    }

    /// Begins another session with the conversation of this one, or its part before a cell.
    pub(super) async fn fork(
        &self,
        caller: &Caller,
        id: &str,
        before: Option<String>,
    ) -> Result<String, ProtocolError> {
        let held = self.shared.find(id);
        if let Some(held) = held.filter(|held| !held.has_ended()) {
            held.session.written().await;
        }
        let summary = self.summary(id).await?;
        let wanted = self.like(caller, id, &summary).await?;
        let earlier = Some(FromSession { id: id.to_owned(), before, at: None });
        Ok(begin(&self.shared, wanted, earlier, caller).await?.id.clone())
    }

    /// How a session that comes from this one is to be.
    async fn like(
        &self,
        caller: &Caller,
        id: &str,
        summary: &SessionSummary,
    ) -> Result<Wanted, ProtocolError> {
        let Some(folder) = summary.work_folder.clone() else {
            let text = format!("session {id} has no folder on record");
            return Err(ProtocolError::new(ErrorCode::Refused, text));
        };
        let origin = self.origin(id).await?;
        let mut overrides = match self.shared.find(id) {
            Some(held) => held.overrides.clone(),
            None => self.shared.setup.overrides.clone(),
        };
        let approval = match origin.asks.as_ref().map(|asks| asks.approval) {
            Some(Approval::AlwaysAsk) => Approval::AlwaysAsk,
            // A yes beforehand was one to that session.
            Some(Approval::AsRulesSay | Approval::Yes) | None => Approval::AsRulesSay,
        };
        if let Some(asks) = &origin.asks {
            if asks.profile.is_some() && asks.profile != self.shared.setup.overrides.profile {
                // A profile may ask less.
                check(caller, &[Right::Answer])?;
            }
            overrides.profile.clone_from(&asks.profile);
        }
        let folder = self.allowed_folder(caller, folder)?;
        let is_run = origin.bounds.is_some() && origin.model.is_none();
        let mode = if is_run { Mode::Run } else { Mode::Chat };
        Ok(Wanted { folder, overrides, model: None, mode, approval, origin })
    }

    /// A folder that is there and that the caller may open. Whoever may not learns nothing of it.
    fn allowed_folder(&self, caller: &Caller, folder: PathBuf) -> Result<PathBuf, ProtocolError> {
        self.check_folder(caller, &folder)?;
        existing(folder)
    }

    /// How a session was, by its record.
    async fn origin(&self, id: &str) -> Result<SessionOrigin, ProtocolError> {
        let id = id.to_owned();
        on_record(&self.shared.folders, move |log, _| {
            let mut origin = SessionOrigin::default();
            for record in log.records(&id) {
                origin.take(record?.body);
            }
            Ok(origin)
        })
        .await
    }

    /// The list entry of a session, if there is one.
    pub(crate) async fn summary(&self, id: &str) -> Result<SessionSummary, ProtocolError> {
        let wanted = id.to_owned();
        let found = on_record(&self.shared.folders, move |log, _| log.session(&wanted)).await?;
        found.ok_or_else(|| unknown(id))
    }

    /// The same of a session that has ended, wherever it ran.
    async fn past(&self, id: &str) -> Result<SessionSummary, ProtocolError> {
        let summary = self.summary(id).await?;
        let wanted = id.to_owned();
        let runs =
            on_record(&self.shared.folders, move |_, folders| RunningSession::is(folders, &wanted));
        if runs.await? {
            let text = format!("session {id} runs in another program");
            return Err(ProtocolError::new(ErrorCode::Running, text).hint("end it there first"));
        }
        Ok(summary)
    }
}

pub(crate) fn unknown(id: &str) -> ProtocolError {
    let short: String = id.chars().take(64).collect();
    ProtocolError::new(ErrorCode::UnknownSession, format!("there is no session `{short}`"))
}

/// An absolute path of a folder.
fn existing(folder: PathBuf) -> Result<PathBuf, ProtocolError> {
    if !folder.is_absolute() {
        let text = "`folder` must be an absolute path";
        return Err(ProtocolError::new(ErrorCode::Malformed, text));
    }
    if !folder.is_dir() {
        let text = format!("there is no folder `{}`", folder.display());
        return Err(ProtocolError::new(ErrorCode::Refused, text));
    }
    Ok(folder)
}

/// The context of a folder. Slow: it looks at the machine.
pub(super) fn context(
    shared: &Shared,
    folder: &Path,
    overrides: &Overrides,
) -> Result<Context, AgentError> {
    let context = shared.whose.context(&shared.setup, folder, overrides)?;
    shared.redact_like(&context);
    Ok(context)
}

impl Wanted {
    /// The context of such a session. Looks at the machine, on another thread; the provider of a model
    /// that a client names may be asked whether it has it.
    async fn context(self, shared: &Arc<Shared>) -> Result<(Context, Self), ProtocolError> {
        let shared = Arc::clone(shared);
        let (mut context, wanted) = elsewhere(move || {
            let mut context =
                context(&shared, &self.folder, &self.overrides).map_err(|error| refusal(&error))?;
            self.fit(&mut context, &shared)?;
            Ok((context, self))
        })
        .await?;
        if let Some(name) = &wanted.model {
            let offered = context.offered(name.to_look_up()).await;
            context.talk_to(offered.map_err(|error| refusal(&error))?);
        }
        Ok((context, wanted))
    }

    /// Has a context ask no less, reach no further and talk to no other model than the session that
    /// this one comes from.
    fn fit(&self, context: &mut Context, shared: &Shared) -> Result<(), ProtocolError> {
        let SessionOrigin { asks, bounds, model } = &self.origin;
        if let Some(model) = model
            && context.talks_to().ok().as_ref() != Some(model)
        {
            if let Ok(offered) = context.offered_before(model) {
                context.talk_to(offered);
            }
            check_model(context, model)?;
        }
        if shared.approvers.is_some() {
            context.serve_several();
        }
        if let Some(asks) = asks {
            context.ask_no_less(asks);
        }
        if let Some(bounds) = bounds {
            context.reach_no_further(bounds).map_err(|error| refusal(&error))?;
        }
        Ok(())
    }
}

impl FromSession {
    /// The conversation. Slow: it reads the record.
    fn earlier(self, context: &Context) -> Result<Earlier, ProtocolError> {
        let earlier = context.earlier(Some(&self.id), self.before.as_deref());
        let earlier = earlier.map_err(|error| refusal(&error))?;
        match &self.at {
            Some((question, _)) if earlier.question() != Some(question) => {
                let text = format!("question {question} cannot be put again");
                Err(ProtocolError::new(ErrorCode::Refused, text))
            }
            Some(_) | None => Ok(earlier),
        }
    }
}

/// Refuses another model than the one that has heard the conversation.
fn check_model(context: &Context, model: &str) -> Result<(), ProtocolError> {
    let why = match context.talks_to() {
        Ok(name) if name == model => return Ok(()),
        Ok(name) => format!("by the settings it would go to `{name}`"),
        Err(error) => error.to_string(),
    };
    let text = format!("that session talked to `{model}`: {why}");
    let hint = "`interpreter --resume` with `--model` has the conversation go to another one";
    Err(ProtocolError::new(ErrorCode::NoModel, text).hint(hint))
}

/// Begins a session, perhaps with an earlier conversation. It takes its place and begins by itself:
/// a client that reads slowly, or has left, must not hold up whoever waits for that place.
async fn begin(
    shared: &Arc<Shared>,
    wanted: Wanted,
    from: Option<FromSession>,
    caller: &Caller,
) -> Result<Arc<HeldSession>, ProtocolError> {
    let seat = shared.take_share(caller).await?;
    let beginning = begin_in(seat, Arc::clone(shared), wanted, from, caller.clone());
    let broke = |_| ProtocolError::new(ErrorCode::Failed, "the session could not begin");
    tokio::spawn(beginning).await.map_err(broke)?
}

async fn begin_in(
    mut seat: Seat,
    shared: Arc<Shared>,
    wanted: Wanted,
    from: Option<FromSession>,
    caller: Caller,
) -> Result<Arc<HeldSession>, ProtocolError> {
    let is_woken = from.as_ref().is_some_and(|from| from.at.is_some());
    let by = from.as_ref().and_then(|from| from.at.as_ref()).map(|(_, by)| by.clone());
    // Whoever has it begin is on record, also where it is another's.
    let who = by.unwrap_or_else(|| caller.name.clone());
    let beginner = who.clone();
    let (mut context, wanted) = wanted.context(&shared).await?;
    let (mut session, seat, context, wanted, earlier) = elsewhere(move || {
        seat.bound(&mut context.settings.staged_limit.value);
        let context = Arc::new(context);
        let Wanted { mode, approval, .. } = &wanted;
        let earlier = from.map(|from| from.earlier(&context)).transpose()?;
        let session = Session::start_as(Some(&who), &context, *mode, *approval);
        let session = session.map_err(|error| refusal(&error))?;
        Ok((session, seat, context, wanted, earlier))
    })
    .await?;
    if wanted.mode == Mode::Chat {
        session.keep_checkpoints();
    }
    let updates = session.take_updates();
    let Wanted { overrides, mode, .. } = wanted;
    let held = HeldSession::new(session, context, mode, overrides);
    // Before anybody else can send something.
    if let Some(mut earlier) = earlier {
        // Its record may be older than the team, and not say whose words it has. Whoever only has it
        // woken by somebody else brings nothing along.
        if shared.approvers.is_some() && !(is_woken && earlier.names_authors()) {
            earlier.brought_by(caller.as_person());
        }
        held.session.send_as(&beginner, Event::Resumed(Box::new(earlier)));
    }
    Ok(shared.admit(seat, held, updates))
}

/// Why a session could not begin.
pub(super) fn refusal(error: &AgentError) -> ProtocolError {
    let code = match error {
        AgentError::Choose(_) => ErrorCode::NoModel,
        // A client names a model and a profile.
        AgentError::Resume { .. }
        | AgentError::WorkFolder(_)
        | AgentError::Store(StoreError::Config(_)) => ErrorCode::Refused,
        AgentError::Store(_)
        | AgentError::Model(_)
        | AgentError::Pull(_)
        | AgentError::PullOffline { .. }
        | AgentError::Exec(_)
        | AgentError::Workspace(_)
        | AgentError::NoIndex { .. }
        | AgentError::Rule { .. }
        | AgentError::AddedRule(_)
        | AgentError::Grant { .. }
        | AgentError::Image { .. }
        | AgentError::Attachment { .. }
        | AgentError::Program(_) => ErrorCode::Failed,
    };
    ProtocolError { code, ..failed(error) }
}
