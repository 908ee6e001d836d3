//! Names that guests ask for, with the system's resolver.

use std::net::IpAddr;
use std::rc::Rc;

use host_sim_host::io::{Event, LookupId};

use crate::driver::Driver;

/// Asks for the addresses of a name and tells the worker. The system's threads wait, not the worker's.
pub async fn resolve(driver: Rc<Driver>, lookup: LookupId, name: String) {
    let mut addresses: Vec<IpAddr> = Vec::new();
    if is_asked_for(&name)
        && let Ok(found) = tokio::net::lookup_host((name, 0)).await
    {
        for address in found {
            // The system names an address once for each kind of socket.
            if !addresses.contains(&address.ip()) {
                addresses.push(address.ip());
            }
        }
    }
    driver.send(Event::Resolved { lookup, addresses });
}

/// Some texts are addresses for the system and mere names for Envoy's resolver, which nobody has.
fn is_asked_for(name: &str) -> bool {
    let last = name
        .strip_suffix('.')
        .unwrap_or(name)
        .rsplit('.')
        .next()
        .unwrap_or_default();
    let is_number = last.starts_with(|digit: char| digit.is_ascii_digit())
        && last
            .trim_start_matches("0x")
            .chars()
            .all(|digit| digit.is_ascii_hexdigit());
    !is_number && !name.eq_ignore_ascii_case("localhost.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_no_names() {
        for name in ["127.1", "0x7f.1", "2130706433", "1.2.3.4.", "localhost."] {
            assert!(!is_asked_for(name), "{name}");
        }
        for name in ["vm", "a.example", "1.example", "3com", "a.", ""] {
            assert!(is_asked_for(name), "{name}");
        }
    }
}
