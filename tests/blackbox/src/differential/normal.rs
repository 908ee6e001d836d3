//! What two runs cannot have in common is replaced: ids, dates, places.

use std::net::SocketAddr;

use crate::world::World;

const UUID_GROUPS: [usize; 5] = [8, 4, 4, 4, 12];
/// `Mon, 30 Nov 2026 20:51:15 GMT`
const DATE_LENGTH: usize = 29;

/// Attributes that are a time, a port or a count of the process: no two runs have them in common.
const VARYING: [&str; 10] = [
    "request/time",
    "request/duration",
    "response/backend_latency",
    "connection/id",
    "connection_id",
    "source/address",
    "source/port",
    "destination/port",
    "upstream/port",
    "upstream/cx_pool_ready_duration",
];

/// Attributes that are a map of header lines: Envoy lists one in another order each time.
const UNORDERED: [&str; 2] = ["request/headers", "response/headers"];

/// The places of one run.
pub(super) struct Normal {
    places: Vec<(String, String)>,
}

impl Normal {
    pub(super) fn of(world: &World) -> Self {
        let mut places = vec![place(world.address(), "gateway")];
        for (id, worker) in &world.workers {
            places.push(place(worker.address(), id));
        }
        Self { places }
    }

    /// A line as it is compared.
    pub(super) fn line(&self, line: &str) -> String {
        let mut line = line.to_owned();
        for (address, name) in &self.places {
            line = line.replace(address, name);
        }
        let line = client_address(&dates(&uuids(&line)));
        unordered(&varying(&service_time(&line)))
    }
}

fn place(address: SocketAddr, name: &str) -> (String, String) {
    (address.to_string(), format!("<{name}>"))
}

fn uuids(line: &str) -> String {
    let length = UUID_GROUPS.iter().sum::<usize>() + UUID_GROUPS.len() - 1;
    replaced(line, length, "<id>", |piece| {
        piece
            .split('-')
            .map(str::len)
            .eq(UUID_GROUPS.iter().copied())
            && piece
                .bytes()
                .all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
    })
}

fn dates(line: &str) -> String {
    replaced(line, DATE_LENGTH, "<date>", |piece| {
        piece.ends_with(" GMT") && piece.as_bytes().get(3) == Some(&b',')
    })
}

/// Every piece of that length of which `is` holds becomes `name`.
fn replaced(line: &str, length: usize, name: &str, is: impl Fn(&str) -> bool) -> String {
    let mut out = String::new();
    let mut at = 0;
    while at < line.len() {
        match line.get(at..at + length) {
            Some(piece) if is(piece) => {
                out.push_str(name);
                at += length;
            }
            _ => {
                let Some(next) = line.get(at..).and_then(|rest| rest.chars().next()) else {
                    break;
                };
                out.push(next);
                at += next.len_utf8();
            }
        }
    }
    out
}

/// Envoy names an address of the machine's network card in the place of a loopback one.
fn client_address(line: &str) -> String {
    value_behind(line, "x-forwarded-for: ", "<client>")
}

fn service_time(line: &str) -> String {
    value_behind(line, "x-envoy-upstream-service-time: ", "<ms>")
}

/// The answer to a guest that asks for something of [`VARYING`].
fn varying(line: &str) -> String {
    for name in VARYING {
        let asked = format!("get_property {name} = 0 ");
        if let Some((before, _)) = line.split_once(&asked) {
            return format!("{before}{asked}<number>");
        }
    }
    line.to_owned()
}

/// The answer to a guest that asks for something of [`UNORDERED`]: its bytes between the NULs, sorted.
fn unordered(line: &str) -> String {
    for name in UNORDERED {
        let asked = format!("get_property {name} = 0 ");
        if let Some((before, pairs)) = line.split_once(&asked) {
            let mut parts: Vec<&str> = pairs.trim_matches('"').split("\\x00").collect();
            parts.retain(|part| !part.is_empty());
            parts.sort_unstable();
            return format!("{before}{asked}{}", parts.join(" "));
        }
    }
    line.to_owned()
}

fn value_behind(line: &str, name: &str, with: &str) -> String {
    let Some(start) = line.find(name).map(|at| at + name.len()) else {
        return line.to_owned();
    };
    let (before, rest) = line.split_at(start);
    let end = rest.find([',', '}', '"']).unwrap_or(rest.len());
    format!("{before}{with}{}", &rest[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_dates_and_the_clients_address_become_names() {
        let line = "x-request-id: 7c4f8a5e-0b7e-4f5f-9f52-2f6f4a8a9b10, date: Mon, 30 Nov 2026 20:51:15 GMT, x-forwarded-for: 10.1.2.3, x: 1}";

        let normal = client_address(&dates(&uuids(line)));

        assert_eq!(
            normal,
            "x-request-id: <id>, date: <date>, x-forwarded-for: <client>, x: 1}"
        );
    }

    #[test]
    fn times_and_the_order_of_header_lines_do_not_matter_in_answers_to_guests() {
        let time = "1 a:   get_property request/time = 0 number 12";
        assert_eq!(
            varying(time),
            "1 a:   get_property request/time = 0 <number>"
        );
        let headers =
            r#"1 a:   get_property request/headers = 0 "\x02\x00\x00\x00b\x002\x00a\x001\x00""#;
        assert_eq!(
            unordered(headers),
            r"1 a:   get_property request/headers = 0 1 2 \x02 a b"
        );
    }

    #[test]
    fn what_only_looks_alike_stays() {
        let line = "7c4f8a5e-0b7e-4f5f-9f52-2f6f4a8a9b1z, Monday 30 Nov 2026 20:51:15 GMT";

        assert_eq!(dates(&uuids(line)), line);
    }
}
