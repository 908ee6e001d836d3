//! Names that guests look up with `envoy_resolve_dns`. Literal addresses and the machine's own name are answered inside of
//! the guest's call, as are names that cannot be asked for; all others are the world's business.
//!
//! What is which was seen in a running Envoy 1.40, which asks with c-ares.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::abi::{Answer, Call, Status};
use crate::engine::Engine;
use crate::host_calls::CallData;
use crate::io::{Command, LookupId};
use crate::nested::{Nested, Told};

/// Most names of one worker that are looked up at a time. Envoy has no bound; a guest that asks for one in each request would
/// fill the memory as long as nobody answers.
const LOOKUP_LIMIT: usize = 10_000;
/// Longest name, and longest part of one, in DNS.
const LONGEST_NAME: usize = 255;
const LONGEST_LABEL: usize = 63;

/// Who wants to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup {
    pub(crate) vm: usize,
    pub(crate) plugin: usize,
    token: u32,
}

/// What is known of a name without asking.
#[derive(Debug, PartialEq, Eq)]
enum Known {
    Address(IpAddr),
    /// No name in Tor's domain is asked for.
    Nothing,
    /// It is no host name.
    Bad,
    /// Nothing.
    Ask(String),
}

impl Engine {
    /// Begins to look a name up and gives the token of that.
    pub(crate) fn look_up(&mut self, vm: usize, plugin: usize, name: &[u8]) -> Answer<u32> {
        let known = known(name);
        if self.lookups.len() >= LOOKUP_LIMIT {
            let text = format!(
                "envoy_resolve_dns: {LOOKUP_LIMIT} names are looked up already; host-sim has this bound, Envoy none"
            );
            self.log_once("error", text);
            return Err(Status::InternalFailure.into());
        }
        self.vms[vm].lookup_token += 1;
        let token = self.vms[vm].lookup_token;
        let told = match known {
            Known::Ask(name) => {
                self.numbers.lookup += 1;
                let lookup = LookupId(self.numbers.lookup);
                self.lookups.insert(lookup, Lookup { vm, plugin, token });
                self.commands.push(Command::Resolve { lookup, name });
                return Ok(token);
            }
            Known::Address(address) => answer(&[address]),
            Known::Nothing => answer(&[]),
            Known::Bad => Vec::new(),
        };
        let root = self.plugins[plugin].root;
        let nested = Nested {
            call: self.prepare_call(vm, root, token, told),
            root,
            told: Told::default(),
            behind_an_end: false,
        };
        self.vms[vm].nesting.wait(nested);
        Ok(token)
    }

    /// The world has found out, or has not.
    pub(crate) fn looked_up(&mut self, lookup: LookupId, addresses: &[IpAddr]) {
        let Some(Lookup { vm, plugin, token }) = self.lookups.remove(&lookup) else {
            return;
        };
        // Envoy asks for addresses of version 6 first, and for the others only if there are none.
        let of = |is_v6: bool| addresses.iter().filter(move |it| it.is_ipv6() == is_v6);
        let chosen: Vec<IpAddr> = match of(true).next() {
            Some(_) => of(true).copied().collect(),
            None => of(false).copied().collect(),
        };
        let root = self.plugins[plugin].root;
        let call = self.prepare_call(vm, root, token, answer(&chosen));
        if self.call_guest(vm, root, &call).is_ok() {
            self.run_deferred_of_root(vm);
        }
    }

    /// Nobody wants to know any more.
    pub(crate) fn drop_lookups(&mut self, is_over: impl Fn(&Lookup) -> bool) {
        self.lookups.retain(|_, lookup| !is_over(lookup));
    }

    /// The callback, after which the answer lies in the call data of the root context.
    fn prepare_call(&mut self, vm: usize, root: u32, token: u32, told: Vec<u8>) -> Call {
        let size = u32::try_from(told.len()).unwrap_or(u32::MAX);
        let slot = &mut self.vms[vm];
        slot.call_data.insert(root, CallData::Bytes(told));
        Call::ResolveDns { root, token, size }
    }
}

