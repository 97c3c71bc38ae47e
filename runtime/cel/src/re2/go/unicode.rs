//! The classes of Unicode that Go knows by name: categories and scripts. Upper case, lower case, blanks, dashes and underscores do not
//! count.

/// The categories, each with its names, the short one first.
const CATEGORIES: [&str; 38] = [
    "L Letter",
    "LC Cased_Letter",
    "Lu Uppercase_Letter",
    "Ll Lowercase_Letter",
    "Lt Titlecase_Letter",
    "Lm Modifier_Letter",
    "Lo Other_Letter",
    "M Mark Combining_Mark",
    "Mn Nonspacing_Mark",
    "Mc Spacing_Mark",
    "Me Enclosing_Mark",
    "N Number",
    "Nd Decimal_Number digit",
    "Nl Letter_Number",
    "No Other_Number",
    "P Punctuation punct",
    "Pc Connector_Punctuation",
    "Pd Dash_Punctuation",
    "Ps Open_Punctuation",
    "Pe Close_Punctuation",
    "Pi Initial_Punctuation",
    "Pf Final_Punctuation",
    "Po Other_Punctuation",
    "S Symbol",
    "Sm Math_Symbol",
    "Sc Currency_Symbol",
    "Sk Modifier_Symbol",
    "So Other_Symbol",
    "Z Separator",
    "Zs Space_Separator",
    "Zl Line_Separator",
    "Zp Paragraph_Separator",
    "C Other",
    "Cc Control cntrl",
    "Cf Format",
    "Cs Surrogate",
    "Co Private_Use",
    "Cn Unassigned",
];

/// The scripts.
const SCRIPTS: &str = "\
    Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo Brahmi \
    Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Common Coptic \
    Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs Elbasan Elymaic \
    Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Han Hangul Hanifi_Rohingya Hanunoo \
    Hatran Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada \
    Katakana Kawi Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu \
    Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui \
    Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari \
    New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian Old_Permic \
    Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau \
    Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian \
    Sora_Sompeng Soyombo Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut \
    Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square";

/// The name of a class in the `regex` crate.
pub(super) fn class(name: &str) -> Option<&'static str> {
    let given = bare(name);
    let is_given = |known: &&str| bare(known) == given;
    if let Some(whole) = ["any", "ascii", "assigned"].into_iter().find(|known| *known == given) {
        return Some(whole);
    }
    let category = CATEGORIES.iter().find(|names| names.split(' ').any(|name| is_given(&name)));
    let short = category.and_then(|names| names.split(' ').next());
    short.or_else(|| SCRIPTS.split(' ').find(is_given))
}

/// A name without what does not count.
fn bare(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).map(|c| c.to_ascii_lowercase()).collect()
}
