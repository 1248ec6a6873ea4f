//! The gateway over HTTP on a real nats-server.

#[cfg(test)]
mod http;
#[cfg(test)]
mod support;
#[cfg(test)]
mod upload;
