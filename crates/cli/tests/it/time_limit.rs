//! `--time-limit`: a whole prompt ends in time, whatever takes so long.

use crate::{
    scene::{Scene, cell},
    terminal::Terminal,
};
use rustix::process::{Signal, kill_process};
use std::net::TcpListener;

const ENDLESS: &str = "open('made.txt', 'w').write('x')\nprint('begun', flush=True)\n\
                       while True: pass";
const SENTENCE: &str = "Stopped at the time limit of the turn (2 s; `--time-limit` raises it).";

#[test]
fn endless_code_ends_with_the_turn_and_its_changes_stay_staged() {
    let scene = Scene::new().model_says(&[&cell("python", ENDLESS), "never said"]);
    let seen = scene.chat(&["-y", "--time-limit", "2s", "go"]).exits(124);
    assert!(seen.stderr().contains(&format!("interpreter: {SENTENCE}")), "{}", seen.stderr());
    assert!(!seen.stdout().contains("Stopped at"), "{}", seen.stdout());
    seen.lacks("never said");
    let told = scene.run(&["history", "show", "--json"]);
    assert_eq!(told.of_kind("time_up")[0]["seconds"], 2);
    assert_eq!(told.of_kind("turn_finished")[0]["end"], "timed_out");
    assert_eq!(told.of_kind("run_finished").len(), 1);
    assert!(!scene.work().join("made.txt").exists());
    scene.run(&["changes", "diff"]).mentions("made.txt").exits(0);
    scene.run(&["history", "show"]).mentions("the turn has used up its time, 2 s");
}

#[test]
fn a_model_that_never_answers_ends_with_the_turn() {
    // It listens, and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", silent.local_addr().unwrap());
    let scene = Scene::new();
    let prompt = ["--base-url", &url, "-m", "slow", "--time-limit", "2s"];
    let seen = scene.run(&[&prompt[..], &["hello there"]].concat()).exits(124);
    seen.mentions(SENTENCE);
    let quiet = scene.run(&[&prompt[..], &["--quiet", "hello there"]].concat()).exits(124);
    quiet.prints("").mentions(SENTENCE);
}

#[test]
fn it_holds_for_programs_that_read_the_answer() {
    let scene = Scene::new().model_says(&[&format!("I begin.\n{}", cell("python", ENDLESS))]);
    let seen = scene.chat(&["-y", "--json", "--time-limit", "2s", "go"]).exits(124);
    assert_eq!(seen.of_kind("time_up").len(), 1);
    assert!(seen.stderr().contains(SENTENCE), "{}", seen.stderr());
    scene.play(&[&format!("I begin.\n{}", cell("python", ENDLESS))]);
    let seen = scene.chat(&["-y", "--quiet", "--time-limit", "2s", "go"]).exits(124);
    seen.prints("").mentions(SENTENCE);
    let scene = scene.file("schema.json", "{\"type\": \"object\"}");
    // The time is that of all attempts together.
    scene.play(&["not JSON", &cell("python", ENDLESS)]);
    let arguments = ["-y", "--output-schema", "schema.json", "--time-limit", "2s", "go"];
    let seen = scene.chat(&arguments).prints("").exits(124);
    seen.mentions(SENTENCE);
}

#[test]
fn a_turn_in_time_is_not_stopped() {
    let scene = Scene::new().model_says(&[&cell("python", "print('quick')"), "Done."]);
    let seen = scene.chat(&["-y", "--time-limit", "10m", "go"]).exits(0);
    seen.mentions("quick").mentions("Done.").lacks("Stopped");
}

/// Where nobody is there to end a run, it ends by itself; what somebody has said holds.
#[test]
fn what_nobody_is_there_to_end_is_bounded() {
    let bound = |scene: &Scene| {
        let told = scene.run(&["history", "show", "--json"]);
        told.of_kind("session_started")[0]["confinement"]["limits"]["wall_seconds"].clone()
    };
    let scene = Scene::new();
    let run = ["run", "-l", "python", "-c", "print(1)"];
    scene.run(&run).exits(0);
    assert_eq!(bound(&scene), 600);
    scene.run(&[&run[..], &["--set", "limits.wall=none"]].concat()).exits(0);
    assert_eq!(bound(&scene), serde_json::Value::Null);
    scene.play(&["Hello."]);
    scene.chat(&["-y", "hi"]).exits(0);
    assert_eq!(bound(&scene), 600);
    // The control: somebody is there, and is asked.
    scene.play(&["Hello."]);
    let terminal = Terminal::open(&scene, &["hi"]);
    terminal.shows("Hello.").types("/quit").exits(0);
    assert_eq!(bound(&scene), serde_json::Value::Null);
    scene.play(&["Hello."]);
    let terminal = Terminal::open(&scene, &["--yes", "hi"]);
    terminal.shows("Hello.").types("/quit").exits(0);
    assert_eq!(bound(&scene), 600);
}

