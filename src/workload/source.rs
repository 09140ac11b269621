//! The prompts of one run.

use std::cmp::Ordering;

use rand::{Rng, seq::SliceRandom};
use serde_json::{Map, Value};

use super::{
    file::{Content, FileItem},
    random::{Part, WordRate, stream, words},
};
use crate::config::{
    RunConfig,
    workload::{Kind, Workload},
};

/// Tokens of one block of a Mooncake trace.
const TRACE_BLOCK: u32 = 512;
/// Token ids that nearly every vocabulary has and that are no special tokens.
const USUAL_IDS: std::ops::Range<u32> = 1_000..10_000;

/// What seed 1 gives first of shared prefixes of 2 to 4 tokens, of Zipf's popularity: the same natively and in the browser.
pub const SHARED_PREFIX_OF_SEED_1: &str = "first below girl\n\nhalf black found|fact dark early first\n\nalways along case|first below girl\n\nfeel along between high";

/// A prompt in one of the forms an API can take.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnedPrompt {
    /// Text.
    Text(String),
    /// Token ids.
    TokenIds(Vec<u32>),
    /// Chat messages.
    Messages(Vec<Value>),
}

/// One question and the longest answer to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// What is asked.
    pub prompt: OwnedPrompt,
    /// Its length as asked, tokens; absent where nobody asked for one.
    pub input_tokens: Option<u32>,
    /// Longest answer, tokens.
    pub output_tokens: u32,
}

/// One request, or one conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its turns, at least one; from the second on, all before it and the server's answers stand before the question.
    pub turns: Vec<Turn>,
    /// Keys of the body that stand in the file.
    pub extra: Map<String, Value>,
}

/// Makes the prompts of one run: the same seed and file, the same prompts.
#[derive(Clone, Debug)]
pub struct Source {
    seed: u64,
    input_tokens: u32,
    output_tokens: u32,
    workload: Workload,
    rate: WordRate,
    ids: Vec<u32>,
    /// Group of each measured request.
    groups: Vec<u32>,
    /// The file's items in the order in which they are asked.
    items: Vec<FileItem>,
}

impl Source {
    /// A source for a configuration, and what was read of its file.
    pub fn new(config: &RunConfig, mut items: Vec<FileItem>) -> Self {
        let workload = config.workload.clone();
        let mut rng = stream(config.seed, Part::Order, 0);
        let groups = match workload.kind {
            Kind::SharedPrefix => assign(&workload, config.requests, &mut rng),
            _ => Vec::new(),
        };
        if workload.kind == Kind::File {
            let (start_s, end_s) = (workload.trace_start_s, workload.trace_end_s);
            items.retain(|item| {
                let within = item
                    .at_s
                    .is_none_or(|at_s| at_s >= start_s && (end_s == 0.0 || at_s < end_s));
                within && (workload.context_tokens == 0 || item.tokens(config.output_tokens) <= workload.context_tokens)
            });
            // A trace by its times, which need not be in order in the file; all else as it stands there.
            items.sort_by(|a, b| {
                a.at_s
                    .partial_cmp(&b.at_s)
                    .unwrap_or(Ordering::Equal)
                    .then(a.position.cmp(&b.position))
            });
            if !workload.ordered && items.iter().all(|item| item.at_s.is_none()) {
                items.shuffle(&mut rng);
            }
        }
        Self {
            seed: config.seed,
            input_tokens: config.input_tokens,
            output_tokens: config.output_tokens,
            workload,
            rate: WordRate::default(),
            ids: Vec::new(),
            groups,
            items,
        }
    }

    /// Takes what is known of the server's tokenizer: tokens per word, and ids that it has.
    pub fn calibrate(&mut self, rate: WordRate, ids: Vec<u32>) {
        self.rate = rate;
        self.ids = ids;
    }

