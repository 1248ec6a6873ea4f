//! A gateway that says what it is told to say, and remembers what it was asked.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// One request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// `POST /api/v1/ask`, with its query.
    pub(crate) line: String,
    /// The `Authorization` header, or nothing.
    pub(crate) authorization: String,
    /// The body.
    pub(crate) body: String,
}

/// The gateway; it ends with the test's process.
pub(crate) struct FakeGateway {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// Status, content type, body.
type Answer = (u16, &'static str, String);

impl FakeGateway {
    /// Answers each of `answers` by method and path; everything else is 404. With a token, whoever
    /// does not carry it gets 401.
    pub(crate) fn start(token: Option<&'static str>, answers: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let answers: HashMap<String, Answer> = answers
            .iter()
            .map(|(line, body)| {
                let kind = if line.ends_with("/ask") {
                    "text/event-stream"
                } else {
                    "application/json"
                };
                ((*line).to_owned(), (200, kind, (*body).to_owned()))
            })
            .collect();
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve(stream, token, &answers, &seen);
            }
        });
        Self { url, asked }
    }

    /// All requests so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: TcpStream,
    token: Option<&str>,
    answers: &HashMap<String, Answer>,
    seen: &Mutex<Vec<Asked>>,
) {
    let Some(asked) = read(&stream) else { return };
    let path = asked.line.split('?').next().unwrap_or_default().to_owned();
    let may = token.is_none_or(|token| asked.authorization == format!("Bearer {token}"));
    seen.lock().unwrap().push(asked);
    let (status, kind, body) = match answers.get(&path) {
        Some(answer) if may => answer.clone(),
        _ if !may => (401, "application/json", error("unauthorized")),
        _ => (404, "application/json", error("not_found")),
    };
    let head = format!(
        "HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n",
        body.len()
    );
    // Whoever asked may have left.
    stream.write_all((head + &body).as_bytes()).ok();
}

fn error(code: &str) -> String {
    format!(r#"{{"code":"{code}","message":"no such thing","remedy":"ask for another"}}"#)
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let line = first.rsplit_once(' ')?.0.to_owned();
    let (mut length, mut authorization) = (0, String::new());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(": ") else {
            break;
        };
        match name.to_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => value.clone_into(&mut authorization),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked {
        line,
        authorization,
        body: String::from_utf8(body).ok()?,
    })
}
