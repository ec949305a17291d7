//! The system keyring, which can hold the key to the secrets.
//!
//! # Threat
//! A keyring that is locked or never answers; a copy of the home folder with the key in it.
//!
//! # Mechanism
//! The Secret Service of the desktop, over the bus of the person's session. Everything has one time
//! limit. Nothing is ever unlocked from here, so no window pops up while a session starts.
//!
//! # Limits
//! Programs of the person that may use the bus may ask the same keyring for the same key; code in a
//! sandbox reaches neither.

use interpreter_core::Secret;
use std::{collections::HashMap, fmt, time::Duration};
use zbus::{Connection, ObjectPath, OwnedObjectPath, OwnedVariant, Type, Variant, connection};

/// How long everything may take that is asked of it at one time.
const PATIENCE: Duration = Duration::from_secs(3);

const SERVICE: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";

/// The place where D-Bus says that there is no object.
const NOWHERE: &str = "/";

/// A keyring, by the address of the bus that it is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyring {
    bus: String,
}

/// Why the keyring did not help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyringError {
    /// There is no bus, or no keyring on it.
    Absent,
    /// It is locked.
    Locked,
    /// It has no such entry.
    Missing,
    /// It did not answer in time.
    Silent,
    /// It refused, or answered nonsense.
    Failed(String),
}

impl fmt::Display for KeyringError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("there is none in this session"),
            Self::Locked => f.write_str("it is locked"),
            Self::Missing => f.write_str("it no longer has the key"),
            Self::Silent => write!(f, "it did not answer within {} s", PATIENCE.as_secs()),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

impl From<zbus::Error> for KeyringError {
    fn from(error: zbus::Error) -> Self {
        if let zbus::Error::MethodError(name, ..) = &error {
            return match name.as_str() {
                "org.freedesktop.DBus.Error.ServiceUnknown"
                | "org.freedesktop.DBus.Error.NameHasNoOwner"
                | "org.freedesktop.DBus.Error.Spawn.ServiceNotFound" => Self::Absent,
                "org.freedesktop.Secret.Error.IsLocked" => Self::Locked,
                "org.freedesktop.Secret.Error.NoSuchObject" => Self::Missing,
                // A message of the bus, which may quote anything.
                _ => Self::Failed("it refused".into()),
            };
        }
        let is_absent = matches!(
            error,
            zbus::Error::InputOutput(_) | zbus::Error::Address(_) | zbus::Error::Connection(..)
        );
        if is_absent {
            Self::Absent
        } else {
            Self::Failed("it gave an answer that makes no sense".into())
        }
    }
}

/// A value as the service sends it: its session, parameters of an encryption, bytes, and their type.
#[derive(serde::Serialize, serde::Deserialize, Type)]
struct Wrapped {
    session: OwnedObjectPath,
    parameters: Vec<u8>,
    value: Vec<u8>,
    content_type: String,
}

impl Keyring {
    /// A keyring on the bus with this address.
    pub(crate) fn on(bus: String) -> Self {
        Self { bus }
    }

    /// The value of an entry.
    pub(crate) fn fetch(&self, entry: &str) -> Result<Secret, KeyringError> {
        self.ask(async |asked| {
            let item = asked.find(entry).await?;
            let wrapped: Wrapped =
                asked.call(&item, "Item", "GetSecret", &(&asked.session,)).await?;
            String::from_utf8(wrapped.value).map(Secret::new).map_err(|_| KeyringError::Missing)
        })
    }

