//! The host calls as data, and a host that shows them before it lets another answer.

use std::time::Duration;

use super::{Answered, Watcher, Whose};
use crate::abi::{
    Answer, BufferKind, Call, ContextId, GrpcTarget, HostCalls, HttpCall, LocalResponse, MapKind,
    MetricKind, Refusal, StreamKind,
};
use crate::io::Headers;

/// Lets `host` answer, in front of a watcher.
pub(super) struct Watching<'a> {
    host: &'a mut dyn HostCalls,
    watcher: &'a dyn Watcher,
}

impl<'a> Watching<'a> {
    pub(super) fn new(host: &'a mut dyn HostCalls, watcher: &'a dyn Watcher) -> Self {
        Watching { host, watcher }
    }

    /// One call: shown, carried out, shown again.
    fn carry_out<T: Show>(
        &mut self,
        asked: &Asked<'_>,
        ask: impl FnOnce(&mut dyn HostCalls) -> T,
    ) -> T {
        let whose = self.host.whose();
        self.watcher.asks(&whose, asked);
        let answer = ask(self.host);
        self.watcher.answered(&whose, asked, &answer.show());
        answer
    }
}

/// Makes [`Asked`] and the host of a list of host calls. In round brackets what is passed as it is, behind
/// it in square brackets what the host takes for its own.
macro_rules! host_calls {
    ($($variant:ident = $name:ident($($argument:ident: $kind:ty),*) $([$own:ident: $owned:ty])? -> $answer:ty;)*) => {
        /// A host call with its arguments; a variant for each method of [`HostCalls`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "names and meaning are the ABI's")]
        pub enum Asked<'a> {
            $($variant { $($argument: $kind,)* $($own: &'a $owned)? },)*
            Random { length: usize },
        }

        impl Asked<'_> {
            /// Name of the method of [`HostCalls`], which is the import's without `proxy_`.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Asked::$variant { .. } => stringify!($name),)*
                    Asked::Random { .. } => "random",
                }
            }
        }

        impl HostCalls for Watching<'_> {
            $(fn $name<'a>(&mut self, $($argument: $kind,)* $($own: $owned)?) -> $answer {
                $(let kept = $own.clone();)?
                let asked = Asked::$variant { $($argument,)* $($own: &kept as &$owned)? };
                self.carry_out(&asked, |host| host.$name($($argument,)* $($own)?))
            })*

            fn random(&mut self, out: &mut [u8]) {
                let whose = self.host.whose();
                let asked = Asked::Random { length: out.len() };
                self.watcher.asks(&whose, &asked);
                self.host.random(out);
                self.watcher.answered(&whose, &asked, &Answered::Bytes(out));
            }

            // Not the guest's: whoever runs it asks.
            fn next_nested(&mut self) -> Option<Call> {
                self.host.next_nested()
            }

            fn nested_done(&mut self) -> Answer<()> {
                self.host.nested_done()
            }

            fn whose(&mut self) -> Whose {
                self.host.whose()
            }
        }
    };
}

