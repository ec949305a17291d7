//! One model, however it is reached.

#[cfg(feature = "embedded")]
use crate::engine::Engine;
use crate::{
    Endpoint, ModelError, Price, ReplyPiece, Request, ScriptError, Tools, Weights, http::Remote,
    scripted::Script, sink::Sink,
};
use interpreter_core::{
    Message, Reply, Untrusted, Usage,
    context::Counter,
    instructions::{self, Strength},
};
use std::{path::Path, sync::Arc};
use tokio::sync::mpsc::Sender;

/// A model that can be asked.
#[derive(Debug)]
pub struct Model {
    name: String,
    kind: Kind,
    /// Asked in turn where this one cannot answer.
    fallbacks: Vec<Model>,
}

#[derive(Debug)]
enum Kind {
    Remote(Box<Remote>),
    #[cfg(feature = "embedded")]
    Embedded(Engine),
    Scripted(Script),
}

impl Model {
    /// A model behind an address.
    pub fn remote(endpoint: Endpoint) -> Result<Self, ModelError> {
        let name = format!("{}/{}", endpoint.provider, endpoint.model);
        Ok(Self {
            name,
            kind: Kind::Remote(Box::new(Remote::new(endpoint)?)),
            fallbacks: Vec::new(),
        })
    }

    /// A model that runs in this process. An error in its file is reported with the first request.
    #[cfg(feature = "embedded")]
    pub fn embedded(weights: Weights) -> Result<Self, ModelError> {
        let name = format!("embedded/{}", weights.name);
        let kind = Kind::Embedded(Engine::start(weights)?);
        Ok(Self { name, kind, fallbacks: Vec::new() })
    }

    /// A model that runs in this process: this program has no engine for one.
    #[cfg(not(feature = "embedded"))]
    pub fn embedded(weights: Weights) -> Result<Self, ModelError> {
        Err(ModelError::NoEngine { model: weights.name })
    }

    /// A model that plays the replies in a TOML file, one for each call. Whoever opens the file sees
    /// to it that it is one.
    pub fn scripted(path: &Path, file: std::io::Result<std::fs::File>) -> Result<Self, ModelError> {
        let name = Self::scripted_name(path);
        let named = |error: std::io::Error| {
            std::io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
        };
        let file = file.map_err(|error| ScriptError::Unreadable { source: named(error) })?;
        Ok(Self { name, kind: Kind::Scripted(Script::load(path, file)?), fallbacks: Vec::new() })
    }

    /// The name in the record of a model that plays this file.
    pub fn scripted_name(path: &Path) -> String {
        let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        format!("scripted:{}", Untrusted::new(file).for_terminal_line(80))
    }

    /// The same model, with others that are asked in turn where it cannot answer.
    #[must_use]
    pub fn with_fallbacks(self, fallbacks: Vec<Self>) -> Self {
        Self { fallbacks, ..self }
    }

    /// The name in the record, such as `openai/gpt-x` or `scripted:demo.toml`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether this model is to be offered tools: the endpoint's setting, or for a script whether
    /// there is a call in it.
    pub fn tools(&self) -> Tools {
        match &self.kind {
            Kind::Remote(remote) => remote.endpoint().tools,
            #[cfg(feature = "embedded")]
            Kind::Embedded(_) => Tools::None,
            Kind::Scripted(script) => script.tools(),
        }
    }

    /// How much it can be expected to understand.
    pub fn strength(&self) -> Strength {
        match &self.kind {
            Kind::Remote(remote) => remote.endpoint().strength,
            #[cfg(feature = "embedded")]
            Kind::Embedded(_) => Strength::Small,
            Kind::Scripted(script) if script.small => Strength::Small,
            Kind::Scripted(_) => Strength::Usual,
        }
    }

    /// Whether it sees pictures.
    pub fn sees_images(&self) -> bool {
        match &self.kind {
            Kind::Remote(remote) => remote.endpoint().images,
            #[cfg(feature = "embedded")]
            Kind::Embedded(_) => false,
            Kind::Scripted(script) => script.images,
        }
    }

