//! Italian.

use super::Grammar;

pub(super) const GRAMMAR: Grammar = Grammar {
    code: "it",
    opens: &[
        "e",
        "o",
        "ma",
        "che ne è di",
        "anche",
        "da quando",
        "chi altro",
        "cos'altro",
    ],
    whole: &[
        "perché",
        "perché no",
        "come",
        "quando",
        "dove",
        "chi",
        "quanto",
        "quale",
        "davvero",
        "per esempio",
        "quanto tempo",
    ],
    pronouns: &[
        "esso", "essa", "essi", "lui", "lei", "loro", "questo", "questa", "questi", "queste",
        "quello", "quella", "quelli", "lo", "ci", "ne",
    ],
    possessives: &["suo", "sua", "suoi", "sue"],
    prepositions: &[
        "per", "in", "nel", "nella", "con", "senza", "durante", "prima", "dopo", "di", "del",
        "della", "dei", "delle", "a", "al", "alla", "da", "dal", "su", "tra", "fra",
    ],
    small: &[
        "il", "la", "i", "gli", "le", "un", "una", "è", "sono", "era", "ha", "hanno", "può",
        "deve", "che", "chi", "cosa", "come", "quando", "dove", "quanto", "quale", "quali", "si",
        "e", "o", "non", "mio", "mia", "nostro", "nostra", "mi",
    ],
};