host_calls! {
    Log = log(level: u32, text: &'a [u8]) -> Answer<()>;
    GetLogLevel = get_log_level() -> u32;
    GetStatus = get_status() -> (u32, Vec<u8>);
    GetProperty = get_property(path: &'a [u8]) -> Answer<Vec<u8>>;
    SetProperty = set_property(path: &'a [u8], value: &'a [u8]) -> Answer<()>;
    GetHeaderMapPairs = get_header_map_pairs(map: MapKind) -> Answer<Headers>;
    SetHeaderMapPairs = set_header_map_pairs(map: MapKind) [pairs: Headers] -> Answer<()>;
    GetHeaderMapValue = get_header_map_value(map: MapKind, name: &'a [u8]) -> Answer<Vec<u8>>;
    AddHeaderMapValue = add_header_map_value(map: MapKind, name: &'a [u8], value: &'a [u8]) -> Answer<()>;
    ReplaceHeaderMapValue = replace_header_map_value(map: MapKind, name: &'a [u8], value: &'a [u8]) -> Answer<()>;
    RemoveHeaderMapValue = remove_header_map_value(map: MapKind, name: &'a [u8]) -> Answer<()>;
    GetHeaderMapSize = get_header_map_size(map: MapKind) -> Answer<u32>;
    GetBufferBytes = get_buffer_bytes(buffer: BufferKind, start: u32, length: u32) -> Answer<Vec<u8>>;
    GetBufferStatus = get_buffer_status(buffer: BufferKind) -> Answer<(u32, u32)>;
    SetBufferBytes = set_buffer_bytes(buffer: BufferKind, start: u32, length: u32, data: &'a [u8]) -> Answer<()>;
    GetConfiguration = get_configuration() -> Answer<Vec<u8>>;
    GetSharedData = get_shared_data(key: &'a [u8]) -> Answer<(Vec<u8>, u32)>;
    SetSharedData = set_shared_data(key: &'a [u8], value: &'a [u8], cas: u32) -> Answer<()>;
    RegisterSharedQueue = register_shared_queue(name: &'a [u8]) -> Answer<u32>;
    ResolveSharedQueue = resolve_shared_queue(vm_id: &'a [u8], name: &'a [u8]) -> Answer<u32>;
    DequeueSharedQueue = dequeue_shared_queue(token: u32) -> Answer<Vec<u8>>;
    EnqueueSharedQueue = enqueue_shared_queue(token: u32, value: &'a [u8]) -> Answer<()>;
    DefineMetric = define_metric(kind: MetricKind, name: &'a [u8]) -> Answer<u32>;
    IncrementMetric = increment_metric(id: u32, offset: i64) -> Answer<()>;
    RecordMetric = record_metric(id: u32, value: u64) -> Answer<()>;
    GetMetric = get_metric(id: u32) -> Answer<u64>;
    GrpcCall = grpc_call(message: &'a [u8], timeout: Duration) [target: GrpcTarget] -> Answer<u32>;
    GrpcStream = grpc_stream() [target: GrpcTarget] -> Answer<u32>;
    GrpcSend = grpc_send(token: u32, message: &'a [u8], end_of_stream: bool) -> Answer<()>;
    GrpcClose = grpc_close(token: u32) -> Answer<()>;
    GrpcCancel = grpc_cancel(token: u32) -> Answer<()>;
    HttpCall = http_call() [call: HttpCall] -> Answer<u32>;
    SendLocalResponse = send_local_response() [response: LocalResponse] -> Answer<()>;
    ContinueStream = continue_stream(stream: StreamKind) -> Answer<()>;
    CloseStream = close_stream(stream: StreamKind) -> Answer<()>;
    ClearRouteCache = clear_route_cache() -> Answer<()>;
    SetTickPeriodMilliseconds = set_tick_period_milliseconds(period_ms: u32) -> Answer<()>;
    GetCurrentTimeNanoseconds = get_current_time_nanoseconds() -> u64;
    SetEffectiveContext = set_effective_context(context: ContextId) -> Answer<()>;
    Done = done() -> Answer<()>;
    ResolveDns = resolve_dns(name: &'a [u8]) -> Answer<u32>;
    KnowsForeignFunction = knows_foreign_function(name: &'a [u8]) -> bool;
    CallForeignFunction = call_foreign_function(name: &'a [u8], argument: &'a [u8]) -> Answer<Vec<u8>>;
    HostLog = host_log(level: &'static str, text: &'a str) -> ();
    AllocatorFailed = allocator_failed(reason: &'a str) -> ();
    Exit = exit(code: u32) -> ();
    Write = write(fd: u32, text: &'a [u8]) -> ();
    Monotonic = monotonic() -> Duration;
    Environment = environment() -> Vec<String>;
}

/// An answer in the form that a watcher sees.
trait Show {
    fn show(&self) -> Answered<'_>;
}

impl<T: Show> Show for Answer<T> {
    fn show(&self) -> Answered<'_> {
        match self {
            Ok(answer) => answer.show(),
            Err(refusal) => refusal.show(),
        }
    }
}

impl Show for Refusal {
    fn show(&self) -> Answered<'_> {
        Answered::Refused(self)
    }
}

impl Show for () {
    fn show(&self) -> Answered<'_> {
        Answered::Nothing
    }
}

impl Show for bool {
    fn show(&self) -> Answered<'_> {
        Answered::Number(u64::from(*self))
    }
}

impl Show for u32 {
    fn show(&self) -> Answered<'_> {
        Answered::Number(u64::from(*self))
    }
}

impl Show for u64 {
    fn show(&self) -> Answered<'_> {
        Answered::Number(*self)
    }
}

impl Show for (u32, u32) {
    fn show(&self) -> Answered<'_> {
        Answered::Numbers(self.0, self.1)
    }
}

impl Show for Vec<u8> {
    fn show(&self) -> Answered<'_> {
        Answered::Bytes(self)
    }
}

impl Show for (Vec<u8>, u32) {
    fn show(&self) -> Answered<'_> {
        Answered::BytesAndNumber(&self.0, self.1)
    }
}

impl Show for (u32, Vec<u8>) {
    fn show(&self) -> Answered<'_> {
        Answered::BytesAndNumber(&self.1, self.0)
    }
}

impl Show for Headers {
    fn show(&self) -> Answered<'_> {
        Answered::Pairs(self)
    }
}

impl Show for Duration {
    fn show(&self) -> Answered<'_> {
        Answered::Time(*self)
    }
}

impl Show for Vec<String> {
    fn show(&self) -> Answered<'_> {
        Answered::Lines(self)
    }
}