    /// The context size, including the reply, if known.
    pub fn context(&self) -> Option<u64> {
        match &self.kind {
            Kind::Remote(remote) => remote.endpoint().context,
            #[cfg(feature = "embedded")]
            Kind::Embedded(engine) => Some(engine.context().into()),
            Kind::Scripted(script) => script.context,
        }
    }

    /// Counts tokens as the model does, or estimates them if only the provider can count.
    pub fn counter(&self) -> Counter {
        match &self.kind {
            #[cfg(feature = "embedded")]
            Kind::Embedded(engine) => engine.counter(),
            Kind::Remote(_) | Kind::Scripted(_) => Counter::default(),
        }
    }

    /// The models, of this one and those that are asked in its place, whose calls may cost something
    /// without anybody here knowing how much.
    pub fn of_unknown_price(&self) -> impl Iterator<Item = &str> {
        let all = std::iter::once(self).chain(&self.fallbacks);
        all.filter(|one| one.is_sold() && one.price().is_none()).map(Self::name)
    }

    /// Each key that goes out in the clear, of this model and those that are asked in its place, with
    /// the reason for that.
    pub fn in_the_clear(&self) -> impl Iterator<Item = String> {
        let all = std::iter::once(self).chain(&self.fallbacks);
        all.filter_map(|one| match &one.kind {
            Kind::Remote(remote) => remote.in_the_clear(),
            #[cfg(feature = "embedded")]
            Kind::Embedded(_) => None,
            Kind::Scripted(_) => None,
        })
    }

    /// Whether somebody may want money for its replies.
    fn is_sold(&self) -> bool {
        match &self.kind {
            Kind::Remote(remote) => !remote.is_local(),
            #[cfg(feature = "embedded")]
            Kind::Embedded(_) => false,
            Kind::Scripted(_) => false,
        }
    }

    /// The price of its tokens, if it is known.
    fn price(&self) -> Option<&Price> {
        match &self.kind {
            Kind::Remote(remote) => remote.endpoint().price.as_ref(),
            #[cfg(feature = "embedded")]
            Kind::Embedded(_) => None,
            Kind::Scripted(_) => None,
        }
    }

    /// Begins what takes long before a first reply, if anything does: the person may still be typing.
    /// `opening` is how the conversation will begin.
    #[cfg_attr(not(feature = "embedded"), expect(unused_variables, reason = "it is for engines"))]
    pub fn prepare(&self, opening: &[Message]) {
        match &self.kind {
            #[cfg(feature = "embedded")]
            Kind::Embedded(engine) => engine.prepare(opening),
            Kind::Remote(_) | Kind::Scripted(_) => {}
        }
    }

    /// Does once and for all what every first reply would have to wait for, if anything: reads how
    /// conversations begin, and keeps the state after it. `tell` hears how many tokens of how many
    /// are read.
    #[cfg_attr(
        not(feature = "embedded"),
        expect(unused_variables, clippy::unused_async, reason = "it is for engines")
    )]
    pub async fn begin(
        &self,
        opening: &[Message],
        tell: &mut dyn FnMut(u64, u64),
    ) -> Result<(), ModelError> {
        match &self.kind {
            #[cfg(feature = "embedded")]
            Kind::Embedded(engine) => engine.begin(opening, tell).await,
            Kind::Remote(_) | Kind::Scripted(_) => Ok(()),
        }
    }

    /// Asks the model and waits for the whole reply. Dropping the future cancels the call and
    /// closes the connection.
    ///
    /// Pieces go to `sink` as they come, so somebody must read it meanwhile; if its other end is
    /// dropped, the reply is awaited all the same. On an error, everything that came before it has
    /// been sent as pieces: they are the only copy of a reply that broke off. Another model is
    /// asked only if nothing was; a note says so.
    pub async fn stream(
        &self,
        request: &Request,
        sink: &Sender<ReplyPiece>,
    ) -> Result<Reply, ModelError> {
        let sink = Sink::new(sink);
        if let Some(price) = self.price() {
            sink.price(Some(price.clone())).await;
        }
        let mut result = self.ask(request, &sink).await;
        for other in &self.fallbacks {
            let Err(error) = &result else { break };
            if sink.has_begun() || !another_may_answer(error) {
                break;
            }
            sink.tell(format!("{error}; asking {} instead", other.name)).await;
            sink.price(other.price().cloned()).await;
            result = other.ask(&other.adapted(request), &sink).await;
        }
        result
    }

    /// A request that was meant for another model. Adds a note if the two hand over code in
    /// different ways.
    fn adapted(&self, request: &Request) -> Request {
        let mut request = request.clone();
        if request.tools != self.tools() {
            request.tools = self.tools();
            let text = instructions::instead(request.tools.protocol()).into();
            Arc::make_mut(&mut request.messages).push(Message::System { text });
        }
        if !self.sees_images() {
            Message::hide_images(&mut request.messages);
        }
        request
    }

    async fn ask(&self, request: &Request, sink: &Sink<'_>) -> Result<Reply, ModelError> {
        let mut reply = match &self.kind {
            Kind::Remote(remote) => remote.stream(request, sink).await?,
            #[cfg(feature = "embedded")]
            Kind::Embedded(engine) => engine.stream(request, sink).await?,
            Kind::Scripted(script) => script.play(request, sink).await?,
        };
        if let Some(usage) = &mut reply.usage {
            usage.context = self.context();
        }
        reply.usage = reply.usage.filter(Usage::is_believable);
        Ok(reply)
    }
}

