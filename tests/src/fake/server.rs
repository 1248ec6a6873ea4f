//! What both fakes share: a thread that serves, what was asked, and how often at once.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::Response;
use axum::serve::ListenerExt as _;
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::oneshot;

/// Larger than any prompt or batch that is sent.
const BODY_LIMIT: usize = 64 << 20;

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// `GET` or `POST`.
    pub method: String,
    /// Its path, without a query.
    pub path: String,
    /// Its body; null when it has none, or none that is JSON.
    pub body: Value,
    /// Its `authorization` header.
    pub authorization: Option<String>,
}

/// An answer that replaces the real one.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The path it is for.
    pub path: String,
    /// The HTTP status.
    pub status: u16,
    /// The whole body.
    pub body: Value,
    /// For how many requests; then it is forgotten.
    pub times: usize,
}

/// A request that is being answered; counts until it is dropped.
pub(super) struct Open(Arc<AtomicUsize>);

impl Open {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Answers one request; what it streams keeps [`Open`].
pub(super) type Answerer = Arc<dyn Fn(Asked, Open) -> BoxFuture<'static, Response> + Send + Sync>;

#[derive(Clone)]
struct Shared {
    answer: Answerer,
    asked: Arc<Mutex<Vec<Asked>>>,
    open: Arc<AtomicUsize>,
}

/// A server that runs until dropped.
pub(super) struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    open: Arc<AtomicUsize>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves on `port` of 127.0.0.1; on a free one when 0.
    pub(super) fn start(port: u16, answer: Answerer) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .with_context(|| format!("listening on port {port}"))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Shared {
            answer,
            asked: Arc::default(),
            open: Arc::default(),
        };
        let (asked, open) = (Arc::clone(&shared.asked), Arc::clone(&shared.open));
        // A runtime of its own: a test that pauses its clock does not pause the server, and
        // dropping the runtime cuts whatever is still open.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("fake server".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        _ended = serve(listener, shared) => {}
                        _dropped = stopped => {}
                    }
                });
            })?;
        Ok(Self {
            address,
            asked,
            open,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        locked(&self.asked).clone()
    }

    pub(super) fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

async fn serve(listener: TcpListener, shared: Shared) -> Result<()> {
    // As Go's servers have it; else small pieces wait up to 40 ms for each other.
    let listener = tokio::net::TcpListener::from_std(listener)?.tap_io(|connection| {
        let _closed_already = connection.set_nodelay(true);
    });
    let router = Router::new().fallback(answer).with_state(shared);
    axum::serve(listener, router).await?;
    Ok(())
}

async fn answer(State(shared): State<Shared>, request: Request) -> Response {
    let open = Open::new(&shared.open);
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, BODY_LIMIT).await else {
        return json(
            413,
            &serde_json::json!({"error": "the request is too large"}),
        );
    };
    let asked = Asked {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        body: serde_json::from_slice(&body).unwrap_or_default(),
        authorization: parts
            .headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned),
    };
    locked(&shared.asked).push(asked.clone());
    (shared.answer)(asked, open).await
}

/// The first refusal for `path`, used up by one.
pub(super) fn refused(refusals: &mut Vec<Refusal>, path: &str) -> Option<Response> {
    let index = refusals.iter().position(|refusal| refusal.path == path)?;
    let refusal = refusals.get_mut(index)?;
    let response = json(refusal.status, &refusal.body);
    refusal.times = refusal.times.saturating_sub(1);
    if refusal.times == 0 {
        refusals.remove(index);
    }
    Some(response)
}

/// A whole JSON answer.
pub(super) fn json(status: u16, body: &Value) -> Response {
    typed(
        status,
        "application/json; charset=utf-8",
        Body::from(body.to_string()),
    )
}

/// An answer of any kind.
pub(super) fn typed(status: u16, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response
}

/// A panic in a test must not hide behind a poisoned lock.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
