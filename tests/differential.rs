//! The event-stream parser beside `eventsource-stream`, on streams that the standard allows.

#![cfg(not(target_arch = "wasm32"))]

use eventsource_stream::Eventsource;
use futures_util::{StreamExt, stream};
use proptest::prelude::*;
use streamgauge::sse::{Event, Item, Parser};

/// Name and data of each event.
type Events = Vec<(String, String)>;

fn ours(pieces: &[&[u8]], at_end: bool) -> Events {
    let mut events = Vec::new();
    let mut parser = Parser::new();
    let mut note = |item: Item<'_>| {
        if let Item::Event(Event { name, data, .. }) = item {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
            events.push((text(name), text(data)));
        }
        std::ops::ControlFlow::<()>::Continue(())
    };
    for piece in pieces {
        let _ = parser.push(piece, &mut note);
    }
    if at_end {
        let _ = parser.finish(&mut note);
    }
    events
}

fn theirs(pieces: &[&[u8]]) -> Events {
    let reads: Vec<Result<Vec<u8>, std::convert::Infallible>> = pieces.iter().map(|piece| Ok(piece.to_vec())).collect();
    let events = stream::iter(reads).eventsource().map(|event| {
        let event = event.expect("a legal stream");
        // The standard's default name, where a stream gives none.
        let name = if event.event == "message" {
            String::new()
        } else {
            event.event
        };
        (name, event.data)
    });
    futures_util::FutureExt::now_or_never(events.collect()).expect("nothing to wait for")
}

/// A block of an event stream, with its blank line.
fn block() -> impl Strategy<Value = String> {
    let text = "[ a-zäß😀:{}\"0-9]{0,12}";
    let line = prop_oneof![
        4 => text.prop_map(|text| format!("data: {text}")),
        1 => text.prop_map(|text| format!("data:{text}")),
        1 => "[a-z]{1,8}".prop_map(|name| format!("event: {name}")),
        1 => text.prop_map(|text| format!(": {text}")),
        1 => "[a-z0-9]{0,6}".prop_map(|id| format!("id: {id}")),
        1 => Just("retry: 10".to_owned()),
    ];
    (prop::collection::vec(line, 0..5), prop_oneof![Just("\n"), Just("\r\n")])
        .prop_map(|(lines, end)| lines.into_iter().map(|line| line + end).collect::<String>() + end)
}

/// Cuts text at these places, wherever in a character they fall.
fn cut<'a>(bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn legal_streams_give_the_same_events(blocks in prop::collection::vec(block(), 0..8), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let text = blocks.concat();
        let pieces = cut(text.as_bytes(), &cuts);
        // It drops an event whose data is empty, which the standard delivers if it has a data line.
        let told: Events = ours(&pieces, false).into_iter().filter(|(_, data)| !data.is_empty()).collect();
        let due: Events = theirs(&[text.as_bytes()]).into_iter().filter(|(_, data)| !data.is_empty()).collect();
        prop_assert_eq!(told, due);
    }
}

#[test]
fn the_difference_at_the_end_an_unfinished_event_is_delivered() {
    let text: &[u8] = b"data: a\n\ndata: b";
    assert_eq!(theirs(&[text]).len(), 1);
    assert_eq!(ours(&[text], false).len(), 1);
    assert_eq!(
        ours(&[text], true),
        [(String::new(), "a".to_owned()), (String::new(), "b".to_owned())]
    );
}

#[test]
fn the_difference_in_the_terminator_it_is_an_event_at_its_own_line_end() {
    let text: &[u8] = b"data: [DONE]\n";
    assert_eq!(theirs(&[text]).len(), 0);
    assert_eq!(ours(&[text], false), [(String::new(), "[DONE]".to_owned())]);
}
