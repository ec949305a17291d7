//! Who may go out: the list, what the person granted since, and the question in between.
//!
//! # Threat
//! Code that tires a person with questions until they say yes, or that waits for a grant of
//! another run.
//!
//! # Mechanism
//! A denied host is refused at once, without a question. So is an address of this machine, of a
//! neighbour or of a private network, which must be listed by number. Any other unlisted host leads
//! to a question, once per run for each host and port, and only during a run; the connection waits
//! for the answer. A run can ask at most [`MOST_ASKED`] times. Code
//! that nobody was asked about may reach only what [`RunHosts`] names of the list; the rest of it is a
//! question, too. A grant for one run ends with it. One
//! that is taken back ends the connections that it let through. When a run begins or ends, open
//! connections are judged anew: what an earlier run has opened is not this one's to use.
//!
//! A host whose name holds the value of a known secret is refused, also where everything or a
//! pattern is allowed: to resolve the name alone would give the value away. One that is listed by
//! its very name is not of code's choosing.
//!
//! # Limits
//! A grant is for a host and a port, whoever inside uses it. While changes are applied or staged files
//! are looked through, nothing is taken back until that is done.

use super::{
    ledger::{Ledger, Traffic},
    survey::Survey,
};
use interpreter_core::{
    Admission, Grant, HostContact, Network, Redactor,
    egress::{Host, HostDecision, HostMask, Hosts, RunHosts, leads_inside},
    redact::named,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::{mpsc, oneshot, watch};

/// Questions that one run may lead to.
const MOST_ASKED: usize = 20;

/// A host and a port.
pub(super) type Place = (Host, u16);

/// A host that somebody is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AskedHost {
    pub(crate) host: Host,
    pub(crate) port: u16,
    /// Whether it is listed, but not one that this run may reach.
    pub(crate) listed: bool,
}

/// The decision between the code and the network.
#[derive(Debug)]
pub(super) struct Gate {
    hosts: Hosts,
    reach: Reach,
    asks: Asks,
    questions: mpsc::UnboundedSender<AskedHost>,
    /// Finds this machine's own addresses.
    survey: Arc<dyn Survey>,
    state: Mutex<State>,
    /// How often what may be reached has become less, or may have.
    judgements: watch::Sender<u64>,
}

/// Whether anybody is asked about what is not listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Whoever holds the session.
    Session,
    /// Nobody: it is refused.
    Nobody,
}

/// Hosts that are allowed in addition to the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Listed,
    Everything,
}

#[derive(Debug, Default)]
struct State {
    /// Granted until the session ends.
    granted: BTreeSet<Place>,
    /// Secrets that no name may hold.
    mask: HostMask,
    run: Option<Run>,
    /// The listed hosts that the newest run may reach, and what it has left running.
    hosts: RunHosts,
    ledger: Ledger,
}

/// The run that is under way.
#[derive(Debug, Default)]
struct Run {
    granted: BTreeSet<Place>,
    /// Asked about and not granted, or not answered yet.
    asked: BTreeMap<Place, Vec<oneshot::Sender<()>>>,
}

/// Why a connection is not let through, in words that name the host and what helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal(pub(super) String);

