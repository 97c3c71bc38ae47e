//! A YAML document as a tape: its nodes in text order, each with its end. Aliases refer to their target and are not
//! expanded here.
use std::borrow::Cow;

use granit_parser::{Event, Options, Parser, ScalarStyle, Span, StrInput, Tag};

use super::Error;
use crate::codec::{Limits, memory::Memory};

/// One node.
pub(super) struct Node<'t> {
    /// The line it starts on, from 1.
    pub line: usize,
    /// Its content.
    pub content: Content<'t>,
}

/// The content of a node.
pub(super) enum Content<'t> {
    /// Text.
    Scalar {
        /// The text.
        text: Cow<'t, str>,
        /// True if it is unquoted.
        plain: bool,
        /// Its tag in the document.
        tag: TagKind,
    },
    /// A list; its items end before this index.
    List(usize),
    /// A map; its alternating keys and values end before this index.
    Map(usize),
    /// An alias.
    Alias {
        /// The index of the target.
        target: usize,
        /// The anchor's name.
        name: &'t str,
    },
}

/// The supported tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagKind {
    /// No tag.
    No,
    /// `!!str`, and every unknown tag: the text, unchanged.
    Text,
    Null,
    Bool,
    Int,
    Float,
    Timestamp,
    Binary,
    Merge,
}

/// The maximum number of empty documents after the real one.
const MOST_EMPTY: usize = 16;

/// Parses the document of a text, which may be empty, and returns the remaining memory. Its own nodes are counted here,
/// the expansion of aliases is not.
pub(super) fn read<'t>(text: &'t str, limits: &Limits) -> Result<(Vec<Node<'t>>, Memory), Error> {
    let mut reader = Reader {
        text,
        parser: Parser::new_from_str_with_options(text, options(limits)),
        tape: Vec::new(),
        anchors: Vec::new(),
        memory: Memory::new(limits),
        depth: limits.depth,
        ended: 0,
    };
    let mut open = Vec::new();
    loop {
        let (event, span) = reader.next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(..) => {}
            Event::DocumentEnd => {
                reader.end()?;
                return Ok((reader.tape, reader.memory));
            }
            Event::StreamEnd => return Ok((reader.tape, reader.memory)),
            Event::MappingEnd | Event::SequenceEnd => {
                let start: usize = open.pop().ok_or_else(|| Error::at(&span, "did not find expected node content"))?;
                let length = reader.tape.len();
                if let Content::List(end) | Content::Map(end) = &mut reader.tape[start].content {
                    *end = length;
                }
            }
            event => {
                if reader.begin(event, &span)? {
                    open.push(reader.tape.len() - 1);
                    if open.len() > limits.depth {
                        return Err(Error::at(&span, &format!("exceeded max depth of {}", limits.depth)));
                    }
                }
            }
        }
    }
}

fn options(limits: &Limits) -> Options {
    let mut options = Options::default();
    options.set_emit_comments(false);
    options.emit_unresolved_aliases = true;
    options.flow_nesting_limit = limits.depth;
    options.block_nesting_limit = limits.depth;
    options
}

struct Reader<'t> {
    text: &'t str,
    parser: Parser<'t, StrInput<'t>>,
    tape: Vec<Node<'t>>,
    /// The target of each anchor, by the parser's number.
    anchors: Vec<usize>,
    memory: Memory,
    depth: usize,
    /// The offset where the last event ended.
    ended: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Span), Error> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => {
                self.ended = span.byte_range().map_or(self.ended, |range| range.end);
                Ok((event, span))
            }
            Some(Err(error)) => Err(Error::of_scan(&error, self.ended, self.depth)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// Checks that no further document follows, except a few empty ones: its content would be dropped.
    fn end(&mut self) -> Result<(), Error> {
        let mut documents = 0;
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(()),
                (Event::DocumentStart(..), span) if documents == MOST_EMPTY => {
                    return Err(Error::at(&span, "expected a single document, but many follow it"));
                }
                (Event::DocumentStart(..), _) => documents += 1,
                (Event::DocumentEnd, _) => {}
                // The parser's form of an empty document, which has no place in the text.
                (Event::Scalar(_, ScalarStyle::Plain, 0, None), span) if span.is_empty() => {}
                (_, span) => return Err(Error::at(&span, "expected a single document, but another one begins here")),
            }
        }
    }

    /// Adds a node; returns true for a list or map, which is then open.
    fn begin(&mut self, event: Event<'t>, span: &Span) -> Result<bool, Error> {
        let (content, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                (Content::Scalar { text, plain, tag: tag_kind(tag.as_deref()) }, anchor)
            }
            Event::SequenceStart(_, anchor, _) => (Content::List(0), anchor),
            Event::MappingStart(_, anchor, _) => (Content::Map(0), anchor),
            Event::Alias(anchor) => {
                let shown = span.byte_range().and_then(|range| self.text.get(range)).unwrap_or_default();
                let name = shown.strip_prefix('*').unwrap_or(shown).trim_end();
                let node = self.anchors.get(anchor).copied().filter(|node| *node != usize::MAX);
                (Content::Alias { target: node.ok_or_else(|| unknown_anchor(name))?, name }, 0)
            }
            Event::UnresolvedAlias(name) => {
                return Err(unknown_anchor(&name));
            }
            _ => return Err(Error::at(span, "did not find expected node content")),
        };
        if anchor > 0 {
            if self.anchors.len() <= anchor {
                self.anchors.resize(anchor + 1, usize::MAX);
            }
            self.anchors[anchor] = self.tape.len();
        }
        let opens = matches!(content, Content::List(_) | Content::Map(_));
        let taken = match &content {
            Content::Map(_) => self.memory.object(),
            Content::List(_) => self.memory.list(),
            Content::Scalar { text, .. } => self.memory.text(text),
            // Following it costs as much.
            Content::Alias { .. } => self.memory.text("*"),
        };
        if !taken || !self.memory.take(size_of::<Node<'_>>()) || !self.memory.value() {
            return Err(Error::at(span, Memory::EXCEEDED));
        }
        self.tape.push(Node { line: span.start.line(), content });
        Ok(opens)
    }
}

fn tag_kind(tag: Option<&Tag>) -> TagKind {
    let Some(tag) = tag else {
        return TagKind::No;
    };
    if tag.handle() != "tag:yaml.org,2002:" {
        return TagKind::Text;
    }
    match tag.suffix() {
        "null" => TagKind::Null,
        "bool" => TagKind::Bool,
        "int" => TagKind::Int,
        "float" => TagKind::Float,
        "timestamp" => TagKind::Timestamp,
        "binary" => TagKind::Binary,
        "merge" => TagKind::Merge,
        _ => TagKind::Text,
    }
}

fn unknown_anchor(name: &str) -> Error {
    Error::new(&format!("unknown anchor '{name}' referenced"))
}
