//! The only place that calls into llama.cpp.
//!
//! An assertion that fails in there ends the program, so what goes in is kept within its bounds here: no batch is empty or larger
//! than was agreed, no token is past the end of the context, and state is handed over only as it was once taken out.

use super::{
    ending::{End, Watch},
    memory,
    prompt::{self, Stretch},
    saved::{self, Saved, State, shared},
    text::Characters,
    threads,
};
use crate::{Request, Tools, Weights, gguf};
use interpreter_core::{Finish, Message};
use llama_cpp_2::{
    context::{LlamaContext, params::LlamaContextParams},
    llama_backend::LlamaBackend,
    llama_batch::LlamaBatch,
    model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel, params::LlamaModelParams},
    sampling::LlamaSampler,
    token::LlamaToken,
};
use std::{
    hash::{BuildHasher, RandomState},
    io::{Read, Seek, Write},
    num::{NonZeroU32, NonZeroUsize},
    os::fd::AsRawFd,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// How many tokens are read at once. More would be little faster, and nobody could interrupt it.
const CHUNK: u32 = 64;
/// No conversation is answered that leaves less room than this.
const LEAST_ROOM: usize = 16;
/// A shorter beginning is not worth a file.
const LEAST_SAVED: usize = 64;
/// Memory needed besides the weights.
const BESIDE_WEIGHTS: u64 = 256 << 20;

/// Why there is no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The file cannot be used.
    Weights(&'static str),
    /// There is too little memory, in bytes.
    Memory {
        needed: u64,
        available: u64,
    },
    /// The conversation has more tokens than fit.
    TooLong {
        tokens: usize,
        most: usize,
    },
    Library(&'static str),
    /// Nobody waits for it any more.
    Gone,
}

/// Something that happens while an answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// More of the reply; perhaps nothing, to ask whether anybody listens.
    Text(&'a str),
    /// So many of the tokens that had to be read are read.
    Read { read: usize, total: usize },
}

/// A reply and what it took.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) finish: Finish,
    /// Tokens of the prompt.
    pub(super) prompt: usize,
    /// How many of them had been read before.
    pub(super) known: usize,
    /// How long it took to read the others.
    pub(super) reading: Duration,
    /// Tokens of the reply.
    pub(super) written: u32,
    /// How long it took to write them.
    pub(super) writing: Duration,
}

/// The library, started once and silent.
fn library() -> &'static LlamaBackend {
    static LIBRARY: OnceLock<LlamaBackend> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut library = LlamaBackend::init().expect("nobody else starts it");
        library.void_logs();
        library
    })
}

/// Loads a model. Ends early when `wanted` becomes false.
pub(super) fn load(weights: &Weights, wanted: Arc<AtomicBool>) -> Result<LlamaModel, Fault> {
    let file = gguf::open(&weights.file).map_err(|fault| Fault::Weights(fault.problem()))?;
    let length = file.metadata().map_err(|_| Fault::Weights("cannot be read"))?.len();
    let needed = length + BESIDE_WEIGHTS;
    if let Some(available) = memory::available().filter(|available| *available < needed) {
        return Err(Fault::Memory { needed, available });
    }
    let parameters =
        LlamaModelParams::default().with_progress_callback(move |_| wanted.load(Ordering::Relaxed));
    // The file that was checked, whatever has its name now.
    LlamaModel::load_from_file(library(), path_of(&file), &parameters)
        .map_err(|_| Fault::Weights("is damaged, or of a kind that is not known here"))
}

/// How many tokens a text has.
pub(super) fn count(model: &LlamaModel, text: &str) -> usize {
    model.vocab().tokenize(text.as_bytes(), false, false).len()
}

/// A model with the state of a conversation.
pub(super) struct Runner<'a> {
    model: &'a LlamaModel,
    context: LlamaContext<'a>,
    batch: LlamaBatch<'static>,
    template: LlamaChatTemplate,
    /// The tokens that the context has read.
    read: Vec<i32>,
    saved: Saved,
    /// Whether the beginning may still have to be saved.
    unsaved: bool,
}

