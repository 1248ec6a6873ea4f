//! Fences of code blocks.

/// A run of backticks or tildes at the start of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    /// The fence that `body`, a line without its indent, opens. Any indent is allowed: fences
    /// within lists are indented with their item.
    pub(crate) fn opening(body: &str) -> Option<Self> {
        let mark = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = body.trim_start_matches(mark);
        let length = body.len() - info.len();
        (length >= 3 && !(mark == '`' && info.contains('`'))).then_some(Self { mark, length })
    }

    /// The fence that `body` closes, if one is open.
    pub(crate) fn closing(body: &str) -> Option<Self> {
        let fence = Self::opening(body)?;
        body.trim_end()
            .chars()
            .all(|c| c == fence.mark)
            .then_some(fence)
    }

    /// Whether this closing fence closes `opening`.
    pub(crate) fn closes(self, opening: &Self) -> bool {
        self.mark == opening.mark && self.length >= opening.length
    }
}

/// All lines of a text that may close a fence, so that one look tells whether an open fence ever
/// closes.
pub(crate) struct Fences {
    /// Offset of each such line, with the longest fence of backticks and of tildes from there on.
    closings: Vec<(usize, [usize; 2])>,
}

impl Fences {
    pub(crate) fn of(text: &str) -> Self {
        let mut closings = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            if let Some(fence) = Fence::closing(line.trim()) {
                closings.push((at, fence));
            }
            at += line.len();
        }
        let mut longest = [0; 2];
        let mut closings: Vec<_> = closings
            .into_iter()
            .rev()
            .map(|(at, fence)| {
                let [ticks, tildes] = &mut longest;
                let slot = if fence.mark == '`' { ticks } else { tildes };
                *slot = fence.length.max(*slot);
                (at, longest)
            })
            .collect();
        closings.reverse();
        Self { closings }
    }

    /// Whether a line at or after `offset` closes `fence`.
    pub(crate) fn closes_after(&self, fence: &Fence, offset: usize) -> bool {
        let next = self.closings.partition_point(|(at, _)| *at < offset);
        self.closings.get(next).is_some_and(|(_, [ticks, tildes])| {
            let longest = if fence.mark == '`' { ticks } else { tildes };
            *longest >= fence.length
        })
    }
}
