//! One route per file.

pub(crate) mod admit_documents;
pub(crate) mod ask;
pub(crate) mod delete_document;
pub(crate) mod dump;
pub(crate) mod events;
pub(crate) mod fallback;
pub(crate) mod fsck;
pub(crate) mod get_document;
pub(crate) mod get_page;
pub(crate) mod healthz;
pub(crate) mod list_documents;
pub(crate) mod list_pages;
pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod metrics;
pub(crate) mod models;
pub(crate) mod openapi;
pub(crate) mod original;
pub(crate) mod page;
pub(crate) mod readyz;
pub(crate) mod retry;
pub(crate) mod retry_document;
pub(crate) mod search;
pub(crate) mod status;
pub(crate) mod try_model;
pub(crate) mod unlock_document;
