//! Prompts, and what else the verb `prompt` does with the conversation.

use super::{
    SessionHub,
    held::HeldSession,
    opening::refusal,
    outcome::begun,
    performing::{malformed, nothing},
    reading::{elsewhere, failed},
};
use crate::{
    caller::Caller,
    protocol::{ErrorCode, MOST_TEXT, ModelName, PictureSent, ProtocolError, TextFileSent},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use interpreter_agent::{Mode, attached_image, attached_text};
use interpreter_core::session::{Attachment, Event};
use interpreter_store::PackedOutput;
use serde_json::Value;

/// Pictures, and text files, that go with one prompt.
const MOST_PICTURES: usize = 8;
const MOST_FILES: usize = 8;

/// The wish of a request.
pub(super) enum PromptWish {
    Ask {
        text: String,
        images: Vec<PictureSent>,
        files: Vec<TextFileSent>,
    },
    /// Another answer to the last prompt.
    Again,
    /// The last prompt is taken back.
    Forget,
    /// Another model, by a name on the list.
    Switch(ModelName),
}

impl PromptWish {
    /// The one wish of these fields.
    pub(super) fn of(
        text: Option<String>,
        images: Vec<PictureSent>,
        files: Vec<TextFileSent>,
        model: Option<ModelName>,
        again: bool,
    ) -> Self {
        match (text, model) {
            (Some(text), _) => Self::Ask { text, images, files },
            (None, Some(name)) => Self::Switch(name),
            (None, None) if again => Self::Again,
            (None, None) => Self::Forget,
        }
    }
}

impl SessionHub {
    pub(super) async fn prompt(
        &self,
        held: &HeldSession,
        wish: PromptWish,
        caller: &Caller,
    ) -> Result<Value, ProtocolError> {
        if held.mode == Mode::Run {
            let text = "this session runs code and talks to no model";
            return Err(
                ProtocolError::new(ErrorCode::NoModel, text).hint("open one of mode `chat`")
            );
        }
        let (event, beside) = match wish {
            PromptWish::Ask { text, images, files } => asked(text, images, files).await?,
            PromptWish::Again => (vec![Event::Retried], Vec::new()),
            PromptWish::Forget => (vec![Event::Forgotten], Vec::new()),
            PromptWish::Switch(name) => {
                let offered = held.context.offered(name.to_look_up()).await;
                let offered = offered.map_err(|error| refusal(&error))?;
                (vec![Event::ModelWanted(offered.word().to_owned())], Vec::new())
            }
        };
        let events = self.spoken_by(caller, event);
        let begins = held.session.begin_with(events, beside, Some(caller.name.clone()));
        begun(held, begins.await).await?;
        Ok(nothing())
    }
}

/// A prompt with everything that goes with it, and the pictures that are kept if it is taken.
async fn asked(
    text: String,
    images: Vec<PictureSent>,
    files: Vec<TextFileSent>,
) -> Result<(Vec<Event>, Vec<PackedOutput>), ProtocolError> {
    if text.trim().is_empty() {
        return Err(malformed("prompt: `text` is empty"));
    }
    // Longer ones go along as files.
    if text.len() > MOST_TEXT {
        let error = malformed("prompt: `text` is longer than 1 MiB");
        return Err(error.hint("put it into a file of the work folder, with `put`, and name that"));
    }
    for (count, most, name) in
        [(images.len(), MOST_PICTURES, "pictures"), (files.len(), MOST_FILES, "text files")]
    {
        if count > most {
            let text = format!("{most} {name} go with one prompt");
            return Err(ProtocolError::new(ErrorCode::TooMany, text));
        }
    }
    if files.iter().any(|file| file.text.contains('\0')) {
        return Err(malformed("prompt: a file of `files` is not text"));
    }
    let pictures = if images.is_empty() { Vec::new() } else { read_pictures(images).await? };
    let (attached, beside): (Vec<_>, Vec<_>) = pictures.into_iter().unzip();
    let mut events: Vec<_> = attached.into_iter().map(Event::Attached).collect();
    events.extend(
        files.into_iter().map(|file| Event::FileAttached(attached_text(&file.name, file.text).0)),
    );
    events.push(Event::Asked(text));
    Ok((events, beside))
}

/// The pictures of a prompt. They stay in memory until it is taken.
async fn read_pictures(
    images: Vec<PictureSent>,
) -> Result<Vec<(Attachment, PackedOutput)>, ProtocolError> {
    elsewhere(move || {
        let attached = images.iter().map(|image| {
            let bytes = STANDARD.decode(&image.data);
            let bytes = bytes.map_err(|_| malformed("prompt: `data` is not base64"))?;
            let refused = |error| ProtocolError { code: ErrorCode::Refused, ..failed(&error) };
            attached_image(&image.name, &bytes).map_err(refused)
        });
        attached.collect()
    })
    .await
}
