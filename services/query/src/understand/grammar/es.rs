//! Spanish.

use super::Grammar;

pub(super) const GRAMMAR: Grammar = Grammar {
    code: "es",
    opens: &[
        "y",
        "o",
        "pero",
        "qué pasa con",
        "también",
        "desde cuándo",
        "qué más",
        "quién más",
        "en ese caso",
    ],
    whole: &[
        "por qué",
        "por qué no",
        "cómo",
        "cuándo",
        "dónde",
        "quién",
        "cuánto",
        "cuántos",
        "cuál",
        "de verdad",
        "por ejemplo",
        "cuánto tiempo",
    ],
    pronouns: &[
        "él", "ella", "ellos", "ellas", "ello", "lo", "este", "esta", "esto", "estos", "estas",
        "ese", "esa", "eso", "esos", "esas", "le", "les", "allí", "ahí",
    ],
    possessives: &["su", "sus", "suyo", "suya"],
    prepositions: &[
        "para", "en", "con", "sin", "durante", "antes", "después", "de", "del", "a", "al", "por",
        "hasta", "desde", "entre", "sobre",
    ],
    small: &[
        "el", "la", "los", "las", "un", "una", "unos", "es", "son", "está", "están", "era", "fue",
        "ha", "han", "puede", "debe", "hay", "qué", "que", "cuál", "quién", "cómo", "cuándo",
        "dónde", "cuánto", "cuántos", "yo", "nosotros", "se", "y", "o", "no", "mi", "mis",
        "nuestro", "nuestra", "me", "nos",
    ],
};
