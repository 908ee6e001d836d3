"""What a program written against OpenAI's SDK sees of the gateway."""

import os

import openai

GATEWAY = os.environ["GATEWAY"]
MESSAGES = [{"role": "user", "content": "hello"}]


def client(key, retries=0):
    return openai.OpenAI(base_url=f"{GATEWAY}/v1", api_key=key, max_retries=retries)


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


def a_chat_is_streamed():
    stream = chat(client(os.environ["KEY"]), stream=True, stream_options={"include_usage": True})
    chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "hello from w1", text
    assert chunks[-1].usage.total_tokens > 0, chunks[-1]


def models_are_listed():
    listed = client(os.environ["KEY"])
    assert [model.id for model in listed.models.list()] == ["chat", "code"]
    assert listed.models.retrieve("chat").id == "chat"
    assert [model.id for model in client(os.environ["KEY_NARROW"]).models.list()] == ["chat"]


def each_refusal_is_its_own_exception():
    key = client(os.environ["KEY"])
    error = raised(openai.AuthenticationError, lambda: chat(client("sk-nobody")))
    assert error.code == "invalid_credential", error
    error = raised(openai.PermissionDeniedError, lambda: chat(client(os.environ["KEY_NARROW"]), "code"))
    assert error.code == "model_not_allowed", error
    error = raised(openai.NotFoundError, lambda: chat(key, "nothing"))
    assert error.code == "model_not_found" and error.param == "model", error
    error = raised(openai.BadRequestError, lambda: chat(key, stream="yes"))
    assert error.code == "invalid_field" and error.param == "stream", error
    assert error.request_id, "the SDK finds the request id"


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
    error = raised(openai.RateLimitError, lambda: [chat(impatient) for _ in range(30)])
    assert error.code == "rate_limited", error
    assert int(error.response.headers["retry-after"]) >= 1, error.response.headers
    assert error.response.headers["x-ratelimit-remaining-requests"] == "0", error.response.headers
    # The SDK's own retry waits as long as Retry-After says.
    chat(patient)


a_chat_is_answered()
a_chat_is_streamed()
models_are_listed()
each_refusal_is_its_own_exception()
a_conflict_that_no_retry_resolves_is_not_retried()
a_rate_limit_is_raised_and_waited_for()
