//! Portuguese.

use super::Grammar;

pub(super) const GRAMMAR: Grammar = Grammar {
    code: "pt",
    opens: &[
        "e",
        "ou",
        "mas",
        "e se",
        "também",
        "desde quando",
        "quem mais",
        "o que mais",
    ],
    whole: &[
        "por quê",
        "por que",
        "porquê",
        "como",
        "quando",
        "onde",
        "quem",
        "quanto",
        "qual",
        "por exemplo",
        "quanto tempo",
    ],
    pronouns: &[
        "ele", "ela", "eles", "elas", "isso", "isto", "este", "esta", "esse", "essa", "aquele",
        "aquela", "lá",
    ],
    possessives: &["seu", "sua", "seus", "suas", "dele", "dela", "deles"],
    prepositions: &[
        "para", "em", "no", "na", "nos", "nas", "com", "sem", "durante", "antes", "depois", "de",
        "do", "da", "dos", "das", "por", "até", "desde", "entre", "sobre",
    ],
    small: &[
        "o", "a", "os", "as", "um", "uma", "é", "são", "está", "foi", "tem", "pode", "deve", "há",
        "que", "qual", "quais", "quem", "como", "quando", "onde", "quanto", "quantos", "eu", "nós",
        "se", "e", "ou", "não", "meu", "minha", "nosso", "nossa",
    ],
};
