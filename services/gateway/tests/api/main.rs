//! The gateway over HTTP on a real nats-server.

#[cfg(test)]
mod access;
#[cfg(test)]
mod answers;
#[cfg(test)]
mod description;
#[cfg(test)]
mod files;
#[cfg(test)]
mod http;
#[cfg(test)]
mod live;
#[cfg(test)]
mod passwords;
#[cfg(test)]
mod support;
#[cfg(test)]
mod upload;
