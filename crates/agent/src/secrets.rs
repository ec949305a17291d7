//! Where secrets come from: the person's variables, what they keep here, and Vault.
//!
//! A source that does not answer costs its own secrets and stops nobody: a line says so.

use crate::choose::{ChooseError, certificates};
use interpreter_core::{Secret, vault::VaultSecret};
use interpreter_model::{Vault, VaultError};
use interpreter_store::{
    Environment, Folders, KeptSecrets, Settings, StoreError, read_vault_token,
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

/// Reads the secrets in Vault that the settings name, except those that are variables. Gives the
/// reasons of those that could not be read.
pub(crate) fn add_vault(
    environment: &mut Environment,
    settings: &Settings,
    folders: &Folders,
) -> Result<Vec<String>, ChooseError> {
    let wanted: Vec<VaultSecret> = (settings.vault_secrets.iter())
        .map(|one| one.value.clone())
        .filter(|one| environment.raw(&one.name).is_none())
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
    let mut missing = Vec::new();
    for (secret, read) in read(&vault, &wanted) {
        match read {
            Ok(value) => environment.keep(&secret.name, value),
            Err(error) => missing.push(missing_words(&secret, &error.to_string())),
        }
    }
    Ok(missing)
}

type Read = Vec<(VaultSecret, Result<Secret, VaultError>)>;

/// A thread of its own: there may be a loop in this one.
fn read(vault: &Vault, wanted: &[VaultSecret]) -> Read {
    let reading = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map(|runtime| runtime.block_on(vault.read(wanted.to_vec()))).unwrap_or_default()
    };
    thread::scope(|scope| scope.spawn(reading).join()).unwrap_or_default()
}

fn all_missing(wanted: &[VaultSecret], why: &str) -> Vec<String> {
    wanted.iter().map(|secret| missing_words(secret, why)).collect()
}

fn missing_words(VaultSecret { name, mount, path, .. }: &VaultSecret, why: &str) -> String {
    format!("{name} could not be read from Vault ({mount}/{path}): {why}.")
}
