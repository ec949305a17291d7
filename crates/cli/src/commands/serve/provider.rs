//! The login provider of a team, as the settings have it.
//!
//! Whatever is missing ends the start: a server whose people cannot log in as they should is none.

use crate::report::{Error, misuse};
use interpreter_agent::{Context, DocumentAddress};
use interpreter_web::http::LoginProvider;
use std::sync::Arc;

/// The provider, if there is one.
pub(super) fn provider(context: &Context) -> Result<Option<Arc<LoginProvider>>, Error> {
    let settings = &context.settings;
    let Some(issuer) = &settings.login_issuer.value else { return Ok(None) };
    let issuer = issuer.as_str().to_owned();
    let client = settings.login_client.value.clone();
    let client =
        client.ok_or_else(|| misuse("`login.issuer` is set, and `login.client` is not"))?;
    let secret = match &settings.login_secret.value {
        None => None,
        Some(name) => Some(context.environment.secret(name).ok_or_else(|| {
            let name = name.to_string();
            misuse(format!(
                "there is no secret `{name}`, which `login.secret` names; `interpreter secret set \
                 {name}` keeps it"
            ))
        })?),
    };
    let address = DocumentAddress::parse(&issuer);
    if settings.offline.value && !address.as_ref().is_some_and(DocumentAddress::is_local) {
        return Err(misuse("the login provider cannot be asked: `offline` is set"));
    }
    let host = address.map(|address| address.host()).unwrap_or_default();
    Ok(Some(Arc::new(LoginProvider {
        name: settings.login_name.value.clone().unwrap_or(host),
        issuer,
        client,
        secret,
        scopes: settings.login_scopes.value.clone(),
        documents: context.document_client()?,
    })))
}
