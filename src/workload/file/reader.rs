//! A file as a bounded sample of its items.

use rand::Rng;
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    FileItem, Form,
    split::{Piece, Splitter},
};
use crate::workload::random::{Part, stream};

/// Most items that are kept.
const MAX_ITEMS: usize = 20_000;
/// Most memory that they may take; past it, half of them are let go and as many are kept from then on.
const MAX_BYTES: usize = 64 << 20;
/// Broken places that are told one by one.
const MAX_TOLD: usize = 5;
/// Characters of the first prompt that are shown.
const EXCERPT: usize = 400;
/// Upper bounds of the prompts' lengths in the preview, tokens; the last bucket has none.
const BOUNDS: [u32; 9] = [32, 128, 256, 512, 1024, 2048, 4096, 8192, 32_768];
/// FNV-1a, 64 bits.
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// Prompts of about one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LengthBucket {
    /// Longest prompt in it, tokens; absent for the last.
    pub up_to: Option<u32>,
    /// Prompts.
    pub count: u64,
}

/// What a file came to, for the person who picked it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// What it is, in words; empty if nothing in it was understood.
    pub form: String,
    /// Items that can be asked.
    pub items: u64,
    /// Of them, kept as the sample.
    pub kept: u64,
    /// Conversations left out because they are too short.
    pub left_out: u64,
    /// Values that could not be read.
    pub broken: u64,
    /// The first of them, each with its line.
    pub errors: Vec<String>,
    /// Lengths of the prompts, told or estimated.
    pub lengths: Vec<LengthBucket>,
    /// Mean length of a prompt, tokens, told or estimated.
    pub mean_tokens: Option<f64>,
    /// The beginning of the first prompt.
    pub first: String,
    /// Whether lengths are the file's own and not estimated.
    pub exact: bool,
    /// Whether the items have times.
    pub timed: bool,
    /// From the first to the last of them, s.
    pub span_s: Option<f64>,
    /// FNV-1a of the bytes, in hexadecimal.
    pub checksum: String,
}

/// What was read of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// For the person.
    pub summary: Summary,
    /// For the run.
    pub items: Vec<FileItem>,
}

/// Reads a file.
#[derive(Debug)]
pub struct Reader {
    splitter: Splitter,
    sample: Sample,
}

#[derive(Debug)]
struct Sample {
    form: Option<Form>,
    items: Vec<FileItem>,
    /// Reservoir sampling: how many may be kept.
    room: usize,
    most_bytes: usize,
    bytes: usize,
    rng: Pcg64Mcg,
    seen: u64,
    position: u64,
    counts: [u64; BOUNDS.len() + 1],
    tokens: f64,
    times: Option<(f64, f64)>,
    hash: u64,
    summary: Summary,
}

impl Default for Reader {
    fn default() -> Self {
        Self::with_bounds(MAX_ITEMS, MAX_BYTES)
    }
}

impl Reader {
    fn with_bounds(room: usize, most_bytes: usize) -> Self {
        Self {
            splitter: Splitter::default(),
            sample: Sample {
                form: None,
                items: Vec::new(),
                room,
                most_bytes,
                bytes: 0,
                // The sample is a property of the file; which of it is asked, and in what order, is the run's seed's matter.
                rng: stream(0, Part::Order, 1),
                seen: 0,
                position: 0,
                counts: [0; BOUNDS.len() + 1],
                tokens: 0.0,
                times: None,
                hash: FNV_BASIS,
                summary: Summary::default(),
            },
        }
    }

    /// Reads on.
    pub fn read(&mut self, bytes: &[u8]) {
        let sample = &mut self.sample;
        sample.hash = bytes.iter().fold(sample.hash, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME)
        });
        self.splitter.read(bytes, |piece| sample.take(piece));
    }

    /// Items read so far.
    pub fn items_so_far(&self) -> u64 {
        self.sample.seen
    }

    /// The end of the file.
    pub fn finish(mut self) -> Found {
        let sample = &mut self.sample;
        if let Some(line) = self.splitter.end(|piece| sample.take(piece)) {
            sample.broken(line, "the file ends in the middle of the list");
        }
        let array = self.splitter.is_array();
        self.sample.finish(array)
    }
}

