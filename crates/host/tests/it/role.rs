//! The role in which this binary is started again by the tests.

use std::io;
use std::os::fd::AsFd;

#[test]
#[ignore = "not a test: the others start this binary again to be the host"]
fn host() {
    // Not stdout, on which the test harness itself writes.
    let input = io::stdin().as_fd().try_clone_to_owned().unwrap();
    #[expect(clippy::disallowed_methods, reason = "handed to the host in place of its output")]
    let output = io::stderr().as_fd().try_clone_to_owned().unwrap();
    if interpreter_host::serve(input, output, None).is_err() {
        // The words of a panic would go where the frames went.
        std::panic::set_hook(Box::new(|_| {}));
        panic!("the exit code says it");
    }
}
