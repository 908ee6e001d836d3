// A guest of the AssemblyScript SDK: says in its log what it was asked for, marks the request, and answers `/reply` itself.
export * from "@solo-io/proxy-runtime/proxy";
import {
  Context,
  FilterHeadersStatusValues,
  LogLevelValues,
  RootContext,
  log,
  registerRootContext,
  send_local_response,
  GrpcStatusValues,
  stream_context,
} from "@solo-io/proxy-runtime";

class Root extends RootContext {
  createContext(context_id: u32): Context {
    return new Stream(context_id, this);
  }
}

class Stream extends Context {
  constructor(context_id: u32, root_context: Root) {
    super(context_id, root_context);
  }

  onRequestHeaders(a: u32, end_of_stream: bool): FilterHeadersStatusValues {
    const path = stream_context.headers.request.get(":path");
    log(LogLevelValues.info, "asked for " + path);
    if (path == "/reply") {
      send_local_response(403, "refused", String.UTF8.encode("not here\n"), [], GrpcStatusValues.PermissionDenied);
      return FilterHeadersStatusValues.StopIteration;
    }
    stream_context.headers.request.add("x-guest", "assemblyscript");
    return FilterHeadersStatusValues.Continue;
  }
}

registerRootContext((context_id: u32) => {
  return new Root(context_id);
}, "assemblyscript");
