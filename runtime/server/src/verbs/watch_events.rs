//! The changes of a watch. If a webhook converts objects to the requested version, events are converted together as they come,
//! and returned in their order.
use std::{
    collections::VecDeque,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use crate::{
    cache::{self, Event, Frames, Object, WatchError},
    meta::Revision,
    registry::ResourceEntry,
};

/// The maximum number of events that are converted together.
const BATCH: usize = 128;
/// A call that took longer failed because the webhook does not answer, and the next ones would take as long.
const SLOW: Duration = Duration::from_secs(5);

/// The changes after the initial objects.
pub struct Watch {
    changes: cache::Watch,
    /// If a webhook converts them.
    converter: Option<Box<EventConverter>>,
}

type ConversionFuture = Pin<Box<dyn Future<Output = VecDeque<Result<Event, WatchError>>> + Send>>;

/// Events on their way through a webhook.
struct EventConverter {
    resource: Arc<ResourceEntry>,
    /// The position of the last event that was returned, or that before the events that are being converted.
    position: Revision,
    running: Option<ConversionFuture>,
    ready: VecDeque<Result<Event, WatchError>>,
}

impl Watch {
    pub fn new(resource: &Arc<ResourceEntry>, changes: cache::Watch) -> Self {
        let converter = resource.waiting_view().is_some().then(|| {
            let (resource, position) = (resource.clone(), changes.position());
            Box::new(EventConverter { resource, position, running: None, ready: VecDeque::new() })
        });
        Self { changes, converter }
    }

    /// All matching changes up to here were returned.
    pub fn position(&self) -> Revision {
        match &self.converter {
            Some(converter) if converter.has_events() => converter.position,
            _ => self.changes.position(),
        }
    }

    /// The next event; `None` after the last.
    #[cfg(test)]
    pub async fn next(&mut self) -> Option<Result<Event, WatchError>> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// Like [`cache::Watch::poll_next`].
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, WatchError>>> {
        let Some(converter) = &mut self.converter else { return self.changes.poll_next(cx) };
        converter.poll_next(&mut self.changes, cx)
    }

    /// Like [`cache::Watch::poll_frames`]. A webhook's objects have no shared frames.
    pub fn poll_frames(
        &mut self,
        cx: &mut Context<'_>,
        max: usize,
        events: &mut Vec<Event>,
    ) -> Poll<Option<Result<Option<Frames>, WatchError>>> {
        if self.converter.is_none() {
            return self.changes.poll_frames(cx, max, events);
        }
        self.poll_events(cx, max, events).map(|polled| polled.map(|appended| appended.map(|()| None)))
    }

    /// Like [`cache::Watch::poll_events`].
    pub fn poll_events(
        &mut self,
        cx: &mut Context<'_>,
        max: usize,
        events: &mut Vec<Event>,
    ) -> Poll<Option<Result<(), WatchError>>> {
        let Some(converter) = &mut self.converter else { return self.changes.poll_events(cx, max, events) };
        match ready!(converter.poll_next(&mut self.changes, cx)) {
            Some(Ok(event)) => events.push(event),
            Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            None => return Poll::Ready(None),
        }
        // The others of the last revision, too.
        let is_next = |next: &mut Result<Event, WatchError>, position, has_room| {
            next.as_ref().is_ok_and(|event| has_room || event.object.revision() == position)
        };
        while let has_room = events.len() < max
            && let Some(Ok(event)) = converter.ready.pop_front_if(|next| is_next(next, converter.position, has_room))
        {
            converter.position = event.object.revision();
            events.push(event);
        }
        Poll::Ready(Some(Ok(())))
    }
}

impl EventConverter {
    fn has_events(&self) -> bool {
        self.running.is_some() || !self.ready.is_empty()
    }

    fn poll_next(
        &mut self,
        changes: &mut cache::Watch,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Event, WatchError>>> {
        loop {
            if let Some(next) = self.ready.pop_front() {
                match &next {
                    Ok(event) => self.position = event.object.revision(),
                    Err(_) => self.ready.clear(),
                }
                return Poll::Ready(Some(next));
            }
            if let Some(running) = &mut self.running {
                self.ready = ready!(running.as_mut().poll(cx));
                self.running = None;
                continue;
            }
            self.position = changes.position();
            let mut events = Vec::new();
            match ready!(changes.poll_events(cx, BATCH, &mut events)) {
                Some(Ok(())) => self.running = Some(Box::pin(convert(self.resource.clone(), events))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
    }
}

/// Converts events. If a call fails that had several objects, one of them may be why, so halves of them are converted until it is
/// found: the events before it are good. The result ends with the first error.
async fn convert(resource: Arc<ResourceEntry>, events: Vec<Event>) -> VecDeque<Result<Event, WatchError>> {
    let Some((view, webhooks)) = resource.waiting_view() else { return events.into_iter().map(Ok).collect() };
    let (mut converted, mut parts) = (VecDeque::with_capacity(events.len()), vec![events]);
    while let Some(mut part) = parts.pop() {
        let stored: Vec<Arc<Object>> = part.iter().map(|event| event.object.clone()).collect();
        let begun = Instant::now();
        let views: Result<Vec<_>, _> = view.of_all(webhooks, &stored).await.into_iter().collect();
        match views {
            Ok(views) => {
                converted.extend(part.into_iter().zip(views).map(|(event, object)| Ok(Event { object, ..event })));
            }
            Err(_) if part.len() > 1 && begun.elapsed() < SLOW => {
                let rest = part.split_off(part.len() / 2);
                parts.extend([rest, part]);
            }
            Err(reason) => {
                converted.push_back(Err(WatchError::Unconverted(reason.into())));
                break;
            }
        }
    }
    converted
}
