//! What lasts as long as a client's connection: its number, and values that guests declared for it.

use crate::engine::Engine;
use crate::filter_state::FilterState;
use crate::io::ConnectionId;
use crate::stream::Stream;

/// One connection that may carry further requests. There are as many as the driver keeps open.
#[derive(Debug)]
pub(crate) struct Connection {
    number: u64,
    filter_state: FilterState,
}

impl Engine {
    /// Number and values of the connection of a request that begins.
    pub(crate) fn connection_of(&mut self, id: Option<ConnectionId>) -> (u64, FilterState) {
        if let Some(known) = id.and_then(|id| self.connections.get(&id)) {
            return (known.number, known.filter_state.clone());
        }
        self.numbers.connection += 1;
        let number = self.numbers.connection;
        let filter_state = FilterState::default();
        if let Some(id) = id {
            let connection = Connection {
                number,
                filter_state: filter_state.clone(),
            };
            self.connections.insert(id, connection);
        }
        (number, filter_state)
    }

    /// A request has ended: what was declared for the connection stays with it.
    pub(crate) fn keep_for_connection(&mut self, stream: &Stream) {
        let id = stream.origin.and_then(|origin| origin.connection);
        if let Some(connection) = id.and_then(|id| self.connections.get_mut(&id)) {
            connection.filter_state = stream.info.filter_state.of_connection();
        }
    }

    /// The client's connection is over.
    pub(crate) fn connection_ended(&mut self, id: ConnectionId) {
        self.connections.remove(&id);
    }
}
