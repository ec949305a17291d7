//! Records as events of the Open Cybersecurity Schema Framework (OCSF), for other tools.
//!
//! A record becomes one event or several: one for each changed file and each host. Runs are Process
//! Activity, applied changes File System Activity, hosts Network Activity, verdicts and answers
//! Authorize Session, findings Detection Finding, calls of a model API Activity. Records for which
//! OCSF has no class are Base Events. The whole record is in `unmapped`, so nothing is lost, and
//! `metadata.uid` is its hash. Must not claim more than the record does.

use crate::{
    Admission, Body, Change, Changes, ChangesState, FileChange, Grantor, HostContact, HostWanted,
    Opinion, Record, Risk, WantedUse, record::Decision,
};
use serde_json::{Map, Value, json};

/// The version of the schema.
pub const OCSF_VERSION: &str = "1.3.0";

/// Everything that the events of one record share, besides the record.
#[derive(Clone, Copy, Debug)]
pub struct OcsfSource<'a> {
    /// The version of this program.
    pub version: &'a str,
    /// The name of the machine.
    pub device: &'a str,
    /// The user, by number.
    pub user: &'a str,
    /// The record's time, in milliseconds since 1970.
    pub time: i64,
    /// The hash of the record before.
    pub prev: &'a str,
    /// The record's own hash.
    pub hash: &'a str,
}

/// A class: its category and its number.
type Class = (u32, u32);

const BASE: Class = (0, 0);
const FILE: Class = (1, 1001);
const PROCESS: Class = (1, 1007);
const FINDING: Class = (2, 2004);
const AUTHORIZE: Class = (3, 3003);
const NETWORK: Class = (4, 4001);
const LIFECYCLE: Class = (6, 6002);
const API: Class = (6, 6003);

/// An activity that the class has no number for.
const OTHER: u32 = 99;

const INFORMATIONAL: u32 = 1;
const LOW: u32 = 2;
const MEDIUM: u32 = 3;
const HIGH: u32 = 4;

const SUCCESS: u32 = 1;
const FAILURE: u32 = 2;

/// One event, before what all of them share.
struct Happened {
    class: Class,
    activity: u32,
    severity: u32,
    fields: Map<String, Value>,
}

impl Happened {
    fn new(class: Class, activity: u32, severity: u32, fields: Value) -> Self {
        let Value::Object(fields) = fields else { unreachable!("fields have names") };
        Self { class, activity, severity, fields }
    }
}

/// The events of a record, at least one.
pub fn events(record: &Record, source: &OcsfSource<'_>) -> Vec<Value> {
    let mut all = happened(record, source);
    if all.is_empty() {
        all.push(Happened::new(BASE, OTHER, INFORMATIONAL, json!({})));
    }
    let body = serde_json::to_value(&record.body).unwrap_or_default();
    let kind = body["kind"].clone();
    let count = all.len();
    let shared = |(at, one): (usize, Happened)| {
        let Happened { class: (category, class), activity, severity, mut fields } = one;
        let uid = match count {
            1 => source.hash.to_owned(),
            _ => format!("{}/{}", source.hash, at + 1),
        };
        let common = json!({
            "activity_id": activity,
            "category_uid": category,
            "class_uid": class,
            "type_uid": class * 100 + activity,
            "severity_id": severity,
            "time": source.time,
            "metadata": {
                "version": OCSF_VERSION,
                "product": product(source),
                "uid": uid,
                "sequence": record.seq,
                "correlation_uid": record.session,
                "original_time": record.time,
                "event_code": kind,
            },
            "unmapped": { "seq": record.seq, "prev": source.prev, "hash": source.hash, "record": body },
        });
        let Value::Object(mut event) = common else { unreachable!("an event is an object") };
        event.append(&mut fields);
        Value::Object(event)
    };
    all.into_iter().enumerate().map(shared).collect()
}

fn product(source: &OcsfSource<'_>) -> Value {
    json!({ "name": "interpreter", "vendor_name": "Open Interpreter", "version": source.version })
}

