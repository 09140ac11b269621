//! A file of prompts, read as a stream. Nothing of it leaves the browser but the prompts that a run sends.

use js_sys::Uint8Array;
use leptos::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::File;

use super::{
    bridge::{self, Reading, ToFrame},
    state::Page,
};
use crate::{
    config::workload::{FileName, Kind, Workload},
    workload::file::{self, FileItem, Reader},
};

/// Bytes that are looked at to tell what a file is.
const LOOK_BYTES: f64 = 262_144.0;
/// Bytes read at a time: the page breathes between two of them.
const PIECE_BYTES: f64 = 1_048_576.0;
/// Pieces between two reports of how far it is.
const REPORT_EVERY: u32 = 8;

/// What was read last.
#[derive(Default)]
pub struct Prompts {
    file: FileName,
    items: Vec<FileItem>,
    /// Counts the files: a later one ends the reading of an earlier one.
    turn: u32,
}

impl Prompts {
    /// The prompts that a workload needs handed over.
    ///
    /// # Errors
    /// A sentence, if they are those of a file that was not read.
    pub fn for_run(&self, workload: &Workload) -> Result<Vec<FileItem>, String> {
        match (workload.kind, &workload.file) {
            (Kind::File, Some(file)) if *file == self.file => Ok(self.items.clone()),
            (Kind::File, file) => Err(format!(
                "Pick {} again: a link or a saved result names a file of prompts but cannot carry it.",
                file.as_ref().map_or("the file", |file| &file.name)
            )),
            _ => Ok(Vec::new()),
        }
    }
}

/// The bytes of a part of a file.
async fn part(file: &File, from: f64, to: f64) -> Option<Vec<u8>> {
    let blob = file.slice_with_f64_and_f64(from, to).ok()?;
    let buffer = JsFuture::from(blob.array_buffer()).await.ok()?;
    Some(Uint8Array::new(&buffer).to_vec())
}

/// Whether a file holds prompts, by its beginning.
pub async fn holds_prompts(file: &File) -> bool {
    part(file, 0.0, LOOK_BYTES)
        .await
        .is_some_and(|head| file::holds_prompts(&head))
}

/// Reads a file of prompts, and tells the frame all along.
pub async fn read(page: Page, file: File) {
    let turn = page.prompts.try_update_value(|prompts| {
        prompts.turn += 1;
        prompts.turn
    });
    let (name, size) = (file.name(), file.size());
    let mut reader = Reader::default();
    let mut from = 0.0;
    for piece in 0u32.. {
        if from >= size {
            break;
        }
        if piece.is_multiple_of(REPORT_EVERY) {
            bridge::to_frame(&ToFrame::Reading(Some(Reading {
                name: name.clone(),
                share: from / size,
                items: reader.items_so_far(),
            })));
        }
        let bytes = part(&file, from, from + PIECE_BYTES).await;
        if page.prompts.with_value(|prompts| Some(prompts.turn) != turn) {
            return;
        }
        let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else {
            bridge::to_frame(&ToFrame::Reading(None));
            page.notice(format!(
                "{name} could not be read to its end. Is it still there, and unchanged?"
            ));
            return;
        };
        from += bytes.len() as f64;
        reader.read(&bytes);
    }
    let found = reader.finish();
    let file = FileName {
        name,
        bytes: size as u64,
        checksum: found.summary.checksum.clone(),
    };
    page.prompts.update_value(|prompts| {
        prompts.file = file.clone();
        prompts.items = found.items;
    });
    bridge::to_frame(&ToFrame::Prompts {
        file,
        summary: Box::new(found.summary),
    });
}
