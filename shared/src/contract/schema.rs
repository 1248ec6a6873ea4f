//! The JSON Schemas of the stored messages, generated from the types and committed under
//! `docs/schemas/v1/`.

use schemars::{JsonSchema, Schema, schema_for};

use super::v1::{
    ChunksEmbedded, ChunksMade, DeadLetter, DocumentAdmitted, DocumentParsed, PageManifest,
    PagePlaces, StageProgress,
};

/// Every message that another program may have to read or write, with its schema.
pub fn all() -> Vec<(&'static str, Schema)> {
    vec![
        entry::<DocumentAdmitted>("document_admitted"),
        entry::<DocumentParsed>("document_parsed"),
        entry::<ChunksMade>("chunks_made"),
        entry::<ChunksEmbedded>("chunks_embedded"),
        entry::<DeadLetter>("dead_letter"),
        entry::<PageManifest>("page_manifest"),
        entry::<PagePlaces>("page_places"),
        entry::<StageProgress>("stage_progress"),
    ]
}

fn entry<T: JsonSchema>(name: &'static str) -> (&'static str, Schema) {
    (name, schema_for!(T))
}
