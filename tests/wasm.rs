//! The core where it really runs: compiled to WebAssembly, in a browser.
#![cfg(target_arch = "wasm32")]

use streamgauge::{
    config::{
        Api, RunConfig, link,
        workload::{Kind, Workload},
    },
    demo::{Ask, Server},
    engine::Clock,
    request::{Machine, Outcome, Spec},
    workload::{OwnedPrompt, SHARED_PREFIX_OF_SEED_1, Source, random_prompt},
};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
fn a_prompt_is_the_same_as_natively() {
    // `workload::random` has the same line as a native test.
    assert_eq!(
        random_prompt(1, false, 0, 6),
        streamgauge::workload::FIRST_PROMPT_OF_SEED_1
    );
}

#[wasm_bindgen_test]
fn drawn_lengths_and_groups_are_the_same_as_natively() {
    let config = RunConfig {
        input_tokens: 4,
        requests: 10,
        workload: Workload {
            kind: Kind::SharedPrefix,
            system_tokens: 4,
            range_ratio: 0.5,
            zipf_alpha: 1.0,
            ..Workload::default()
        },
        ..RunConfig::default()
    };
    let source = Source::new(&config, vec![]);
    let texts: Vec<String> = (0..3)
        .map(|index| match source.item(false, index).turns.remove(0).prompt {
            OwnedPrompt::Text(text) => text,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts.join("|"), SHARED_PREFIX_OF_SEED_1);
}

#[wasm_bindgen_test]
fn a_schedule_is_the_same_as_natively() {
    use streamgauge::load::schedule::{FIRST_MOMENTS_OF_SEED_1_NS, reference_config, schedule};
    let moments: Vec<u64> = schedule(&reference_config(), vec![])
        .iter()
        .map(|s| (s * 1e9) as u64)
        .collect();
    assert_eq!(moments, FIRST_MOMENTS_OF_SEED_1_NS);
}

#[wasm_bindgen_test]
fn a_simulated_answer_is_read_as_a_success() {
    let config = RunConfig {
        output_tokens: 9,
        ..RunConfig::default()
    };
    let plan = Server::new(config.demo.clone(), 1).plan(0.0, &Ask::from_config(&config));
    let spec = Spec {
        api: Api::Chat,
        stream: true,
        requested_tokens: Some(9),
        keep_text: false,
        keep_bytes: 1000,
    };
    let mut machine = Machine::new(spec, 0.0);
    machine.headers(plan.status, Some(&plan.content_type), 1.0);
    for frame in &plan.frames {
        let _ = machine.read(&frame.bytes, frame.at_ms);
    }
    let reading = machine.finish();
    assert_eq!((reading.outcome, reading.tokens.output), (Outcome::Succeeded, Some(9)));
}

#[wasm_bindgen_test]
fn the_clock_moves_on_and_its_step_is_seen() {
    let clock = Clock::start();
    let step_ms = clock.step_ms().expect("a step");
    assert!(step_ms > 0.0 && step_ms <= 10.0, "{step_ms}");
    assert!(clock.now_ms() > 0.0 && clock.started_unix_ms() > 1.7e12);
}

#[wasm_bindgen_test]
async fn sleeping_never_ends_early() {
    let clock = Clock::start();
    for due_ms in [1.5, 7.2, 30.0] {
        clock.sleep_until(due_ms).await;
        assert!(clock.now_ms() >= due_ms);
    }
}

#[wasm_bindgen_test]
fn a_link_reproduces_the_configuration() {
    let config = RunConfig {
        seed: u64::MAX,
        requests: 7,
        ..RunConfig::default()
    };
    assert_eq!(link::from_query(&link::to_query(&config)), (config, vec![]));
}
