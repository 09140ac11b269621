//! Cases read from a folder and judged.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::case::{Case, CaseFile, result};

/// A folder or a case in it cannot be read.
#[derive(Debug)]
pub struct ReplayError {
    path: PathBuf,
    why: String,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for ReplayError {}

impl ReplayError {
    fn new(path: &Path, why: impl fmt::Display) -> Self {
        Self {
            path: path.to_owned(),
            why: why.to_string(),
        }
    }
}

/// Reads every case of a folder, in the order of the names. Fails if there is none; a case that cannot be read stands
/// as an error among the others.
pub fn read_folder(folder: &Path) -> Result<Vec<Result<Case, ReplayError>>, ReplayError> {
    let entries = std::fs::read_dir(folder).map_err(|error| ReplayError::new(folder, error))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| ReplayError::new(folder, error))?.path();
        if path.extension().is_some_and(|ending| ending == "json") && path.with_extension("http").is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(ReplayError::new(
            folder,
            "no case found: a case is a pair of files NAME.json and NAME.http",
        ));
    }
    Ok(paths.iter().map(|path| read_case(path)).collect())
}

/// Reads one case from its `NAME.json`.
pub fn read_case(path: &Path) -> Result<Case, ReplayError> {
    let text = std::fs::read_to_string(path).map_err(|error| ReplayError::new(path, error))?;
    let file = CaseFile::parse(&text).map_err(|why| ReplayError::new(path, why))?;
    let body_path = path.with_extension("http");
    let sent = std::fs::read(&body_path).map_err(|error| ReplayError::new(&body_path, error))?;
    let (body, whole) = decompress(&sent, file.encoding()).map_err(|why| ReplayError::new(&body_path, why))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    file.with_body(&name, body, whole)
        .map_err(|why| ReplayError::new(path, why))
}

/// The bytes a browser would hand out, and whether every compressed stream was whole.
///
/// `encoding` lists the codings in the order in which they were applied (RFC 9110, section 8.4).
fn decompress(sent: &[u8], encoding: &str) -> Result<(Vec<u8>, bool), String> {
    let mut body = sent.to_vec();
    let mut whole = true;
    for coding in encoding.rsplit(',') {
        let mut plain = Vec::new();
        let read = match coding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => continue,
            "gzip" | "x-gzip" => flate2::read::MultiGzDecoder::new(&body[..]).read_to_end(&mut plain),
            "deflate" => inflate(&body, &mut plain),
            "br" => brotli_decompressor::Decompressor::new(&body[..], 4096).read_to_end(&mut plain),
            other => return Err(format!("content-encoding {other} is not known here")),
        };
        whole &= read.is_ok();
        body = plain;
    }
    Ok((body, whole))
}

/// `deflate` should be a zlib stream, but servers exist that send it bare.
fn inflate(sent: &[u8], plain: &mut Vec<u8>) -> std::io::Result<usize> {
    match flate2::read::ZlibDecoder::new(sent).read_to_end(plain) {
        Err(_) if plain.is_empty() => flate2::read::DeflateDecoder::new(sent).read_to_end(plain),
        read => read,
    }
}

/// The results of every case of a folder, by name, and the cases that could not be read.
pub fn judge_folder(folder: &Path) -> Result<(Value, Vec<ReplayError>), ReplayError> {
    let mut results = Map::new();
    let mut unread = Vec::new();
    for case in read_folder(folder)? {
        match case {
            Ok(case) => {
                let judged = result(&case.read());
                results.insert(case.name, judged);
            }
            Err(error) => unread.push(error),
        }
    }
    Ok((Value::Object(results), unread))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const BODY: &[u8] = b"data: a\n\n";

    #[test]
    fn a_compressed_body_that_is_cut_is_not_whole() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(BODY).unwrap();
        let sent = encoder.finish().unwrap();
        assert_eq!(decompress(&sent, "gzip"), Ok((BODY.to_vec(), true)));
        assert!(!decompress(&sent[..sent.len() - 4], "gzip").unwrap().1);
        assert!(decompress(&sent, "zstd").unwrap_err().contains("zstd"));
    }

    #[test]
    fn deflate_is_read_with_and_without_its_frame() {
        let mut framed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        framed.write_all(BODY).unwrap();
        let mut bare = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        bare.write_all(BODY).unwrap();
        for sent in [framed.finish().unwrap(), bare.finish().unwrap()] {
            assert_eq!(decompress(&sent, "deflate"), Ok((BODY.to_vec(), true)));
        }
    }

    /// One uncompressed metablock (RFC 7932, section 9.2) of [`BODY`], then an empty last one.
    fn brotli() -> Vec<u8> {
        [&[128, 0, 16], BODY, &[3]].concat()
    }

    #[test]
    fn brotli_is_read_and_its_cut_seen() {
        assert_eq!(decompress(&brotli(), "br"), Ok((BODY.to_vec(), true)));
        let (body, whole) = decompress(&brotli()[..8], "br").unwrap();
        assert!(!whole && BODY.starts_with(&body), "{body:?}");
        assert_eq!(decompress(&brotli(), "identity, BR"), Ok((BODY.to_vec(), true)));
    }

    #[test]
    fn a_folder_without_cases_is_named() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let error = read_folder(&folder).unwrap_err().to_string();
        assert!(error.contains("src") && error.contains("no case found"), "{error}");
        assert!(read_folder(&folder.join("nowhere")).is_err());
    }
}
