//! From the name of a provider to the names of its models.

use super::{Choice, ChooseError};
use interpreter_core::roster::Roster;
use interpreter_model::list_models;

impl Choice<'_> {
    /// The models that a provider or an endpoint lists, by asking it.
    pub(crate) async fn roster(&self, place: &str) -> Result<Roster, ChooseError> {
        let own = self.settings.endpoints.get(place);
        let mut endpoint = match (own, self.providers.get(place)) {
            (Some(own), _) => self.own(place, &own.value, String::new()),
            (None, Some(provider)) => {
                self.has_its_key(place)?;
                self.around(&provider, |around| provider.endpoint("", around))?
            }
            (None, None) => {
                let near = self.near(place, Some(""));
                return Err(ChooseError::UnknownEndpoint {
                    name: place.into(),
                    provider: place.into(),
                    near: near.map(|name| name.trim_end_matches('/').to_owned()),
                });
            }
        };
        self.bound(&mut endpoint);
        Ok(Roster::new(list_models(endpoint).await?, self.usual(place).as_deref()))
    }

    /// The model of a provider or an endpoint that is used if nobody names one.
    pub(crate) fn usual(&self, place: &str) -> Option<String> {
        match self.settings.endpoints.get(place) {
            Some(own) => own.value.model.clone(),
            None => self.providers.get(place)?.default,
        }
    }
}