    /// Keeps a value under a new name.
    pub(crate) fn keep(&self, entry: &str, value: &Secret) -> Result<(), KeyringError> {
        self.ask(async |asked| {
            let collection: OwnedObjectPath =
                asked.call(ROOT, "Service", "ReadAlias", &("default",)).await?;
            if collection.as_str() == NOWHERE {
                return Err(KeyringError::Absent);
            }
            let is_locked: OwnedVariant = asked
                .connection
                .call_method(
                    Some(SERVICE),
                    &collection,
                    Some("org.freedesktop.DBus.Properties"),
                    "Get",
                    &("org.freedesktop.Secret.Collection", "Locked"),
                )
                .await?
                .body()
                .deserialize()?;
            if bool::try_from(is_locked).unwrap_or(true) {
                return Err(KeyringError::Locked);
            }
            let properties: HashMap<&str, Variant<'_>> = HashMap::from([
                ("org.freedesktop.Secret.Item.Label", "Key to the secrets of interpreter".into()),
                ("org.freedesktop.Secret.Item.Attributes", attributes(entry).into()),
            ]);
            let wrapped = Wrapped {
                session: asked.session.clone(),
                parameters: Vec::new(),
                value: value.reveal().as_bytes().to_vec(),
                content_type: "text/plain".into(),
            };
            let body = (properties, wrapped, true);
            let (_, prompt): (OwnedObjectPath, OwnedObjectPath) =
                asked.call(&collection, "Collection", "CreateItem", &body).await?;
            if prompt.as_str() == NOWHERE { Ok(()) } else { Err(KeyringError::Locked) }
        })
    }

    /// Forgets an entry, if it is there.
    pub(crate) fn forget(&self, entry: &str) -> Result<(), KeyringError> {
        self.ask(async |asked| {
            let item = match asked.find(entry).await {
                Err(KeyringError::Missing) => return Ok(()),
                found => found?,
            };
            let _: OwnedObjectPath = asked.call(&item, "Item", "Delete", &()).await?;
            Ok(())
        })
    }

    /// Asks within the time limit. A thread of its own: whoever needs a secret may be in a loop.
    fn ask<T: Send>(
        &self,
        question: impl AsyncFnOnce(Asked) -> Result<T, KeyringError> + Send,
    ) -> Result<T, KeyringError> {
        let failed = |why: &str| KeyringError::Failed(why.into());
        let asking = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|_| failed("no loop to ask it in could be started"))?;
            runtime.block_on(async {
                let asked = async { question(Asked::open(&self.bus).await?).await };
                tokio::time::timeout(PATIENCE, asked).await.unwrap_or(Err(KeyringError::Silent))
            })
        };
        std::thread::scope(|scope| scope.spawn(asking).join())
            .unwrap_or_else(|_| Err(failed("asking it failed")))
    }
}

/// A conversation with the service. Values are not encrypted a second time on the person's own bus.
struct Asked {
    connection: Connection,
    session: OwnedObjectPath,
}

impl Asked {
    async fn open(bus: &str) -> Result<Self, KeyringError> {
        let connection = connection::Builder::address(bus).build().await?;
        let answer = connection
            .call_method(
                Some(SERVICE),
                ROOT,
                Some("org.freedesktop.Secret.Service"),
                "OpenSession",
                &("plain", Variant::from("")),
            )
            .await?;
        let (_, session): (OwnedVariant, OwnedObjectPath) = answer.body().deserialize()?;
        Ok(Self { connection, session })
    }

    /// The object that holds an entry.
    async fn find(&self, entry: &str) -> Result<OwnedObjectPath, KeyringError> {
        let (open, locked): (Vec<OwnedObjectPath>, Vec<OwnedObjectPath>) =
            self.call(ROOT, "Service", "SearchItems", &(attributes(entry),)).await?;
        match open.into_iter().next() {
            Some(item) => Ok(item),
            None if !locked.is_empty() => Err(KeyringError::Locked),
            None => Err(KeyringError::Missing),
        }
    }

    async fn call<T: serde::de::DeserializeOwned + Type>(
        &self,
        object: &str,
        interface: &str,
        method: &str,
        body: &(impl serde::Serialize + zbus::DynamicType),
    ) -> Result<T, KeyringError> {
        let object = ObjectPath::try_from(object)?;
        let interface = format!("org.freedesktop.Secret.{interface}");
        let answer = self
            .connection
            .call_method(Some(SERVICE), object, Some(interface.as_str()), method, body)
            .await?;
        Ok(answer.body().deserialize()?)
    }
}

fn attributes(entry: &str) -> HashMap<&str, &str> {
    HashMap::from([("application", "interpreter"), ("key", entry)])
}
