//! The query service from outside.

#[cfg(test)]
mod answering;
#[cfg(test)]
mod bus;
#[cfg(test)]
mod fusing;
#[cfg(test)]
mod labels;
#[cfg(test)]
mod searching;
#[cfg(test)]
mod support;
