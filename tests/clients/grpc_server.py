"""A gRPC server for the tests: generic handlers, messages are plain bytes.

Prints `listening PORT` once it serves, and ends when its standard input does.

Unary methods of /test.Echo: Unary (answers the message), Empty, Fail (the message is `CODE TEXT`), Slow (answers
after the seconds of the message), Metadata (gives back metadata), Big (as many bytes as the message says).
Streaming: Count (server streaming: as many messages as the message says), Talk (both ways: each message comes back).
"""

import sys
import time
from concurrent import futures

import grpc

# More streams at a time than any test has.
WORKERS = 16


def unary(message, context):
    return message


def empty(message, context):
    return b""


def fail(message, context):
    code, _, text = message.decode().partition(" ")
    status = next(status for status in grpc.StatusCode if status.value[0] == int(code))
    context.set_trailing_metadata((("x-reason", "told so"),))
    context.abort(status, text)


def slow(message, context):
    time.sleep(float(message))
    return message


def metadata(message, context):
    """Initial and trailing metadata, and as the message what the client sent."""
    got = context.invocation_metadata()
    context.send_initial_metadata((("x-initial", "first"), ("x-initial-bin", b"\x00\xff")))
    context.set_trailing_metadata((("x-trailing", "last"), ("x-trailing-bin", b"\x01\xfe\x80")))
    lines = sorted(f"{name}={value!r}" for name, value in got if name != "user-agent")
    return "\n".join(lines).encode()


def big(message, context):
    return b"y" * int(message)


def count(message, context):
    for number in range(int(message)):
        yield f"message {number}".encode()


def talk(messages, context):
    for message in messages:
        yield message


HANDLERS = {
    "Unary": grpc.unary_unary_rpc_method_handler(unary),
    "Empty": grpc.unary_unary_rpc_method_handler(empty),
    "Fail": grpc.unary_unary_rpc_method_handler(fail),
    "Slow": grpc.unary_unary_rpc_method_handler(slow),
    "Metadata": grpc.unary_unary_rpc_method_handler(metadata),
    "Big": grpc.unary_unary_rpc_method_handler(big),
    "Count": grpc.unary_stream_rpc_method_handler(count),
    "Talk": grpc.stream_stream_rpc_method_handler(talk),
}


def main():
    unlimited = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=WORKERS), options=unlimited)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Echo", HANDLERS),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(f"listening {port}", flush=True)
    sys.stdin.read()
    server.stop(None)


if __name__ == "__main__":
    main()
