//! The thread that computes, and the way to it.

use super::{
    llama::{self, Answer, Fault, Part, Runner},
    processor,
};
use crate::{Headway, ModelError, ReplyPiece, Request, Weights, sink::Sink};
use interpreter_core::{Message, Reply, Untrusted, Usage, context::Counter};
use llama_cpp_2::model::LlamaModel;
use std::{
    fmt,
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio::sync::mpsc::{self, Receiver, Sender};

/// As much as the main thread has.
const STACK_BYTES: usize = 8 << 20;

/// A model that is loaded when it is first needed, or before.
pub(crate) struct Engine {
    model: String,
    file: PathBuf,
    context: u32,
    /// Always there until it is dropped.
    jobs: Option<Sender<Job>>,
    /// There once it is loaded.
    loaded: Arc<OnceLock<Arc<LlamaModel>>>,
    /// Whether loading is to go on.
    wanted: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A job for the thread.
enum Job {
    /// Load the model, if that has not been done, and read the beginning of all conversations
    /// until there is something else to do.
    Load { opening: Vec<Message> },
    /// Read the beginning of all conversations, and keep the state after it.
    Begin { opening: Vec<Message>, steps: Sender<Step> },
    /// Answer.
    Ask { request: Request, steps: Sender<Step> },
}

/// A step of the result.
enum Step {
    Text(String),
    /// So many tokens of the prompt are read.
    Read {
        read: u64,
        total: u64,
    },
    Ended(Result<Answer, Fault>),
    /// The beginning is read, and kept.
    Begun(Result<(), Fault>),
}

impl Engine {
    /// A model that is not loaded yet.
    pub(crate) fn start(weights: Weights) -> Result<Self, ModelError> {
        let model = weights.name.clone();
        let lacks = processor::lacks();
        if !lacks.is_empty() {
            return Err(ModelError::Processor { model, lacks: lacks.join(", ") });
        }
        let (file, context) = (weights.file.clone(), weights.context);
        let (jobs, asked) = mpsc::channel(1);
        let (loaded, wanted) = (Arc::default(), Arc::new(AtomicBool::new(true)));
        let (loaded_there, wanted_there) = (Arc::clone(&loaded), Arc::clone(&wanted));
        let thread = thread::Builder::new()
            .name("engine".into())
            .stack_size(STACK_BYTES)
            .spawn(move || work(&weights, &loaded_there, &wanted_there, asked))
            .map_err(|source| ModelError::NoThread { model: model.clone(), source })?;
        Ok(Self { model, file, context, jobs: Some(jobs), loaded, wanted, thread: Some(thread) })
    }

    /// Starts to load it and to read how all conversations begin, unless there is work anyway. Errors
    /// are reported with the first request.
    pub(crate) fn prepare(&self, opening: &[Message]) {
        if let Some(jobs) = &self.jobs {
            jobs.try_send(Job::Load { opening: opening.to_vec() }).unwrap_or_default();
        }
    }

    /// Reads how all conversations begin, and keeps the state after it for every later start. `tell`
    /// hears how many tokens of how many are read.
    pub(crate) async fn begin(
        &self,
        opening: &[Message],
        tell: &mut dyn FnMut(u64, u64),
    ) -> Result<(), ModelError> {
        let (steps, mut heard) = mpsc::channel(64);
        let job = Job::Begin { opening: opening.to_vec(), steps };
        let ended = || self.error(Fault::Library("its thread has ended"));
        self.jobs.as_ref().ok_or_else(ended)?.send(job).await.map_err(|_| ended())?;
        while let Some(step) = heard.recv().await {
            match step {
                Step::Read { read, total } => tell(read, total),
                Step::Begun(result) => return result.map_err(|fault| self.error(fault)),
                Step::Ended(Err(fault)) => return Err(self.error(fault)),
                Step::Text(_) | Step::Ended(Ok(_)) => {}
            }
        }
        Err(ended())
    }

    /// Counts the tokens of a text, as soon as the model is loaded.
    pub(crate) fn counter(&self) -> Counter {
        let loaded = Arc::clone(&self.loaded);
        Counter::new(move |text| Some(llama::count(loaded.get()?, text) as u64))
    }

    /// The most tokens that it takes.
    pub(crate) fn context(&self) -> u32 {
        self.context
    }

    pub(crate) async fn stream(
        &self,
        request: &Request,
        sink: &Sink<'_>,
    ) -> Result<Reply, ModelError> {
        if request.messages.iter().any(Message::has_images) {
            return Err(ModelError::Rejected {
                host: self.name(),
                status: None,
                said: Untrusted::new("it sees no pictures"),
            });
        }
        if self.loaded.get().is_none() {
            sink.report(Headway::Loading).await;
        }
        let (steps, mut heard) = mpsc::channel(64);
        let job = Job::Ask { request: request.clone(), steps };
        let ended = || self.error(Fault::Library("its thread has ended"));
        self.jobs.as_ref().ok_or_else(ended)?.send(job).await.map_err(|_| ended())?;
        while let Some(step) = heard.recv().await {
            match step {
                Step::Text(text) => sink.show([ReplyPiece::Text(text)]).await,
                Step::Read { read, total } => sink.report(Headway::Reading { read, total }).await,
                Step::Ended(Ok(answer)) => {
                    sink.tell(speed(&answer)).await;
                    return Ok(reply(answer));
                }
                Step::Ended(Err(fault)) => return Err(self.error(fault)),
                Step::Begun(_) => {}
            }
        }
        Err(ended())
    }

    fn name(&self) -> String {
        format!("embedded/{}", self.model)
    }

    fn error(&self, fault: Fault) -> ModelError {
        let model = self.model.clone();
        match fault {
            Fault::Weights(problem) => {
                ModelError::BadWeights { model, path: self.file.clone(), problem }
            }
            Fault::Memory { needed, available } => {
                ModelError::Memory { model, needed: needed >> 20, available: available >> 20 }
            }
            Fault::TooLong { tokens, most } => ModelError::ContextTooLong {
                host: self.name(),
                model: self.name(),
                said: Untrusted::new(format!("it has {tokens} tokens, and {most} are the most")),
            },
            Fault::Library(problem) => ModelError::Engine { model, problem },
            Fault::Gone => ModelError::Engine { model, problem: "nobody waited for it" },
        }
    }
}

impl Drop for Engine {
    /// Waits for the thread: the library must not compute while the program ends around it.
    fn drop(&mut self) {
        self.wanted.store(false, Ordering::Relaxed);
        self.jobs.take();
        if let Some(thread) = self.thread.take() {
            // If it panicked, that has been told.
            thread.join().unwrap_or_default();
        }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("model", &self.model).finish_non_exhaustive()
    }
}

/// Waits for the first job, loads the model, and answers until nobody can ask any more.
fn work(
    weights: &Weights,
    loaded: &OnceLock<Arc<LlamaModel>>,
    wanted: &Arc<AtomicBool>,
    mut asked: Receiver<Job>,
) {
    let Some(first) = asked.blocking_recv() else { return };
    let model = match llama::load(weights, Arc::clone(wanted)) {
        Ok(model) => Arc::new(model),
        Err(fault) => return refuse(first, asked, fault),
    };
    let model = loaded.get_or_init(|| model);
    let mut runner = match Runner::new(model, weights) {
        Ok(runner) => runner,
        Err(fault) => return refuse(first, asked, fault),
    };
    let mut next = Some(first);
    while let Some(job) = next {
        let is_wanted = || wanted.load(Ordering::Relaxed);
        match job {
            Job::Ask { request, steps } => answer(&mut runner, &request, &steps),
            // Whoever asks a question meanwhile has the rest read with it, and sees how far that is.
            Job::Load { opening } => {
                let mut go_on = |_, _| is_wanted() && asked.is_empty();
                // If it fails, it fails again with the first request, which reports it.
                runner.begin(&opening, &mut go_on).unwrap_or_default();
            }
            Job::Begin { opening, steps } => {
                let mut go_on = |read: usize, total: usize| {
                    let step = Step::Read { read: read as u64, total: total as u64 };
                    is_wanted() && steps.blocking_send(step).is_ok()
                };
                let begun = runner.begin(&opening, &mut go_on);
                // Whoever has gone needs no answer.
                steps.blocking_send(Step::Begun(begun)).unwrap_or_default();
            }
        }
        next = asked.blocking_recv();
    }
}

fn answer(runner: &mut Runner<'_>, request: &Request, steps: &Sender<Step>) {
    let mut hear = |part: Part<'_>| {
        let step = match part {
            Part::Text("") => return !steps.is_closed(),
            Part::Text(text) => Step::Text(text.to_owned()),
            Part::Read { read, total } => Step::Read { read: read as u64, total: total as u64 },
        };
        steps.blocking_send(step).is_ok()
    };
    let ended = runner.answer(request, &mut hear);
    // Whoever has gone needs no answer.
    steps.blocking_send(Step::Ended(ended)).unwrap_or_default();
}

/// Answers everybody with the same fault.
fn refuse(first: Job, mut asked: Receiver<Job>, fault: Fault) {
    let mut next = Some(first);
    while let Some(job) = next {
        if let Job::Ask { steps, .. } | Job::Begin { steps, .. } = job {
            steps.blocking_send(Step::Ended(Err(fault))).unwrap_or_default();
        }
        next = asked.blocking_recv();
    }
}

fn reply(answer: Answer) -> Reply {
    Reply {
        text: answer.text.into(),
        reasoning: String::new().into(),
        calls: Vec::new(),
        finish: answer.finish,
        usage: Some(Usage {
            input: answer.prompt as u64,
            output: u64::from(answer.written),
            cached: answer.known as u64,
            ..Usage::default()
        }),
    }
}

/// A note about the speed, for the person.
fn speed(answer: &Answer) -> String {
    let Answer { written, prompt, known, .. } = answer;
    // The first one was there when the prompt was read.
    let writing = each(u64::from(written.saturating_sub(1)), answer.writing);
    let read = prompt - known;
    let reading = each(read as u64, answer.reading);
    format!("{writing} tokens/s ({written} written; {read} of {prompt} read at {reading}/s)")
}

/// How many there were in a second.
#[expect(clippy::cast_precision_loss, reason = "nobody writes so many tokens")]
fn each(tokens: u64, taken: Duration) -> String {
    format!("{:.1}", tokens as f64 / taken.as_secs_f64().max(1e-9))
}
