//! The small words by which a question hangs on what was said before, per language.

mod de;
mod en;
mod es;
mod fr;
mod it;
mod nl;
mod pl;
mod pt;
mod ru;
mod tr;

use shared::language::Language;

/// Small words of a language, in lower case.
pub(super) struct Grammar {
    /// ISO 639-1.
    code: &'static str,
    /// What a follow-up begins with.
    pub(super) opens: &'static [&'static str],
    /// Questions that are follow-ups as they stand.
    pub(super) whole: &'static [&'static str],
    /// Words for things named before.
    pub(super) pronouns: &'static [&'static str],
    /// Words for their owner, who is often named in the same sentence.
    pub(super) possessives: &'static [&'static str],
    /// Words that begin an ellipsis of a few words: prepositions.
    pub(super) prepositions: &'static [&'static str],
    /// Other words that name no topic.
    pub(super) small: &'static [&'static str],
}

impl Grammar {
    /// The grammar of `language`, if there is one here.
    pub(super) fn of(language: Language) -> Option<&'static Self> {
        ALL.iter().find(|one| one.code == language.as_str())
    }

    /// All there are.
    pub(super) fn all() -> impl Iterator<Item = (&'static Self, Language)> {
        ALL.iter()
            .filter_map(|one| Some((one, one.code.parse().ok()?)))
    }

    /// Whether `word`, in lower case, names no topic.
    pub(super) fn is_small(&self, word: &str) -> bool {
        let lists = [
            self.pronouns,
            self.possessives,
            self.prepositions,
            self.small,
        ];
        lists.iter().any(|list| list.contains(&word))
    }
}

const ALL: [Grammar; 10] = [
    en::GRAMMAR,
    de::GRAMMAR,
    fr::GRAMMAR,
    es::GRAMMAR,
    it::GRAMMAR,
    pt::GRAMMAR,
    nl::GRAMMAR,
    tr::GRAMMAR,
    ru::GRAMMAR,
    pl::GRAMMAR,
];

/// In scripts without spaces a follow-up is told by what it has in it, at its head or at its end.
pub(super) struct Unspaced {
    code: &'static str,
    pub(super) opens: &'static [&'static str],
    pub(super) whole: &'static [&'static str],
    pub(super) within: &'static [&'static str],
    pub(super) ends: &'static [&'static str],
}

impl Unspaced {
    /// The small words of `language`, if there are any here.
    pub(super) fn of(language: Language) -> Option<&'static Self> {
        UNSPACED.iter().find(|one| one.code == language.as_str())
    }
}

const UNSPACED: [Unspaced; 2] = [
    Unspaced {
        code: "zh",
        opens: &[
            "那",
            "还有",
            "還有",
            "另外",
            "如果是",
            "换成",
            "而",
            "那么",
            "那麼",
        ],
        whole: &[
            "为什么",
            "為什麼",
            "为何",
            "怎么",
            "怎麼",
            "什么时候",
            "什麼時候",
            "谁",
            "誰",
            "哪里",
            "哪裡",
            "多少",
            "多久",
            "真的吗",
            "真的嗎",
            "例如",
        ],
        within: &[
            "它", "他", "她", "这个", "這個", "那个", "那個", "这些", "這些", "那些", "这种",
            "這種", "该", "該", "上述", "前者", "后者", "後者",
        ],
        ends: &["呢"],
    },
    Unspaced {
        code: "ja",
        opens: &[
            "では",
            "じゃあ",
            "それなら",
            "また",
            "そして",
            "あと",
            "他には",
        ],
        whole: &[
            "なぜ",
            "なぜですか",
            "どうして",
            "どうやって",
            "いつ",
            "いつですか",
            "誰",
            "どこ",
        ],
        within: &[
            "それ", "その", "これ", "この", "あれ", "あの", "彼", "彼女", "そこ", "前者", "後者",
        ],
        ends: &["は", "の場合は"],
    },
];
