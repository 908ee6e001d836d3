//! Foreign functions: which there are, and what those mean that touch a stream.

use super::Guest;
use crate::abi::{Answer, Refusal, Status};
use crate::filter_state::{Declared, Span};
use crate::foreign::{Message, NAMES, compress, make_object, sign, uncompress, verify_signature};
use crate::stream::Stream;

/// Most declarations of one VM. Envoy has no bound; a guest that declares a name for each request
/// would grow for ever there.
const DECLARED_LIMIT: usize = 10_000;

impl Guest<'_> {
    pub(super) fn knows_foreign(name: &[u8]) -> bool {
        NAMES.iter().any(|known| known.as_bytes() == name)
    }

    pub(super) fn foreign(&mut self, name: &[u8], argument: &[u8]) -> Answer<Vec<u8>> {
        match name {
            b"clear_route_cache" => {
                self.forget_route();
                Ok(Vec::new())
            }
            b"compress" => Ok(compress(argument)?),
            b"uncompress" => Ok(uncompress(argument)?),
            b"sign" => self.signature("sign", sign(argument)),
            b"verify_signature" => self.signature("verify_signature", verify_signature(argument)),
            b"declare_property" => self.declare(argument),
            b"set_envoy_filter_state" => self.set_object(argument),
            b"expr_create" => Err(self.cel("expr_create")),
            b"expr_evaluate" => Err(self.cel("expr_evaluate")),
            b"expr_delete" => Err(self.cel("expr_delete")),
            _ => Err(Status::NotFound.into()),
        }
    }

    pub(super) fn forget_route(&mut self) {
        if let Some((key, _)) = self.place() {
            self.engine.clear_route_cache(key);
        }
    }

    fn signature(&mut self, name: &str, result: Result<Vec<u8>, Status>) -> Answer<Vec<u8>> {
        if result == Err(Status::Unimplemented) {
            let text = format!(
                "foreign function {name}: keys of the curve P-224 are not modelled by host-sim; the guest gets 12 (Unimplemented), use P-256, P-384, P-521 or RSA"
            );
            self.engine.log_once("error", text);
        }
        Ok(result?)
    }

    /// Expressions are a language of their own.
    fn cel(&mut self, name: &str) -> Refusal {
        let text = format!(
            "foreign function {name}: CEL is not modelled by host-sim; the guest gets 12 (Unimplemented) where Envoy would evaluate"
        );
        self.engine.log_once("error", text);
        Status::Unimplemented.into()
    }

    /// Belongs to the context that is in the call, whatever the effective one is; only what a root
    /// context has declared is ever looked at.
    fn declare(&mut self, argument: &[u8]) -> Answer<Vec<u8>> {
        let message = Message::read(argument).ok_or(Status::BadArgument)?;
        let name = message.text(1).ok_or(Status::BadArgument)?;
        let declared = Declared {
            readonly: message.number(2) != 0,
            span: Span::from_number(message.number(5)),
        };
        let all = &mut self.engine.vms[self.vm].declared;
        let key = (self.current, name.as_bytes().to_vec());
        if all.contains_key(&key) {
            return Err(Status::BadArgument.into());
        }
        if all.len() >= DECLARED_LIMIT {
            let text = format!(
                "declare_property: a VM may declare {DECLARED_LIMIT} names in host-sim; Envoy has no bound"
            );
            self.engine.log_once("error", text);
            return Err(Status::InternalFailure.into());
        }
        all.insert(key, declared);
        if declared.span == Span::Connection {
            let text = format!(
                "declare_property {name}: values last as long as the request in host-sim, in Envoy as long as the connection"
            );
            self.engine.log_once("warning", text);
        }
        Ok(Vec::new())
    }

    fn set_object(&mut self, argument: &[u8]) -> Answer<Vec<u8>> {
        let message = Message::read(argument).ok_or(Status::BadArgument)?;
        let name = message.text(1).ok_or(Status::BadArgument)?;
        let value = message.text(2).ok_or(Status::BadArgument)?;
        let span = Span::from_number(message.number(3));
        let object = make_object(name, value)?;
        let stream = self.stream_mut().ok_or(Status::NotFound)?;
        if !stream.info.filter_state.set_object(name, object, span) {
            let text = format!(
                "set_envoy_filter_state {name}: it is there with another life span and stays as it is; Envoy reports a bug of its own and says Ok"
            );
            self.engine.log("error", text);
        }
        Ok(Vec::new())
    }

    /// Sets a value for other guests and the log.
    pub(super) fn set_guest_property(&mut self, path: &[u8], value: &[u8]) -> Answer<()> {
        let plugin = self.plugin().ok_or(Status::NotFound)?;
        let key = (self.engine.plugins[plugin].root, path.to_vec());
        let declared = self.engine.vms[self.vm].declared.get(&key).copied();
        let stream = self.stream_mut().ok_or(Status::NotFound)?;
        Ok(stream
            .info
            .filter_state
            .set(path, value, declared.unwrap_or_default())?)
    }

    fn stream_mut(&mut self) -> Option<&mut Stream> {
        let (key, _) = self.place()?;
        let key = self.engine.stream_of(key)?;
        self.engine.streams.get_mut(&key)
    }
}