/// Code that goes on until it gets a signal from outside.
const WAITING: &str = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n\
                       print('begun', flush=True)\nsignal.sigwait([signal.SIGUSR1])\nprint('end')";

const LOOP: &str = "print('begun', flush=True)\nwhile True: pass";

const QUESTION: &str = "Keep it running?";

/// A chat whose code runs, and is asked about after so long.
fn asked_after(scene: &Scene, code: &str, time: &str) -> Terminal {
    scene.play(&[&cell("python", code), "I am done."]);
    let setting = format!("limits.ask_after={time}");
    let terminal = Terminal::open(scene, &["--set", &setting, "go"]);
    terminal.shows("Run it?").types("y");
    terminal
}

/// Lets the code come to its end.
fn let_end(scene: &Scene) {
    for (process, name) in scene.running() {
        if name.contains("python") {
            // Its helpers may have ended by themselves.
            _ = kill_process(process, Signal::USR1).is_ok();
        }
    }
}

fn settled(scene: &Scene) -> Vec<(bool, String)> {
    let told = scene.run(&["history", "show", "--json"]).of_kind("long_run");
    let one = |record: &serde_json::Value| {
        (record["may_continue"].as_bool().unwrap(), record["by"].as_str().unwrap().to_owned())
    };
    told.iter().map(one).collect()
}

#[test]
fn a_long_run_goes_on_if_the_person_says_so() {
    let scene = Scene::new();
    let terminal = asked_after(&scene, WAITING, "5s");
    terminal.shows(QUESTION).shows("p1 has been running for 5 s").types("y");
    // Again, as long as it runs; and the question is gone with the run.
    terminal.shows("p1 has been running for 10 s");
    let_end(&scene);
    terminal.shows("I am done.").types("/quit").exits(0);
    assert_eq!(settled(&scene)[0], (true, "person".into()));
    let told = scene.run(&["history", "show", "--json"]);
    assert_eq!(told.of_kind("turn_finished")[0]["end"], "done");
    scene.run(&["history", "show"]).mentions("p1 had been running for 5 s: it may continue");
}

#[test]
fn a_long_run_is_stopped_if_the_person_says_so() {
    let scene = Scene::new();
    let terminal = asked_after(&scene, LOOP, "1s");
    terminal.shows(QUESTION).types("n").waits();
    terminal.lacks("I am done.").types("/quit").exits(0);
    assert_eq!(settled(&scene), [(false, "person".into())]);
    let told = scene.run(&["history", "show", "--json"]);
    assert_eq!(told.of_kind("turn_finished")[0]["end"], "interrupted");
    assert_eq!(told.of_kind("run_finished").len(), 1);
}

#[test]
fn a_long_run_is_stopped_if_no_one_answers() {
    let scene = Scene::new();
    let terminal = asked_after(&scene, LOOP, "1s");
    terminal.shows(QUESTION).shows("p1 is being stopped: no answer.").waits();
    // From here on, keys are a prompt and not an answer.
    terminal.types("/quit").exits(0);
    assert_eq!(settled(&scene), [(false, "nobody".into())]);
    assert_eq!(scene.running().len(), 0);
}

#[test]
fn a_long_run_of_ones_own_code_is_asked_about_too() {
    let scene = Scene::new();
    let run = ["run", "--set", "limits.ask_after=1s", "-l", "python", "-c", LOOP];
    let terminal = Terminal::start(&scene, &run);
    terminal.shows("begun").shows(QUESTION).types("n").ends();
    assert_eq!(settled(&scene), [(false, "person".into())]);
}

#[test]
fn a_run_whose_time_was_given_is_not_asked_about() {
    let scene = Scene::new();
    scene.play(&[&cell("python", LOOP), "I am done."]);
    let terminal = Terminal::open(&scene, &["--set", "limits.wall=2s", "go"]);
    terminal.shows("Run it?").types("y").shows("I am done.");
    terminal.lacks(QUESTION).types("/quit").exits(0);
    assert!(settled(&scene).is_empty());
}
