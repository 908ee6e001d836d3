//! Names that guests look up.

use crate::proxy::Gateway;
use crate::{run, send, worker};

#[test]
fn a_name_is_looked_up_by_the_system_and_one_that_is_none_has_no_address() {
    run(async {
        let worker = worker().await;
        let gateway = Gateway::start(&worker).await;
        let names = ["localhost", "localhost.", "1.2.3"];
        for (number, name) in names.into_iter().enumerate() {
            let mut client = gateway.connect().await;
            let head = format!("GET /name/{name} HTTP/1.1\r\nhost: h\r\n\r\n");
            send(&mut client, &head).await;
            gateway.until_resolved(number + 1).await;
            let addresses = gateway.addresses(number);
            assert!(addresses.iter().all(std::net::IpAddr::is_loopback));
            assert_eq!(addresses.is_empty(), name != "localhost", "{name}");
        }
    });
}
