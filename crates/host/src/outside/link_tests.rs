//! A link with something that stands in for its host.

use super::*;
use crate::{
    inside::{Ends, Outgoing},
    outside::heard::ENOUGH,
};
use std::io::{Read, Write};

/// A link, and what stands in for its host.
struct Scene {
    link: Link,
    host: OwnedFd,
}

/// A stand-in for a kernel's process.
struct Process {
    stdout: std::io::PipeWriter,
    _stderr: std::io::PipeWriter,
    control: UnixStream,
}

impl Scene {
    fn new() -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        Self { link: Link::new(ours).unwrap(), host: theirs.into() }
    }

    fn says(&mut self, message: &Outward, ends: Option<Ends>) {
        let mut outgoing = Outgoing::default();
        outgoing.push_with(message, ends);
        outgoing.send(&self.host);
        assert!(outgoing.is_empty());
    }

    fn starts(&mut self, kernel: u32, process: u32) -> Process {
        let (out, stdout) = std::io::pipe().unwrap();
        let (err, stderr) = std::io::pipe().unwrap();
        let (ours, control) = UnixStream::pair().unwrap();
        let started = Outward::Started { kernel, process, input: false };
        self.says(&started, Some(vec![out.into(), err.into(), ours.into()]));
        assert_eq!(self.hears(), [Heard::Told(started)]);
        Process { stdout, _stderr: stderr, control }
    }

    /// Everything that comes until nothing does.
    fn hears(&mut self) -> Vec<Heard> {
        let mut heard = Vec::new();
        loop {
            while let Some(next) = self.link.next() {
                heard.push(next.unwrap());
            }
            match self.link.take_in() {
                Ok(true) => {}
                Ok(false) => return heard,
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                    return heard;
                }
            }
        }
    }
}

fn claim(kernel: u32, text: &str) -> Heard {
    Heard::Claim { kernel, claim: text.into() }
}

#[test]
fn a_kernel_without_wires_ends_the_connection() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let socket = || OwnedFd::from(ours.try_clone().unwrap());
    for ends in [None, Some(vec![socket(), socket(), socket()])] {
        let mut scene = Scene::new();
        scene.says(&Outward::Started { kernel: 1, process: 2, input: false }, ends);
        assert!(scene.link.take_in().unwrap());
        assert!(matches!(scene.link.next(), Some(Err(FrameError::NoWires))));
    }
}

#[test]
fn what_was_printed_before_a_claim_or_a_death_is_told_before_it() {
    let mut scene = Scene::new();
    let mut process = scene.starts(1, 2);
    process.control.write_all(b"{\"kind\":\"line\",\"line\":1}\n").unwrap();
    process.stdout.write_all(b"one").unwrap();
    let stdout = |bytes: &[u8]| Heard::Stdout { kernel: 1, bytes: bytes.to_vec() };
    assert_eq!(scene.hears(), [stdout(b"one"), claim(1, "{\"kind\":\"line\",\"line\":1}")]);
    let exited = Outward::Exited { kernel: 1, status: Some(0), signal: None };
    process.stdout.write_all(b"two").unwrap();
    process.control.write_all(b"last\n").unwrap();
    scene.says(&exited, None);
    drop(process);
    let expected = [stdout(b"two"), claim(1, "last"), Heard::Told(exited)];
    // The end of its socket may be noticed first; the kill then finds nobody.
    let lost = Heard::Lost { kernel: 1, process: 2 };
    let heard: Vec<_> = scene.hears().into_iter().filter(|heard| *heard != lost).collect();
    assert_eq!(heard, expected);
    scene.link.execute(1, b"nobody", &[]);
    assert_eq!(scene.hears(), []);
}

#[test]
fn a_cell_waits_for_room_and_goes_to_the_kernel_that_took_the_place() {
    let mut scene = Scene::new();
    let _old = scene.starts(1, 2);
    scene.link.execute_when_tidied(1, b"x = 1".to_vec(), vec![]);
    scene.says(&Outward::Crowded { kernel: 1 }, None);
    assert_eq!(scene.hears(), [Heard::Told(Outward::Crowded { kernel: 1 })]);
    let mut new = scene.starts(1, 3);
    new.control.set_nonblocking(true).unwrap();
    assert!(new.control.read(&mut [0; 9]).is_err(), "it goes when there is room");
    scene.says(&Outward::Tidied { kernel: 1 }, None);
    scene.hears();
    let mut cell = [0; 8];
    new.control.read_exact(&mut cell).unwrap();
    assert_eq!(&cell, b"05\nx = 1");
}

#[test]
fn many_claims_with_much_output_are_told_bit_by_bit() {
    let mut scene = Scene::new();
    let mut process = scene.starts(1, 2);
    process.control.write_all(&b"noise\n".repeat(5_000)).unwrap();
    let most = 4 * ENOUGH;
    let (mut claims, mut printed) = (0, 0);
    while claims < 5_000 {
        // It prints on, faster than it is listened to.
        process.stdout.write_all(&[b'x'; 1_000]).unwrap();
        scene.link.take_in().unwrap();
        assert!(scene.link.heard.size < most);
        while let Some(heard) = scene.link.next() {
            match heard.unwrap() {
                Heard::Claim { .. } => claims += 1,
                Heard::Stdout { bytes, .. } => printed += bytes.len(),
                other @ (Heard::Stderr { .. } | Heard::Lost { .. } | Heard::Told(_)) => {
                    panic!("{other:?}")
                }
            }
        }
    }
    assert!(printed > 0);
}