impl Gate {
    pub(super) fn new(
        network: &Network,
        asks: Asks,
        questions: mpsc::UnboundedSender<AskedHost>,
        survey: Arc<dyn Survey>,
    ) -> Self {
        let (hosts, reach) = match network {
            Network::None => (Hosts::default(), Reach::Listed),
            Network::Only(hosts) => (hosts.clone(), Reach::Listed),
            Network::Open(hosts) => (hosts.clone(), Reach::Everything),
        };
        Self {
            hosts,
            reach,
            asks,
            questions,
            survey,
            state: Mutex::default(),
            judgements: watch::Sender::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is known whether this may be reached. The person may have to be asked.
    pub(super) async fn admit(&self, host: &Host, port: u16) -> Result<(), Refusal> {
        self.admit_by_rules(host, port).await?;
        if self.state().ledger.has_room(host, port) {
            return Ok(());
        }
        let text = format!("{}: more hosts were reached than can be listed", shown(host, port));
        Err(Refusal(text))
    }

    async fn admit_by_rules(&self, host: &Host, port: u16) -> Result<(), Refusal> {
        if let Some(answer) = self.decide(host, port) {
            return answer;
        }
        let refused = || self.refusal(host, port);
        if self.asks == Asks::Nobody {
            return Err(refused());
        }
        let answered = {
            let listed = self.is_listed(host, port);
            let mut state = self.state();
            let Some(run) = &mut state.run else {
                drop(state);
                return Err(refused());
            };
            let place = (host.clone(), port);
            let known = run.asked.get(&place).map(Vec::is_empty);
            match known {
                Some(true) => {
                    return Err(Refusal(format!("you refused {}", shown(host, port))));
                }
                None if run.asked.len() >= MOST_ASKED => {
                    drop(state);
                    return Err(refused());
                }
                Some(false) | None => {}
            }
            let (tell, answered) = oneshot::channel();
            run.asked.entry(place.clone()).or_default().push(tell);
            let asked = AskedHost { host: host.clone(), port, listed };
            if known.is_none() && self.questions.send(asked).is_err() {
                drop(state);
                return Err(refused());
            }
            answered
        };
        // Dropped without a word means no, or that the run is over.
        match answered.await {
            Ok(()) => Ok(()),
            Err(_) => Err(refused()),
        }
    }

    /// Knows these secrets from now on.
    pub(super) fn mask_with(&self, redactor: &Redactor) {
        self.state().mask = HostMask::of(redactor);
    }

    /// Decides without a question, if possible. A name that is not listed as it stands may hold no
    /// secret.
    fn decide(&self, host: &Host, port: u16) -> Option<Result<(), Refusal>> {
        let decided = self.decide_by_list(host, port);
        if decided != Some(Ok(())) || self.hosts.names(host, port) {
            return decided;
        }
        let masked = self.state().mask.masks(host);
        if masked.is_empty() {
            return decided;
        }
        // The name is masked wherever this is shown or recorded.
        let named = named(&masked);
        let text = format!("{}: the value of {named} stands in its name", shown(host, port));
        Some(Err(Refusal(text)))
    }

    fn decide_by_list(&self, host: &Host, port: u16) -> Option<Result<(), Refusal>> {
        match self.hosts.judge(host, port) {
            HostDecision::Allow if self.state().hosts.has(host) => return Some(Ok(())),
            HostDecision::Allow => return self.granted(host, port),
            HostDecision::Deny(rule) => {
                let text = format!("{} is denied by the rule `{rule}`", shown(host, port));
                return Some(Err(Refusal(text)));
            }
            HostDecision::Unlisted => {}
        }
        if let Host::Address(address) = host
            && let Some(what) = leads_inside(*address, |forms| self.survey.look(forms))
        {
            let place = host.with_port(port);
            let text = format!("{host} is {what}; only `--allow-host {place}` allows it");
            return Some(Err(Refusal(text)));
        }
        if self.reach == Reach::Everything && self.state().hosts.has(host) {
            return Some(Ok(()));
        }
        self.granted(host, port)
    }

    /// Whether the person has granted it since.
    fn granted(&self, host: &Host, port: u16) -> Option<Result<(), Refusal>> {
        let (state, place) = (self.state(), (host.clone(), port));
        let of_run = state.run.as_ref().is_some_and(|run| run.granted.contains(&place));
        (of_run || state.granted.contains(&place)).then_some(Ok(()))
    }

    /// Whether it is only not this run's to reach.
    fn is_listed(&self, host: &Host, port: u16) -> bool {
        self.reach == Reach::Everything || self.hosts.judge(host, port) == HostDecision::Allow
    }

    /// Why a host may not be reached that nobody has granted.
    fn refusal(&self, host: &Host, port: u16) -> Refusal {
        if !self.is_listed(host, port) {
            return not_listed(host, port);
        }
        Refusal(format!(
            "{} is not named in the findings of this code, which ran without a question; approve \
             the code yourself to let it reach every allowed host",
            shown(host, port)
        ))
    }

    /// Why an address that a host led to may not be connected to.
    pub(super) fn refuses_address(&self, address: IpAddr, port: u16) -> Option<String> {
        self.hosts.refuses_address(address, port, |forms| self.survey.look(forms))
    }

    /// Takes the person's answer. One that comes late still grants what it grants.
    pub(super) fn answer(&self, host: &Host, port: u16, grant: Option<Grant>) {
        let mut state = self.state();
        let place = (host.clone(), port);
        match grant {
            None => {}
            Some(Grant::Session | Grant::Always) => _ = state.granted.insert(place.clone()),
            Some(Grant::Once) => {
                if let Some(run) = &mut state.run {
                    run.granted.insert(place.clone());
                }
            }
        }
        let waiting = state.run.as_mut().and_then(|run| run.asked.get_mut(&place));
        for tell in waiting.map(std::mem::take).unwrap_or_default() {
            if grant.is_some() {
                // Whoever waited may have left.
                _ = tell.send(()).is_ok();
            }
        }
    }

    /// Takes a grant back. The list is not affected.
    pub(super) fn close(&self, host: &Host, port: u16) {
        let place = (host.clone(), port);
        let mut state = self.state();
        state.granted.remove(&place);
        if let Some(run) = &mut state.run {
            run.granted.remove(&place);
            // Code that tries again leads to a question again.
            run.asked.remove(&place);
        }
        drop(state);
        self.judge_anew();
    }

    /// Has every open connection judged again.
    fn judge_anew(&self) {
        self.judgements.send_modify(|count| *count += 1);
    }

    /// How often open connections were judged anew until now.
    pub(super) fn judgements(&self) -> u64 {
        *self.judgements.borrow()
    }

    /// Waits until this is not let through any more, as it was before the judgement of this number.
    pub(super) async fn closed(&self, host: &Host, port: u16, since: u64) {
        let mut judgements = self.judgements.subscribe();
        loop {
            let is_newer = *judgements.borrow_and_update() > since;
            if is_newer && self.decide(host, port) != Some(Ok(())) {
                return;
            }
            if judgements.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Starts a run, which may reach these of the listed hosts: grants for the previous run end,
    /// and so do open connections to hosts that are not this run's to reach.
    pub(super) fn begin_run(&self, hosts: RunHosts) {
        let mut state = self.state();
        state.run = Some(Run::default());
        state.hosts = hosts;
        drop(state);
        self.judge_anew();
    }

    /// Ends the run, and connections that were granted for it alone. Those that wait for an answer
    /// are refused.
    pub(super) fn end_run(&self) {
        let is_over = self.state().run.take().is_some();
        if is_over {
            self.judge_anew();
        }
    }

    /// The attempts since the last call.
    pub(super) fn tried(&self) -> Vec<HostContact> {
        self.state().ledger.take()
    }

    /// Notes what became of an attempt.
    pub(super) fn note(
        &self,
        host: &Host,
        port: u16,
        verdict: Admission,
        why: Option<&str>,
    ) -> Arc<Traffic> {
        self.state().ledger.note(host, port, verdict, why)
    }
}

fn shown(host: &Host, port: u16) -> String {
    host.with_port(port)
}

/// The web's own ports need not be named.
fn not_listed(host: &Host, port: u16) -> Refusal {
    let option = match port {
        443 | 80 => host.to_string(),
        _ => host.with_port(port),
    };
    Refusal(format!("{} is not allowed here; `--allow-host {option}` allows it", shown(host, port)))
}

#[cfg(test)]
mod tests {
    use super::{super::survey::Kernel, *};

    fn gate(network: &Network) -> (Arc<Gate>, mpsc::UnboundedReceiver<AskedHost>) {
        let (questions, asked) = mpsc::unbounded_channel();
        (Arc::new(Gate::new(network, Asks::Session, questions, Arc::new(Kernel))), asked)
    }

    fn only(allow: &[&str], deny: &[&str]) -> Hosts {
        let parsed = |list: &[&str]| list.iter().map(|one| one.parse().unwrap()).collect();
        Hosts { allow: parsed(allow), deny: parsed(deny) }
    }

    fn asked_host(name: &str, port: u16) -> AskedHost {
        AskedHost { host: host(name), port, listed: false }
    }

    fn host(name: &str) -> Host {
        name.parse().unwrap()
    }

    async fn admit(gate: &Gate, name: &str, port: u16) -> Result<(), String> {
        gate.admit(&host(name), port).await.map_err(|refusal| refusal.0)
    }

    #[tokio::test]
    async fn between_runs_nobody_is_asked() {
        let (gate, mut asked) = gate(&Network::None);
        assert_eq!(
            admit(&gate, "files.example.org", 443).await.unwrap_err(),
            "files.example.org:443 is not allowed here; `--allow-host files.example.org` allows it"
        );
        assert!(admit(&gate, "h.org", 22).await.unwrap_err().contains("`--allow-host h.org:22`"));
        assert!(asked.try_recv().is_err());
    }

    fn named(hosts: &[&str]) -> RunHosts {
        RunHosts::Named(hosts.iter().map(|name| host(name)).collect())
    }

    /// Code that nobody was asked about reaches what its findings name, however much is listed; and
    /// so does what it leaves running, until the next run.
    #[tokio::test]
    async fn a_listed_host_that_is_not_the_runs_to_reach_is_a_question() {
        for network in
            [Network::Only(only(&["a.org", "b.org"], &[])), Network::Open(Hosts::default())]
        {
            let (gate, mut asked) = gate(&network);
            gate.begin_run(named(&["a.org"]));
            assert_eq!(admit(&gate, "a.org", 443).await, Ok(()));
            let waiting = tokio::spawn({
                let gate = Arc::clone(&gate);
                async move { admit(&gate, "b.org", 443).await }
            });
            let expected = AskedHost { listed: true, ..asked_host("b.org", 443) };
            assert_eq!(asked.recv().await, Some(expected));
            gate.answer(&host("b.org"), 443, None);
            let refused = waiting.await.unwrap().unwrap_err();
            assert!(refused.contains("b.org:443 is not named in the findings"), "{refused}");
            gate.end_run();
            let refused = admit(&gate, "b.org", 443).await.unwrap_err();
            assert!(refused.contains("is not named in the findings"), "{refused}");
            // The control: the next run was asked about.
            gate.begin_run(RunHosts::Listed);
            assert_eq!(admit(&gate, "b.org", 443).await, Ok(()));
        }
    }

    #[tokio::test]
    async fn a_finding_lists_nothing_and_a_grant_counts_for_every_run() {
        let (gate, _asked) = gate(&Network::Only(only(&["b.org"], &["c.org"])));
        gate.end_run();
        gate.state().hosts = named(&["a.org", "c.org"]);
        assert!(admit(&gate, "a.org", 443).await.unwrap_err().contains("is not allowed here"));
        assert!(admit(&gate, "c.org", 443).await.unwrap_err().contains("is denied"));
        gate.begin_run(named(&[]));
        gate.answer(&host("b.org"), 443, Some(Grant::Session));
        assert_eq!(admit(&gate, "b.org", 443).await, Ok(()));
    }

    #[tokio::test]
    async fn a_grant_for_once_ends_with_its_run() {
        let (gate, mut asked) = gate(&Network::Only(only(&["a.org"], &[])));
        assert_eq!(admit(&gate, "a.org", 443).await, Ok(()));
        gate.begin_run(RunHosts::Listed);
        let waiting = tokio::spawn({
            let gate = Arc::clone(&gate);
            async move { admit(&gate, "b.org", 443).await }
        });
        assert_eq!(asked.recv().await, Some(asked_host("b.org", 443)));
        gate.answer(&host("b.org"), 443, Some(Grant::Once));
        assert_eq!(waiting.await.unwrap(), Ok(()));
        assert_eq!(admit(&gate, "b.org", 443).await, Ok(()));
        gate.end_run();
        gate.begin_run(RunHosts::Listed);
        let again = tokio::spawn({
            let gate = Arc::clone(&gate);
            async move { admit(&gate, "b.org", 443).await }
        });
        assert_eq!(asked.recv().await, Some(asked_host("b.org", 443)));
        gate.answer(&host("b.org"), 443, Some(Grant::Session));
        assert_eq!(again.await.unwrap(), Ok(()));
        gate.end_run();
        assert_eq!(admit(&gate, "b.org", 443).await, Ok(()));
        // For that port alone.
        assert!(admit(&gate, "b.org", 80).await.is_err());
    }

    #[tokio::test]
    async fn what_is_taken_back_is_asked_about_again_and_its_connections_end() {
        let (gate, mut asked) = gate(&Network::Only(only(&["a.org"], &[])));
        let ends = |name: &'static str, since| {
            let gate = Arc::clone(&gate);
            tokio::spawn(async move { gate.closed(&host(name), 443, since).await })
        };
        gate.begin_run(RunHosts::Listed);
        gate.answer(&host("b.org"), 443, Some(Grant::Session));
        gate.answer(&host("c.org"), 443, Some(Grant::Once));
        let since = gate.judgements();
        for name in ["a.org", "b.org", "c.org"] {
            assert_eq!(admit(&gate, name, 443).await, Ok(()));
        }
        let (a, b, c) = (ends("a.org", since), ends("b.org", since), ends("c.org", since));
        for name in ["a.org", "b.org"] {
            gate.close(&host(name), 443);
        }
        b.await.unwrap();
        // One that began before and was let through just then.
        ends("b.org", since).await.unwrap();
        assert_eq!(admit(&gate, "a.org", 443).await, Ok(()), "it is listed");
        assert_eq!(admit(&gate, "c.org", 443).await, Ok(()));
        let again = tokio::spawn({
            let gate = Arc::clone(&gate);
            async move { admit(&gate, "b.org", 443).await }
        });
        assert_eq!(asked.recv().await, Some(asked_host("b.org", 443)));
        gate.answer(&host("b.org"), 443, Some(Grant::Session));
        assert_eq!(again.await.unwrap(), Ok(()));
        let new = ends("b.org", gate.judgements());
        tokio::task::yield_now().await;
        assert!(!new.is_finished() && !a.is_finished() && !c.is_finished());
    }

    #[tokio::test]
    async fn connections_that_are_not_the_new_runs_end_as_it_begins_and_grants_for_one_run_with_it()
    {
        let (gate, _asked) = gate(&Network::Only(only(&["a.org", "b.org"], &[])));
        let open = |name: &'static str| {
            let (gate, since) = (Arc::clone(&gate), gate.judgements());
            tokio::spawn(async move { gate.closed(&host(name), 443, since).await })
        };
        gate.begin_run(RunHosts::Listed);
        gate.answer(&host("c.org"), 443, Some(Grant::Once));
        gate.answer(&host("d.org"), 443, Some(Grant::Session));
        let (a, b, c, d) = (open("a.org"), open("b.org"), open("c.org"), open("d.org"));
        // One that was let through, and is not open yet when the next run begins.
        let before = gate.judgements();
        gate.end_run();
        c.await.unwrap();
        assert!(!b.is_finished());
        gate.begin_run(named(&["a.org"]));
        b.await.unwrap();
        gate.closed(&host("b.org"), 443, before).await;
        // The control.
        gate.end_run();
        tokio::task::yield_now().await;
        assert!(!a.is_finished() && !d.is_finished());
    }

    #[tokio::test]
    async fn a_no_holds_for_the_run_and_the_end_of_the_run_is_a_no() {
        let (gate, mut asked) = gate(&Network::None);
        gate.begin_run(RunHosts::Listed);
        let one = tokio::spawn({
            let gate = Arc::clone(&gate);
            async move { admit(&gate, "b.org", 443).await }
        });
        asked.recv().await.unwrap();
        gate.answer(&host("b.org"), 443, None);
        assert!(one.await.unwrap().is_err());
        let said = admit(&gate, "b.org", 443).await.unwrap_err();
        assert_eq!(said, "you refused b.org:443");
        assert!(asked.try_recv().is_err());
        let two = tokio::spawn({
            let gate = Arc::clone(&gate);
            async move { admit(&gate, "c.org", 443).await }
        });
        asked.recv().await.unwrap();
        gate.end_run();
        assert!(two.await.unwrap().is_err());
    }

    #[tokio::test]
    async fn what_is_denied_or_private_is_not_asked_about() {
        let hosts = only(&["10.0.0.9:80"], &["*.evil.org"]);
        for network in [Network::Only(hosts.clone()), Network::Open(hosts)] {
            let (gate, mut asked) = gate(&network);
            gate.begin_run(RunHosts::Listed);
            let said = admit(&gate, "a.evil.org", 443).await.unwrap_err();
            assert_eq!(said, "a.evil.org:443 is denied by the rule `*.evil.org`");
            let said = admit(&gate, "169.254.169.254", 80).await.unwrap_err();
            assert!(said.starts_with("169.254.169.254 is a link-local address; only "), "{said}");
            assert!(admit(&gate, "::ffff:127.0.0.1", 80).await.is_err());
            assert_eq!(admit(&gate, "10.0.0.9", 80).await, Ok(()));
            assert!(asked.try_recv().is_err());
        }
    }

    #[tokio::test]
    async fn where_nobody_is_to_be_asked_nobody_is() {
        let (questions, mut asked) = mpsc::unbounded_channel();
        let gate = Gate::new(&Network::None, Asks::Nobody, questions, Arc::new(Kernel));
        gate.begin_run(RunHosts::Listed);
        assert!(admit(&gate, "a.org", 443).await.is_err());
        assert!(asked.try_recv().is_err());
    }

    #[tokio::test]
    async fn open_lets_every_name_through() {
        let (gate, mut asked) = gate(&Network::Open(Hosts::default()));
        gate.begin_run(RunHosts::Listed);
        assert_eq!(admit(&gate, "anything.example", 25).await, Ok(()));
        assert_eq!(admit(&gate, "1.1.1.1", 53).await, Ok(()));
        assert!(gate.refuses_address("192.168.0.1".parse().unwrap(), 80).is_some());
        assert!(asked.try_recv().is_err());
    }

    #[tokio::test]
    async fn a_name_that_holds_a_secret_is_refused_unless_it_is_listed() {
        let value = interpreter_core::Secret::new("Swordfish-Ab12".into());
        let knowing = Redactor::of_shapes().knowing([("TOKEN", &value)]);
        let listed = only(&["*.attacker.org", "swordfish-ab12.mine.org"], &[]);
        for network in [Network::Open(listed.clone()), Network::Only(listed)] {
            let (gate, mut asked) = gate(&network);
            gate.begin_run(RunHosts::Listed);
            let leak = "x.swordfish-ab12.attacker.org";
            // The control: before the value is known, and a name without it.
            assert_eq!(admit(&gate, leak, 443).await, Ok(()));
            gate.mask_with(&knowing);
            assert_eq!(admit(&gate, "x.attacker.org", 443).await, Ok(()));
            let said = admit(&gate, leak, 443).await.unwrap_err();
            assert!(said.ends_with("the value of `TOKEN` stands in its name"), "{said}");
            assert_eq!(admit(&gate, "swordfish-ab12.mine.org", 443).await, Ok(()));
            assert!(asked.try_recv().is_err());
            // A grant covers it no more than the list does.
            gate.answer(&host("swordfish-ab12.other.org"), 443, Some(Grant::Session));
            assert!(admit(&gate, "swordfish-ab12.other.org", 443).await.is_err());
        }
    }

    #[tokio::test]
    async fn a_run_cannot_ask_without_end() {
        let (gate, mut asked) = gate(&Network::None);
        gate.begin_run(RunHosts::Listed);
        let mut waiting = tokio::task::JoinSet::new();
        for number in 0..MOST_ASKED {
            // The same host asks once, however often it is tried.
            for _ in 0..3 {
                let gate = Arc::clone(&gate);
                waiting.spawn(async move { admit(&gate, &format!("h{number}.org"), 443).await });
            }
        }
        for _ in 0..MOST_ASKED {
            asked.recv().await.unwrap();
        }
        assert!(admit(&gate, "one.more.org", 443).await.is_err());
        assert!(asked.try_recv().is_err());
        gate.end_run();
        while let Some(answer) = waiting.join_next().await {
            assert!(answer.unwrap().is_err());
        }
    }
}
