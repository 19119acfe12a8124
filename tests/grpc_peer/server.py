"""The same server as server.cpp by a third implementation (Python's grpcio). Its reflection is v1 alone, and sends each file by
itself; to a call with the metadata "x-reflection: none" it has none.

server.py FOLDER: the folder holds peer_pb2.py, which protoc makes. Prints its port and ends when its standard input does.
"""
import sys
import time
from concurrent import futures

sys.path.insert(0, sys.argv[1])

import grpc  # noqa: E402
import peer_pb2  # noqa: E402
from google.protobuf import descriptor_pool, empty_pb2  # noqa: E402


def send_metadata_back(context):
    found = [(key, value) for key, value in context.invocation_metadata() if key.startswith("x-")]
    context.send_initial_metadata(found)
    context.set_trailing_metadata(
        [(key.removesuffix("-bin") + "-trailer" + ("-bin" if key.endswith("-bin") else ""), value) for key, value in found])


def echo(request, context):
    send_metadata_back(context)
    time.sleep(request.delay_ms / 1000)
    return request


def collect(requests, context):
    answer = peer_pb2.Message()
    for each in requests:
        answer.delay_ms += 1
        answer.count += each.count
        answer.text += each.text
    return answer


def expand(request, context):
    for number in range(request.count):
        time.sleep(request.delay_ms / 1000)
        each = peer_pb2.Message()
        each.CopyFrom(request)
        each.count = number
        yield each


def chat(requests, context):
    yield from requests


def fail(request, context):
    if request.fill:
        context.set_trailing_metadata([("grpc-status-details-bin", request.fill)])
    code = next(code for code in grpc.StatusCode if code.value[0] == request.count)
    context.abort(code, request.text)


# Field numbers of grpc/reflection/v1/reflection.proto. Here every size fits two bytes of a varint.
def sized(number, content):
    size = len(content)
    return bytes([number << 3 | 2, size & 0x7f | 0x80, size >> 7]) + content


def reflect(requests, context):
    if ("x-reflection", "none") in context.invocation_metadata():
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "no reflection")
    pool = descriptor_pool.Default()
    for request in requests:
        field, name = request[0] >> 3, request[2:].decode()
        try:
            if field == 7:
                yield sized(6, sized(1, sized(1, b"onbeat.peer.Peer")))
                continue
            file = pool.FindFileByName(name) if field == 3 else pool.FindFileContainingSymbol(name)
            yield sized(4, sized(1, file.serialized_pb))
        except KeyError:
            yield sized(7, bytes([1 << 3, 5]) + sized(2, b"there is no " + name.encode()))


def reflection():
    return grpc.method_handlers_generic_handler(
        "grpc.reflection.v1.ServerReflection", {"ServerReflectionInfo": grpc.stream_stream_rpc_method_handler(reflect)})


def handlers():
    message = peer_pb2.Message
    unary, everything, empty = (message, message), (peer_pb2.Everything,) * 2, (empty_pb2.Empty,) * 2
    methods = {
        "Echo": (grpc.unary_unary_rpc_method_handler, echo, unary),
        "Collect": (grpc.stream_unary_rpc_method_handler, collect, unary),
        "Expand": (grpc.unary_stream_rpc_method_handler, expand, unary),
        "Chat": (grpc.stream_stream_rpc_method_handler, chat, unary),
        "Fail": (grpc.unary_unary_rpc_method_handler, fail, unary),
        "Nothing": (grpc.unary_unary_rpc_method_handler, lambda request, _: request, empty),
        "Mirror": (grpc.unary_unary_rpc_method_handler, lambda request, _: request, everything),
    }
    return grpc.method_handlers_generic_handler("onbeat.peer.Peer", {
        name: make(behaviour, request_deserializer=types[0].FromString, response_serializer=types[1].SerializeToString)
        for name, (make, behaviour, types) in methods.items()
    })


def main():
    # Compressed throughout, so that the client decompresses what it did not ask for by name too.
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8), compression=grpc.Compression.Gzip)
    server.add_generic_rpc_handlers((handlers(), reflection()))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    sys.stdin.read()
    server.stop(None)


main()
