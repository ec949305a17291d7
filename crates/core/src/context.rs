//! Shortens a conversation that exceeds the model's context.
//!
//! First, content that the model can read again is shortened: outputs, oldest first, with the size
//! of the gap and how to read it; and old images to a line. Only then does the model summarise the
//! oldest part, in a separate call. Nothing is dropped without a sentence that says so.
//!
//! How long a conversation is, is the provider's own figure for the last request, and an estimate
//! for what came since; the figure also teaches the estimate. Pure: counts come in as values.

pub use self::window::{ContextWindow, Counter};

use crate::{Message, Untrusted};
use std::ops::Range;

mod window;

/// Characters that are left at each end of an old output.
const OLD: usize = 600;

/// The fewest characters that are left at each end of the newest output.
const FEWEST: usize = 200;

/// Pictures of a conversation, beside the newest ones.
const PICTURES: usize = 16;

/// Bytes of them, as they are sent.
const PICTURE_BYTES: usize = 12 << 20;

/// Tokens that a summary is reckoned at.
const SUMMARY: u64 = 700;

/// The next step before a conversation can be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Nothing; or nothing more can be done.
    Send {
        /// How many messages were shortened.
        shortened: usize,
    },
    /// The oldest part has to be summed up.
    Summarise {
        /// How many messages were shortened.
        shortened: usize,
        /// Where the part ends that has to go. It begins after the opening.
        until: usize,
    },
}

impl Fit {
    /// The same, when so many messages had been shortened before.
    #[must_use]
    pub fn after(self, before: usize) -> Self {
        match self {
            Self::Send { shortened } => Self::Send { shortened: shortened + before },
            Self::Summarise { shortened, until } => {
                Self::Summarise { shortened: shortened + before, until }
            }
        }
    }
}

/// Makes a conversation fit. The first `opening` messages stay as they are.
pub fn fit(messages: &mut [Message], opening: usize, window: &mut ContextWindow) -> Fit {
    let newest = newest(messages).max(opening);
    let mut shortened = 0;
    let Some(room) = window.room() else { return Fit::Send { shortened } };
    if window.tokens(messages) <= room {
        return Fit::Send { shortened };
    }
    // More than is needed, so that not every call changes what the provider has in its cache.
    let target = room / 4 * 3;
    window.forget();
    let mut total = window.tokens(messages);
    let mut shorten = |message: &mut Message, keep: usize, total: &mut u64| {
        let before = window.weight(message);
        if shorten(message, keep) {
            shortened += 1;
            *total = (*total + window.weight(message)).saturating_sub(before);
        }
    };
    for message in &mut messages[opening..newest] {
        if total > target {
            shorten(message, OLD, &mut total);
        }
    }
    let new: u64 = messages[newest..].iter().map(|message| window.weight(message)).sum();
    if total > room && new > room / 2 {
        for message in &mut messages[newest..] {
            // Each keeps its share of half of the room.
            let length = content(message).chars().count() as u64;
            let keep = usize::try_from(length * (room / 2) / new / 2).unwrap_or(FEWEST);
            shorten(message, keep.max(FEWEST), &mut total);
        }
    }
    match until(messages, opening, window, target) {
        Some(until) if total > room => Fit::Summarise { shortened, until },
        Some(_) | None => Fit::Send { shortened },
    }
}

/// Puts words in the place of the oldest pictures, if there are more than providers take. Half of
/// what they take stays, so that not every picture changes what they have in their cache. In how many
/// messages; the first `opening` ones stay as they are.
pub fn hide_pictures(
    messages: &mut [Message],
    opening: usize,
    window: &mut ContextWindow,
) -> usize {
    let newest = newest(messages).max(opening);
    let hidden = hide_oldest(&mut messages[opening..newest]);
    if hidden > 0 {
        window.forget();
    }
    hidden
}

