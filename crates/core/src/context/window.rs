//! How much a conversation weighs, in tokens.

use crate::Message;
use std::{fmt, sync::Arc};

/// Bytes of a token, in tenths, where nothing is known: a little less than English has, and a
/// little more than code.
const BYTES: u64 = 35;

/// Tokens that a message takes beside its words.
const FRAME: u64 = 4;

/// Tokens of the words that stand for a picture where it is not seen.
const IN_WORDS: u64 = 12;

/// Default factor for estimates, in thousandths, until a provider reports a count.
const UNKNOWN: u64 = 1_000;

/// Counts the tokens of a text as the model does, where that can be known.
#[derive(Clone, Default)]
pub struct Counter(Option<Arc<Count>>);

type Count = dyn Fn(&str) -> Option<u64> + Send + Sync;

impl Counter {
    /// A counter that knows, or will know: it may say nothing at first.
    pub fn new(count: impl Fn(&str) -> Option<u64> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(count)))
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Counter(exact)" } else { "Counter(estimate)" })
    }
}

/// The model's context size, and how much of it is used.
#[derive(Clone, Debug)]
pub struct ContextWindow {
    /// The context size in tokens, including the reply, if known.
    window: Option<u64>,
    /// Those of them that are left to the reply.
    reply: u64,
    counter: Counter,
    /// Whether pictures are sent as such.
    sees_images: bool,
    /// Factor for estimates, in thousandths.
    ratio: u64,
    /// The provider's own figure for the first so many messages.
    known: Option<(usize, u64)>,
}

impl ContextWindow {
    /// For a model that takes `window` tokens in all, of which a reply may have `reply`, and sees
    /// pictures.
    pub fn new(window: Option<u64>, reply: Option<u64>, counter: Counter) -> Self {
        // A reply that is not bounded leaves a quarter of a small window, and of a large one what
        // replies usually have.
        let usual = window.map_or(0, |window| (window / 4).min(4_096));
        let reply = reply.unwrap_or(usual).min(window.unwrap_or(u64::MAX) / 2);
        Self { window, reply, counter, sees_images: true, ratio: UNKNOWN, known: None }
    }

    /// The same, for a model that may not see them.
    #[must_use]
    pub fn seeing(self, sees_images: bool) -> Self {
        Self { sees_images, ..self }
    }

    /// The most tokens that may be sent, if known. Leaves a margin for errors of the estimate.
    pub fn room(&self) -> Option<u64> {
        self.window.map(|window| (window - self.reply).saturating_sub(window / 32))
    }

    /// The tokens of a conversation.
    pub fn tokens(&self, messages: &[Message]) -> u64 {
        let (count, tokens) =
            self.known.filter(|(count, _)| *count <= messages.len()).unwrap_or((0, 0));
        tokens + messages[count..].iter().map(|message| self.weight(message)).sum::<u64>()
    }

    /// The tokens of one message.
    pub fn weight(&self, message: &Message) -> u64 {
        let picture = |image| if self.sees_images { crate::Image::tokens(image) } else { IN_WORDS };
        let pictures: u64 = message.images().iter().map(picture).sum();
        let words = match message {
            Message::System { text } | Message::User { text, .. } => self.text(text),
            Message::Earlier { text } | Message::Result { text, .. } => self.text(text.raw()),
            Message::Assistant { text, calls } => {
                let calls = calls.iter().map(|call| self.text(call.arguments.raw()) + FRAME);
                self.text(text.raw()) + calls.sum::<u64>()
            }
        };
        FRAME + words + pictures
    }

    fn text(&self, text: &str) -> u64 {
        let counted = self.counter.0.as_ref().and_then(|count| count(text));
        counted.unwrap_or_else(|| (text.len() as u64 * 10 * self.ratio).div_ceil(BYTES * UNKNOWN))
    }

    /// Takes in what the provider says of a conversation that it was sent.
    pub fn heard(&mut self, messages: &[Message], tokens: u64) {
        self.forget();
        self.ratio = UNKNOWN;
        let estimate = self.tokens(messages).max(1);
        // Some servers report zero, or count only tokens outside their cache.
        if tokens < estimate / 3 {
            return;
        }
        // One that counts wildly must not make us send next to nothing.
        self.ratio = (UNKNOWN * tokens / estimate).min(UNKNOWN * 4);
        self.known = Some((messages.len(), tokens));
    }

    /// Discards the count: the conversation was changed.
    pub fn forget(&mut self) {
        self.known = None;
    }

    /// The provider says that a conversation is too long: from now on less is sent.
    pub fn too_long(&mut self, messages: &[Message]) {
        self.forget();
        self.ratio = self.ratio.max(UNKNOWN);
        let less = self.tokens(messages) / 10 * 7;
        let room = self.room().unwrap_or(u64::MAX).min(less);
        self.window = Some((room + self.reply) / 31 * 32 + 1);
    }
}
