//! Known secrets in the names of hosts.
//!
//! # Threat
//! Code that sends a key away in the name of a host that it asks for. The name server of that domain
//! reads it, whether or not anything is ever connected.
//!
//! # Mechanism
//! A name is searched for every known value, in the usual encodings, as names are read: in small
//! letters. A host that the person listed by that very name is none of code's choosing.
//!
//! # Limits
//! Those of redaction: a value in a form that nobody knows, or spread over several names, is not
//! found.

use super::Host;
use crate::Redactor;

/// Finds known secrets in the names of hosts.
#[derive(Clone, Debug, Default)]
pub struct HostMask(Redactor);

impl HostMask {
    /// Finds the values that a redactor knows.
    pub fn of(redactor: &Redactor) -> Self {
        Self(redactor.of_small_letters())
    }

    /// The names of the secrets whose values stand in the name of a host, each once.
    pub fn masks(&self, host: &Host) -> Vec<String> {
        self.0.masks(&host.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secret;

    #[test]
    fn a_value_is_found_in_the_letters_of_names() {
        let value = Secret::new("Swordfish-Ab12".into());
        let mask = HostMask::of(&Redactor::of_shapes().knowing([("TOKEN", &value)]));
        let masks = |name: &str| mask.masks(&name.parse().unwrap());
        for name in [
            "swordfish-ab12.attacker.example",
            "x.SWORDFISH-AB12.attacker.example",
            // In hexadecimal digits.
            "53776f7264666973682d41623132.attacker.example",
        ] {
            assert_eq!(masks(name), ["TOKEN"], "{name}");
        }
        for name in ["swordfish.attacker.example", "attacker.example", "192.0.2.1"] {
            assert!(masks(name).is_empty(), "{name}");
        }
        assert!(HostMask::default().masks(&"swordfish-ab12.example".parse().unwrap()).is_empty());
    }
}