impl<'a> Runner<'a> {
    pub(super) fn new(model: &'a LlamaModel, weights: &Weights) -> Result<Self, Fault> {
        let template = model.chat_template(None);
        let template = template.map_err(|_| Fault::Weights("has no template for conversations"))?;
        let tokens = weights.context.min(model.n_ctx_train()).max(CHUNK);
        let computing = weights.threads.map_or_else(threads::best, NonZeroUsize::get);
        let computing = i32::try_from(computing.min(512)).unwrap_or(1);
        let parameters = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(tokens))
            .with_n_batch(CHUNK)
            .with_n_ubatch(CHUNK)
            .with_n_threads(computing)
            .with_n_threads_batch(computing)
            .with_no_perf(true);
        let context = model.new_context(library(), parameters);
        let context = context.map_err(|_| Fault::Library("there is no room for a conversation"))?;
        let identity = saved::identity(&weights.sha256, &[tokens, CHUNK]);
        Ok(Self {
            model,
            context,
            batch: LlamaBatch::new(CHUNK as usize, 1),
            template,
            read: Vec::new(),
            saved: Saved::new(weights.saved.clone(), identity),
            unsaved: true,
        })
    }

    /// Reads the beginning that all conversations share, unless it is saved, and saves it. `go_on`
    /// takes how many tokens of how many have been read, and says whether to.
    pub(super) fn begin(
        &mut self,
        opening: &[Message],
        go_on: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<(), Fault> {
        let mut messages = opening.to_vec();
        // Whatever the person says comes after the beginning, and is no part of it.
        messages.push(Message::user("x"));
        let (messages, tools) = (messages.into(), Tools::None);
        let request = Request { messages, tools, max_tokens: None, temperature: None };
        let mut prompt = self.prompt(&request)?;
        prompt.tokens.truncate(prompt.beginning);
        let (total, most) = (prompt.tokens.len(), self.context.n_ctx() as usize);
        if total < LEAST_SAVED || total + LEAST_ROOM > most {
            return Ok(());
        }
        let known = self.resume(&prompt.tokens);
        let is_saved = known + 1 == total;
        self.read(&prompt.tokens[known..], &mut |read| go_on(read, total))?;
        if std::mem::take(&mut self.unsaved) && !is_saved {
            self.save();
        }
        go_on(total, total);
        Ok(())
    }

    /// Answers a request. `hear` takes each part of the reply, and says whether anybody still listens.
    pub(super) fn answer(
        &mut self,
        request: &Request,
        hear: &mut dyn FnMut(Part<'_>) -> bool,
    ) -> Result<Answer, Fault> {
        let prompt = self.prompt(request)?;
        let most = self.context.n_ctx() as usize;
        if prompt.tokens.len() + LEAST_ROOM > most {
            return Err(Fault::TooLong { tokens: prompt.tokens.len(), most });
        }
        let known = self.resume(&prompt.tokens);
        let began = Instant::now();
        let total = prompt.tokens.len() - known;
        let mut reading = |read: usize| hear(Part::Read { read: read - known, total });
        if std::mem::take(&mut self.unsaved) && prompt.beginning > known.max(LEAST_SAVED) {
            self.read(&prompt.tokens[known..prompt.beginning], &mut reading)?;
            self.save();
        }
        self.read(&prompt.tokens[self.read.len()..], &mut reading)?;
        let room = u32::try_from(most - prompt.tokens.len()).unwrap_or(u32::MAX);
        let limit = request.max_tokens.unwrap_or(room).clamp(1, room);
        let reading = began.elapsed();
        let hear = &mut |text: &str| hear(Part::Text(text));
        let mut written = Written::default();
        let finish = self.write(request.temperature, limit, &mut written, hear)?;
        Ok(Answer {
            text: written.text,
            finish,
            prompt: prompt.tokens.len(),
            known,
            reading,
            written: written.tokens,
            writing: began.elapsed().saturating_sub(reading),
        })
    }

    /// The tokens of a request.
    fn prompt(&self, request: &Request) -> Result<Prompt, Fault> {
        const UNFIT: Fault =
            Fault::Weights("has a template for conversations that is not known here");
        let said = prompt::said(request);
        let holes = said.iter().enumerate().map(|(place, said)| {
            LlamaChatMessage::new(said.role.into(), prompt::placeholder(place))
        });
        let holes: Vec<_> = holes.collect::<Result<_, _>>().map_err(|_| UNFIT)?;
        let template = self.model.apply_chat_template(&self.template, &holes, true);
        let template = template.map_err(|_| UNFIT)?;
        let stretches = prompt::stretches(&template, &said).ok_or(UNFIT)?;
        let vocabulary = self.model.vocab();
        let mut tokens = Vec::new();
        if vocabulary.should_add_bos() {
            tokens.push(vocabulary.bos().0);
        }
        let mut beginning = 0;
        let newest = prompt::before_the_newest(&said);
        for (place, stretch) in stretches.iter().enumerate() {
            if place == newest {
                beginning = tokens.len();
            }
            let (text, marks) = match stretch {
                Stretch::Marks(text) => (text, true),
                Stretch::Words(text) => (text, false),
            };
            let more = vocabulary.tokenize(text.as_bytes(), false, marks);
            tokens.extend(more.into_iter().map(|token| token.0));
        }
        if tokens.is_empty() { Err(UNFIT) } else { Ok(Prompt { tokens, beginning }) }
    }

    /// Goes back to where the context and these tokens part, or to where a saved state does. Returns how many tokens
    /// need not be read; at least one needs to, for there is no next word without it.
    fn resume(&mut self, tokens: &[i32]) -> usize {
        if self.read.is_empty()
            && let Some(state) = self.saved.find(tokens, LEAST_SAVED)
            && self.restore(&state).is_none()
        {
            self.forget();
        }
        let known = shared(&self.read, tokens).min(tokens.len() - 1);
        let back = u32::try_from(known).ok();
        if known < self.read.len() && self.context.kv_cache_seq_rm(0, back, None).is_err() {
            // Some models cannot go back.
            self.forget();
            return 0;
        }
        self.read.truncate(known);
        known
    }

    /// Reads tokens, some at a time. `go_on` takes how many have been read in all, and says whether
    /// anybody still listens.
    fn read(&mut self, tokens: &[i32], go_on: &mut dyn FnMut(usize) -> bool) -> Result<(), Fault> {
        for (place, chunk) in tokens.chunks(CHUNK as usize).enumerate() {
            if !go_on(self.read.len()) {
                return Err(Fault::Gone);
            }
            let last = (place + 1) * CHUNK as usize >= tokens.len();
            self.decode(chunk, last)?;
        }
        Ok(())
    }

    /// Reads at most as many tokens as fit at once; `ask` if the next is wanted.
    fn decode(&mut self, tokens: &[i32], ask: bool) -> Result<(), Fault> {
        const FAILED: Fault = Fault::Library("a token could not be computed");
        self.batch.clear();
        for (place, token) in tokens.iter().enumerate() {
            let position = i32::try_from(self.read.len() + place).map_err(|_| FAILED)?;
            let ask = ask && place + 1 == tokens.len();
            self.batch.add(LlamaToken(*token), position, &[0], ask).map_err(|_| FAILED)?;
        }
        if self.context.decode(&mut self.batch).is_err() {
            self.forget();
            return Err(FAILED);
        }
        self.read.extend_from_slice(tokens);
        Ok(())
    }

    fn write(
        &mut self,
        temperature: Option<f32>,
        limit: u32,
        written: &mut Written,
        hear: &mut dyn FnMut(&str) -> bool,
    ) -> Result<Finish, Fault> {
        let mut sampler = sampler(temperature);
        let vocabulary = self.model.vocab();
        loop {
            let token = sampler.sample(&self.context, -1);
            if vocabulary.is_eog(token) {
                return Ok(written.end(hear, Finish::Stop));
            }
            written.tokens += 1;
            let bytes = vocabulary.token_to_piece(token, false, None);
            if let Some(finish) = written.hear(&bytes, hear)? {
                return Ok(finish);
            }
            if written.tokens >= limit {
                return Ok(written.end(hear, Finish::Length));
            }
            self.decode(&[token.0], true)?;
        }
    }

    /// Keeps the state after what has been read, for the next start. Where that fails, it is read again then.
    fn save(&mut self) -> Option<()> {
        let tokens: Vec<_> = self.read.iter().copied().map(LlamaToken).collect();
        let mut memory = in_memory()?;
        self.context.state_seq_save_file(path_of(&memory), 0, &tokens).ok()?;
        let mut bytes = Vec::new();
        memory.rewind().ok()?;
        memory.read_to_end(&mut bytes).ok()?;
        self.saved.keep(&State { tokens: self.read.clone(), bytes }).ok()
    }

    /// Takes over a saved state.
    fn restore(&mut self, state: &State) -> Option<()> {
        let mut memory = in_memory()?;
        memory.write_all(&state.bytes).ok()?;
        let most = saved::MOST_TOKENS;
        let (tokens, _) = self.context.state_seq_load_file(path_of(&memory), 0, most).ok()?;
        let same = tokens.iter().map(|token| token.0).eq(state.tokens.iter().copied());
        let last = i32::try_from(tokens.len()).ok()? - 1;
        if !same || self.context.kv_cache_seq_pos_max(0) != last {
            return None;
        }
        self.read.clone_from(&state.tokens);
        Some(())
    }

    fn forget(&mut self) {
        self.context.clear_kv_cache();
        self.read.clear();
    }
}

/// A request in tokens.
struct Prompt {
    tokens: Vec<i32>,
    /// How many of them stand before the newest words.
    beginning: usize,
}

/// The reply written so far.
#[derive(Default)]
struct Written {
    text: String,
    tokens: u32,
    characters: Characters,
    watch: Watch,
}

impl Written {
    /// Takes the bytes of a token. If the reply ends with it, says how.
    fn hear(
        &mut self,
        bytes: &[u8],
        hear: &mut dyn FnMut(&str) -> bool,
    ) -> Result<Option<Finish>, Fault> {
        let part = self.characters.take(bytes);
        let end = self.watch.hear(&part);
        let part = end.map_or(&*part, |(length, _)| &part[..length]);
        self.text.push_str(part);
        // Also where it is empty: it asks whether anybody listens.
        if !hear(part) {
            return Err(Fault::Gone);
        }
        Ok(end.map(|(_, end)| match end {
            End::Block => Finish::Stop,
            End::Loop => Finish::Length,
        }))
    }

    /// The rest at the end.
    fn end(&mut self, hear: &mut dyn FnMut(&str) -> bool, finish: Finish) -> Finish {
        let rest = std::mem::take(&mut self.characters).end();
        self.text.push_str(&rest);
        hear(&rest);
        finish
    }
}

/// How the next token is chosen: the likeliest, unless more freedom is asked for.
fn sampler(temperature: Option<f32>) -> LlamaSampler {
    let Some(temperature) = temperature.filter(|value| value.is_finite() && *value > 0.0) else {
        return LlamaSampler::greedy();
    };
    let chance = RandomState::new().hash_one(0_u8);
    let seed = u32::try_from(chance >> 32).unwrap_or(0);
    let steps = [
        LlamaSampler::top_k(40),
        LlamaSampler::top_p(0.95, 1),
        LlamaSampler::temp(temperature.min(5.0)),
        LlamaSampler::dist(seed),
    ];
    LlamaSampler::chain_simple(steps)
}

/// A file that is nowhere but in memory: the library reads and writes only files.
fn in_memory() -> Option<std::fs::File> {
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    rustix::fs::memfd_create("prefix", flags).ok().map(Into::into)
}

fn path_of(file: &std::fs::File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}
