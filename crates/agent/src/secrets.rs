//! Where secrets come from: the person's variables, what they keep here, and Vault.
//!
//! A source that does not answer costs its own secrets and stops nobody: a line says so. Code is
//! never given another value in place of one that could not be read.

use crate::choose::{ChooseError, certificates};
use interpreter_core::{Broker, Secret, broker::check_value, vault::VaultSecret};
use interpreter_model::{Vault, VaultError};
use interpreter_store::{
    Environment, Folders, KeptSecrets, NetworkMode, Settings, StoreError, read_vault_token,
};
use std::thread;

/// The environment with the secrets that are kept here, and why they are not there if so.
pub(crate) fn with_kept(
    environment: Environment,
    folders: &Folders,
) -> Result<(Environment, Option<String>), StoreError> {
    match KeptSecrets::read(folders) {
        Ok(kept) => Ok((environment.with_kept(kept), None)),
        // A keyring that is locked, or of another session, is an everyday thing.
        Err(error @ StoreError::Keyring { .. }) => {
            let told = format!(
                "Your secrets are not available: {error}. Unlock it, or run `interpreter secret key \
                 file` at the desktop."
            );
            Ok((environment, Some(told)))
        }
        Err(error) => Err(error),
    }
}

/// A secret in Vault that could not be read.
pub(crate) struct UnreadSecret {
    name: String,
    /// Why, in words.
    pub(crate) told: String,
}

/// Reads the secrets in Vault that the settings name, except those that are variables and that code
/// does not use. Gives those that could not be read.
pub(crate) fn add_vault(
    environment: &mut Environment,
    settings: &Settings,
    folders: &Folders,
) -> Result<Vec<UnreadSecret>, ChooseError> {
    let wanted: Vec<VaultSecret> = (settings.vault_secrets.iter())
        .map(|one| one.value.clone())
        .filter(|one| {
            // The variable is used instead, but not by code.
            let by_code = !environment.kept().grants(&one.name).is_empty();
            by_code || environment.raw(&one.name).is_none()
        })
        .collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let address = settings.vault_address.value.as_ref().map(|one| one.as_str().to_owned());
    let address = address.or_else(|| environment.text("VAULT_ADDR").map(str::to_owned));
    let token = environment.secret("VAULT_TOKEN").or_else(|| read_vault_token(environment));
    let (address, token) = match (address, token) {
        _ if settings.offline.value => return Ok(all_missing(&wanted, "`offline` is set")),
        (None, _) => return Ok(all_missing(&wanted, "`vault.address` is not set")),
        (_, None) => return Ok(all_missing(&wanted, "there is no token; run `vault login`")),
        (Some(address), Some(token)) => (address, token),
    };
    // It is a secret like the others.
    environment.keep("VAULT_TOKEN", Secret::new(token.reveal().to_owned()));
    let namespace = environment.text("VAULT_NAMESPACE").map(str::to_owned);
    let certificates = certificates(settings, folders)?;
    let vault = Vault { address, token, namespace, certificates };
    let Some(read) = read(&vault, &wanted) else {
        return Ok(all_missing(&wanted, "there is no thread to ask it on"));
    };
    let mut missing = Vec::new();
    for (secret, read) in read {
        match read {
            Ok(value) => environment.keep(&secret.name, value),
            Err(error) => missing.push(UnreadSecret::new(&secret, &error.to_string())),
        }
    }
    Ok(missing)
}

/// The broker of the secrets that code may use somewhere, or `None` if there are none, or if code
/// has no way out; and which of them it cannot use, in words.
///
/// The value is the one in Vault, if the settings name it there; else the one that is kept here; and
/// only without either, the variable of the person.
pub(crate) fn for_code(
    environment: &mut Environment,
    settings: &Settings,
    unread: &[UnreadSecret],
) -> Result<(Option<Broker>, Vec<String>), StoreError> {
    if settings.network_mode.value == NetworkMode::None {
        return Ok((None, Vec::new()));
    }
    let granted: Vec<_> = environment.kept().granted().map(str::to_owned).collect();
    let (mut usable, mut unusable) = (Vec::new(), Vec::new());
    for name in &granted {
        if unread.iter().any(|one| one.name == *name) {
            unusable.push(format!("Code cannot use {name} in this session."));
            continue;
        }
        let value = environment.kept().get(name).or_else(|| environment.secret(name));
        let why = match value.as_ref().map(check_value) {
            Some(Ok(())) => None,
            Some(Err(error)) => Some(error.to_string()),
            None => Some(format!("it has no value; `interpreter secret set {name}` keeps one")),
        };
        match (why, value) {
            (None, Some(value)) => {
                // A variable is redacted from now on, whatever its name.
                environment.keep(name, value);
                usable.push(name.as_str());
            }
            (why, _) => {
                let why = why.unwrap_or_default();
                unusable.push(format!("Code cannot use {name} in this session: {why}."));
            }
        }
    }
    let broker = environment.kept().broker(usable)?;
    Ok(((!broker.is_empty()).then_some(broker), unusable))
}

type Read = Vec<(VaultSecret, Result<Secret, VaultError>)>;

/// A thread of its own: there may be a loop in this one.
fn read(vault: &Vault, wanted: &[VaultSecret]) -> Option<Read> {
    let reading = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map(|runtime| runtime.block_on(vault.read(wanted.to_vec()))).ok()
    };
    thread::scope(|scope| scope.spawn(reading).join()).ok().flatten()
}

fn all_missing(wanted: &[VaultSecret], why: &str) -> Vec<UnreadSecret> {
    wanted.iter().map(|secret| UnreadSecret::new(secret, why)).collect()
}

impl UnreadSecret {
    fn new(VaultSecret { name, mount, path, .. }: &VaultSecret, why: &str) -> Self {
        let told = format!("{name} could not be read from Vault ({mount}/{path}): {why}.");
        Self { name: name.clone(), told }
    }
}
