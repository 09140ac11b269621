//! Kept bytes for people.

use std::fmt::Write;

use crate::request::ReadEvidence;

/// Bytes shown of a request; more is said, not hidden.
const SHOWN_BYTES: usize = 32 * 1024;

/// The reads with their times, as text or in hex.
pub fn dump(reads: &[ReadEvidence], dispatched_ms: f64, hex: bool) -> String {
    let mut text = String::new();
    let mut room = SHOWN_BYTES;
    for (i, read) in reads.iter().enumerate() {
        if room == 0 {
            let _ = writeln!(
                text,
                "… {} more reads; save the result to have them all",
                reads.len() - i
            );
            break;
        }
        let shown = &read.bytes[..read.bytes.len().min(room)];
        room -= shown.len();
        let _ = writeln!(
            text,
            "── read {} · {:.2} ms · {} bytes",
            i + 1,
            read.at_ms - dispatched_ms,
            read.bytes.len()
        );
        if hex {
            for (line, row) in shown.chunks(16).enumerate() {
                let _ = write!(text, "{:06x}  ", line * 16);
                row.iter().for_each(|byte| _ = write!(text, "{byte:02x} "));
                let pad = 3 * (16 - row.len());
                let shown: String = row
                    .iter()
                    .map(|b| if (0x20..0x7f).contains(b) { char::from(*b) } else { '.' })
                    .collect();
                let _ = writeln!(text, "{:pad$} {shown}", "");
            }
        } else {
            let _ = writeln!(text, "{}", String::from_utf8_lossy(shown).trim_end_matches('\n'));
        }
    }
    text
}
