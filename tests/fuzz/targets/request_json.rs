//! The body of a request: what the scanner takes is JSON, and the model stands where it says.
#![no_main]

use dragoman_json::scan_request;

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    if let Ok(request) = scan_request(body) {
        assert!(serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok());
        if let Some(model) = request.model {
            let text = body.get(model.span).expect("the span lies in the body");
            let name: String = serde_json::from_slice(text).expect("the span is a string");
            assert_eq!(name, model.name);
        }
    }
});