/// Who acted, and where: every class that wants it wants the same.
fn actor(record: &Record, source: &OcsfSource<'_>) -> (Value, Value) {
    let session = json!({ "uid": record.session });
    let actor = json!({
        "app_name": "interpreter",
        "session": session,
        "user": { "uid": source.user },
    });
    (actor, json!({ "type_id": 0, "name": source.device }))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the rest has no class and is a base event")]
fn happened(record: &Record, source: &OcsfSource<'_>) -> Vec<Happened> {
    let (actor, device) = actor(record, source);
    let app = |activity| {
        let fields = json!({ "app": product(source), "actor": actor, "device": device });
        vec![Happened::new(LIFECYCLE, activity, INFORMATIONAL, fields)]
    };
    match &record.body {
        Body::SessionStarted { .. } => app(3),
        Body::SessionEnded {} => app(4),
        Body::Request { model, .. } => {
            let fields = json!({
                "actor": actor,
                "api": { "operation": "chat", "service": { "name": model } },
                "src_endpoint": { "name": source.device },
            });
            vec![Happened::new(API, OTHER, INFORMATIONAL, fields)]
        }
        Body::Findings { proposal, risk, .. } => {
            let title = format!("Analysis of {proposal}: {} risk", risk.word());
            let uid = format!("{}/{proposal}", record.session);
            let fields = json!({ "finding_info": { "title": title, "uid": uid }, "status_id": 1 });
            vec![Happened::new(FINDING, 1, severity(*risk), fields)]
        }
        Body::RunStarted { proposal, backend, .. } => {
            let words = format!("{proposal} runs in the sandbox {backend}");
            let mut fields = json!({
                "actor": actor,
                "device": device,
                "process": process(record, proposal),
            });
            fields["message"] = words.into();
            vec![Happened::new(PROCESS, 1, INFORMATIONAL, fields)]
        }
        Body::RunFinished { proposal, status, signal, limit, .. } => {
            let is_fine = *status == Some(0) && signal.is_none() && limit.is_none();
            let mut fields = json!({
                "actor": actor,
                "device": device,
                "process": process(record, proposal),
                "status_id": if is_fine { SUCCESS } else { FAILURE },
            });
            if let Some(status) = status {
                fields["exit_code"] = (*status).into();
            }
            if let Some(limit) = limit {
                fields["status_detail"] = limit.clone().into();
            }
            let severity = if is_fine { INFORMATIONAL } else { LOW };
            vec![Happened::new(PROCESS, 2, severity, fields)]
        }
        Body::Changes(Changes { state, files, .. })
            if matches!(state, ChangesState::Applied | ChangesState::Undone) =>
        {
            files.iter().map(|file| changed(file, *state, &actor, &device)).collect()
        }
        Body::Effects { network, .. }
        | Body::TriedLate { network, .. }
        | Body::PackagesResolved { network, .. }
        | Body::PackagesChanged { network, .. }
        | Body::PackagesFailed { network, .. } => {
            network.iter().map(|contact| contacted(contact, source)).collect()
        }
        Body::RecordAccepted { .. } | Body::SessionsRemoved { .. } => {
            vec![Happened::new(BASE, OTHER, HIGH, json!({}))]
        }
        Body::Error { message, .. } => {
            let fields = json!({ "message": message, "status_id": FAILURE });
            vec![Happened::new(BASE, OTHER, LOW, fields)]
        }
        body => authorised(body, source).into_iter().collect(),
    }
}

/// A decision on what may happen.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else decides")]
fn authorised(body: &Body, source: &OcsfSource<'_>) -> Option<Happened> {
    let host = |host: &dyn std::fmt::Display, port| format!("connect {host}:{port}");
    let (privilege, granted, by) = match body {
        Body::Verdict { proposal, decision, .. } => {
            let granted = match decision {
                Opinion::Allow => Some(true),
                Opinion::Deny => Some(false),
                Opinion::Ask => None,
            };
            (format!("run {proposal}"), granted, "rules".to_owned())
        }
        Body::Answer { proposal, decision, by, .. } => {
            let granted = matches!(decision, Decision::Run | Decision::Edit);
            (format!("run {proposal}"), Some(granted), word(*by))
        }
        Body::Approval { question, person, .. } => {
            (format!("approve {question}"), Some(true), person.name.clone())
        }
        Body::ApprovalWithdrawn { question, person } => {
            (format!("approve {question}"), Some(false), person.name.clone())
        }
        Body::HostWanted(HostWanted { host: name, port, .. }) => {
            (host(name, *port), None, "code".to_owned())
        }
        Body::HostGranted { host: name, port, by, .. } => {
            (host(name, *port), Some(true), word(*by))
        }
        Body::HostRefused { host: name, port, by, .. } => {
            (host(name, *port), Some(false), word(*by))
        }
        Body::HostRevoked { host: name, port } => {
            (host(name, *port), Some(false), "person".to_owned())
        }
        Body::SecretUsed(WantedUse { of, .. }) => {
            (of.line(), Some(of.verdict == Admission::Allowed), "secret grants".to_owned())
        }
        Body::PackagesGranted { by, .. } => ("change packages".to_owned(), Some(true), word(*by)),
        Body::PackagesRefused { by } => ("change packages".to_owned(), Some(false), word(*by)),
        _ => return None,
    };
    // A privilege was assigned, or it was not; that somebody is asked is neither.
    let activity = if granted == Some(true) { 1 } else { OTHER };
    let mut fields = json!({
        "user": { "uid": source.user },
        "privileges": [privilege],
        "status_detail": format!("by {by}"),
    });
    if let Some(granted) = granted {
        fields["status_id"] = if granted { SUCCESS } else { FAILURE }.into();
    }
    let severity = if granted == Some(false) { LOW } else { INFORMATIONAL };
    Some(Happened::new(AUTHORIZE, activity, severity, fields))
}

/// A grantor as the record has it.
fn word(by: Grantor) -> String {
    serde_json::to_value(by).ok().and_then(|by| Some(by.as_str()?.to_owned())).unwrap_or_default()
}

fn severity(risk: Risk) -> u32 {
    match risk {
        Risk::Low => LOW,
        Risk::Medium => MEDIUM,
        // The schema's own word for it.
        Risk::Unknown => 0,
        Risk::High => HIGH,
    }
}

fn process(record: &Record, proposal: &str) -> Value {
    json!({ "name": proposal, "uid": format!("{}/{proposal}", record.session) })
}

/// A file in the person's folder that is another now. An undone change is on record as it was made.
fn changed(file: &FileChange, state: ChangesState, actor: &Value, device: &Value) -> Happened {
    let activity = match (file.change, state == ChangesState::Undone) {
        (Change::Created, false) | (Change::Deleted, true) => 1,
        (Change::Changed, _) => 3,
        (Change::Deleted, false) | (Change::Created, true) => 4,
        (Change::Renamed, _) => 5,
    };
    let path = file.path.as_str();
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    let kind = if path.ends_with('/') { 2 } else { 1 };
    let severity = if file.about.runs_later.is_some() { HIGH } else { INFORMATIONAL };
    let fields = json!({
        "actor": actor,
        "device": device,
        "file": { "name": name, "path": path, "type_id": kind },
    });
    Happened::new(FILE, activity, severity, fields)
}

fn contacted(contact: &HostContact, source: &OcsfSource<'_>) -> Happened {
    let HostContact { host, port, verdict, why, sent, received, count } = contact;
    let is_address = host.parse::<std::net::IpAddr>().is_ok();
    let (activity, severity, status) = match verdict {
        Admission::Allowed => (6, INFORMATIONAL, SUCCESS),
        Admission::Refused => (5, LOW, FAILURE),
    };
    let mut fields = json!({
        "dst_endpoint": { if is_address { "ip" } else { "hostname" }: host, "port": port },
        "src_endpoint": { "name": source.device },
        "traffic": { "bytes_out": sent, "bytes_in": received },
        "status_id": status,
        "count": (*count).max(1),
    });
    if let Some(why) = why {
        fields["status_detail"] = why.clone().into();
    }
    Happened::new(NETWORK, activity, severity, fields)
}

#[cfg(test)]
#[path = "ocsf_tests.rs"]
mod tests;
