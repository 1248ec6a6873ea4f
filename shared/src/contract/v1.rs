//! Version 1 of every message, one file per message.

mod admit;
mod answer;
mod catalog;
mod chunk;
mod chunks_embedded;
mod chunks_made;
mod coverage;
mod dead_letter;
mod deletion;
mod document_admitted;
mod document_parsed;
mod dump;
mod embed_query;
mod failure;
mod fsck;
mod generator;
mod health;
mod locator;
mod metrics;
mod neighbours;
mod page;
mod page_list;
mod places;
mod progress;
mod question;
mod rerank;
mod retrieval;
mod search;
mod vector;
mod work;

pub use admit::{Admit, Admitted, Outcome, SealedPassword};
pub use answer::{
    AnswerEvent, Citation, LeftOut, Passage, SearchReply, Source, Timings, TokenUsage,
};
pub use catalog::{
    CatalogStatus, DocumentPage, DocumentState, DocumentView, ListDocuments, Retried, Retry,
    StateCounts,
};
pub use chunk::{Chunk, Span, is_table_rule};
pub use chunks_embedded::ChunksEmbedded;
pub use chunks_made::ChunksMade;
pub use coverage::Coverage;
pub use dead_letter::DeadLetter;
pub use deletion::{DeletionReceipt, StorePurge};
pub use document_admitted::DocumentAdmitted;
pub use document_parsed::DocumentParsed;
pub use dump::{DumpPage, DumpRequest, DumpRow};
pub use embed_query::{EmbedQuery, EncoderDescription, ModelSight, QueryVector};
pub use failure::{ErrorBody, ErrorCode, Reply};
pub use fsck::{FsckFinding, FsckReport};
pub use generator::{
    GeneratorId, GeneratorIdError, GeneratorList, GeneratorTried, GeneratorView, Provider,
};
pub use health::Health;
pub use locator::Locator;
pub use metrics::ProcessMetrics;
pub use neighbours::{NeighbourList, Neighbours};
pub use page::{PageManifest, PageRecord, ReadMethod};
pub use page_list::{ListPages, PageList, PageView};
pub use places::{PagePlaces, PlaceRun};
pub use progress::StageProgress;
pub use question::{Question, Turn};
pub use rerank::{Rerank, Reranked};
pub use retrieval::{
    CandidateExplanation, Decision, Explanation, FusionMethod, Rewriter, Standing, Understood,
    Weighing,
};
pub use search::{Filter, Hit, Hits, KeywordSearch, Sight, VectorSearch};
pub use vector::Vector;
pub use work::{Batch, Pipeline, Work};
