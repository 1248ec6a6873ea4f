//! One route per file.

pub(crate) mod admit_documents;
pub(crate) mod ask;
pub(crate) mod delete_document;
pub(crate) mod dump;
pub(crate) mod fallback;
pub(crate) mod fsck;
pub(crate) mod get_document;
pub(crate) mod healthz;
pub(crate) mod list_documents;
pub(crate) mod page;
pub(crate) mod readyz;
pub(crate) mod retry;
pub(crate) mod retry_document;
pub(crate) mod search;
pub(crate) mod status;
