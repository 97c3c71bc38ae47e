//! Rendered documents about all kinds, and their readers. A slow client keeps the document that it began to read.
//! Outdated documents, which no new reader gets, are kept for such clients only up to a few megabytes. Beyond that, the
//! readers of the oldest ones are cut off, and must request the document again.
use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use axum_core::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};

/// The size of a piece. A connection keeps only the pieces that it sends.
const PIECE: usize = 64 << 10;
/// The size in bytes of all documents that only slow readers need.
const MOST_OUTDATED: usize = 32 << 20;

/// A rendered document, in pieces.
pub(super) struct RenderedDocument {
    /// `None` if its readers were cut off.
    pieces: Mutex<Option<Arc<[Bytes]>>>,
    length: usize,
    hash: String,
    /// The number of its holders that give it to new readers.
    holders: AtomicUsize,
}

/// Holds a document for new readers.
pub(super) struct Holder(Arc<RenderedDocument>);

/// The documents without a holder that have readers, the oldest first.
static OUTDATED: Mutex<Vec<Weak<RenderedDocument>>> = Mutex::new(Vec::new());

impl RenderedDocument {
    /// Holds a new document.
    pub(super) fn hold(body: &[u8], hash: String) -> Holder {
        let pieces = body.chunks(PIECE).map(Bytes::copy_from_slice).collect();
        let (pieces, holders) = (Mutex::new(Some(pieces)), AtomicUsize::new(1));
        Holder(Arc::new(Self { pieces, length: body.len(), hash, holders }))
    }

    /// Holds this one again; `None` if its readers were cut off.
    pub(super) fn hold_again(self: Arc<Self>) -> Option<Holder> {
        self.holders.fetch_add(1, Ordering::AcqRel);
        let holder = Holder(self);
        let is_whole = holder.0.pieces().is_some();
        is_whole.then_some(holder)
    }

    fn pieces(&self) -> MutexGuard<'_, Option<Arc<[Bytes]>>> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_outdated(&self) -> bool {
        self.holders.load(Ordering::Acquire) == 0 && self.pieces().is_some()
    }
}

impl Holder {
    /// The hash of the document.
    pub(super) fn hash(&self) -> &str {
        &self.0.hash
    }

    /// A reference that does not keep it.
    pub(super) fn downgrade(&self) -> Weak<RenderedDocument> {
        Arc::downgrade(&self.0)
    }

    /// The document as the body of an answer.
    pub(super) fn body(&self) -> Body {
        let pieces = self.0.pieces();
        match pieces.as_deref() {
            Some([]) => Body::empty(),
            Some([only]) => Body::from(only.clone()),
            _ => {
                drop(pieces);
                Body::new(Reader { document: self.0.clone(), next: 0, left: self.0.length })
            }
        }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let was_last = self.0.holders.fetch_sub(1, Ordering::AcqRel) == 1;
        if was_last && Arc::strong_count(&self.0) > 1 {
            keep_few(&self.0, MOST_OUTDATED);
        }
    }
}

/// Notes that a document has lost its last holder, and cuts readers off if too much is kept.
fn keep_few(document: &Arc<RenderedDocument>, most: usize) {
    let mut outdated = OUTDATED.lock().unwrap_or_else(PoisonError::into_inner);
    let this = Arc::downgrade(document);
    outdated.retain(|one| !one.ptr_eq(&this) && one.upgrade().is_some_and(|one| one.is_outdated()));
    outdated.push(this);
    let alive: Vec<_> = outdated.iter().filter_map(Weak::upgrade).collect();
    let mut bytes: usize = alive.iter().map(|one| one.length).sum();
    for one in alive {
        if bytes <= most {
            break;
        }
        // Under the lock, because it may be held again now.
        let mut pieces = one.pieces();
        if one.holders.load(Ordering::Acquire) == 0 {
            *pieces = None;
            bytes -= one.length;
        }
    }
}

/// The body of an answer.
struct Reader {
    document: Arc<RenderedDocument>,
    next: usize,
    left: usize,
}

impl http_body::Body for Reader {
    type Data = Bytes;
    type Error = axum_core::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum_core::Error>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let piece = self.document.pieces().as_ref().map(|pieces| pieces[self.next].clone());
        let cut = || axum_core::Error::new("the document has changed, and was not read in time");
        Poll::Ready(Some(piece.ok_or_else(cut).map(|piece| {
            self.next += 1;
            self.left -= piece.len();
            Frame::data(piece)
        })))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::local;

    fn document(bytes: usize) -> Holder {
        RenderedDocument::hold(&vec![b'x'; bytes], String::new())
    }

    #[tokio::test]
    async fn a_reader_gets_the_whole_document_after_its_last_holder_has_gone() {
        for bytes in [0, 1, PIECE, PIECE + 1, 3 * PIECE] {
            let holder = document(bytes);
            let body = holder.body();
            assert_eq!(http_body::Body::size_hint(&body).exact(), Some(bytes as u64));
            drop(holder);
            assert_eq!(local::whole(body).await.unwrap().len(), bytes);
        }
    }

    #[tokio::test]
    async fn readers_of_the_oldest_documents_are_cut_off_and_those_of_current_ones_never() {
        let current: Vec<_> = (0..20).map(|_| document(8 << 20)).collect();
        let current: Vec<_> = current.into_iter().map(|holder| (holder.body(), holder)).collect();
        let old: Vec<_> = (0..20).map(|_| document(8 << 20).body()).collect();
        let kept: usize = OUTDATED.lock().unwrap().iter().filter_map(Weak::upgrade).map(|one| one.length).sum();
        assert!(kept >= MOST_OUTDATED, "{kept}");
        let mut whole = Vec::new();
        for body in old {
            whole.push(local::whole(body).await.is_ok());
        }
        assert!(whole[..15].iter().all(|whole| !whole) && whole[17..].iter().all(|whole| *whole), "{whole:?}");
        for (body, _holder) in current {
            assert_eq!(local::whole(body).await.unwrap().len(), 8 << 20);
        }
    }

    #[test]
    fn a_document_that_is_still_read_is_given_to_new_readers() {
        let holder = document(3 * PIECE);
        let (body, last) = (holder.body(), holder.downgrade());
        drop(holder);
        let again = last.upgrade().and_then(RenderedDocument::hold_again).expect("it is still read");
        assert!(!again.0.is_outdated());
        drop((again, body));
        assert!(last.upgrade().is_none());
    }
}
