//! The query service from outside.

#[cfg(test)]
mod answering;
#[cfg(test)]
mod builtin;
#[cfg(test)]
mod bus;
#[cfg(test)]
mod explaining;
#[cfg(test)]
mod following;
#[cfg(test)]
mod fusing;
#[cfg(test)]
mod labels;
#[cfg(test)]
mod models;
#[cfg(test)]
mod ollama;
#[cfg(test)]
mod openai;
#[cfg(test)]
mod searching;
#[cfg(test)]
mod support;
