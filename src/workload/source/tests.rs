use std::collections::{BTreeMap, HashSet};

use super::*;

fn config(workload: Workload) -> RunConfig {
    RunConfig {
        requests: 400,
        input_tokens: 100,
        output_tokens: 40,
        workload,
        ..RunConfig::default()
    }
}

fn text(item: &Item) -> &str {
    match &item.turns[0].prompt {
        OwnedPrompt::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_range_ratio_draws_lengths_evenly_and_tells_them() {
    let workload = Workload {
        range_ratio: 0.5,
        ..Workload::default()
    };
    let source = Source::new(&config(workload), vec![]);
    let items: Vec<Item> = (0..400).map(|index| source.item(false, index)).collect();
    let inputs: Vec<u32> = items.iter().filter_map(|item| item.turns[0].input_tokens).collect();
    assert!(inputs.iter().all(|n| (50..=100).contains(n)));
    let mean = inputs.iter().sum::<u32>() as f64 / 400.0;
    // An even draw from 50 to 100: mean 75, and 14.7 / √400 = 0.74 is the spread of the mean.
    assert!((mean - 75.0).abs() < 2.5, "{mean}");
    assert!(
        items
            .iter()
            .all(|item| (20..=40).contains(&item.turns[0].output_tokens))
    );
    for (item, tokens) in items.iter().zip(inputs) {
        assert_eq!(text(item).split(' ').count() as u32, tokens);
    }
    let exact = Source::new(&config(Workload::default()), vec![]).item(false, 7);
    assert_eq!(
        (exact.turns[0].input_tokens, exact.turns[0].output_tokens),
        (Some(100), 40)
    );
}

#[test]
fn prompts_are_unique_and_those_of_the_warm_up_apart() {
    let source = Source::new(&config(Workload::default()), vec![]);
    let all: HashSet<String> = [false, true]
        .into_iter()
        .flat_map(|warmup| (0..400).map(move |index| (warmup, index)))
        .map(|(warmup, index)| text(&source.item(warmup, index)).to_owned())
        .collect();
    assert_eq!(all.len(), 800);
}

#[test]
fn a_calibrated_source_makes_as_many_words_as_give_the_tokens() {
    let mut source = Source::new(&config(Workload::default()), vec![]);
    let rate = WordRate {
        tokens_per_word: 2.5,
        around: 10.0,
    };
    source.calibrate(rate, vec![]);
    assert_eq!(text(&source.item(false, 0)).split(' ').count(), 36);
}

#[test]
fn token_ids_are_of_the_tokenizer_where_it_is_known() {
    let workload = Workload {
        token_ids: true,
        ..Workload::default()
    };
    let mut source = Source::new(&config(workload), vec![]);
    source.calibrate(WordRate::default(), vec![5, 6]);
    let OwnedPrompt::TokenIds(ids) = source.item(false, 0).turns.remove(0).prompt else {
        panic!("token ids")
    };
    assert_eq!((ids.len(), ids.iter().all(|id| [5, 6].contains(id))), (100, true));
}

fn shared(workload: Workload) -> (Vec<String>, Vec<String>) {
    let workload = Workload {
        kind: Kind::SharedPrefix,
        system_tokens: 50,
        groups: 5,
        ..workload
    };
    let source = Source::new(&config(workload), vec![]);
    (0..400)
        .map(|index| {
            let item = source.item(false, index);
            let (prefix, question) = text(&item).split_once("\n\n").unwrap();
            (prefix.to_owned(), question.to_owned())
        })
        .unzip()
}

#[test]
fn groups_share_their_prefix_and_nothing_else() {
    let (prefixes, questions) = shared(Workload::default());
    let mut counts = BTreeMap::new();
    for prefix in &prefixes {
        assert_eq!(prefix.split(' ').count(), 50);
        *counts.entry(prefix).or_insert(0) += 1;
    }
    assert!(
        counts.len() == 5 && counts.values().all(|n| *n == 80),
        "{:?}",
        counts.values()
    );
    assert_eq!(questions.iter().collect::<HashSet<_>>().len(), 400);
    let changes = |prefixes: &[String]| prefixes.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(changes(&prefixes) > 200, "shuffled");
    let (ordered, _) = shared(Workload {
        ordered: true,
        ..Workload::default()
    });
    assert_eq!(changes(&ordered), 4, "group by group");
}

#[test]
fn the_warm_up_has_prefixes_of_its_own() {
    let workload = Workload {
        kind: Kind::SharedPrefix,
        system_tokens: 50,
        ..Workload::default()
    };
    let source = Source::new(&config(workload), vec![]);
    let prefix = |warmup, index| {
        text(&source.item(warmup, index))
            .split("\n\n")
            .next()
            .unwrap()
            .to_owned()
    };
    let measured: HashSet<String> = (0..400).map(|index| prefix(false, index)).collect();
    assert!((0..20).all(|index| !measured.contains(&prefix(true, index))));
}

#[test]
fn zipf_makes_the_first_group_the_most_popular() {
    let workload = Workload {
        zipf_alpha: 1.0,
        groups: 4,
        ..Workload::default()
    };
    let assigned = assign(&workload, 20_000, &mut stream(1, Part::Order, 0));
    // P ∝ 1, 1/2, 1/3, 1/4: shares 0.48, 0.24, 0.16, 0.12.
    for (group, expected) in [0.48, 0.24, 0.16, 0.12].into_iter().enumerate() {
        let share = assigned.iter().filter(|g| **g as usize == group).count() as f64 / 20_000.0;
        assert!((share - expected).abs() < 0.012, "group {group}: {share}");
    }
}

fn trace(position: u64, at_s: f64, hashes: &[u64], input_tokens: u32) -> FileItem {
    FileItem {
        position,
        content: Content::Blocks {
            hashes: hashes.to_vec(),
            input_tokens,
        },
        output_tokens: Some(9),
        extra: Map::new(),
        at_s: Some(at_s),
    }
}

#[test]
fn a_trace_keeps_its_times_and_what_it_shares() {
    let workload = Workload {
        kind: Kind::File,
        trace_speed: 2.0,
        trace_start_s: 1.0,
        trace_end_s: 10.0,
        ..Workload::default()
    };
    let items = vec![
        trace(1, 2.0, &[7, 8], 700),
        trace(0, 0.0, &[7], 500),
        trace(2, 5.0, &[7, 9], 700),
        trace(3, 10.0, &[1], 10),
    ];
    let source = Source::new(&config(workload), items);
    assert_eq!(source.offsets_s(), [0.0, 1.5]);
    let (first, second) = (source.item(false, 0), source.item(false, 1));
    assert_eq!(
        (first.turns[0].input_tokens, first.turns[0].output_tokens),
        (Some(700), 9)
    );
    let words = |item: &Item| text(item).split(' ').map(str::to_owned).collect::<Vec<_>>();
    let (first, second) = (words(&first), words(&second));
    assert_eq!(first.len(), 700);
    assert_eq!(first[..512], second[..512]);
    assert_ne!(first[512..], second[512..]);
}

#[test]
fn a_file_is_shuffled_by_the_seed_filtered_and_begins_again() {
    let item = |position: u64, text: &str| FileItem {
        position,
        content: Content::Text(text.to_owned()),
        output_tokens: None,
        extra: Map::new(),
        at_s: None,
    };
    let items: Vec<FileItem> = (0..50).map(|i| item(i, &format!("prompt {i}"))).collect();
    let order = |seed, ordered| {
        let workload = Workload {
            kind: Kind::File,
            ordered,
            ..Workload::default()
        };
        let config = RunConfig {
            seed,
            ..config(workload)
        };
        let source = Source::new(&config, items.clone());
        (0..60)
            .map(|i| text(&source.item(false, i)).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(order(1, false), order(1, false));
    assert_ne!(order(1, false), order(2, false));
    let ordered = order(1, true);
    assert_eq!(
        (&*ordered[0], &*ordered[49], &*ordered[50]),
        ("prompt 0", "prompt 49", "prompt 0")
    );
    let workload = Workload {
        kind: Kind::File,
        context_tokens: 10,
        ..Workload::default()
    };
    assert!(
        Source::new(&config(workload), items.clone()).problem().is_some(),
        "40 tokens of output are too many"
    );
}

#[test]
fn a_conversation_has_as_many_turns_as_asked_and_its_own_lengths() {
    let said = ["first question", "first answer of the file", "second", "reply", "third"];
    let item = FileItem {
        position: 0,
        content: Content::Conversation(said.map(str::to_owned).to_vec()),
        output_tokens: None,
        extra: Map::new(),
        at_s: None,
    };
    let turns = |turns, file_lengths| {
        let workload = Workload {
            kind: Kind::File,
            turns,
            file_lengths,
            ..Workload::default()
        };
        Source::new(&config(workload), vec![item.clone()]).item(false, 0).turns
    };
    assert_eq!(turns(1, true).len(), 1);
    let all = turns(9, true);
    assert_eq!(all.len(), 3);
    assert_eq!(all[1].prompt, OwnedPrompt::Text("second".into()));
    assert_eq!(all[0].output_tokens, super::super::file::estimate(said[1]));
    assert_eq!((all[2].output_tokens, turns(1, false)[0].output_tokens), (40, 40));
}

#[test]
fn what_a_seed_gives_never_changes() {
    // `tests/wasm.rs` has the same line for the browser.
    assert_eq!(super::SHARED_PREFIX_OF_SEED_1, shared_of_seed_1());
}

fn shared_of_seed_1() -> String {
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
        .map(|index| text(&source.item(false, index)).to_owned())
        .collect();
    texts.join("|")
}
