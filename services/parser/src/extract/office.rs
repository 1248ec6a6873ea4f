//! What the readers of office documents share. A document's parts are taken out of their package
//! ([`package`]), put into a form that `anydoc` reads whole ([`xml`]), read by `anydoc` into its
//! model ([`model`]), and written as Markdown ([`render`]).

pub(super) mod lines;
pub(super) mod marks;
pub(super) mod model;
pub(super) mod package;
pub(super) mod pages;
pub(super) mod relations;
pub(super) mod render;
pub(super) mod slides;
pub(super) mod within;
pub(super) mod xml;

/// For documents of which only the beginning, or some parts, could be read.
pub(super) const CUT_OFF: &str = "the file is cut off or damaged; what could be read is shown";
/// For documents that only the plain reader understood.
pub(super) const PLAIN_ONLY: &str =
    "its structure could not be read; tables and lists are shown as plain lines";
/// For documents with hidden text.
pub(super) const HAS_HIDDEN: &str = "it holds hidden text, marked (hidden)";