/// Whether another model may answer where this error came.
fn another_may_answer(error: &ModelError) -> bool {
    match error {
        ModelError::Script(error) => matches!(error, ScriptError::Failed { .. }),
        // It was the reply that was wrong, or what the person has set.
        ModelError::TooLarge { .. }
        | ModelError::BadAddress { .. }
        | ModelError::BadKey { .. }
        | ModelError::Certificates { .. }
        | ModelError::NoEngine { .. }
        | ModelError::BadWeights { .. } => false,
        ModelError::Client { .. }
        | ModelError::Offline { .. }
        | ModelError::KeyInTheClear { .. }
        | ModelError::Unreachable { .. }
        | ModelError::KeyMissing { .. }
        | ModelError::KeyRefused { .. }
        | ModelError::UnknownModel { .. }
        | ModelError::RateLimited { .. }
        | ModelError::OutOfCredit { .. }
        | ModelError::ContextTooLong { .. }
        | ModelError::Rejected { .. }
        | ModelError::Server { .. }
        | ModelError::Redirected { .. }
        | ModelError::NotAStream { .. }
        | ModelError::TimedOut { .. }
        | ModelError::Broken { .. }
        | ModelError::Malformed { .. }
        | ModelError::Processor { .. }
        | ModelError::Memory { .. }
        | ModelError::NoThread { .. }
        | ModelError::Engine { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripted(script: &str) -> Model {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script.toml");
        fs_err::write(&path, script).unwrap();
        Model::scripted(&path, std::fs::File::open(&path)).unwrap()
    }

    #[test]
    fn another_model_is_told_how_to_hand_over_code_if_it_does_so_in_another_way() {
        let fences = scripted("[[reply]]\ntext = 'a'\n");
        let tools = scripted("[[reply]]\ncall = { language = 'sh', code = 'ls' }\n");
        let request = Request { tools: Tools::Offer, ..crate::request::examples::with_tools() };
        let same = tools.adapted(&request);
        assert_eq!(same.messages, request.messages);
        let other = fences.adapted(&request);
        assert_eq!(other.tools, Tools::None);
        let Some(Message::System { text }) = other.messages.last() else { panic!("{other:?}") };
        assert!(text.contains("there are no tools"), "{text}");
        // And back again, as if it had never been otherwise.
        let Some(Message::System { text }) = tools.adapted(&other).messages.last().cloned() else {
            panic!("{other:?}")
        };
        assert!(text.contains("the tool `execute` is there"), "{text}");
    }

    #[test]
    fn a_script_can_play_a_small_model() {
        assert_eq!(scripted("[[reply]]\ntext = 'a'\n").strength(), Strength::Usual);
        assert_eq!(scripted("small = true\n[[reply]]\ntext = 'a'\n").strength(), Strength::Small);
    }
}
