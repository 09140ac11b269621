use super::{super::Content, *};

fn read(text: &[u8]) -> Found {
    let found = [1, 7, 4096].map(|piece| {
        let mut reader = Reader::default();
        text.chunks(piece).for_each(|bytes| reader.read(bytes));
        reader.finish()
    });
    assert_eq!(found[0], found[1], "however it is cut");
    assert_eq!(found[0], found[2], "however it is cut");
    found.into_iter().next().unwrap()
}

fn fixture(name: &str) -> Found {
    read(&std::fs::read(format!("tests/workloads/{name}")).unwrap())
}

#[test]
fn share_gpt_gives_conversations_of_two_turns_and_more() {
    let found = fixture("sharegpt.json");
    assert_eq!(found.summary.form, "ShareGPT conversations");
    assert_eq!(
        (found.summary.items, found.summary.left_out, found.summary.broken),
        (2, 2, 0)
    );
    assert_eq!(found.items[0].output_tokens, Some(7));
    assert!(matches!(&found.items[1].content, Content::Conversation(said) if said.len() == 4));
    assert_eq!(found.summary.first, "What is a token, in one sentence?");
}

#[test]
fn conversations_a_line_with_a_mark_and_windows_line_ends() {
    let found = fixture("conversations-bom-crlf.jsonl");
    assert_eq!(found.summary.form, "conversations, one a line");
    assert_eq!((found.summary.items, found.summary.broken), (2, 0));
}

#[test]
fn bodies_keep_every_key_but_those_that_a_run_sets() {
    let found = fixture("bodies.jsonl");
    assert_eq!(found.summary.form, "bodies of chat requests");
    assert_eq!((found.summary.items, found.summary.broken), (2, 0));
    let item = &found.items[0];
    assert_eq!(item.output_tokens, Some(12));
    let extra: Vec<&str> = item.extra.keys().map(String::as_str).collect();
    assert_eq!(extra, ["tools", "top_p"]);
    assert!(matches!(&item.content, Content::Messages(messages) if messages.len() == 2));
}

#[test]
fn prompts_with_lengths_of_either_name() {
    let found = fixture("prompts.jsonl");
    assert_eq!(found.summary.form, "prompts with their answers' lengths");
    let lengths: Vec<_> = found.items.iter().map(|item| item.output_tokens).collect();
    assert_eq!(lengths, [Some(10), Some(20), None]);
}

#[test]
fn a_trace_has_times_from_its_first_and_exact_lengths() {
    let found = fixture("trace.jsonl");
    assert!(found.summary.timed && found.summary.exact);
    assert_eq!(found.summary.span_s, Some(3.0));
    let times: Vec<_> = found.items.iter().map(|item| item.at_s).collect();
    assert_eq!(times, [Some(0.0), Some(1.5), Some(3.0)]);
    assert_eq!(found.summary.mean_tokens, Some((600.0 + 1100.0 + 100.0) / 3.0));
}

#[test]
fn what_is_broken_is_told_with_its_line_and_the_rest_is_used() {
    let found = fixture("broken.jsonl");
    assert_eq!((found.summary.items, found.summary.broken), (2, 6));
    let starts = [
        "Line 2: this is no JSON object",
        "Line 3: \"prompt\" is no text",
        "Line 4: \"output_tokens\" is no whole number",
        "Line 6: bodies of chat requests among",
        "Line 7: there is no prompt",
    ];
    for (error, start) in found.summary.errors.iter().zip(starts) {
        assert!(error.starts_with(start), "{error}");
    }
    assert_eq!(found.summary.errors.len(), 5, "the sixth is counted alone");
}

#[test]
fn a_truncated_array_gives_what_came_whole() {
    let found = read(
        b"[{\"conversations\":[{\"value\":\"a question\"},{\"value\":\"an answer\"}]},\n{\"conversations\":[{\"val",
    );
    assert_eq!((found.summary.items, found.summary.broken), (1, 1));
    assert_eq!(
        found.summary.errors,
        ["Line 2: the file ends in the middle of the list."]
    );
    let lines = read(b"{\"prompt\":\"a\"}\n{\"prompt\":\"b");
    assert_eq!(lines.summary.errors, ["Line 2: this JSON is cut off."]);
}

#[test]
fn nothing_and_the_wrong_thing_give_no_items() {
    for text in [&b""[..], b"\xef\xbb\xbf", b"\n\r\n", b"[]"] {
        let found = read(text);
        assert_eq!(
            (found.items.len(), found.summary.broken, &*found.summary.form),
            (0, 0, "")
        );
    }
    assert_eq!(read(b"hello\nworld").summary.broken, 2);
    assert_eq!(read(b"\xff\xfe{\x00").summary.broken, 1);
    assert_eq!(read(b"").summary.mean_tokens, None);
}

#[test]
fn the_checksum_is_fnv_1a() {
    assert_eq!(read(b"").summary.checksum, "cbf29ce484222325");
    assert_eq!(read(b"foobar").summary.checksum, "85944171f73967e8");
}

fn many(count: u32, text: &str) -> Vec<u8> {
    (0..count)
        .flat_map(|i| format!("{{\"prompt\":\"{text}{i}\"}}\n").into_bytes())
        .collect()
}

#[test]
fn a_large_file_leaves_an_even_sample() {
    let mut early = 0;
    let mut reader = Reader::with_bounds(1_000, usize::MAX);
    reader.read(&many(10_000, "p"));
    let found = reader.finish();
    assert_eq!((found.summary.items, found.items.len()), (10_000, 1_000));
    assert!(found.items.windows(2).all(|pair| pair[0].position < pair[1].position));
    early += found.items.iter().filter(|item| item.position < 5_000).count();
    // Hypergeometric: mean 500, standard deviation 15.
    assert!((440..560).contains(&early), "{early}");
}

#[test]
fn memory_stays_within_its_bound() {
    let bound = 100_000;
    let mut reader = Reader::with_bounds(20_000, bound);
    reader.read(&many(5_000, &"long ".repeat(100)));
    let found = reader.finish();
    let bytes: usize = found.items.iter().map(FileItem::bytes).sum();
    assert!(
        bytes <= bound && found.items.len() > 50,
        "{bytes} bytes, {} items",
        found.items.len()
    );
    assert_eq!(found.summary.items, 5_000);
}

#[test]
fn prompts_are_told_from_results_by_looking() {
    let sharegpt = std::fs::read("tests/workloads/sharegpt.json").unwrap();
    assert!(super::super::holds_prompts(&sharegpt) && super::super::holds_prompts(&sharegpt[..300]));
    assert!(!super::super::holds_prompts(
        b"{\"format\":{\"name\":\"streamgauge\",\"version\":1},\"requests\":[{\"prompt\":1}]}"
    ));
    assert!(!super::super::holds_prompts(
        b"{\n  \"format\": {\n    \"name\": \"streamgauge\"\n"
    ));
    assert!(!super::super::holds_prompts(b"data: {\"choices\":[]}\n\n"));
}
