//! The bytes kept as evidence while nobody knows yet whether they will be needed.

use super::ReadEvidence;

/// The head of a body, in reads. One buffer, so that a read costs no allocation of its own.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    bytes: Vec<u8>,
    /// Time and end (in `bytes`) of each read.
    reads: Vec<(f64, usize)>,
    limit: usize,
    dropped: u64,
}

impl Kept {
    pub fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            reads: Vec::new(),
            limit,
            dropped: 0,
        }
    }

    pub fn read(&mut self, bytes: &[u8], at_ms: f64) {
        let room = self.limit - self.bytes.len();
        let kept = &bytes[..bytes.len().min(room)];
        self.dropped += (bytes.len() - kept.len()) as u64;
        if !kept.is_empty() {
            self.bytes.extend_from_slice(kept);
            self.reads.push((at_ms, self.bytes.len()));
        }
    }

    /// The reads, and the number of bytes that were not kept.
    pub fn into_evidence(self) -> (Vec<ReadEvidence>, u64) {
        let mut start = 0;
        let reads = self.reads.iter().map(|&(at_ms, end)| {
            let bytes = self.bytes[start..end].to_vec();
            start = end;
            ReadEvidence { at_ms, bytes }
        });
        (reads.collect(), self.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_kept_and_the_rest_is_counted() {
        let mut kept = Kept::new(5);
        for (read, at) in [("abc", 1.0), ("def", 2.0), ("g", 3.0)] {
            kept.read(read.as_bytes(), at);
        }
        let (reads, dropped) = kept.into_evidence();
        let texts: Vec<_> = reads.iter().map(|read| (read.at_ms, read.bytes.as_slice())).collect();
        assert_eq!(texts, [(1.0, b"abc".as_slice()), (2.0, b"de")]);
        assert_eq!(dropped, 2);
    }
}
