//! Pictures: of a run, and of the person.

use super::*;

/// A result with a picture in one of its forms.
fn picture(display: Option<&str>) -> Event {
    Event::Output(Output {
        proposal: "p1".into(),
        stream: Stream::Result,
        text: Untrusted::new("<Figure>"),
        mime: "text/plain".into(),
        bundle: [("image/png".to_owned(), Untrusted::new(crate::image::RED))].into(),
        display: display.map(Into::into),
        bytes: None,
        kept: None,
    })
}

fn images(script: &Script) -> usize {
    match script.state.messages().last().unwrap() {
        crate::Message::Result { images, .. } | crate::Message::User { images, .. } => images.len(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_model_that_sees_is_sent_the_last_pictures_of_a_run_and_another_is_told_of_them() {
    let plotted = |sees| {
        let script = Script::new(|setup| {
            setup.approval = Approval::Yes;
            setup.profile.sees_images = sees;
        });
        let script = script.asked().replied(PYTHON).judged();
        let names = [None, None, None, None, Some("plot"), None, Some("plot")];
        names.into_iter().fold(script, |script, name| script.when(picture(name)))
    };
    let script = plotted(true).ran(0).tells("earlier pictures that are not shown to you: 2");
    assert_eq!(images(&script), 4);
    let script = plotted(false).ran(0);
    let script = script.tells("pictures that the user saw and you cannot see: 6");
    assert_eq!(images(&script), 0);
}

#[test]
fn a_result_that_is_only_a_picture_is_not_told_as_text() {
    let only = |data: &str| {
        Event::Output(Output {
            proposal: "p1".into(),
            stream: Stream::Result,
            text: Untrusted::new(data),
            mime: "image/png".into(),
            bundle: [].into(),
            display: None,
            bytes: None,
            kept: None,
        })
    };
    let script = Script::new(|setup| {
        setup.approval = Approval::Yes;
        setup.profile.sees_images = true;
    });
    let script = script.asked().replied(PYTHON).judged().when(only(crate::image::RED));
    let script = script.when(only("bm8gcGljdHVyZQ==")).ran(0);
    assert_eq!(images(&script), 1);
    let told = script.last_message();
    assert!(told.contains("[image/png]") && !told.contains("iVBOR"), "{told}");
    assert!(told.contains("[a picture is not shown to you: it is not a PNG"), "{told}");
}

#[test]
fn a_picture_of_the_persons_goes_with_the_next_prompt_and_no_further() {
    let attached = || {
        let image = crate::Image::decode(crate::image::RED).unwrap();
        let kept = crate::Blob { hash: "h".into(), bytes: 1, characters: 0 };
        Event::Attached(Attachment { name: "red.png".into(), image, kept })
    };
    let script = Script::new(|setup| setup.profile.sees_images = true).when(attached()).gives(&[]);
    let script = script.asked().gives(&["outside_text", "call 2"]);
    assert_eq!(images(&script), 1);
    let script = script.replied("It is red.").asked();
    assert_eq!(images(&script), 0);
    let script = Script::new(|_| {}).when(attached()).gives(&["note"]).asked();
    assert_eq!(images(&script), 0);
}
