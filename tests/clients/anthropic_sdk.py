"""What a program written against Anthropic's SDK sees of the gateway."""

import os

import anthropic

MESSAGES = [{"role": "user", "content": "hello"}]


def client(key=None, token=None, headers=None):
    """One that shows `x-api-key`, or `Authorization: Bearer` for a token."""
    return anthropic.Anthropic(
        base_url=os.environ["GATEWAY"], api_key=key, auth_token=token, max_retries=0, default_headers=headers
    )


def ask(caller, model="chat", **fields):
    return caller.messages.create(model=model, max_tokens=16, messages=MESSAGES, **fields)


def raised(kind, call):
    try:
        call()
    except anthropic.APIError as error:
        assert type(error) is kind, f"{type(error).__name__} instead of {kind.__name__}: {error}"
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def a_message_is_answered(caller):
    answer = ask(caller)
    assert answer.content[0].text == "hello from w1", answer


def a_message_is_streamed(caller):
    with caller.messages.stream(model="chat", max_tokens=16, messages=MESSAGES) as stream:
        assert "".join(stream.text_stream) == "hello from w1"


def every_header_style_is_served():
    key = os.environ["KEY"]
    for caller in [client(key), client(token=key), client(key, headers={"Authorization": f"Bearer {key}"})]:
        a_message_is_answered(caller)
        a_message_is_streamed(caller)


def refused(kind, word, caller, model="chat"):
    """The error of an answer and of a stream."""
    for stream in [False, True]:
        error = raised(kind, lambda: ask(caller, model, stream=stream))
        assert error.body["error"]["type"] == word, error.body
        assert error.body["request_id"], error.body
    return error.body["error"]


def whoever_is_not_known_is_not_authenticated():
    nobody = {"X-Api-Key": anthropic.Omit(), "Authorization": anthropic.Omit()}
    for caller in [
        client("sk-nobody"),
        client(token="sk-nobody"),
        client("unused", headers=nobody),
        client(os.environ["KEY_OLD"]),
        client(os.environ["KEY"], headers={"Authorization": "Bearer sk-nobody"}),
    ]:
        refused(anthropic.AuthenticationError, "authentication_error", caller)


def whoever_is_known_is_told_what_is_denied():
    for key, model in [("KEY_SUSPENDED", "chat"), ("KEY_LISTING", "chat"), ("KEY_NARROW", "code")]:
        for caller in [client(os.environ[key]), client(token=os.environ[key])]:
            refused(anthropic.PermissionDeniedError, "permission_error", caller, model)


def what_belongs_to_others_does_not_exist():
    caller = client(os.environ["KEY"])
    told = [refused(anthropic.NotFoundError, "not_found_error", caller, name) for name in ["foreign", "nothing"]]
    assert told[0] == told[1], told
    a_message = ask(client(os.environ["KEY_OTHER"]), "foreign")
    assert a_message.content, a_message


every_header_style_is_served()
whoever_is_not_known_is_not_authenticated()
whoever_is_known_is_told_what_is_denied()
what_belongs_to_others_does_not_exist()
