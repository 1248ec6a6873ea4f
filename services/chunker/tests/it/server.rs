//! Chunks for a model on a server are counted with a tokenizer of the assets.

use chunker::{Budget, ChunkError, batches, chunk_pages};
use shared::contract::{DocumentId, FileHash, Generation, Pipeline, Sha256Hex, Work};
use shared::format::Format;
use shared::settings::{Model, ModelProvider};

use crate::support::{pages, tokenizer_file};

#[test]
fn the_settings_give_window_and_tokenizer_and_messages_are_small() {
    let folder = tempfile::tempdir().unwrap();
    let file = tokenizer_file(&[]);
    let model = Model {
        provider: ModelProvider::Ollama,
        name: "nomic-embed-text".to_owned(),
        // An absolute path is no name under the assets.
        tokenizer: folder.path().to_str().unwrap().to_owned(),
        ..Model::default()
    };
    let missing = Budget::of(&model).err().unwrap().to_string();
    assert!(
        missing.contains("tokenizer.json`; run `ibid setup`"),
        "{missing}"
    );

    std::fs::write(folder.path().join("tokenizer.json"), &file).unwrap();
    let budget = Budget::of(&model).unwrap();
    let chunks = chunk_pages(&pages(&["Some words here. ".repeat(3_000)]), &budget).unwrap();
    let largest = chunks.iter().map(|chunk| chunk.tokens).max().unwrap();
    assert!((200..=256).contains(&largest), "{largest}");
    let id = model.id().unwrap();
    let work = Work {
        document_id: DocumentId::generate(),
        generation: Generation(1),
        file_hash: FileHash::of(&Sha256Hex::of(b"x"), Format::Text),
        format: Format::Text,
        pipeline: Pipeline::current(id),
        attempt: 1,
    };
    let made = batches(&work, &budget, chunks);
    assert!(made.len() > 1);
    for message in made {
        // The embedder compares both with what it makes of the same settings.
        assert_eq!(message.window, 256);
        let hash = Sha256Hex::of(file.as_bytes());
        assert_eq!(message.tokenizer_hash, hash.as_str());
        assert!(message.chunks.len() <= Budget::SERVER_BATCH_CHUNKS);
    }

    let narrow = Model {
        window_tokens: 50,
        ..model
    };
    let refused = Budget::of(&narrow).err();
    assert!(matches!(
        refused,
        Some(ChunkError::WindowTooSmall { window: 50, .. })
    ));
}
