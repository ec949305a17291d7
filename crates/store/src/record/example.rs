//! A record for tests, in a folder of its own.

use super::Log;
use crate::Folders;
use interpreter_core::{Body, Confinement, Limits, Network, Sandboxing, Workspace};
use rusqlite::Connection;
use std::collections::BTreeMap;
use tempfile::TempDir;

/// A home for one test, with an open record.
pub(super) struct Place {
    /// Dropped last: the folder goes with it.
    pub(super) log: Log,
    pub(super) folders: Folders,
    _home: TempDir,
}

impl Place {
    /// With an empty record.
    pub(super) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders::under(home.path());
        Self { log: Log::open(&folders).unwrap(), folders, _home: home }
    }

    /// With two sessions of three records each.
    pub(super) fn with_records() -> Self {
        let mut place = Self::new();
        for session in ["s1", "s2"] {
            place.log.append(session, &started()).unwrap();
            place.log.append(session, &prompt("sum \"1\" and 2,\nplease €")).unwrap();
            place.log.append(session, &Body::SessionEnded {}).unwrap();
        }
        place
    }

    /// Somebody else with the file open, and the guards out of the way.
    pub(super) fn tamperer(&self) -> Connection {
        let connection = self.tamperer_again();
        let triggers: Vec<String> = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!(triggers.len(), 2);
        for name in triggers {
            connection.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
        }
        connection
    }

    /// The same, once the guards are gone.
    pub(super) fn tamperer_again(&self) -> Connection {
        let connection = Connection::open(self.folders.record_file()).unwrap();
        connection.pragma_update(None, "synchronous", "OFF").unwrap();
        connection
    }
}

pub(super) fn prompt(text: &str) -> Body {
    Body::Prompt { text: text.into() }
}

pub(super) fn started() -> Body {
    Body::SessionStarted {
        version: "0.1.0".into(),
        model: None,
        confinement: Box::new(Confinement {
            work_folder: "/home/u/project".into(),
            workspace: Workspace::Stage,
            files: BTreeMap::new(),
            granted: [].into(),
            shown: [].into(),
            network: Network::None,
            secrets: vec![],
            limits: Limits::default(),
            sandbox: Sandboxing::default(),
            environment: BTreeMap::new(),
        }),
        opening: Some(1),
        asks: None,
        imported: false,
    }
}
