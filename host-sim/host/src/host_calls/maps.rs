//! Which maps a guest has at hand now.

use super::Guest;
use crate::abi::{Answer, MapKind, Refusal, Status};
use crate::chain::{BodyAt, Direction};
use crate::io::Headers;

impl Guest<'_> {
    /// A map that can be read now.
    pub(crate) fn readable(&mut self, map: MapKind) -> Option<&Headers> {
        if matches!(
            map,
            MapKind::HttpCallResponseHeaders | MapKind::HttpCallResponseTrailers
        ) {
            let answer = self.engine.vms[self.vm].callout_answer.as_ref()?;
            let headers = map == MapKind::HttpCallResponseHeaders;
            return if headers {
                answer.headers.as_ref()
            } else {
                answer.trailers.as_ref()
            };
        }
        let logging = self.logging();
        self.map(map, logging).map(|headers| &*headers)
    }

    /// A map as Envoy asks for it when the guest might change it; those of answers to callouts are not
    /// among them.
    pub(super) fn changeable(&mut self, map: MapKind) -> Option<&Headers> {
        self.map(map, false).map(|headers| &*headers)
    }

    /// A map that can be changed now.
    pub(super) fn writable(&mut self, map: MapKind) -> Answer<&mut Headers> {
        match map {
            MapKind::RequestTrailers => self.make_trailers(Direction::Decode),
            MapKind::ResponseTrailers => self.make_trailers(Direction::Encode),
            _ => {}
        }
        self.map(map, false)
            .ok_or(Refusal::Tell(Status::BadArgument))
    }

    /// Asking to change trailers at the end of a body makes them.
    fn make_trailers(&mut self, direction: Direction) {
        let Some((key, index)) = self.place() else {
            return;
        };
        let Some(chain) = self.engine.chain(key) else {
            return;
        };
        let absent = chain.lane(direction).trailers.is_none();
        let Some(filter) = chain.filters.get_mut(index) else {
            return;
        };
        let side = filter.side(direction);
        if absent && side.end_seen && side.body != BodyAt::Nowhere {
            side.trailers_at_hand = true;
            chain.lane(direction).trailers = Some(Headers::new());
        }
    }

    /// The maps of a stream: at hand until the callback has said Continue, or all of them in `on_log`.
    fn map(&mut self, map: MapKind, logging: bool) -> Option<&mut Headers> {
        if matches!(
            map,
            MapKind::GrpcInitialMetadata | MapKind::GrpcTrailingMetadata
        ) {
            let told = &mut self.engine.vms[self.vm].told;
            let initial = map == MapKind::GrpcInitialMetadata;
            return if initial {
                told.initial.as_mut()
            } else {
                told.trailing.as_mut()
            };
        }
        let (key, index) = self.place()?;
        let filter = self.engine.filter(key, index)?;
        let at_hand = match map {
            MapKind::RequestHeaders => filter.decode.headers_at_hand,
            MapKind::RequestTrailers => filter.decode.trailers_at_hand,
            MapKind::ResponseHeaders => filter.encode.headers_at_hand,
            MapKind::ResponseTrailers => filter.encode.trailers_at_hand,
            _ => false,
        };
        match map {
            _ if !at_hand && !logging => None,
            MapKind::RequestHeaders => self.engine.request_headers(key),
            MapKind::RequestTrailers if at_hand => self.engine.chain(key)?.decode.trailers.as_mut(),
            MapKind::ResponseHeaders if logging => {
                let stream = self.engine.stream_of(key)?;
                self.engine.streams.get_mut(&stream)?.sent_head.as_mut()
            }
            MapKind::ResponseHeaders => self.engine.chain(key)?.response_headers.as_mut(),
            MapKind::ResponseTrailers => self.engine.chain(key)?.encode.trailers.as_mut(),
            _ => None,
        }
    }

    /// With this ABI any change of request headers makes Envoy look at the route again.
    pub(super) fn changed(&mut self, map: MapKind) {
        if let (MapKind::RequestHeaders, Some((key, _))) = (map, self.place()) {
            self.engine.clear_route_cache(key);
        }
    }
}
