//! The chunker from outside: what it makes of documents, and the laws it keeps.

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod server;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod support;