impl Sample {
    fn take(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::TooLong(line) => self.broken(line, "this is longer than a prompt can be, and was passed over"),
            Piece::Value(line, bytes) => match self.understood(bytes) {
                Ok(Some(item)) => self.add(item),
                Ok(None) => self.summary.left_out += 1,
                Err(message) => self.broken(line, &message),
            },
        }
    }

    fn understood(&mut self, bytes: &[u8]) -> Result<Option<FileItem>, String> {
        let value = match serde_json::from_slice(bytes) {
            Ok(Value::Object(value)) => value,
            Ok(_) => return Err("this is no JSON object".into()),
            Err(error) if error.is_eof() => return Err("this JSON is cut off".into()),
            Err(error) => return Err(format!("this is no JSON ({error})")),
        };
        let form = Form::of(&value).ok_or("there is no prompt, messages, conversations or trace in it")?;
        // A file is of one form; a value of another is a mistake that would mix two workloads.
        let first = *self.form.get_or_insert(form);
        if first != form {
            return Err(format!("{} among {}", form.words(false), first.words(false)));
        }
        let item = form.read(value, self.position)?;
        self.position += 1;
        Ok(item)
    }

    fn broken(&mut self, line: u64, message: &str) {
        self.summary.broken += 1;
        if self.summary.errors.len() < MAX_TOLD {
            self.summary.errors.push(format!("Line {line}: {message}."));
        }
    }

    fn add(&mut self, item: FileItem) {
        let tokens = item.prompt_tokens();
        if self.seen == 0 {
            self.summary.first = item.excerpt(EXCERPT);
        }
        self.seen += 1;
        self.tokens += f64::from(tokens);
        self.counts[BOUNDS.partition_point(|bound| *bound < tokens)] += 1;
        if let Some(at_s) = item.at_s {
            let (from, to) = self.times.unwrap_or((at_s, at_s));
            self.times = Some((from.min(at_s), to.max(at_s)));
            // The beginning of a trace, whole: a sample of it would be another load.
            if self.items.len() < self.room && self.bytes < self.most_bytes {
                self.bytes += item.bytes();
                self.items.push(item);
            }
            return;
        }
        if self.items.len() < self.room {
            self.bytes += item.bytes();
            self.items.push(item);
        } else {
            let at = self.rng.random_range(0..self.seen);
            if let Some(old) = usize::try_from(at).ok().and_then(|at| self.items.get_mut(at)) {
                self.bytes = self.bytes + item.bytes() - old.bytes();
                *old = item;
            }
        }
        while self.bytes > self.most_bytes && self.items.len() > 1 {
            self.room = self.items.len() / 2;
            while self.items.len() > self.room {
                let at = self.rng.random_range(0..self.items.len() as u32) as usize;
                self.bytes -= self.items.swap_remove(at).bytes();
            }
        }
    }

    fn finish(mut self, array: bool) -> Found {
        self.items.sort_by_key(|item| item.position);
        if let Some((from, _)) = self.times {
            for item in &mut self.items {
                item.at_s = item.at_s.map(|at_s| at_s - from);
            }
        }
        let lengths = BOUNDS.iter().map(Some).chain([None]).zip(self.counts);
        let summary = Summary {
            form: self.form.map_or_else(String::new, |form| form.words(array).to_owned()),
            items: self.seen,
            kept: self.items.len() as u64,
            lengths: lengths
                .map(|(up_to, count)| LengthBucket {
                    up_to: up_to.copied(),
                    count,
                })
                .collect(),
            mean_tokens: (self.seen > 0).then(|| self.tokens / self.seen as f64),
            exact: self.form == Some(Form::Trace),
            timed: self.times.is_some(),
            span_s: self.times.map(|(from, to)| to - from),
            checksum: format!("{:016x}", self.hash),
            ..self.summary
        };
        Found {
            summary,
            items: self.items,
        }
    }
}

#[cfg(test)]
mod tests;