fn known(name: &[u8]) -> Known {
    // Envoy's resolver sees a text that ends at NUL.
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let Ok(text) = std::str::from_utf8(name) else {
        return Known::Bad;
    };
    if let Some(address) = literal(text) {
        return Known::Address(address);
    }
    let lower = text.to_ascii_lowercase();
    let in_domain = |domain: &str| {
        lower
            .strip_suffix(domain)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    if !is_host_name(text) {
        Known::Bad
    } else if in_domain("localhost") {
        Known::Address(Ipv6Addr::LOCALHOST.into())
    } else if in_domain("onion") {
        Known::Nothing
    } else {
        Known::Ask(text.to_owned())
    }
}

/// An address. Zeros in front of a number of four do not matter.
fn literal(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        return Some(address.into());
    }
    let mut octets = [0; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part = parts.next()?;
        if !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *octet = part.parse().ok()?;
    }
    parts
        .next()
        .is_none()
        .then(|| Ipv4Addr::from(octets).into())
}

/// Whether a resolver takes it; empty names and a lone dot pass.
fn is_host_name(text: &str) -> bool {
    let rest = text.strip_suffix('.').unwrap_or(text);
    let has_labels = rest.is_empty()
        || rest
            .split('.')
            .all(|label| (1..=LONGEST_LABEL).contains(&label.len()));
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/*".contains(&byte);
    has_labels && text.len() <= LONGEST_NAME && text.bytes().all(allowed)
}

/// The number of addresses, the seconds that each may be kept, and the addresses, each with a port and followed by NUL.
/// Nobody here knows how long: 0.
fn answer(addresses: &[IpAddr]) -> Vec<u8> {
    let count = u32::try_from(addresses.len()).unwrap_or(u32::MAX);
    let mut bytes = count.to_le_bytes().to_vec();
    for _ in addresses {
        bytes.extend(0_u32.to_le_bytes());
    }
    for address in addresses {
        bytes.extend(SocketAddr::new(*address, 0).to_string().bytes());
        bytes.push(0);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Known {
        Known::Address(text.parse().unwrap())
    }

    #[test]
    fn addresses_and_the_own_machine_need_no_asking() {
        for (name, expected) in [
            (&b"127.0.0.1"[..], "127.0.0.1"),
            (b"010.1.1.1", "10.1.1.1"),
            (b"0.0.0.0", "0.0.0.0"),
            (b"::1", "::1"),
            (b"::ffff:1.2.3.4", "::ffff:1.2.3.4"),
            (b"localhost", "::1"),
            (b"LOCALHOST", "::1"),
            (b"x.localhost", "::1"),
            (b"localhost\0x", "::1"),
        ] {
            assert_eq!(known(name), address(expected), "{}", name.escape_ascii());
        }
        assert_eq!(known(b"foo.onion"), Known::Nothing);
    }

    #[test]
    fn what_is_no_host_name_is_not_asked_for() {
        let long = "a".repeat(64);
        let longer = "a.".repeat(128);
        for name in [
            "bad name",
            "127.0.0.1:80",
            "[::1]",
            "fe80::1%lo",
            "a..b",
            "user@host",
            " 127.0.0.1",
            "ex\u{e4}mple",
            &long,
            &longer,
        ] {
            assert_eq!(known(name.as_bytes()), Known::Bad, "{name}");
        }
        assert_eq!(known(b"ex\xe4mple"), Known::Bad);
    }

    #[test]
    fn everything_else_is_asked_for() {
        let long = "a".repeat(63);
        for name in [
            "",
            ".",
            "localhost.",
            "mylocalhost",
            "1.2.3",
            "256.1.1.1",
            "0x7f.1",
            "127.1",
            "1.2.3.4.",
            "a_b",
            "*",
            "a/b",
            "x.invalid",
            &long,
        ] {
            assert_eq!(
                known(name.as_bytes()),
                Known::Ask(name.to_owned()),
                "{name:?}"
            );
        }
    }

    #[test]
    fn an_answer_has_a_count_the_times_and_the_addresses_with_a_port() {
        let all = ["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()];
        assert_eq!(
            answer(&all),
            b"\x02\0\0\0\0\0\0\0\0\0\0\x00127.0.0.1:0\0[::1]:0\0"
        );
        assert_eq!(answer(&[]), [0; 4]);
    }
}
