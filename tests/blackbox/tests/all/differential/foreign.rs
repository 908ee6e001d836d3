//! Foreign functions and declared properties.

use blackbox::differential::Case;
use blackbox::plugin::scripted;

/// So many of the signatures are right.
const RIGHT: usize = 15;

/// Keys and signatures over `text` with SHA-256, made by OpenSSL.
macro_rules! key {
    ($name:literal) => {
        include_bytes!(concat!(
            "../../../../../host-sim/host/tests/rules/keys/",
            $name
        ))
        .as_slice()
    };
}

/// A field of a message with bytes, as a script writes it; nothing if there are none.
fn field(number: u8, bytes: &[u8]) -> String {
    let length = match bytes.len() {
        0 => return String::new(),
        short if short < 0x80 => vec![short as u8],
        long => vec![(long & 0x7f) as u8 | 0x80, (long >> 7) as u8],
    };
    let all = [&[number << 3 | 2], &length[..], bytes].concat();
    all.iter().map(|byte| format!("%{byte:02x}")).collect()
}

/// What Envoy and host-sim answer to a foreign function with each of these arguments.
fn answers(name: &str, arguments: &[String]) -> Vec<String> {
    let lines: Vec<String> = arguments
        .iter()
        .map(|argument| format!("request_headers: call_foreign_function {name} {argument}"))
        .collect();
    let seen = Case::new()
        .filter(scripted("a", &lines.join("\n")))
        .run(|client| drop(client.get("/")));
    let answers = seen.answers(&format!("call_foreign_function {name} "));
    answers.into_iter().map(str::to_owned).collect()
}

#[test]
fn a_property_declared_readonly_is_set_once() {
    // Field 1 is the name, field 2 says readonly.
    let script = "
        configure: call_foreign_function declare_property %0a%04once%10%01
        configure: call_foreign_function declare_property %0a%04once%10%01
        request_headers: set_property once 1
        request_headers: set_property once 2
        request_headers: get_property once";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/")));

    assert_eq!(seen.answers("set_property once 1"), ["0"]);
    assert_eq!(seen.answers("set_property once 2"), ["2"]);
    assert_eq!(seen.answers("get_property once"), ["0 \"1\""]);
}

#[test]
fn objects_of_envoy_are_made_where_there_is_a_factory() {
    // Field 1 is the name, field 2 the value.
    let script = "
        request_headers: call_foreign_function set_envoy_filter_state %0a%0cenvoy.string%12%03abc
        request_headers: get_property filter_state/envoy.string
        request_headers: call_foreign_function set_envoy_filter_state %0a%0aenvoy.bool%12%03abc
        request_headers: call_foreign_function set_envoy_filter_state %0a%04none%12%03abc
        request_headers: call_foreign_function nothing_such x";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/")));

    assert_eq!(
        seen.answers("get_property filter_state/envoy.string"),
        ["0 \"abc\""]
    );
    assert_eq!(seen.answers("call_foreign_function nothing_such x"), ["1"]);
}

#[test]
fn zlib_goes_there_and_back() {
    let script = "
        request_headers: small = call_foreign_function compress hello%20hello%20hello
        request_headers: call_foreign_function uncompress $small
        request_headers: call_foreign_function uncompress junk";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/")));

    assert_eq!(
        seen.answers("call_foreign_function uncompress $small"),
        ["0 \"hello hello hello\""]
    );
    assert_eq!(seen.answers("call_foreign_function uncompress junk"), ["3"]);
}

#[test]
fn what_is_not_allowed_answers_with_an_error_and_is_not_called() {
    let allowed = serde_json::json!({"allowed_capabilities": {
        "proxy_log": {}, "proxy_get_buffer_bytes": {}, "proxy_on_vm_start": {}, "proxy_on_context_create": {},
        "proxy_on_configure": {}, "proxy_on_request_headers": {}, "clock_time_get": {},
        "environ_get": {}, "environ_sizes_get": {}, "random_get": {},
    }});
    let script = "
        request_headers: set_property a b
        request_headers: fd_write 1 text
        request_headers: clock_time_get 0
        log: clock_time_get 0";

    let seen = Case::new()
        .filter(scripted("a", script).vm_field("capability_restriction_config", allowed))
        .run(|client| drop(client.get("/")));

    assert_eq!(seen.answers("set_property a b"), ["10"]);
    assert_eq!(seen.answers("fd_write 1 text"), ["76"]);
    assert_eq!(
        seen.answers("clock_time_get 0").len(),
        1,
        "on_log is not called"
    );
}