    /// Why nothing can be asked, if so.
    pub fn problem(&self) -> Option<&'static str> {
        (self.workload.kind == Kind::File && self.items.is_empty()).then_some(
            "No item of the file is left to be asked. Look at the longest context, and at start and end of the trace.",
        )
    }

    /// Whether words are made up, so that the server's tokens per word matter.
    pub fn makes_words(&self) -> bool {
        match self.workload.kind {
            Kind::Random | Kind::SharedPrefix => true,
            Kind::Typed => false,
            Kind::File => self
                .items
                .iter()
                .any(|item| matches!(item.content, Content::Blocks { .. })),
        }
    }

    /// Items of the file that can be asked; 0 for other kinds.
    pub fn file_items(&self) -> usize {
        self.items.len()
    }

    /// When a trace's requests are due, s since the first of the chosen part, sped up as asked. Empty if the file has no times.
    pub fn offsets_s(&self) -> Vec<f64> {
        let times: Option<Vec<f64>> = self.items.iter().map(|item| item.at_s).collect();
        let times = times.unwrap_or_default();
        let first = times.first().copied().unwrap_or_default();
        times
            .iter()
            .map(|at_s| (at_s - first) / self.workload.trace_speed)
            .collect()
    }

    /// The item of a request. A file with fewer items begins again.
    pub fn item(&self, warmup: bool, index: u32) -> Item {
        match self.workload.kind {
            Kind::Typed => Item {
                turns: vec![Turn {
                    prompt: OwnedPrompt::Text(self.workload.prompt.clone()),
                    input_tokens: None,
                    output_tokens: self.output_tokens,
                }],
                extra: Map::new(),
            },
            Kind::Random | Kind::SharedPrefix => self.made(warmup, index),
            Kind::File => self.read_item(warmup, index),
        }
    }

    fn made(&self, warmup: bool, index: u32) -> Item {
        let (texts, lengths) = if warmup {
            (Part::WarmUp, Part::WarmUpLengths)
        } else {
            (Part::Measured, Part::Lengths)
        };
        let mut text = stream(self.seed, texts, index.into());
        let mut length = stream(self.seed, lengths, index.into());
        let mut draw = |longest: u32| match self.least(longest) {
            least if least < longest => length.random_range(least..=longest),
            _ => longest,
        };
        let turns = (0..self.workload.turns.max(1)).map(|turn| {
            let question = draw(self.input_tokens);
            let output_tokens = draw(self.output_tokens);
            if self.workload.sends_token_ids() {
                let ids = (0..question).map(|_| self.id(&mut text)).collect();
                return Turn {
                    prompt: OwnedPrompt::TokenIds(ids),
                    input_tokens: Some(question),
                    output_tokens,
                };
            }
            // The prefix takes what stands around a prompt upon itself, and begins it.
            let prefix = (turn == 0 && self.workload.kind == Kind::SharedPrefix).then(|| self.prefix(warmup, index));
            let (text, input_tokens) = match prefix {
                Some((prefix, tokens)) => {
                    let question_words = self.rate.words_within(question.into());
                    (
                        format!("{prefix}\n\n{}", words(&mut text, question_words)),
                        tokens + question,
                    )
                }
                None if turn == 0 => (words(&mut text, self.rate.words_for(question)), question),
                None => (words(&mut text, self.rate.words_within(question.into())), question),
            };
            Turn {
                prompt: OwnedPrompt::Text(text),
                // A later turn's prompt holds the answers before it, whose lengths nobody asked for.
                input_tokens: (turn == 0).then_some(input_tokens),
                output_tokens,
            }
        });
        Item {
            turns: turns.collect(),
            extra: Map::new(),
        }
    }

    /// The shortest length that may be drawn: as in SGLang's client, rounded down, at least 1.
    fn least(&self, longest: u32) -> u32 {
        ((f64::from(longest) * self.workload.range_ratio) as u32).clamp(1, longest.max(1))
    }

    fn id(&self, rng: &mut rand_pcg::Pcg64Mcg) -> u32 {
        if self.ids.is_empty() {
            rng.random_range(USUAL_IDS)
        } else {
            self.ids[rng.random_range(0..self.ids.len() as u32) as usize]
        }
    }

    /// The shared part of a request's prompt and its length. Warm-up requests have prefixes of their own, so that none of
    /// the measured ones is cached beforehand.
    fn prefix(&self, warmup: bool, index: u32) -> (String, u32) {
        let number = match self.groups.get(index as usize) {
            Some(group) if !warmup => u64::from(*group),
            _ => (1 << 40) + u64::from(index),
        };
        let mut rng = stream(self.seed, Part::Prefix, number);
        let longest = self.workload.system_tokens;
        let tokens = match self.least(longest) {
            least if least < longest => rng.random_range(least..=longest),
            _ => longest,
        };
        (words(&mut rng, self.rate.words_for(tokens)), tokens)
    }

    fn read_item(&self, warmup: bool, index: u32) -> Item {
        let Some(item) = self.chosen(warmup, index) else {
            return Item {
                turns: Vec::new(),
                extra: Map::new(),
            };
        };
        let output = |own: Option<u32>| match own {
            Some(own) if self.workload.file_lengths => own,
            _ => self.output_tokens,
        };
        let single = |prompt, input_tokens| {
            vec![Turn {
                prompt,
                input_tokens,
                output_tokens: output(item.output_tokens),
            }]
        };
        let turns = match &item.content {
            Content::Text(text) => single(OwnedPrompt::Text(text.clone()), None),
            Content::Messages(messages) => single(OwnedPrompt::Messages(messages.clone()), None),
            Content::Blocks { hashes, input_tokens } => single(
                OwnedPrompt::Text(self.blocks(hashes, *input_tokens, index)),
                Some(*input_tokens),
            ),
            Content::Conversation(said) => said
                .chunks(2)
                .take(self.workload.turns.max(1) as usize)
                .map(|pair| Turn {
                    prompt: OwnedPrompt::Text(pair[0].clone()),
                    input_tokens: None,
                    output_tokens: output(pair.get(1).map(|reply| super::file::estimate(reply))),
                })
                .collect(),
        };
        Item {
            turns,
            extra: item.extra.clone(),
        }
    }

    /// Warm-up requests take items from the end, so that they are not those measured first.
    fn chosen(&self, warmup: bool, index: u32) -> Option<&FileItem> {
        let count = self.items.len();
        let at = (index as usize).checked_rem(count)?;
        self.items.get(if warmup { count - 1 - at } else { at })
    }

    /// Text of a trace's prompt: equal hashes give equal blocks, so that what was shared in the trace is shared again.
    fn blocks(&self, hashes: &[u64], tokens: u32, index: u32) -> String {
        let mut text = String::new();
        let mut left = self.rate.words_for(tokens);
        let block = self.rate.words_within(TRACE_BLOCK.into());
        for number in 0u64.. {
            if left == 0 {
                break;
            }
            // Past the last hash the text is the request's own.
            let hash = hashes.get(number as usize).copied();
            let hash = hash.unwrap_or((1 << 62) ^ (u64::from(index) << 24) ^ number);
            if number > 0 {
                text.push(' ');
            }
            let count = left.min(block);
            text.push_str(&words(&mut stream(self.seed, Part::Block, hash), count));
            left -= count;
        }
        text
    }
}

/// Which group each request belongs to. Even popularity gives each group the same number of requests, to within one.
fn assign(workload: &Workload, requests: u32, rng: &mut rand_pcg::Pcg64Mcg) -> Vec<u32> {
    let groups = workload.groups.max(1);
    let mut assigned: Vec<u32> = if workload.zipf_alpha > 0.0 {
        let mut sum = 0.0;
        let cumulated: Vec<f64> = (1..=groups)
            .map(|rank| {
                sum += f64::from(rank).powf(-workload.zipf_alpha);
                sum
            })
            .collect();
        (0..requests)
            .map(|_| {
                let at = rng.random::<f64>() * sum;
                cumulated.partition_point(|upto| *upto <= at).min(groups as usize - 1) as u32
            })
            .collect()
    } else {
        (0..requests).map(|index| index % groups).collect()
    };
    if workload.ordered {
        assigned.sort_unstable();
    } else {
        assigned.shuffle(rng);
    }
    assigned
}

#[cfg(test)]
mod tests;
