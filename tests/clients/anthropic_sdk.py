"""What a program written against Anthropic's SDK sees of the gateway."""

import os

import anthropic

MESSAGES = [{"role": "user", "content": "hello"}]


def client(key):
    return anthropic.Anthropic(base_url=os.environ["GATEWAY"], api_key=key, max_retries=0)


def ask(key, model="chat", **fields):
    return client(key).messages.create(model=model, max_tokens=16, messages=MESSAGES, **fields)


def raised(kind, call):
    try:
        call()
    except anthropic.APIError as error:
        assert type(error) is kind, f"{type(error).__name__} instead of {kind.__name__}: {error}"
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def a_message_is_answered():
    answer = ask(os.environ["KEY"])
    assert answer.content[0].text == "hello from w1", answer


def a_message_is_streamed():
    with client(os.environ["KEY"]).messages.stream(
        model="chat", max_tokens=16, messages=MESSAGES
    ) as stream:
        assert "".join(stream.text_stream) == "hello from w1"


def each_refusal_is_its_own_exception():
    error = raised(anthropic.AuthenticationError, lambda: ask("sk-nobody"))
    assert error.body["error"]["type"] == "authentication_error", error.body
    error = raised(anthropic.NotFoundError, lambda: ask(os.environ["KEY"], "nothing"))
    assert error.body["error"]["type"] == "not_found_error", error.body
    error = raised(anthropic.PermissionDeniedError, lambda: ask(os.environ["KEY_NARROW"], "code"))
    assert error.body["error"]["type"] == "permission_error", error.body


a_message_is_answered()
a_message_is_streamed()
each_refusal_is_its_own_exception()
