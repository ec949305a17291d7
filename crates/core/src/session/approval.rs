//! How much a session asks: who answers where the rules say ask, and how that is on record.

use crate::{ApprovalMode, RiskLimit};
use serde::{Deserialize, Serialize};

/// Who answers where the rules say ask. Deny stays deny.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// The person.
    AsRulesSay,
    /// The person, even where the rules allow.
    AlwaysAsk,
    /// The person did, beforehand, with `--yes`.
    Yes,
}

/// How much a session asks, as far as its options say so. A session that comes from it asks no less.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HowAsked {
    /// Who answers where the rules say ask.
    pub approval: Approval,
    /// The fate of code on which no rule has an opinion.
    pub mode: ApprovalMode,
    /// The bound of [`ApprovalMode::Auto`].
    pub up_to: RiskLimit,
    /// The profile that its settings come from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub profile: Option<String>,
}
