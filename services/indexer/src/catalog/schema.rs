//! The tables, one migration per released schema.

use rusqlite::{Connection, Transaction};

/// Migrations in order; the n-th brings the file from schema n to n + 1.
const MIGRATIONS: [&str; 4] = [V1, V2, V3, V4];

/// Latest schema of this program.
pub(super) const KNOWN: i64 = 4;

/// Keys of chunks and numbers of changes are AUTOINCREMENT: the indexes name chunks by key, so a
/// key of something deleted must never mean something else.
const V1: &str = "
CREATE TABLE meta(
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE versions(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    file_hash TEXT NOT NULL,
    parser TEXT NOT NULL,
    chunker TEXT NOT NULL,
    model TEXT NOT NULL,
    content TEXT NOT NULL,
    format TEXT NOT NULL,
    title TEXT,
    notes TEXT NOT NULL,
    pages INTEGER NOT NULL,
    missing TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    first_key INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    UNIQUE(file_hash, parser, chunker, model)
) STRICT;
CREATE INDEX versions_content ON versions(content);

CREATE TABLE sources(
    ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    collection TEXT NOT NULL,
    path TEXT NOT NULL,
    name TEXT NOT NULL,
    content TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    format TEXT NOT NULL,
    file_hash TEXT NOT NULL,
    generation INTEGER NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 0,
    -- 1: all work is to be done again, even if the same content is visible.
    fresh INTEGER NOT NULL DEFAULT 0,
    -- 1: the parser's pages are to be forgotten before the next hand-out.
    reparse INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL,
    pages_seen INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    visible_version INTEGER REFERENCES versions(id),
    -- The change that both indexes must have applied before the document is final.
    sequence INTEGER,
    queued_ms INTEGER NOT NULL,
    added_ms INTEGER NOT NULL,
    indexed_ms INTEGER,
    UNIQUE(collection, path)
) STRICT;
CREATE INDEX sources_state ON sources(state, queued_ms, ordinal);
CREATE INDEX sources_version ON sources(visible_version);
CREATE INDEX sources_hash ON sources(file_hash);
CREATE INDEX sources_content ON sources(content);

CREATE TABLE pages(
    version INTEGER NOT NULL REFERENCES versions(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY(version, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE chunks(
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    version INTEGER NOT NULL REFERENCES versions(id) ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    text TEXT NOT NULL,
    prefix TEXT NOT NULL,
    overlap TEXT NOT NULL,
    heading_path TEXT NOT NULL,
    spans TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    UNIQUE(version, idx)
) STRICT;

CREATE TABLE vectors(
    chunk INTEGER PRIMARY KEY REFERENCES chunks(key) ON DELETE CASCADE,
    vector BLOB NOT NULL
) STRICT;

-- Batches of work under way; always of the source's present generation.
CREATE TABLE staged(
    document TEXT NOT NULL REFERENCES sources(id) ON DELETE CASCADE,
    batch INTEGER NOT NULL,
    batches INTEGER NOT NULL,
    total_chunks INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    dimension INTEGER NOT NULL,
    count INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    chunks TEXT NOT NULL,
    vectors BLOB NOT NULL,
    PRIMARY KEY(document, batch)
) STRICT, WITHOUT ROWID;

CREATE TABLE changes(
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    version INTEGER NOT NULL,
    first_key INTEGER NOT NULL,
    chunks INTEGER NOT NULL
) STRICT;

CREATE TABLE dead_letters(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document TEXT NOT NULL REFERENCES sources(id) ON DELETE CASCADE,
    generation INTEGER NOT NULL,
    stage TEXT NOT NULL,
    deliveries INTEGER NOT NULL,
    error TEXT NOT NULL,
    noted_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX dead_letters_document ON dead_letters(document);

CREATE TABLE receipts(
    document TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    chunks INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    hidden_ms INTEGER NOT NULL,
    catalog_ms INTEGER,
    keyword_ms INTEGER,
    vector_ms INTEGER,
    blobs_ms INTEGER,
    streams_ms INTEGER
) STRICT;

-- Blobs that may have lost their last user; content is empty where only pages may have.
CREATE TABLE garbage(
    content TEXT NOT NULL,
    file_hash TEXT NOT NULL,
    parser TEXT NOT NULL,
    PRIMARY KEY(content, file_hash, parser)
) STRICT, WITHOUT ROWID;
";

/// The trace that queued a document: what is done for it later, by whichever process, belongs to
/// it.
const V2: &str = "
ALTER TABLE sources ADD COLUMN trace TEXT;
";

/// What opens a locked document, sealed with the key of the data folder. It goes with its row.
const V3: &str = "
ALTER TABLE sources ADD COLUMN password TEXT;
";

/// What filters ask for: a source's date (the file's own where it is known, else that of its
/// admission) and a version's language (`NULL` until somebody has looked, empty when it could not
/// be told). The indexes hold all that a filter reads, so that resolving one reads no wide row.
const V4: &str = "
ALTER TABLE sources ADD COLUMN modified_ms INTEGER NOT NULL DEFAULT 0;
UPDATE sources SET modified_ms = added_ms;
ALTER TABLE versions ADD COLUMN language TEXT;
CREATE INDEX sources_path ON sources(path);
CREATE INDEX sources_filter ON sources(collection, modified_ms, visible_version);
CREATE INDEX versions_filter ON versions(format, language, first_key, chunks);
";

/// Settings of every connection. Full sync: an admission is durable before its reply. Secure
/// delete: deleted text is overwritten, not only unlinked.
pub(super) fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    connection.pragma_update(None, "cache_size", -4096)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// The schema of the file, 0 for a new one.
pub(super) fn found(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Brings the file to [`KNOWN`].
pub(super) fn migrate(tx: &Transaction<'_>, found: i64) -> rusqlite::Result<()> {
    let done = usize::try_from(found).unwrap_or(0);
    for migration in MIGRATIONS.iter().skip(done) {
        tx.execute_batch(migration)?;
    }
    tx.pragma_update(None, "user_version", KNOWN)
}
