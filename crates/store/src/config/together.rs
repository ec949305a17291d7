//! Several settings taken together: how one bounds another, and the values that the rest of the
//! program asks for.

use super::{Layer, Listed, NetworkMode, Settings, Sourced};
use crate::{
    Preset,
    quantity::{Dollars, TimeLimit},
};
use interpreter_core::{
    Limits, Rules, Sandboxing,
    budget::{Allowance, Budget},
    egress::Hosts,
};
use std::num::NonZeroU64;

/// The time of a run that nobody is there to end.
pub(super) const UNATTENDED_RUN: TimeLimit = TimeLimit::Seconds(10 * 60);

/// The time of such a turn.
const UNATTENDED_TURN: TimeLimit = TimeLimit::Seconds(30 * 60);

impl Settings {
    pub(super) fn settle_together(&mut self) {
        self.settle_network();
        self.settle_time();
    }

    /// A run has no more time than its turn, and whoever types the time of a turn means the run
    /// too.
    fn settle_time(&mut self) {
        let typed = |layer| layer == Layer::CommandLine;
        let (turn, wall) = (&self.turn_limit, &self.wall_limit);
        if !typed(wall.origin.layer) && (typed(turn.origin.layer) || wall.value > turn.value) {
            let origin = turn.origin.through("limits.turn");
            self.wall_limit = Sourced { value: turn.value, origin };
        }
    }

    /// Nobody is there to end what takes too long, so it ends by itself; unless somebody has said
    /// how long it may take.
    pub fn bound_unattended(&mut self) {
        let (turn, wall) = (is_said(&self.turn_limit), is_said(&self.wall_limit));
        if !turn {
            // Whoever gives a run more means its turn too.
            let most =
                UNATTENDED_TURN.max(if wall { self.wall_limit.value } else { UNATTENDED_RUN });
            self.turn_limit.value = self.turn_limit.value.min(most);
        }
        if !wall {
            self.wall_limit.value = self.wall_limit.value.min(UNATTENDED_RUN);
        }
        self.ask_after.value = TimeLimit::None;
    }

    /// After how many seconds the person is asked whether a run may continue. Those who have said
    /// how long it may take are not asked, unless they have said that too.
    pub fn asks_after(&self) -> Option<u64> {
        let is_bounded = is_said(&self.wall_limit);
        let asks = !is_bounded || is_said(&self.ask_after);
        self.ask_after.value.seconds().filter(|_| asks)
    }

    fn settle_network(&mut self) {
        let typed = |layer| layer == Layer::CommandLine;
        let host = self.hosts.iter().find(|one| typed(one.origin.layer));
        if let Some(host) = host
            && self.network_mode.value == NetworkMode::None
            && !typed(self.network_mode.origin.layer)
        {
            // Whoever types a host means it.
            let origin = host.origin.through("network.hosts");
            self.network_mode = Sourced { value: NetworkMode::Listed, origin };
        }
        if self.offline.value {
            // Nothing but this machine, so code does not go out either.
            let origin = self.offline.origin.through("offline");
            self.network_mode = Sourced { value: NetworkMode::None, origin };
        }
    }

    /// The limits of a run, for its confinement.
    pub fn limits(&self) -> Limits {
        Limits {
            wall_seconds: self.wall_limit.value.seconds(),
            cpu_seconds: self.cpu_limit.value.seconds(),
            memory_bytes: self.memory_limit.value.count(),
            processes: self.process_limit.value.get(),
            file_bytes: self.file_limit.value.count(),
            open_files: self.open_file_limit.value.get(),
            temporary_bytes: self.temporary_limit.value.count(),
            staged_bytes: self.staged_limit.value.count(),
            staged_files: self.staged_file_limit.value.get(),
            output_bytes: self.output_limit.value.count(),
        }
    }

    /// How much may be spent.
    pub fn budget(&self) -> Budget {
        Budget {
            session: Allowance {
                turns: self.session_turns.value.map(NonZeroU64::get),
                tokens: self.session_tokens.value.map(NonZeroU64::get),
                nano_dollars: self.session_cost.value.map(Dollars::nano),
                seconds: self.session_time.value.seconds(),
            },
            day: Allowance {
                turns: self.day_turns.value.map(NonZeroU64::get),
                tokens: self.day_tokens.value.map(NonZeroU64::get),
                nano_dollars: self.day_cost.value.map(Dollars::nano),
                seconds: self.day_time.value.seconds(),
            },
        }
    }

    /// The sandbox and what it may lack, for a confinement.
    pub fn sandboxing(&self) -> Sandboxing {
        Sandboxing {
            backend: self.sandbox.value,
            image: self.sandbox_image.value.clone(),
            allow_missing: self.allow_missing.iter().map(|one| one.value).collect(),
        }
    }

    /// The kinds of packages among the hosts.
    pub fn presets(&self) -> impl Iterator<Item = Preset> {
        self.hosts.iter().filter_map(|one| match one.value {
            Listed::Preset(preset) => Some(preset),
            Listed::Rule(_) => None,
        })
    }

    /// The hosts, without kinds of packages.
    pub fn listed_hosts(&self) -> Hosts {
        let rules = self.hosts.iter().filter_map(|one| match &one.value {
            Listed::Preset(_) => None,
            Listed::Rule(rule) => Some(rule.clone()),
        });
        Hosts {
            allow: rules.collect(),
            deny: self.denied_hosts.iter().map(|one| one.value.clone()).collect(),
        }
    }

    /// The person's own rules, from their file and profile.
    pub fn user_rules(&self) -> Rules {
        self.rules_where(|layer| layer != Layer::Project)
    }

    /// The rules that came with the project.
    pub fn project_rules(&self) -> Rules {
        self.rules_where(|layer| layer == Layer::Project)
    }

    fn rules_where(&self, wanted: impl Fn(Layer) -> bool) -> Rules {
        let rules = self.rules.iter().filter(|rule| wanted(rule.origin.layer));
        Rules(rules.map(|rule| rule.value.clone()).collect())
    }
}

/// Whether the user has set a time: a project may only make it shorter.
fn is_said(time: &Sourced<TimeLimit>) -> bool {
    !matches!(time.origin.layer, Layer::Default | Layer::Project)
}
