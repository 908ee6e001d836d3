//! Tokens that are shown: of two subjects, valid in the first hour of the virtual clock. Their keys are
//! everybody's: the secret stands here, and the private key of P-256 is 32 bytes of 42.

use serde_json::{Value, json};

/// The variable with [`SECRET`].
pub(super) const SECRET_VARIABLE: &str = "BENCH_SECRET";
/// What HS256 is signed with.
pub(super) const SECRET: &str = "a secret of the bench, 42 bytes, nobodys own";

/// With HS256.
pub(super) const HS256: [&str; 2] = [
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InNoYXJlZCJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5\
     leGFtcGxlIiwiYXVkIjoiZHJhZ29tYW4iLCJzdWIiOiJyb2JvdC0xIiwiaWF0IjoxNzY3MjI1NTkwLCJleHAiOjE\
     3NjcyMjkxOTAsInRlbmFudF9pZCI6InRlYW0iLCJhcHBfaWQiOiJhcHAiLCJzY29wZSI6ImNoYXQgbW9kZWxzIn0\
     .sdjs2NBQqLtr_a71JPeKIR6NJEswmyPJ689_YD665gY",
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InNoYXJlZCJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5\
     leGFtcGxlIiwiYXVkIjoiZHJhZ29tYW4iLCJzdWIiOiJyb2JvdC0yIiwiaWF0IjoxNzY3MjI1NTkwLCJleHAiOjE\
     3NjcyMjkxOTAsInRlbmFudF9pZCI6InRlYW0iLCJhcHBfaWQiOiJhcHAiLCJzY29wZSI6ImNoYXQgbW9kZWxzIn0\
     .VCa8NDBmIlLBKEGdLp6lBsEU9rVHHf6cVT7D6pJJz2I",
];
/// With ES256.
pub(super) const ES256: [&str; 2] = [
    "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InAyNTYifQ.eyJpc3MiOiJodHRwczovL2lzc3Vlci5le\
     GFtcGxlIiwiYXVkIjoiZHJhZ29tYW4iLCJzdWIiOiJyb2JvdC0xIiwiaWF0IjoxNzY3MjI1NTkwLCJleHAiOjE3N\
     jcyMjkxOTAsInRlbmFudF9pZCI6InRlYW0iLCJhcHBfaWQiOiJhcHAiLCJzY29wZSI6ImNoYXQgbW9kZWxzIn0.T\
     ZMKXBYlCx751RzT78_mltnenjNFIodicFDpsY_9889-fi9cr7Zx_tZJHRE70xpFLalgTi4fA2lUZPFgt1ZTXw",
    "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InAyNTYifQ.eyJpc3MiOiJodHRwczovL2lzc3Vlci5le\
     GFtcGxlIiwiYXVkIjoiZHJhZ29tYW4iLCJzdWIiOiJyb2JvdC0yIiwiaWF0IjoxNzY3MjI1NTkwLCJleHAiOjE3N\
     jcyMjkxOTAsInRlbmFudF9pZCI6InRlYW0iLCJhcHBfaWQiOiJhcHAiLCJzY29wZSI6ImNoYXQgbW9kZWxzIn0.A\
     K4IxZZWwZpbRxd2ydaYSbh0K0gwe2E6jOQkqjHywy9X4_RulZq5gqp9eJI97Mk0lqxjV2hXpf7wODawvHwD0w",
];
/// With a good ES256 signature of something else.
pub(super) const FORGED: &str = "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InAyNTYifQ.eyJpc3MiOiJodHRwczovL2lzc3Vlci5le\
     GFtcGxlIiwiYXVkIjoiZHJhZ29tYW4iLCJzdWIiOiJyb2JvdC0xIiwiaWF0IjoxNzY3MjI1NTkwLCJleHAiOjE3N\
     jcyMjkxOTAsInRlbmFudF9pZCI6InRlYW0iLCJhcHBfaWQiOiJhcHAiLCJzY29wZSI6ImNoYXQgbW9kZWxzIn0.k\
     jqm2Dv8hKGSECr4up0MabhFhPQbKXKKac9cSz9C_M343sQ-9hq_Z_p7yN0mncxlLxTi7FUzcLNFcisfsvcZtA";

/// Their issuer, as the document has it.
pub(super) fn issuers() -> Value {
    let x = "DJAdQjyDHKheJ8c8JjuhMnIbudeoTE8DgLKmdW_WATM";
    let y = "HIhwI03sh4UEwXQUT6SxS2amUWkWBtgXPlW9N-OBVp4";
    let key = json!({"kty": "EC", "kid": "p256", "crv": "P-256", "x": x, "y": y});
    json!([{
        "id": "corp",
        "issuer": "https://issuer.example",
        "audiences": ["dragoman"],
        "jwks": {"keys": [key]},
        "secrets": [{"env": SECRET_VARIABLE, "kid": "shared"}],
    }])
}
