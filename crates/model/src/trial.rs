//! Tries a model out: does it answer, as a stream, with tool calls, and does it see?
//!
//! Three small requests, each by itself, so that one that fails says nothing of the others.

use crate::{Model, ModelError, ReplyPiece, Request, Tools};
use interpreter_core::{Image, Message, Reply, Usage, message::EXECUTE};
use std::{sync::Arc, time::Duration};
use tokio::{sync::mpsc, time::Instant};

/// Enough for a word, also for models that think before they speak.
const MAX_TOKENS: u32 = 1024;

/// A red square, as PNG.
pub(crate) const RED: &str = "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkAAAjAsP7/tF7hIASyp6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC";

/// The results.
#[derive(Debug)]
pub struct Trial {
    /// Whether it answers at all, and how.
    pub answer: Result<Answered, ModelError>,
    /// Whether it calls the offered tool, or `None` if it was not tested.
    pub tools: Option<Result<bool, ModelError>>,
    /// Whether it sees an image, or `None` if it was not tested.
    pub images: Option<Result<bool, ModelError>>,
}

/// An answer to a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// From the request to the first piece of the reply.
    pub first: Duration,
    /// From the request to its end.
    pub whole: Duration,
    /// How many pieces it came in; one is no stream.
    pub pieces: usize,
    /// Its cost, as far as the provider reports it.
    pub usage: Option<Usage>,
}

impl Model {
    /// Tries it out. Further requests are made only if the first is answered.
    pub async fn try_out(&self) -> Trial {
        let answer = self.answers().await;
        if answer.is_err() {
            return Trial { answer, tools: None, images: None };
        }
        Trial { answer, tools: Some(self.calls_tools().await), images: Some(self.sees().await) }
    }

    async fn answers(&self) -> Result<Answered, ModelError> {
        let start = Instant::now();
        let (sink, mut pieces) = mpsc::channel(64);
        let request = request("Reply with the three words: one two three.", Tools::None);
        let read = async {
            let (mut first, mut count) = (None, 0);
            while let Some(piece) = pieces.recv().await {
                let is_ours = matches!(
                    piece,
                    ReplyPiece::Note(_) | ReplyPiece::Headway(_) | ReplyPiece::Price(_)
                );
                if !is_ours {
                    first.get_or_insert_with(|| start.elapsed());
                    count += 1;
                }
            }
            (first, count)
        };
        let ask = async {
            let reply = self.stream(&request, &sink).await;
            drop(sink);
            reply
        };
        let (reply, (first, pieces)) = tokio::join!(ask, read);
        let usage = reply?.usage;
        let whole = start.elapsed();
        Ok(Answered { first: first.unwrap_or(whole), whole, pieces, usage })
    }

    async fn calls_tools(&self) -> Result<bool, ModelError> {
        let words = "Call the tool `execute` with the language python and the code print(1).";
        let reply = self.reply(&request(words, Tools::Offer)).await?;
        Ok(reply.calls.iter().any(|call| call.name == EXECUTE))
    }

    async fn sees(&self) -> Result<bool, ModelError> {
        let mut request = request("Which colour is this square? Reply with one word.", Tools::None);
        if let Some(Message::User { images, .. }) = Arc::make_mut(&mut request.messages).last_mut()
        {
            images.extend(Image::decode(RED));
        }
        let reply = self.reply(&request).await?;
        Ok(reply.text.raw().to_ascii_lowercase().contains("red"))
    }

    /// The whole reply; nobody watches it come.
    async fn reply(&self, request: &Request) -> Result<Reply, ModelError> {
        let (sink, pieces) = mpsc::channel(1);
        drop(pieces);
        self.stream(request, &sink).await
    }
}

fn request(words: &str, tools: Tools) -> Request {
    Request {
        messages: vec![Message::user(words)].into(),
        tools,
        max_tokens: Some(MAX_TOKENS),
        temperature: None,
    }
}
