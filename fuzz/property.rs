//! What holds for any bytes in any reads: a verdict falls, nothing panics, and the split of the bytes changes nothing.
//! Shared by the fuzz target and by the short run in the test suite.
//!
//! The first byte of the input chooses API, status and kind of end; the second the sizes of the reads; the rest is the
//! body.

use streamgauge::{
    config::Api,
    request::{Flow, Machine, Outcome, Reading, Spec, TimeoutKind},
};

fn read(spec: Spec, status: u16, end: u8, reads: &mut dyn Iterator<Item = &[u8]>) -> Reading {
    let mut machine = Machine::new(spec, 0.0);
    machine.headers(status, None, 1.0);
    for bytes in reads {
        if machine.read(bytes, 2.0) == Flow::Complete {
            return machine.finish();
        }
    }
    match end {
        0 => machine.eof(3.0),
        1 => machine.broken("broken", 3.0),
        _ => machine.timeout(TimeoutKind::Stall, 3.0),
    }
    machine.finish()
}

/// Panics if the property does not hold; returns the outcome of what is long enough to be tried.
pub fn check(input: &[u8]) -> Option<Outcome> {
    let [choice, size, body @ ..] = input else { return None };
    let spec = Spec {
        api: Api::ALL[usize::from(choice & 3) % 3],
        stream: choice & 4 == 0,
        requested_tokens: (choice & 8 != 0).then_some(64),
        keep_text: true,
        keep_bytes: 256,
    };
    let status = if choice & 16 == 0 { 200 } else { 503 };
    let end = (choice >> 5) % 3;
    let whole = read(spec, status, end, &mut [body].into_iter());
    let split = read(spec, status, end, &mut body.chunks(usize::from(*size).max(1)));
    for reading in [&whole, &split] {
        assert_eq!(reading.failure.is_none(), reading.outcome == Outcome::Succeeded);
        if reading.outcome == Outcome::Succeeded {
            assert_eq!(reading.status, Some(200));
            assert!(reading.tokens.frames > 0 || !spec.stream, "a success without a token");
        }
        assert!(reading.marks.tokens.is_empty() || reading.marks.tokens.len() == reading.marks.at_us.len());
    }
    assert_eq!(
        (
            whole.outcome,
            &whole.text,
            &whole.reasoning,
            whole.tokens.frames,
            whole.first_token_event,
            &whole.finish_reason
        ),
        (
            split.outcome,
            &split.text,
            &split.reasoning,
            split.tokens.frames,
            split.first_token_event,
            &split.finish_reason
        ),
    );
    Some(whole.outcome)
}
