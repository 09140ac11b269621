//! The bytes that came, kept within a bound as long as the request may still fail.

use super::ReadEvidence;

/// The head of a response, read by read.
#[derive(Clone, Debug)]
pub struct Kept {
    bytes: Vec<u8>,
    /// Where each read ends in `bytes`, and when it came.
    reads: Vec<(usize, f64)>,
    bound: usize,
    dropped: u64,
}

impl Kept {
    /// Keeps at most `bound` bytes.
    pub fn new(bound: usize) -> Self {
        Self {
            bytes: Vec::new(),
            reads: Vec::new(),
            bound,
            dropped: 0,
        }
    }

    /// Keeps a read, or as much of it as there is room for.
    pub fn add(&mut self, bytes: &[u8], at_ms: f64) {
        let room = (self.bound - self.bytes.len()).min(bytes.len());
        self.dropped += (bytes.len() - room) as u64;
        if room > 0 {
            self.bytes.extend_from_slice(&bytes[..room]);
            self.reads.push((self.bytes.len(), at_ms));
        }
    }

    /// The reads, and how many bytes were not kept.
    pub fn into_reads(self) -> (Vec<ReadEvidence>, u64) {
        let mut start = 0;
        let reads = self.reads.iter().map(|&(end, at_ms)| {
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
        kept.add(b"abc", 1.0);
        kept.add(b"defg", 2.0);
        kept.add(b"h", 3.0);
        let (reads, dropped) = kept.into_reads();
        assert_eq!(
            reads.iter().map(|read| &read.bytes[..]).collect::<Vec<_>>(),
            [&b"abc"[..], b"de"]
        );
        assert_eq!((reads[1].at_ms, dropped), (2.0, 3));
    }
}
