//! The writer of `.proto` files.
use std::fmt;

use crate::model::{Field, File, LARGEST, Message, Other, Reservation, Syntax};

/// The file as text.
impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        comment(f, "", &self.about)?;
        if !self.about.is_empty() {
            writeln!(f)?;
        }
        let syntax = if self.syntax == Syntax::Proto2 { "proto2" } else { "proto3" };
        writeln!(f, "syntax = \"{syntax}\";")?;
        if !self.package.is_empty() {
            writeln!(f, "\npackage {};", self.package)?;
        }
        for (index, import) in self.imports.iter().enumerate() {
            let space = if index == 0 { "\n" } else { "" };
            match import.split_once(' ') {
                Some((how, path)) => writeln!(f, "{space}import {how} \"{path}\";")?,
                None => writeln!(f, "{space}import \"{import}\";")?,
            }
        }
        for other in &self.others {
            writeln!(f, "\n{}", other.text)?;
        }
        self.messages.iter().try_for_each(|message| {
            writeln!(f)?;
            write_message(f, "", message)
        })
    }
}

fn comment(f: &mut fmt::Formatter<'_>, indent: &str, lines: &[String]) -> fmt::Result {
    lines.iter().try_for_each(|line| writeln!(f, "{}", format!("{indent}// {line}").trim_end()))
}

fn write_message(f: &mut fmt::Formatter<'_>, indent: &str, message: &Message) -> fmt::Result {
    comment(f, indent, &message.about)?;
    writeln!(f, "{indent}message {} {{", message.name)?;
    let inner = format!("{indent}  ");
    let mut is_first = true;
    let mut blank = |f: &mut fmt::Formatter<'_>| if std::mem::take(&mut is_first) { Ok(()) } else { writeln!(f) };
    for Other { text, .. } in &message.others {
        blank(f)?;
        writeln!(f, "{inner}{text}")?;
    }
    for nested in &message.messages {
        blank(f)?;
        write_message(f, &inner, nested)?;
    }
    let mut written: Vec<&str> = Vec::new();
    for field in &message.fields {
        match field.oneof.as_deref() {
            None => {
                blank(f)?;
                write_field(f, &inner, field)?;
            }
            Some(oneof) if written.contains(&oneof) => {}
            Some(oneof) => {
                blank(f)?;
                writeln!(f, "{inner}oneof {oneof} {{")?;
                for field in message.fields.iter().filter(|field| field.oneof.as_deref() == Some(oneof)) {
                    write_field(f, &format!("{inner}  "), field)?;
                }
                writeln!(f, "{inner}}}")?;
                written.push(oneof);
            }
        }
    }
    if !message.reserved.is_empty() {
        blank(f)?;
    }
    for reserved in &message.reserved {
        let what = match reserved {
            Reservation::Numbers(span, _) if span.start() == span.end() => span.start().to_string(),
            Reservation::Numbers(span, _) if *span.end() == LARGEST => format!("{} to max", span.start()),
            Reservation::Numbers(span, _) => format!("{} to {}", span.start(), span.end()),
            Reservation::Name(name, _) => format!("\"{name}\""),
        };
        writeln!(f, "{inner}reserved {what};")?;
    }
    writeln!(f, "{indent}}}")
}

fn write_field(f: &mut fmt::Formatter<'_>, indent: &str, field: &Field) -> fmt::Result {
    comment(f, indent, &field.about)?;
    let options = if field.options.is_empty() { String::new() } else { format!(" [{}]", field.options) };
    writeln!(f, "{indent}{} {} = {}{options};", field.declared(), field.name, field.number)
}
