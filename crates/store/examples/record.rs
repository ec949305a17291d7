//! Measures the record: appends, the check of a million records, and searches among them.
//!
//! ```text
//! cargo run --release -p interpreter-store --example record -- FOLDER [RECORDS]
//! ```
//!
//! The folder must be empty, and has the record afterwards. Nothing is asserted.

#![expect(clippy::print_stdout, reason = "it prints figures")]

use interpreter_core::{Body, Output, Stream};
use interpreter_store::{Folders, Log, LogEntry};
use std::{path::Path, time::Instant};

/// Records of one session.
const SESSION: usize = 100;

/// Appends that are measured one by one.
const SINGLE: u32 = 5_000;

/// Rounds of each search.
const ROUNDS: usize = 9;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("name an empty folder")?;
    let records: usize = arguments.next().map_or(Ok(1_000_000), |count| count.parse())?;
    let folders = Folders::under(Path::new(&folder));
    let mut log = Log::open(&folders)?;
    for session in 0..records / SESSION {
        let entries: Vec<_> = (0..SESSION).map(|at| LogEntry::now(body(session, at))).collect();
        log.append_all(&format!("s{session:08}"), &entries)?;
    }
    let begun = Instant::now();
    for at in (0..SINGLE).map(|at| at as usize) {
        log.append("z", &body(records, at))?;
    }
    let second = f64::from(SINGLE) / begun.elapsed().as_secs_f64();
    println!("{second:.0} appends a second, one at a time");

    let begun = Instant::now();
    let found = log.verify()?;
    println!("{} records verified in {:.2} s", found.records, begun.elapsed().as_secs_f64());

    let search = |words: &[&str]| {
        let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
        log.search(&folders, &words, 20, |_| ())
    };
    let begun = Instant::now();
    search(&["word1"])?;
    println!("all of them indexed in {:.1} s", begun.elapsed().as_secs_f64());
    for words in [
        &["total"][..],
        &["word777"],
        &["total", "word4242"],
        &["w*"],
        &["wor*"],
        &["word4*"],
        &["absent"],
    ] {
        let mut times: Vec<_> = (0..ROUNDS)
            .map(|_| {
                let begun = Instant::now();
                search(words).map(|hits| (begun.elapsed(), hits.len()))
            })
            .collect::<Result<_, _>>()?;
        times.sort();
        let (time, hits) = times[ROUNDS / 2];
        println!("search for {words:?}: {hits} hits in {:.1} ms", time.as_secs_f64() * 1_000.0);
    }
    Ok(())
}

/// A prompt or a short output, with a word that is rare.
fn body(session: usize, at: usize) -> Body {
    let number = (session * SESSION + at) * 7919 % 10_007;
    let text = format!("the total of word{number} is {at}, and it was printed like many others\n");
    match at {
        0 => Body::Prompt { text },
        _ => Body::Output(Output::text("p1", Stream::Stdout, text)),
    }
}
