//! Reading a child's output line by line, each of bounded length.

use tokio::io::{AsyncRead, AsyncReadExt};

/// A longer line is cut: it is no log line.
const LONGEST: usize = 16 * 1024;

/// Hands every line of `from` to `take` until the other side closes.
pub(super) async fn each_line(mut from: impl AsyncRead + Unpin, mut take: impl FnMut(&str)) {
    let mut buffer = vec![0; 8 * 1024];
    let mut line = Vec::new();
    loop {
        let read = match from.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(read) => read,
        };
        let mut rest = buffer.get(..read).unwrap_or_default();
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            let (head, tail) = rest.split_at(end);
            append(&mut line, head);
            take(&String::from_utf8_lossy(&line));
            line.clear();
            rest = tail.get(1..).unwrap_or_default();
        }
        append(&mut line, rest);
    }
    if !line.is_empty() {
        take(&String::from_utf8_lossy(&line));
    }
}

fn append(line: &mut Vec<u8>, more: &[u8]) {
    let room = LONGEST.saturating_sub(line.len());
    line.extend_from_slice(more.get(..more.len().min(room)).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_survive_any_cut_and_endless_ones_are_shortened() {
        let text = format!("one\n\ntwo ü\n{}\nlast", "x".repeat(LONGEST * 2));
        for capacity in [1, 3, 4096] {
            let (reading, mut writing) = tokio::io::duplex(capacity);
            let bytes = text.clone().into_bytes();
            let writer = tokio::spawn(async move {
                tokio::io::AsyncWriteExt::write_all(&mut writing, &bytes)
                    .await
                    .unwrap();
            });
            let mut lines = Vec::new();
            each_line(reading, |line| lines.push(line.to_owned())).await;
            writer.await.unwrap();
            assert_eq!(lines.len(), 5);
            assert_eq!(
                [lines[0].as_str(), &lines[1], &lines[2]],
                ["one", "", "two ü"]
            );
            assert_eq!(lines[3].len(), LONGEST);
            assert_eq!(lines[4], "last");
        }
    }
}
