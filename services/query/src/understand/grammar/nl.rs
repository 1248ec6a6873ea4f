//! Dutch.

use super::Grammar;

pub(super) const GRAMMAR: Grammar = Grammar {
    code: "nl",
    opens: &[
        "en",
        "of",
        "maar",
        "hoe zit het met",
        "ook",
        "sinds wanneer",
        "wat nog",
        "dan",
    ],
    whole: &[
        "waarom",
        "waarom niet",
        "hoe",
        "wanneer",
        "waar",
        "wie",
        "hoeveel",
        "welke",
        "echt",
        "bijvoorbeeld",
        "hoe lang",
    ],
    pronouns: &[
        "hij", "zij", "ze", "hem", "hen", "hun", "dit", "deze", "daar", "daarvoor", "daarmee",
        "ervan", "ervoor", "beide",
    ],
    possessives: &["zijn", "haar"],
    prepositions: &[
        "voor", "in", "op", "bij", "met", "zonder", "tijdens", "na", "van", "naar", "tot", "sinds",
        "tussen", "aan", "uit",
    ],
    small: &[
        "de", "het", "een", "is", "was", "waren", "wordt", "heeft", "hebben", "kan", "moet", "mag",
        "wat", "wie", "hoe", "waar", "wanneer", "waarom", "welke", "ik", "we", "wij", "en", "of",
        "niet", "er", "mijn", "ons", "onze", "hoeveel", "dat",
    ],
};
