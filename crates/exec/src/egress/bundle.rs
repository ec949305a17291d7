//! The file by which programs inside trust the session's authority, beside all that this machine
//! trusts.
//!
//! It holds no secret: certificates are public. It goes with the sandbox.

use crate::claimed::{ClaimedFolder, sweep};
use base64::{Engine, engine::general_purpose::STANDARD};
use rustls::pki_types::CertificateDer;
use std::{
    collections::BTreeMap,
    io,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// Where programs inside find it.
pub(crate) const INSIDE: &str = "/run/interpreter/trusted.pem";

/// The variables by which programs find the certificates to trust.
const VARIABLES: [&str; 11] = [
    "AWS_CA_BUNDLE",
    "CARGO_HTTP_CAINFO",
    "CURL_CA_BUNDLE",
    "DENO_CERT",
    "GIT_SSL_CAINFO",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "NIX_SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_FILE",
];

/// Such a file, which is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Bundle {
    at: PathBuf,
    /// It is in there alone.
    _folder: ClaimedFolder,
}

impl Bundle {
    /// Writes one in `folder`, which is made if need be, and takes away what programs left there
    /// that were killed.
    pub(super) fn write<'a>(
        folder: &Path,
        certificates: impl Iterator<Item = &'a CertificateDer<'static>>,
    ) -> io::Result<Self> {
        match std::fs::DirBuilder::new().mode(0o700).create(folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                sweep(folder, "");
            }
            Err(error) => return Err(error),
        }
        let folder = ClaimedFolder::make(folder, "")?;
        let at = folder.path().join("trusted.pem");
        let text: String = certificates.map(|one| pem(one)).collect();
        fs_err::write(&at, text)?;
        // Inside it is another user who reads it.
        fs_err::set_permissions(&at, std::fs::Permissions::from_mode(0o444))?;
        Ok(Self { at, _folder: folder })
    }

    pub(super) fn path(&self) -> &Path {
        &self.at
    }
}

fn pem(certificate: &CertificateDer<'_>) -> String {
    let digits = STANDARD.encode(certificate);
    let mut text = String::with_capacity(digits.len() + digits.len() / 64 + 64);
    text.push_str("-----BEGIN CERTIFICATE-----\n");
    let mut rest = digits.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(64));
        text.push_str(line);
        text.push('\n');
        rest = after;
    }
    text.push_str("-----END CERTIFICATE-----\n");
    text
}

/// The variables that tell programs inside to trust it.
pub fn trust_variables() -> BTreeMap<String, String> {
    VARIABLES.into_iter().map(|name| (name.to_owned(), INSIDE.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_goes_and_takes_those_of_the_dead_with_it() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("trust");
        let certificate = CertificateDer::from(vec![7; 100]);
        let bundle = Bundle::write(&folder, [&certificate].into_iter()).unwrap();
        let text = fs_err::read_to_string(bundle.path()).unwrap();
        assert!(text.starts_with("-----BEGIN CERTIFICATE-----\n"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 64));
        let left = folder.join(format!("{}-{}", u32::MAX, uuid::Uuid::new_v4().simple()));
        fs_err::create_dir(&left).unwrap();
        let second = Bundle::write(&folder, [&certificate].into_iter()).unwrap();
        assert_eq!(fs_err::read_dir(&folder).unwrap().count(), 2);
        drop((bundle, second));
        assert_eq!(fs_err::read_dir(&folder).unwrap().count(), 0);
    }
}
