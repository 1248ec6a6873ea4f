//! Polish.

use super::Grammar;

pub(super) const GRAMMAR: Grammar = Grammar {
    code: "pl",
    opens: &[
        "a",
        "i",
        "lub",
        "ale",
        "co z",
        "od kiedy",
        "co jeszcze",
        "kto jeszcze",
    ],
    whole: &[
        "dlaczego",
        "czemu",
        "jak",
        "kiedy",
        "gdzie",
        "kto",
        "ile",
        "który",
        "naprawdę",
    ],
    pronouns: &[
        "on", "ona", "ono", "oni", "one", "go", "jego", "jej", "ich", "mu", "im", "to", "ten",
        "ta", "te", "tego", "tej", "tych", "tam",
    ],
    possessives: &[],
    prepositions: &[
        "dla", "w", "we", "na", "z", "ze", "bez", "podczas", "przed", "po", "od", "do", "przy",
        "między", "u", "o",
    ],
    small: &[
        "co", "kto", "jak", "jaki", "jaka", "jakie", "jest", "są", "był", "była", "czy", "kiedy",
        "gdzie", "ile", "który", "która", "które", "i", "lub", "a", "nie", "się", "można", "mój",
        "nasz", "nas",
    ],
};
