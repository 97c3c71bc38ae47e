//! The table of keywords: for each direction in which one can change, whom that breaks.
use super::{alternatives, expressions, fields, limits, types, values};
use crate::check::{
    node::{is_open, values as values_of},
    rule::{
        Check,
        Direction::{Looser, Tighter},
        Keyword,
        Party::{Appliers, Json, Protobuf, Stored, Watchers},
        Rule, source,
    },
};

const TIGHTER: &str =
    "requests beyond it are refused, and stored values beyond it cannot be changed to others like them";
const ADMIT: &str = "Keep the limit, and warn of values beyond the new one in admission.";

/// All that narrows the values of a field of the status.
const TIGHTENED: [Keyword; 12] = [
    limits::range,
    limits::multiple,
    limits::length,
    limits::items,
    limits::entries,
    values::allowed,
    values::closed,
    values::patterned,
    values::pattern,
    alternatives::changed,
    |field, _| fields::required_in_status(field),
    |field, _| expressions::tightened(field),
];

pub(super) static RULES: [Rule; 69] = [
    Check::Field(|field, notes| fields::removed(field, false, "removed", notes))
        .breaking("field-removed", &[Json, Protobuf, Stored, Appliers, Watchers], source::DEPRECATION)
        .about("A field is removed.")
        .harm(
            "stored values are pruned at the next write, strict clients that send it are refused, and readers miss it",
        )
        .instead("Deprecate the field in its description, and remove it with the version."),
    Check::Field(|field, notes| fields::removed(field, true, "no longer declared", notes))
        .warning("field-undeclared", &[Json, Appliers], source::FIELDS)
        .about("A field is no longer declared, though unknown fields are kept.")
        .harm("its values stay, but are neither validated nor defaulted, and generated clients lose the field")
        .instead("Keep the declaration."),
    Check::Field(|field, notes| fields::added(field, |is_sent| !is_sent && !is_open(field.old), "added", notes))
        .compatible("field-added", "An optional field is added."),
    Check::Field(|field, notes| {
        fields::added(field, |is_sent| is_sent, "added, required and without a default", notes);
    })
    .breaking("field-added-required", &[Json, Stored, Appliers], source::COMPATIBILITY)
    .about("A required field without a default is added.")
    .harm("clients that do not know it are refused, and so is every write of a stored object without it")
    .instead("Make the field optional, or give it a default that means what happened before."),
    Check::Field(|field, notes| {
        let is_it = |is_sent: bool| !is_sent && is_open(field.old);
        fields::added(field, is_it, "declared, where unknown fields were kept", notes);
    })
    .warning("field-declared", &[Json, Stored], source::COMPATIBILITY)
    .about("A field is declared where all unknown fields were kept.")
    .harm("what is stored under its name may not fit the declaration, and is then refused with the next write")
    .instead("Check what is stored under the name."),
    Check::Field(|field, notes| {
        let is_struct = field.old.properties().len() > 0 && values_of(field.old).is_none();
        notes.when(is_struct && values_of(field.new).is_some(), "was a struct, is a map");
    })
    .breaking("struct-became-map", &[Json, Protobuf, Watchers], source::COMPATIBILITY)
    .about("Fields became the keys of a map.")
    .harm("typed clients do not find their fields, and values of other types are refused")
    .instead("Add a field for the map."),
    Check::Unset(|of| values_of(of).is_some(), "was a map, is a struct")
        .breaking("map-became-struct", &[Json, Protobuf, Stored], source::COMPATIBILITY)
        .about("A map takes no longer any key.")
        .harm("other keys are pruned from what is stored and sent, and typed clients do not decode the value")
        .instead("Add a field for the struct."),
    Check::Field(|field, notes| {
        let is_found = field.is_unset(|of| of.preserve_unknown) && values_of(field.new).is_none();
        notes.when(is_found, "no longer keeps unknown fields");
    })
    .breaking("unknown-fields-pruned", &[Json, Stored], source::FIELDS)
    .about("Unknown fields are no longer kept.")
    .harm("values that are not declared are pruned from what is stored and sent")
    .instead("Declare the fields that are in use first, and keep preserving the others."),
    Check::Set(|of| of.preserve_unknown, "keeps unknown fields")
        .warning("unknown-fields-kept", &[Json, Watchers], source::FIELDS)
        .about("Unknown fields are kept.")
        .harm(
            "a misspelt field is stored without an error, and the fields that clients put there can never be pruned \
             again",
        )
        .instead("Declare the fields, or a map of them."),
    Check::Field(fields::documentation)
        .compatible("documentation-changed", "A description, a title, an example or a link is another one."),
    Check::Field(fields::type_renamed).compatible(
        "type-renamed",
        "The type of a value has another name in OpenAPI documents, after which generators name theirs.",
    ),
    Check::Field(fields::required_added)
        .breaking("required-added", &[Json, Stored, Appliers], source::OPTIONAL)
        .about("A field that was optional is required, and has no default.")
        .harm("writes without it are refused, those of objects that are stored without it among them")
        .instead("Keep the field optional, or give it a default."),
    Check::Field(fields::required_with_default)
        .compatible("required-with-default", "A field that was optional is required, and has a default."),
    Check::Field(fields::required_removed)
        .warning("required-removed", &[Json, Watchers], source::COMPATIBILITY)
        .about("A required field is optional.")
        .harm("readers that rely on the field find objects without it")
        .instead("Check that all readers handle its absence."),
    Check::Unset(|of| of.nullable, "may no longer be null")
        .breaking("nullable-removed", &[Json, Stored], source::COMPATIBILITY)
        .about("A value may no longer be null.")
        .harm("a null in a request is dropped or refused, and a stored one no longer fits")
        .instead("Keep it nullable."),
    Check::Set(|of| of.nullable, "may be null")
        .warning("nullable-added", &[Json, Watchers], source::GOTCHAS)
        .about("A value may be null.")
        .harm("readers of typed languages may not decode a null")
        .instead("Let the field be absent instead."),
    Check::Field(|field, notes| notes.some(types::changed(field, None)))
        .breaking("type-changed", &[Json, Protobuf, Stored, Watchers], source::COMPATIBILITY)
        .about("A value has another type.")
        .harm(
            "requests with values of the old type are refused, stored ones no longer fit, and readers do not decode \
             the new ones",
        )
        .instead("Add a field of another name, and keep both in step."),
    Check::Field(|field, notes| notes.some(types::changed(field, Some(Looser))))
        .breaking("type-widened", &[Json, Protobuf, Watchers], source::GOTCHAS)
        .about("A value may have further types.")
        .harm("readers of typed languages do not decode the values that are new")
        .instead("Add a field of another name for the further values."),
    Check::Field(|field, notes| notes.some(types::changed(field, Some(Tighter))))
        .breaking("type-narrowed", &[Json, Protobuf, Stored], source::COMPATIBILITY)
        .about("A value may no longer have all the types that it could have.")
        .harm("requests with the other values are refused, and stored ones no longer fit")
        .instead("Keep the type, and warn of the other values in admission."),
    Check::Field(|field, notes| notes.some(types::format(field, |_, is_known| is_known)))
        .breaking("format-changed", &[Json, Protobuf, Stored], source::VALIDATION)
        .about("Text has another format that is checked, or one where it had none.")
        .harm("requests with text of the old form are refused, and stored text no longer fits")
        .instead("Add a field of another name."),
    Check::Field(|field, notes| notes.some(types::format(field, |was_known, is_known| was_known && !is_known)))
        .warning("format-removed", &[Json, Watchers], source::GOTCHAS)
        .about("The format of text is no longer checked.")
        .harm("readers that parse the text may meet one that they do not understand")
        .instead("Keep the format."),
    Check::Set(types::is_int32, "the format is int32, and was int64")
        .breaking("integer-narrowed", &[Json, Stored], source::TYPES)
        .about("An integer has 32 bits, and had 64.")
        .harm("larger numbers are refused, and stored ones no longer fit")
        .instead("Keep int64."),
    Check::Unset(types::is_int32, "the format is int64, and was int32")
        .warning("integer-widened", &[Json, Protobuf, Watchers], source::TYPES)
        .about("An integer has 64 bits, and had 32.")
        .harm("readers that hold it in 32 bits fail on larger numbers, or cut them off")
        .instead("Set a maximum of 2147483647."),
    Check::Field(|field, notes| {
        notes.when(field.is_set(types::is_float), "the format was double, is float");
        notes.when(field.is_unset(types::is_float), "the format was float, is double");
    })
    .warning("number-precision-changed", &[Json, Protobuf], source::TYPES)
    .about("A number has another precision.")
    .harm("readers round it, or do not decode it")
    .instead("Keep the format."),
    Check::Field(|field, notes| notes.some(types::format(field, |was_known, is_known| !was_known && !is_known)))
        .compatible("format-note-changed", "A format that is not checked is another one."),
    Check::Field(|field, notes| notes.some(values::default_added(field, false)))
        .warning("default-added", &[Json, Stored, Watchers], source::COMPATIBILITY)
        .about("A field that was there has a default.")
        .harm("objects without the field get the value when they are read, though its absence meant something else")
        .instead("Choose a default that means what the absence meant."),
    Check::Field(|field, notes| notes.some(values::default_added(field, true))).compatible(
        "empty-default-added",
        "A field that was there has an empty default, which most clients take for its absence.",
    ),
    Check::Field(values::status_default)
        .warning("status-default-changed", &[Json, Watchers], source::DEFAULTING)
        .about("The status has another default, or no longer one.")
        .harm("readers see another status until a controller writes one")
        .instead("Change it together with the controllers."),
    Check::Field(values::default_changed)
        .breaking("default-changed", &[Json, Stored, Watchers], source::DEFAULTING)
        .about("A field has another default.")
        .harm("manifests without the field, and objects that are stored without it, mean something else")
        .instead("Change the default in a new version."),
    Check::Field(values::default_removed)
        .breaking("default-removed", &[Json, Watchers], source::DEFAULTING)
        .about("A field no longer has a default.")
        .harm("readers that rely on the field find objects without it")
        .instead("Keep the default in this version."),
    Check::Field(|field, notes| notes.when(!field.old.immutable && field.new.immutable, "can no longer change"))
        .breaking("immutable-added", &[Json, Appliers], source::COMPATIBILITY)
        .about("A value can no longer change.")
        .harm("updates that change it are refused")
        .instead("Make it immutable in a new kind."),
    Check::Field(|field, notes| notes.when(field.old.immutable && !field.new.immutable, "can change"))
        .warning("immutable-removed", &[Watchers], source::COMPATIBILITY)
        .about("A value can change.")
        .harm("controllers that read it once do not notice")
        .instead("Check that controllers handle a change."),
    Check::Set(|of| of.embedded, "is an embedded resource")
        .breaking("embedded-resource-added", &[Json, Stored], source::COMPATIBILITY)
        .about("A value must be an object with apiVersion and kind.")
        .harm("values without them, and with metadata that is not valid, are refused")
        .instead("Add a field of another name."),
    Check::Unset(|of| of.embedded, "is no longer an embedded resource")
        .breaking("embedded-resource-removed", &[Json, Stored], source::COMPATIBILITY)
        .about("A value is no longer an object with apiVersion, kind and metadata.")
        .harm("these fields are pruned, unless they are declared")
        .instead("Keep the extension."),
    Check::Field(|field, notes| notes.some(values::allowed(field, Looser).filter(|_| !field.is_status)))
        .warning("enum-value-added", &[Json, Watchers], source::GOTCHAS)
        .about("A further value is allowed, outside of the status.")
        .harm("clients that know all values meet one that they do not decode or handle, once someone uses it")
        .instead("Say in the description, from the beginning, that there may be further values."),
    Check::Field(|field, notes| notes.some(values::allowed(field, Looser).filter(|_| field.is_status)))
        .breaking("status-enum-value-added", &[Json, Watchers], source::STATUS)
        .about("The status has a further value of a closed set.")
        .harm("clients that know all values meet one that they do not decode or handle, though they did not ask for it")
        .instead("Add a condition, whose types are not a closed set."),
    Check::Looser(values::closed)
        .warning("enum-opened", &[Json, Watchers], source::CONSTANTS)
        .about("A closed set of values is open.")
        .harm("clients that know all values meet others")
        .instead("Say in the description how clients are to treat other values."),
    Check::Tighter(values::allowed)
        .breaking("enum-value-removed", &[Json, Stored], source::GOTCHAS)
        .about("A value is no longer allowed.")
        .harm("requests with it are refused, and stored objects with it cannot be written")
        .instead("Deprecate the value in the description, and go on allowing it."),
    Check::Tighter(values::closed)
        .breaking("enum-closed", &[Json, Stored], source::COMPATIBILITY)
        .about("An open set of values is closed.")
        .harm("requests with other values are refused, and stored objects with them cannot be written")
        .instead("Warn of other values in admission."),
    Check::Tighter(values::patterned)
        .breaking("pattern-added", &[Json, Stored], source::COMPATIBILITY)
        .about("Text has to match a pattern.")
        .harm("requests with other text are refused, and stored objects with it cannot be written")
        .instead("Warn of other text in admission."),
    Check::Tighter(values::pattern)
        .breaking("pattern-changed", &[Json, Stored], source::GOTCHAS)
        .about("Text has to match another pattern, which refuses what the old one allows, or may.")
        .harm(
            "requests with text that only the old pattern allows are refused, and stored objects with it cannot be \
             written",
        )
        .instead("Allow what the old pattern allows, too, as in OLD|NEW."),
    Check::Looser(values::pattern)
        .warning("pattern-loosened", &[Json, Watchers], source::GOTCHAS)
        .about("Text has to match another pattern, which allows all that the old one does, and more.")
        .harm("readers that parse the text may meet one that they do not understand")
        .instead("Check that all readers handle it."),
    Check::Field(values::pattern_rewritten)
        .compatible("pattern-rewritten", "A pattern is written in another way, and allows the same text."),
    Check::Looser(values::patterned)
        .warning("pattern-removed", &[Json, Watchers], source::GOTCHAS)
        .about("Text no longer has to match a pattern.")
        .harm("readers that parse the text may meet one that they do not understand")
        .instead("Check that all readers handle other text."),
    Check::Tighter(limits::range)
        .breaking("range-tightened", &[Json, Stored], source::COMPATIBILITY)
        .about("Fewer numbers are allowed.")
        .harm(TIGHTER)
        .instead(ADMIT),
    Check::Looser(limits::range)
        .warning("range-loosened", &[Json, Watchers], source::GOTCHAS)
        .about("More numbers are allowed.")
        .harm("readers that rely on the limit may meet numbers beyond it")
        .instead("Check that all readers handle them."),
    Check::Tighter(limits::multiple)
        .breaking("multiple-tightened", &[Json, Stored], source::COMPATIBILITY)
        .about("Numbers have to be multiples of another one.")
        .harm("requests with other numbers are refused, and stored objects with them cannot be written")
        .instead(ADMIT),
    Check::Looser(limits::multiple)
        .warning("multiple-loosened", &[Json, Watchers], source::GOTCHAS)
        .about("Numbers need no longer be multiples of one.")
        .harm("readers that rely on it may meet others")
        .instead("Check that all readers handle them."),
    Check::Tighter(limits::length)
        .breaking("length-tightened", &[Json, Stored], source::COMPATIBILITY)
        .about("Text has to be longer or shorter.")
        .harm(TIGHTER)
        .instead(ADMIT),
    Check::Looser(limits::length)
        .warning("length-loosened", &[Json, Watchers], source::GOTCHAS)
        .about("Text may be longer or shorter.")
        .harm("readers that put the text where there is less room, or that expect some, may fail")
        .instead("Check that all readers handle it."),
    Check::Tighter(limits::items)
        .breaking("items-tightened", &[Json, Stored], source::COMPATIBILITY)
        .about("A list has to have more or fewer items.")
        .harm(TIGHTER)
        .instead(ADMIT),
    Check::Looser(limits::items)
        .warning("items-loosened", &[Json, Watchers], source::GOTCHAS)
        .about("A list may have more or fewer items.")
        .harm("readers that rely on an item, or on few of them, may fail")
        .instead("Check that all readers handle it."),
    Check::Tighter(limits::entries)
        .breaking("entries-tightened", &[Json, Stored], source::COMPATIBILITY)
        .about("A map or struct has to have more or fewer entries.")
        .harm(TIGHTER)
        .instead(ADMIT),
    Check::Looser(limits::entries)
        .warning("entries-loosened", &[Json, Watchers], source::GOTCHAS)
        .about("A map or struct may have more or fewer entries.")
        .harm("readers that rely on an entry, or on few of them, may fail")
        .instead("Check that all readers handle it."),
    Check::Field(|field, notes| {
        if field.is_status && !field.allows_all_values() {
            for keyword in TIGHTENED {
                notes.some(keyword(field, Tighter));
            }
        }
    })
    .warning("status-tightened", &[Stored, Watchers], source::GOTCHAS)
    .about("Fewer values are allowed in the status, which only controllers write.")
    .harm("a controller that writes other values is refused, and so is every write of a status that has them")
    .instead("Make sure that no controller writes them, and that the old ones are gone."),
    Check::Tighter(alternatives::changed)
        .breaking("alternatives-tightened", &[Json, Stored], source::COMPATIBILITY)
        .about("What allOf, anyOf, oneOf or not allow is less, or may be.")
        .harm("requests that only the old rules allow are refused, and stored objects like them cannot be written")
        .instead("If the new rules allow all that the old ones do, accept the change with this reason."),
    Check::Looser(alternatives::changed)
        .warning("alternatives-loosened", &[Json, Watchers], source::GOTCHAS)
        .about("What allOf, anyOf, oneOf or not allow is more.")
        .harm("readers that rely on the old rules may meet other values")
        .instead("Check that all readers handle them."),
    Check::Field(|field, notes| {
        let is_found = field.is_set(|of| of.union) && !alternatives::is_same(field);
        notes.when(is_found, "exactly one of its fields has to be set");
    })
    .breaking("union-added", &[Json, Stored, Appliers], source::UNIONS)
    .about("Exactly one of the fields of a struct has to be set.")
    .harm("requests with none or several of them are refused, and stored objects like them cannot be written")
    .instead("Add a field for the union."),
    Check::Field(|field, notes| {
        let is_found = field.is_unset(|of| of.union) && !alternatives::is_same(field);
        notes.when(is_found, "is no longer a union of its fields");
    })
    .warning("union-removed", &[Json, Watchers], source::UNIONS)
    .about("None or several of the fields of a struct may be set.")
    .harm("readers that expect one of them may meet none, or use the wrong one")
    .instead("Keep the union."),
    Check::Field(alternatives::union_member_added)
        .warning("union-member-added", &[Json, Watchers], source::GOTCHAS)
        .about("A union has a further member.")
        .harm("readers that know all members find none of them set, once someone uses the new one")
        .instead("Say in the description, from the beginning, that there may be further members."),
    Check::Field(expressions::added)
        .breaking("expression-added", &[Json, Stored, Appliers], source::COMPATIBILITY)
        .about("Values have to meet a further rule in CEL.")
        .harm("requests that do not meet it are refused, and stored objects that do not cannot be written")
        .instead("Warn in admission (a ValidatingAdmissionPolicy with the action Warn)."),
    Check::Field(expressions::added_about_new)
        .compatible("expression-about-new-field", "A rule in CEL is added that values without a new field meet."),
    Check::Field(expressions::implied)
        .compatible("expression-implied", "A rule in CEL is added or removed that all values meet in any case."),
    Check::Field(expressions::made_stricter)
        .breaking("expression-tightened", &[Json, Stored, Appliers], source::COMPATIBILITY)
        .about("A rule in CEL allows less.")
        .harm("requests that do not meet it are refused, and stored objects that do not cannot be written")
        .instead("Warn in admission (a ValidatingAdmissionPolicy with the action Warn)."),
    Check::Field(expressions::made_looser)
        .warning("expression-loosened", &[Json, Watchers], source::GOTCHAS)
        .about("A rule in CEL allows more.")
        .harm("readers that rely on the old one may meet other values")
        .instead("Check that all readers handle them."),
    Check::Version(expressions::too_costly)
        .breaking("expression-too-costly", &[Json], source::VALIDATION)
        .about("By the new bounds, a rule in CEL costs too much.")
        .harm("servers refuse the definition, or do not start with it")
        .instead("Keep the bounds of lists, maps and text that the rule reads."),
    Check::Field(expressions::changed)
        .breaking("expression-changed", &[Json, Stored, Appliers], source::GOTCHAS)
        .about("A rule in CEL is another one, which may refuse what the old one allowed.")
        .harm("requests that only the old rule allows are refused, and stored objects like them cannot be written")
        .instead("If the new rule allows all that the old one does, accept the change with this reason."),
    Check::Field(expressions::removed)
        .warning("expression-removed", &[Json, Watchers], source::GOTCHAS)
        .about("Values need no longer meet a rule in CEL.")
        .harm("readers that rely on it may meet other values")
        .instead("Check that all readers handle them."),
    Check::Field(expressions::message_changed).compatible(
        "expression-message-changed",
        "The message, the reason or the path of a rule in CEL is another one.",
    ),
];