fn hide_oldest(old: &mut [Message]) -> usize {
    let (mut count, mut bytes) = (0, 0);
    for image in old.iter().flat_map(Message::images) {
        count += 1;
        bytes += image.data().len();
    }
    if count <= PICTURES && bytes <= PICTURE_BYTES {
        return 0;
    }
    let mut hidden = 0;
    for message in old {
        if count <= PICTURES / 2 && bytes <= PICTURE_BYTES / 2 {
            break;
        }
        count -= message.images().len();
        bytes -= message.images().iter().map(|image| image.data().len()).sum::<usize>();
        hidden += usize::from(message.hide());
    }
    hidden
}

/// Where the messages begin that the model has not answered yet.
fn newest(messages: &[Message]) -> usize {
    let spoke = |message: &Message| matches!(message, Message::Assistant { .. });
    messages.iter().rposition(spoke).map_or(0, |at| at + 1)
}

/// The words of a result, which are what can be shortened.
fn content(message: &Message) -> &str {
    match message {
        Message::Result { text, .. } => text.raw(),
        Message::System { .. }
        | Message::Earlier { .. }
        | Message::User { .. }
        | Message::Assistant { .. } => "",
    }
}

/// Tells less in a message. Whether it could.
fn shorten(message: &mut Message, keep: usize) -> bool {
    let mut done = message.hide();
    if let Message::Result { text, printed: Some(printed), .. } = message
        && let Some((short, left)) = printed.shorten(text.raw(), keep)
    {
        *text = Untrusted::new(short);
        *printed = left;
        done = true;
    }
    done
}

/// Where the part ends that is summed up, so that the rest is no more than `target`: before
/// something that the person said, or else the model.
fn until(
    messages: &[Message],
    opening: usize,
    window: &ContextWindow,
    target: u64,
) -> Option<usize> {
    let mut sums = vec![0];
    for message in messages {
        sums.push(sums[sums.len() - 1] + window.weight(message));
    }
    let of = |part: Range<usize>| sums[part.end] - sums[part.start];
    let asked = messages.iter().rposition(is_asked);
    // The last question stays.
    let kept = |place: usize| match asked {
        Some(at) if (opening..place).contains(&at) => of(at..at + 1),
        Some(_) | None => 0,
    };
    let base = of(0..opening) + SUMMARY;
    let fits = |place: &usize| base + kept(*place) + of(*place..messages.len()) <= target;
    let places = || opening + 1..messages.len();
    let said = |place: &usize| matches!(messages[*place], Message::Assistant { .. });
    let place = places().filter(|place| is_asked(&messages[*place])).find(fits);
    let place = place.or_else(|| places().filter(said).find(fits));
    let place = place.or_else(|| places().rfind(|at| said(at) || is_asked(&messages[*at])))?;
    // A part hardly longer than its summary is not worth summarising.
    (of(opening..place).saturating_sub(kept(place)) > 2 * SUMMARY).then_some(place)
}

fn is_asked(message: &Message) -> bool {
    matches!(message, Message::User { .. })
}

/// The request to summarise everything between the opening and `until`.
pub fn request(messages: &[Message], opening: usize, until: usize) -> Vec<Message> {
    let ours = |message: &&Message| matches!(message, Message::System { .. });
    let mut request: Vec<_> = messages[..opening].iter().filter(ours).cloned().collect();
    request.extend_from_slice(&messages[opening..until]);
    request.push(Message::user(
        "The conversation so far has become too long and will be replaced by your summary of it. \
         Write that summary now, in at most 300 words and without code: what the user wants, what \
         was done, what was found (names, paths, numbers), what is still to do.",
    ));
    request
}

/// Replaces everything between the opening and `until` with `text`. The last question stays, word
/// for word.
pub fn replace(messages: &mut Vec<Message>, opening: usize, until: usize, text: Untrusted) {
    let last = messages.iter().rposition(is_asked).filter(|at| (opening..until).contains(at));
    let kept = last.map(|at| messages[at].clone());
    messages.splice(opening..until, [Message::Earlier { text }].into_iter().chain(kept));
}

/// The text in place of messages that could not be summarised.
pub fn left_out(count: usize) -> Untrusted {
    Untrusted::new(format!(
        "[{count} older messages were left out here: the conversation was too long, and they \
         could not be summarised]"
    ))
}

#[cfg(test)]
mod tests;
