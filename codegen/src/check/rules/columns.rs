//! Rules about columns and selectable fields.
use kindsmith::kind::model::Column;

use crate::check::rule::{
    Check,
    Party::{Json, Kubectl, Watchers},
    Rule, only_in, source,
};

pub(super) static RULES: [Rule; 6] = [
    Check::Version(|change, notes| {
        for path in only_in(&change.old.selectable, &change.new.selectable) {
            notes.below(format!(".{path}"), "no longer selectable");
        }
    })
    .breaking("selectable-field-removed", &[Json, Watchers], source::SELECTING)
    .about("A field can no longer be selected by.")
    .harm("lists and watches with a field selector of it are refused with 400")
    .instead("Keep the field selectable."),
    Check::Version(|change, notes| {
        for path in only_in(&change.new.selectable, &change.old.selectable) {
            notes.below(format!(".{path}"), "selectable");
        }
    })
    .compatible("selectable-field-added", "A field can be selected by."),
    Check::Version(|change, notes| {
        for column in &change.old.columns {
            if column_of(&change.new.columns, &column.name).is_none() {
                notes.here(format!("without the column {:?}", column.name));
            }
        }
    })
    .warning("column-removed", &[Kubectl], source::TABLES)
    .about("A column of kubectl get is removed.")
    .harm("scripts that read the column of kubectl's output fail")
    .instead("Keep the column, or show it with -o wide (a priority of 1)."),
    Check::Version(|change, notes| {
        for column in &change.new.columns {
            if column_of(&change.old.columns, &column.name).is_none() {
                notes.here(format!("with the column {:?}", column.name));
            }
        }
    })
    .compatible("column-added", "A column of kubectl get is added."),
    Check::Version(|change, notes| {
        for new in &change.new.columns {
            if let Some(old) = column_of(&change.old.columns, &new.name)
                && ((&old.kind, &old.format) != (&new.kind, &new.format) || !old.cell.shows_same(&new.cell))
            {
                notes.here(format!("the column {:?} shows something else", new.name));
            }
        }
    })
    .warning("column-changed", &[Kubectl], source::TABLES)
    .about("A column of kubectl get shows something else.")
    .harm("scripts that read the column of kubectl's output get other values")
    .instead("Add a column of another name."),
    Check::Version(|change, notes| {
        for new in change.new.columns.iter().filter(|new| new.priority > 0) {
            if column_of(&change.old.columns, &new.name).is_some_and(|old| old.priority <= 0) {
                notes.here(format!("the column {:?} is shown with -o wide only", new.name));
            }
        }
    })
    .warning("column-hidden", &[Kubectl], source::TABLES)
    .about("A column of kubectl get is shown with -o wide only.")
    .harm("scripts that read the column of kubectl's output fail")
    .instead("Keep the priority of the column."),
];

fn column_of<'c>(columns: &'c [Column], name: &str) -> Option<&'c Column> {
    columns.iter().find(|column| column.name == name)
}