#[test]
fn signatures_are_verified_by_keys_in_pem_and_der() {
    let verify = |hash: &[u8], der: &[u8], pem: &[u8], signature: &[u8], text: &[u8]| {
        let fields = [(1, hash), (2, der), (3, signature), (4, text), (5, pem)];
        fields.map(|(number, bytes)| field(number, bytes)).concat()
    };
    let (rsa, ec, none) = (key!("rsa.pub.pem"), key!("P-256.pub.pem"), &b""[..]);
    let (by_rsa, by_ec) = (key!("rsa.sig"), key!("P-256.sig"));
    let arguments = [
        verify(b"sha256", key!("rsa.pub.der"), none, by_rsa, b"text"),
        verify(b"SHA256", none, rsa, by_rsa, b"text"),
        verify(b"sha256", key!("P-256.pub.der"), none, by_ec, b"text"),
        verify(b"sha256", none, ec, by_ec, b"text"),
        verify(
            b"sha256",
            none,
            key!("P-384.pub.pem"),
            key!("P-384.sig"),
            b"text",
        ),
        verify(
            b"sha256",
            none,
            key!("P-521.pub.pem"),
            key!("P-521.sig"),
            b"text",
        ),
        verify(b"sha1", none, rsa, key!("rsa.sha1.sig"), b"text"),
        verify(b"sha224", none, rsa, key!("rsa.sha224.sig"), b"text"),
        verify(b"Sha384", none, rsa, key!("rsa.sha384.sig"), b"text"),
        verify(b"sha512", none, rsa, key!("rsa.sha512.sig"), b"text"),
        verify(b"sha1", none, ec, key!("P-256.sha1.sig"), b"text"),
        verify(b"sha224", none, ec, key!("P-256.sha224.sig"), b"text"),
        verify(b"sha384", none, ec, key!("P-256.sha384.sig"), b"text"),
        verify(b"sha512", none, ec, key!("P-256.sha512.sig"), b"text"),
        verify(
            b"sha1",
            none,
            key!("P-521.pub.pem"),
            key!("P-521.sha1.sig"),
            b"text",
        ),
        // Not of this text, hash or key, and none at all.
        verify(b"sha256", none, rsa, by_rsa, b"other"),
        verify(b"sha256", none, rsa, by_rsa, none),
        verify(b"sha384", none, rsa, by_rsa, b"text"),
        verify(b"sha256", none, ec, by_rsa, b"text"),
        verify(b"sha256", none, rsa, by_ec, b"text"),
        verify(b"sha256", none, ec, b"junk", b"text"),
        verify(b"sha256", none, rsa, none, b"text"),
        // Keys that are none.
        verify(b"sha256", b"junk", none, by_rsa, b"text"),
        verify(b"sha256", none, b"junk", by_rsa, b"text"),
        verify(b"sha256", none, key!("rsa.pem"), by_rsa, b"text"),
        verify(b"sha256", none, key!("P-256.sec1.pem"), by_ec, b"text"),
        verify(b"sha256", none, key!("ed.pub.pem"), by_ec, b"text"),
        verify(b"sha256", key!("rsa.pub.der"), rsa, by_rsa, b"text"),
        verify(b"sha256", none, none, by_rsa, b"text"),
        // Hashes that are none.
        verify(b"md5", none, rsa, by_rsa, b"text"),
        verify(b"sha-256", none, rsa, by_rsa, b"text"),
        verify(none, none, rsa, by_rsa, b"text"),
        verify(b"md5", b"junk", none, by_rsa, b"text"),
        "%ff".to_owned(),
    ];

    let answers = answers("verify_signature", &arguments);

    let said = |text: &str| answers.iter().filter(|it| it.contains(text)).count();
    assert_eq!(answers[..RIGHT], ["0 \"\\x08\\x01\""; RIGHT], "it is right");
    assert_eq!(said("x08"), RIGHT);
    assert_eq!(said("Failed to verify digest. Error code: 0"), 7);
    assert_eq!(said("Failed to initialize digest verify."), 5, "no key");
    assert_eq!(said("is not supported."), 4);
    let refused = answers.iter().filter(|answer| *answer == "2").count();
    assert_eq!(refused, 3, "two keys, none, no message");
}

#[test]
fn texts_are_signed_by_keys_in_pem_and_der() {
    let sign = |hash: &[u8], der: &[u8], pem: &[u8], text: &[u8]| {
        let fields = [(1, hash), (2, der), (3, text), (4, pem)];
        fields.map(|(number, bytes)| field(number, bytes)).concat()
    };
    let (rsa, none) = (key!("rsa.pem"), &b""[..]);
    // ECDSA draws a number in Envoy: its signatures cannot be compared here.
    let arguments = [
        sign(b"sha256", key!("rsa.der"), none, b"text"),
        sign(b"sha256", none, rsa, b"text"),
        sign(b"SHA256", none, key!("rsa1.pem"), b"text"),
        sign(b"sha1", none, rsa, b"text"),
        sign(b"sha224", none, rsa, b"text"),
        sign(b"sha384", none, rsa, b"text"),
        sign(b"sha512", none, rsa, none),
        sign(b"md5", none, rsa, b"text"),
        sign(none, none, rsa, b"text"),
        sign(b"sha256", b"junk", none, b"text"),
        sign(b"sha256", none, b"junk", b"text"),
        sign(b"sha256", none, key!("rsa.pub.pem"), b"text"),
        sign(b"sha256", none, key!("ed.pem"), b"text"),
        sign(b"md5", b"junk", none, b"text"),
        sign(b"sha256", key!("rsa.der"), rsa, b"text"),
        sign(b"sha256", none, none, b"text"),
        "%ff".to_owned(),
    ];

    let answers = answers("sign", &arguments);

    let signature = |answer: &&String| answer.starts_with("0 \"\\x08\\x01\\x12\\x80\\x02");
    assert_eq!(answers.iter().filter(signature).count(), 7);
    assert_eq!(
        answers[..3],
        [answers[0].as_str(); 3],
        "whatever the key's form"
    );
    let said = |text: &str| answers.iter().filter(|it| it.contains(text)).count();
    assert_eq!(said("is not supported."), 3);
    assert_eq!(said("Invalid key type: private key required"), 3);
    assert_eq!(said("key data is corrupted or malformed"), 1);
    assert_eq!(answers[14..], ["2"; 3], "two keys, none, no message");
}
