//! Uses of secrets that a run's end overtakes.

use crate::egress::{Asks, Egress, Waiting, uses::tests::used};
use interpreter_core::{Network, SecretUse, egress::RunHosts};
use std::{pin::pin, sync::Arc};

/// A way out that leads nowhere.
fn open(folder: &std::path::Path) -> Egress {
    let folder = folder.join("egress");
    Egress::open(&Network::default(), Asks::Nobody, &folder, None, None).unwrap()
}

/// The uses of the run that ends.
fn end(egress: &mut Egress) -> Vec<SecretUse> {
    egress.end_run();
    egress.used()
}

/// Whether it waits, having gone as far as it can.
macro_rules! waits {
    ($future:expr) => {
        tokio::select! {
            biased;
            _ = $future => false,
            () = async {} => true,
        }
    };
}

#[tokio::test]
async fn a_use_that_nobody_has_heard_of_is_none_of_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut egress = open(folder.path());
    let uses = Arc::clone(&egress.uses);
    egress.begin_run(RunHosts::Listed);
    let mut late = pin!(uses.record(used()));
    assert!(waits!(&mut late));
    let ended: Vec<_> = end(&mut egress).iter().map(SecretUse::line).collect();
    assert_eq!(ended, ["did not use T for GET h.org/: the run is over"]);
    egress.begin_run(RunHosts::Listed);
    assert!(waits!(egress.waiting()));
    assert_eq!(late.await, Err("the run is over"));
    assert_eq!(end(&mut egress), []);
}

#[tokio::test]
async fn nor_is_it_if_the_run_before_had_no_proper_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut egress = open(folder.path());
    let uses = Arc::clone(&egress.uses);
    egress.begin_run(RunHosts::Listed);
    let mut late = pin!(uses.record(used()));
    assert!(waits!(&mut late));
    egress.begin_run(RunHosts::Listed);
    // The control: one of this run.
    let mut own = pin!(uses.record(used()));
    assert!(waits!(&mut own));
    let Waiting::Use(waiting) = egress.waiting().await else { panic!("nobody asked for a host") };
    waiting.answer.send(true).unwrap();
    assert_eq!((late.await, own.await), (Err("the run is over"), Ok(())));
    let ended: Vec<_> = end(&mut egress).iter().map(SecretUse::line).collect();
    assert_eq!(ended, ["used T for GET h.org/", "did not use T for GET h.org/: the run is over"]);
}
