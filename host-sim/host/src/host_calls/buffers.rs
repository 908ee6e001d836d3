//! Which bytes a guest has at hand now.

use super::Guest;
use crate::abi::{Answer, BufferKind, Status};
use crate::chain::{BodyAt, Direction};

/// What buffer 8, the "call data", means in a context: Envoy has one place for whatever was looked at last.
#[derive(Clone, Debug)]
pub(crate) enum CallData {
    /// Another buffer, as it is now.
    Looked(BufferKind),
    /// What `envoy_on_resolve_dns` told, or a configuration that is not at hand any more.
    Bytes(Vec<u8>),
}

impl Guest<'_> {
    /// The bytes that can be changed now; `None` outside of the callbacks that have some.
    pub(super) fn buffer(&mut self, kind: BufferKind) -> Option<&mut Vec<u8>> {
        let direction = match self.meant(kind)? {
            BufferKind::RequestBody => Direction::Decode,
            BufferKind::ResponseBody => Direction::Encode,
            BufferKind::GrpcReceiveBuffer => {
                return self.engine.vms[self.vm].told.message.as_mut();
            }
            _ => return None,
        };
        let (key, index) = self.place()?;
        let chain = self.engine.chain(key)?;
        match chain.filters.get_mut(index)?.side(direction).body {
            BodyAt::Nowhere => None,
            BodyAt::Piece => Some(&mut chain.lane(direction).piece),
            BodyAt::Buffer => chain.lane(direction).buffer.as_mut(),
        }
    }

    /// Bytes that can be read now, or NotFound where Envoy has no buffer at all.
    pub(super) fn bytes(&mut self, kind: BufferKind) -> Answer<&[u8]> {
        if kind != BufferKind::CallData {
            self.remember(kind)?;
            return self.bytes_of(kind);
        }
        let context = self.context();
        match self.engine.vms[self.vm].call_data.get(&context) {
            None => Ok(&[]),
            Some(CallData::Looked(kind)) => {
                let kind = *kind;
                Ok(self.bytes_of(kind).unwrap_or_default())
            }
            Some(CallData::Bytes(_)) => Ok(self.kept_bytes()),
        }
    }

    fn kept_bytes(&self) -> &[u8] {
        match self.engine.vms[self.vm].call_data.get(&self.context()) {
            Some(CallData::Bytes(bytes)) => bytes,
            Some(CallData::Looked(_)) | None => &[],
        }
    }

    /// The buffer that is meant: behind the call data lies another.
    fn meant(&self, kind: BufferKind) -> Option<BufferKind> {
        if kind != BufferKind::CallData {
            return Some(kind);
        }
        match self.engine.vms[self.vm].call_data.get(&self.context())? {
            CallData::Looked(kind) => Some(*kind),
            CallData::Bytes(_) => None,
        }
    }

    /// A buffer that is there is what the call data mean from now on.
    fn remember(&mut self, kind: BufferKind) -> Answer<()> {
        let bytes = self.bytes_of(kind)?;
        // The plugin's configuration is not at hand later, and yet the call data are.
        let looked = if kind == BufferKind::PluginConfiguration {
            CallData::Bytes(bytes.to_vec())
        } else {
            CallData::Looked(kind)
        };
        let context = self.context();
        self.engine.vms[self.vm].call_data.insert(context, looked);
        Ok(())
    }

    fn bytes_of(&mut self, kind: BufferKind) -> Answer<&[u8]> {
        match kind {
            BufferKind::RequestBody | BufferKind::ResponseBody | BufferKind::GrpcReceiveBuffer => {
                Ok(self.buffer(kind).map_or(&[], |buffer| buffer.as_slice()))
            }
            BufferKind::HttpCallResponseBody => {
                let answer = self.engine.vms[self.vm].callout_answer.as_ref();
                answer
                    .filter(|answer| answer.headers.is_some())
                    .map(|answer| answer.body.as_slice())
                    .ok_or(Status::NotFound.into())
            }
            BufferKind::VmConfiguration => Ok(&self.engine.vms[self.vm].config.configuration),
            BufferKind::PluginConfiguration => {
                let plugin = self.engine.vms[self.vm]
                    .configuring
                    .ok_or(Status::NotFound)?;
                Ok(&self.engine.plugins[plugin].config.configuration)
            }
            // Envoy has these at any time, with nothing in them.
            BufferKind::DownstreamData | BufferKind::UpstreamData | BufferKind::CallData => Ok(&[]),
        }
    }
}
