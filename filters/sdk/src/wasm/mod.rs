//! The real host. The only code that names proxy-wasm.

mod calls;
mod context;
mod env;
#[cfg(feature = "test-hooks")]
mod hooks;

pub use context::{start, start_service};
pub use proxy_wasm;

/// Turns a [`Plugin`](crate::Plugin) into a module and says which callbacks it exports.
///
/// The SDK exports every callback there is; the post-link step (`scripts/strip-exports`) removes
/// those that are not listed here, because each costs Envoy a call per request.
#[macro_export]
macro_rules! module {
    ($plugin:ty, callbacks: $callbacks:literal) => {
        $crate::module!(@start start::<$plugin>, $callbacks);
    };
    (service $service:ty, callbacks: $callbacks:literal) => {
        $crate::module!(@start start_service::<$service>, $callbacks);
    };
    (@start $start:expr, $callbacks:literal) => {
        #[used]
        #[unsafe(link_section = "dragoman.callbacks")]
        static CALLBACKS: [u8; $callbacks.len()] = *$callbacks;

        $crate::wasm::proxy_wasm::main! {{
            use $crate::wasm::{start, start_service};
            $start();
        }}
    };
}
