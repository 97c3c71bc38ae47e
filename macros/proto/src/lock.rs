//! Numbers and names in a file: taken, reserved, and the next free number.
use std::fmt;

use crate::model::{Field, LARGEST, Message, OF_PROTOBUF, Reservation, Span};

/// A declaration that contradicts a published file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The line of the file, from 1.
    pub line: usize,
    /// What the file says there, what was found, and the way out.
    pub message: String,
}

impl Conflict {
    pub(crate) fn new(line: usize, message: String) -> Self {
        Self { line, message }
    }

    /// The conflict with the name of the file, as `v1.proto:12: …`.
    pub fn of(&self, file: impl fmt::Display) -> String {
        format!("{file}:{}: {}", self.line, self.message)
    }
}

impl Message {
    /// The line that reserves a number.
    pub fn reserves(&self, number: u32) -> Option<usize> {
        self.reserved.iter().find_map(|reserved| match reserved {
            Reservation::Numbers(span, line) if span.contains(&number) => Some(*line),
            _ => None,
        })
    }

    /// The line that reserves a name.
    pub fn reserves_name(&self, name: &str) -> Option<usize> {
        self.reserved.iter().find_map(|reserved| match reserved {
            Reservation::Name(known, line) if Field { name: known.clone(), ..Field::default() }.is_called(name) => {
                Some(*line)
            }
            _ => None,
        })
    }

    /// The number for the next field: after the highest that was ever used.
    pub fn next_number(&self) -> Option<u32> {
        let reserved = self.reserved.iter().filter_map(|reserved| match reserved {
            Reservation::Numbers(span, _) => Some(span),
            Reservation::Name(..) => None,
        });
        let taken: Vec<&Span> = reserved.chain(self.others.iter().flat_map(|other| &other.takes)).collect();
        // A range without an end keeps the numbers below it free.
        let closed = taken.iter().map(|span| *span.end()).filter(|end| *end < LARGEST);
        let highest = closed.chain(self.fields.iter().map(|field| field.number)).max().unwrap_or(0);
        let mut number = highest + 1;
        while let Some(span) = taken.iter().copied().chain([&OF_PROTOBUF]).find(|span| span.contains(&number)) {
            number = span.end() + 1;
        }
        (number <= LARGEST).then_some(number)
    }

    /// The number of a field of this name, which is declared with this number or without one.
    ///
    /// Returns `None` for a field that the message does not have.
    ///
    /// # Errors
    /// If the message has another number for the field, or the number or the name belongs to another field or to none.
    pub fn number_of(&self, name: &str, declared: Option<u32>) -> Result<Option<u32>, Conflict> {
        if let Some(field) = self.field(name) {
            let Field { number, line, .. } = field;
            return match declared.filter(|declared| declared != number) {
                None => Ok(Some(*number)),
                Some(other) => Err(Conflict::new(
                    *line,
                    format!(
                        "`{name}` has the number {number}, not {other}; a published number never changes: declare {number}"
                    ),
                )),
            };
        }
        if let Some(line) = self.reserves_name(name) {
            let message = format!(
                "the name `{name}` is reserved, since a field with it was removed; give the field another name, or restore the \
                 removed one here if it means the same"
            );
            return Err(Conflict::new(line, message));
        }
        let Some(number) = declared else { return Ok(None) };
        let free = self.next_number().map_or_else(String::new, |free| format!("; {free} is free"));
        if let Some(line) = self.reserves(number) {
            let message = format!("the number {number} is reserved, and cannot be that of `{name}`{free}");
            return Err(Conflict::new(line, message));
        }
        match self.fields.iter().find(|field| field.number == number) {
            None => Ok(None),
            Some(Field { name: other, line, .. }) => {
                let message = format!(
                    "the number {number} is that of `{other}`, and cannot be that of `{name}`{free}; for a renamed field, \
                     change the name here, too"
                );
                Err(Conflict::new(*line, message))
            }
        }
    }
}
