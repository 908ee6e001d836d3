"""What a program written against OpenAI's SDK sees of the gateway."""

import os

import openai

GATEWAY = os.environ["GATEWAY"]
MESSAGES = [{"role": "user", "content": "hello"}]


def client(key, retries=0):
    return openai.OpenAI(base_url=f"{GATEWAY}/v1", api_key=key, max_retries=retries)


def client_with(headers, query=None):
    """One that shows these headers instead of `Authorization`, which this SDK then sends empty."""
    shown = {"Authorization": "", **headers}
    return openai.OpenAI(
        base_url=f"{GATEWAY}/v1", api_key="unused", max_retries=0, default_headers=shown, default_query=query
    )


def azure(key):
    """Azure's old client: `api-key`, a query, and the deployment in the path, which is not served."""
    return openai.AzureOpenAI(base_url=f"{GATEWAY}/v1", api_key=key, api_version="2025-01-01", max_retries=0)


def raised(kind, call):
    try:
        call()
    except openai.APIError as error:
        assert type(error) is kind, f"{type(error).__name__} instead of {kind.__name__}: {error}"
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def chat(client, model="chat", **fields):
    return client.chat.completions.create(model=model, messages=MESSAGES, **fields)


def a_chat_is_answered():
    answer = chat(client(os.environ["KEY"]))
    assert answer.choices[0].message.content == "hello from w1", answer
    assert answer.usage.total_tokens > 0, answer


def streamed(client):
    chunks = list(chat(client, stream=True, stream_options={"include_usage": True}))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "hello from w1", text
    return chunks


def a_chat_is_streamed():
    chunks = streamed(client(os.environ["KEY"]))
    assert chunks[-1].usage.total_tokens > 0, chunks[-1]


def models_are_listed():
    listed = client(os.environ["KEY"])
    assert [model.id for model in listed.models.list()] == ["chat", "code"]
    assert listed.models.retrieve("chat").id == "chat"
    assert [model.id for model in client(os.environ["KEY_NARROW"]).models.list()] == ["chat"]


def each_refusal_is_its_own_exception():
    key = client(os.environ["KEY"])
    error = raised(openai.BadRequestError, lambda: chat(key, stream="yes"))
    assert error.code == "invalid_field" and error.param == "stream", error
    assert error.request_id, "the SDK finds the request id"


def every_header_style_is_served():
    key = os.environ["KEY"]
    as_azure = client_with({"api-key": key}, {"api-version": "2025-01-01"})
    for caller in [client(key), client_with({"x-api-key": key}), client_with({"api-key": key}), as_azure]:
        assert chat(caller).choices[0].message.content == "hello from w1"
        streamed(caller)
        assert [model.id for model in caller.models.list()] == ["chat", "code"]
    error = raised(openai.NotFoundError, lambda: chat(azure(key)))
    assert error.code == "not_found", error


def whoever_is_not_known_is_not_authenticated():
    """A wrong key, none, one whose time is over, two: the same exception, whether or not a stream was asked for."""
    for caller, code in [
        (client("sk-nobody"), "invalid_credential"),
        (client_with({"x-api-key": "sk-nobody"}), "invalid_credential"),
        (azure("sk-nobody"), "invalid_credential"),
        (client_with({}), "missing_credential"),
        (client(os.environ["KEY_OLD"]), "invalid_credential"),
        (client_with({"x-api-key": os.environ["KEY"], "api-key": "sk-nobody"}), "ambiguous_credential"),
    ]:
        for call in [
            lambda: chat(caller),
            lambda: chat(caller, stream=True),
            lambda: caller.models.list(),
            lambda: caller.embeddings.create(model="chat", input="a"),
        ]:
            error = raised(openai.AuthenticationError, call)
            assert error.code == code and error.request_id, (code, error)


def whoever_is_known_is_told_what_is_denied():
    for key, code in [("KEY_SUSPENDED", "tenant_inactive"), ("KEY_LISTING", "scope_denied")]:
        caller = client(os.environ[key])
        for stream in [False, True]:
            error = raised(openai.PermissionDeniedError, lambda: chat(caller, stream=stream))
            assert error.code == code and error.request_id, (code, error)
    narrow = client(os.environ["KEY_NARROW"])
    for call in [lambda: chat(narrow, "code"), lambda: narrow.models.retrieve("code")]:
        error = raised(openai.PermissionDeniedError, call)
        assert error.code == "model_not_allowed", error
    # What a key may do goes on.
    assert [model.id for model in client(os.environ["KEY_LISTING"]).models.list()] == ["chat", "code"]


def what_belongs_to_others_does_not_exist():
    key = client(os.environ["KEY"])
    for call in [lambda name: chat(key, name), lambda name: chat(key, name, stream=True), key.models.retrieve]:
        told = []
        for name in ["foreign", "nothing"]:
            error = raised(openai.NotFoundError, lambda: call(name))
            assert error.code == "model_not_found", error
            told.append({**error.body, "request_id": None})
        assert told[0] == told[1], told
    assert chat(client(os.environ["KEY_OTHER"]), "foreign").choices


def a_conflict_that_no_retry_resolves_is_not_retried():
    patient = client(os.environ["KEY"], retries=5)
    key = {"Idempotency-Key": "sdk-1"}
    first = chat(patient, extra_headers=key)
    assert chat(patient, extra_headers=key) == first, "the answer is given again"
    error = raised(openai.ConflictError, lambda: chat(patient, temperature=1, extra_headers=key))
    assert error.code == "idempotency_key_reused", error
    assert error.response.headers["x-should-retry"] == "false", error.response.headers


def a_rate_limit_is_raised_and_waited_for():
    impatient, patient = client(os.environ["KEY_LIMITED"]), client(os.environ["KEY_LIMITED"], retries=5)
    chat(impatient)
    error = raised(openai.RateLimitError, lambda: [chat(impatient) for _ in range(80)])
    assert error.code == "rate_limited", error
    assert int(error.response.headers["retry-after"]) >= 1, error.response.headers
    assert error.response.headers["x-ratelimit-remaining-requests"] == "0", error.response.headers
    # The SDK's own retry waits as long as Retry-After says.
    chat(patient)


a_chat_is_answered()
a_chat_is_streamed()
models_are_listed()
every_header_style_is_served()
whoever_is_not_known_is_not_authenticated()
whoever_is_known_is_told_what_is_denied()
what_belongs_to_others_does_not_exist()
each_refusal_is_its_own_exception()
a_conflict_that_no_retry_resolves_is_not_retried()
a_rate_limit_is_raised_and_waited_for()
