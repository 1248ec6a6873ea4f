//! The parser over real files and real processes.

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod corpus_mail;
#[cfg(test)]
mod corpus_pdf;
#[cfg(test)]
mod corpus_sheets;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod highlight;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod manifest;
#[cfg(test)]
mod ocr;
#[cfg(test)]
mod pdf;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod support;
