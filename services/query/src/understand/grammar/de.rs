//! German.

use super::Grammar;

pub(super) const GRAMMAR: Grammar = Grammar {
    code: "de",
    opens: &[
        "und",
        "oder",
        "aber",
        "was ist mit",
        "wie ist es mit",
        "wie sieht es mit",
        "auch",
        "gilt das",
        "und wenn",
        "seit wann",
        "bis wann",
        "was noch",
        "wer noch",
        "dann",
    ],
    whole: &[
        "warum",
        "warum nicht",
        "wieso",
        "weshalb",
        "wie",
        "wann",
        "wo",
        "wer",
        "wirklich",
        "mehr",
        "zum beispiel",
        "wie viel",
        "wie lange",
        "wie oft",
        "seit wann",
        "welche",
    ],
    pronouns: &[
        "es", "er", "sie", "ihn", "ihm", "ihnen", "dies", "diese", "dieser", "dieses", "diesem",
        "diesen", "dort", "dafür", "davon", "damit", "dabei", "daran", "dazu", "darüber", "beide",
        "jene",
    ],
    possessives: &["sein", "seine", "ihr", "ihre", "ihren", "deren", "dessen"],
    prepositions: &[
        "für", "in", "im", "auf", "bei", "beim", "mit", "ohne", "während", "vor", "nach", "von",
        "vom", "zu", "zum", "zur", "bis", "seit", "zwischen", "an", "am", "aus",
    ],
    small: &[
        "der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "ist",
        "sind", "war", "waren", "wird", "werden", "hat", "haben", "kann", "können", "muss",
        "müssen", "soll", "darf", "was", "wer", "wie", "wo", "wann", "warum", "welche", "welcher",
        "welches", "ich", "wir", "man", "und", "oder", "nicht", "auch", "viel", "viele", "lange",
        "gibt", "mein", "meine", "unser", "unsere", "mir", "uns",
    ],
};
