//! A model of this machine, whichever is here.

use crate::{
    AgentError, Context,
    models::{self, Here},
};
use interpreter_core::roster::writes_text;
use interpreter_store::Sourced;

impl Context {
    /// Selects a local model, whatever the settings say: an installed embedded model, or else the
    /// first text model of a local server that responds. If there is none, none is selected.
    /// `fallback` is not used, so the conversation reaches nobody else.
    pub async fn use_local_model(&mut self) -> Result<(), AgentError> {
        self.settings.fallback = Sourced::typed(Vec::new());
        self.settings.model = Sourced::typed(None);
        if self.model_name()?.is_none() {
            let rows = models::list(self).await?;
            self.settings.model = Sourced::typed(first_served(&rows));
        }
        Ok(())
    }
}

/// The first model of the first server that answers and has one.
fn first_served(rows: &[Here]) -> Option<String> {
    let mut served = rows.iter().filter(|row| row.is_ready()).filter_map(|row| {
        let mut models = row.found.iter().flat_map(|found| found.models.iter().flatten());
        Some(format!("{}/{}", row.name, models.find(|model| writes_text(model))?))
    });
    served.next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{KeyState, LocalServer};

    fn row(name: &str, models: Option<&[&str]>) -> Here {
        let found = models.map(|models| LocalServer {
            provider: name.into(),
            host: "127.0.0.1".into(),
            models: Some(models.iter().map(|&model| model.to_owned()).collect()),
        });
        Here {
            name: name.into(),
            title: String::new(),
            format: "openai",
            local: true,
            key: KeyState::NotNeeded,
            lacks: None,
            found,
        }
    }

    #[test]
    fn the_first_server_with_a_model_that_writes_is_taken() {
        let silent = row("jan", None);
        let empty = row("llamacpp", Some(&[]));
        let mute = row("lmstudio", Some(&["text-Embedding-x", ""]));
        let here = row("ollama", Some(&["nomic-embed-text", "qwen:7b", "llama"]));
        let last = row("vllm", Some(&["org/model"]));
        let mut hosted = row("openai", None);
        (hosted.local, hosted.key) = (false, KeyState::Set);
        let mut locked = row("locked", Some(&["x"]));
        locked.key = KeyState::Missing { variables: vec!["K".into()], optional: false };
        assert_eq!(first_served(&[]), None);
        let none = [hosted, silent, empty, mute, locked];
        assert_eq!(first_served(&none), None);
        let some: Vec<_> = none.into_iter().chain([here, last.clone()]).collect();
        assert_eq!(first_served(&some).as_deref(), Some("ollama/qwen:7b"));
        assert_eq!(first_served(&[last]).as_deref(), Some("vllm/org/model"));
    }
}
