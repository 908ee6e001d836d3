//! Steps by name, a family of host calls a function. Their words are the arguments of the import, in its order.

use crate::answer::Answer;
use crate::imports::*;
use crate::words::{bytes, number, pairs};
use crate::{toolchain, vm};

/// The words of a step.
struct Words<'a>(&'a [&'a str]);

impl Words<'_> {
    fn word(&self, index: usize) -> &str {
        self.0.get(index).copied().unwrap_or("-")
    }

    fn bytes(&self, index: usize) -> Vec<u8> {
        bytes(self.word(index))
    }

    fn pairs(&self, index: usize) -> Vec<u8> {
        pairs(self.word(index))
    }

    fn wide(&self, index: usize) -> i64 {
        number(self.word(index))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the ABI's numbers are 32 bits, and a script may name any of them"
    )]
    fn number(&self, index: usize) -> u32 {
        self.wide(index) as u32
    }
}

/// Carries out a step; `None` if there is none of that name.
pub fn carry_out(step: &str, words: &[&str], context: u32) -> Option<Answer> {
    let words = Words(words);
    system(step, &words)
        .or_else(|| streams(step, &words))
        .or_else(|| maps(step, &words))
        .or_else(|| buffers(step, &words))
        .or_else(|| shared(step, &words))
        .or_else(|| metrics(step, &words))
        .or_else(|| calls(step, &words, context))
        .or_else(|| grpc(step, &words, context))
        .or_else(|| toolchain::carry_out(step, words.0))
}

fn system(step: &str, words: &Words<'_>) -> Option<Answer> {
    Some(match step {
        "log" => {
            let text = words.bytes(1);
            Answer::status(proxy_log(words.number(0), text.as_ptr(), text.len()))
        }
        // Pointer and length as numbers: what is there is not looked at.
        "log_at" => Answer::status(proxy_log(
            words.number(0),
            words.number(1) as *const u8,
            words.number(2) as usize,
        )),
        "get_log_level" => Answer::number(|out| proxy_get_log_level(out)),
        "get_log_level_at" => Answer::status(proxy_get_log_level(words.number(0) as *mut u32)),
        "get_status" => {
            let mut code = 0;
            let text = Answer::bytes(|text, length| proxy_get_status(&raw mut code, text, length));
            text.with(&format!("code {code}"), Vec::new())
        }
        "get_current_time" => {
            let mut time = 0;
            let status = proxy_get_current_time_nanoseconds(&raw mut time);
            Answer::status(status).with(if time > 0 { "later" } else { "never" }, Vec::new())
        }
        "set_tick_period" => Answer::status(proxy_set_tick_period_milliseconds(words.number(0))),
        "set_effective_context" => Answer::status(proxy_set_effective_context(words.number(0))),
        "done" => Answer::status(proxy_done()),
        "call_foreign_function" => {
            let (name, argument) = (words.bytes(0), words.bytes(1));
            Answer::bytes(|out, length| {
                proxy_call_foreign_function(
                    name.as_ptr(),
                    name.len(),
                    argument.as_ptr(),
                    argument.len(),
                    out,
                    length,
                )
            })
        }
        _ => return None,
    })
}

fn streams(step: &str, words: &Words<'_>) -> Option<Answer> {
    Some(match step {
        "get_property" => {
            // Segments are separated by NUL: `request%00path`, or shorter `request/path`.
            let path = words.word(0).replace('/', "%00");
            let path = bytes(&path);
            Answer::bytes(|out, length| proxy_get_property(path.as_ptr(), path.len(), out, length))
        }
        "set_property" => {
            let (path, value) = (words.bytes(0), words.bytes(1));
            Answer::status(proxy_set_property(
                path.as_ptr(),
                path.len(),
                value.as_ptr(),
                value.len(),
            ))
        }
        // Status, body, headers, details, gRPC status.
        "send_local_response" => {
            let (body, headers, details) = (words.bytes(1), words.pairs(2), words.bytes(3));
            let grpc = if words.word(4) == "-" {
                -1
            } else {
                words.wide(4)
            };
            Answer::status(proxy_send_local_response(
                words.number(0),
                details.as_ptr(),
                details.len(),
                body.as_ptr(),
                body.len(),
                headers.as_ptr(),
                headers.len(),
                i32::try_from(grpc).unwrap_or(-1),
            ))
        }
        "continue_stream" => Answer::status(proxy_continue_stream(words.number(0))),
        "close_stream" => Answer::status(proxy_close_stream(words.number(0))),
        _ => return None,
    })
}

fn maps(step: &str, words: &Words<'_>) -> Option<Answer> {
    let map = words.number(0);
    let (name, value) = (words.bytes(1), words.bytes(2));
    Some(match step {
        "get_header_map_value" => Answer::bytes(|out, length| {
            proxy_get_header_map_value(map, name.as_ptr(), name.len(), out, length)
        }),
        "add_header_map_value" => Answer::status(proxy_add_header_map_value(
            map,
            name.as_ptr(),
            name.len(),
            value.as_ptr(),
            value.len(),
        )),
        "replace_header_map_value" => Answer::status(proxy_replace_header_map_value(
            map,
            name.as_ptr(),
            name.len(),
            value.as_ptr(),
            value.len(),
        )),
        "remove_header_map_value" => Answer::status(proxy_remove_header_map_value(
            map,
            name.as_ptr(),
            name.len(),
        )),
        "get_header_map_pairs" => {
            Answer::pairs(|out, length| proxy_get_header_map_pairs(map, out, length))
        }
        "set_header_map_pairs" => {
            let pairs = words.pairs(1);
            Answer::status(proxy_set_header_map_pairs(map, pairs.as_ptr(), pairs.len()))
        }
        "get_header_map_size" => Answer::number(|out| proxy_get_header_map_size(map, out)),
        _ => return None,
    })
}

fn buffers(step: &str, words: &Words<'_>) -> Option<Answer> {
    let (buffer, start, length) = (words.number(0), words.number(1), words.number(2));
    Some(match step {
        "get_buffer_bytes" => {
            Answer::bytes(|out, taken| proxy_get_buffer_bytes(buffer, start, length, out, taken))
        }
        "get_buffer_status" => {
            let (mut size, mut flags) = (0, 0);
            let status = proxy_get_buffer_status(buffer, &raw mut size, &raw mut flags);
            Answer::status(status).with(&format!("{size} flags {flags}"), Vec::new())
        }
        "set_buffer_bytes" => {
            let data = words.bytes(3);
            Answer::status(proxy_set_buffer_bytes(
                buffer,
                start,
                length,
                data.as_ptr(),
                data.len(),
            ))
        }
        _ => return None,
    })
}

fn shared(step: &str, words: &Words<'_>) -> Option<Answer> {
    let (first, second) = (words.bytes(0), words.bytes(1));
    Some(match step {
        // What is kept is the token for compare-and-swap.
        "get_shared_data" => {
            let mut cas = 0;
            let value = Answer::bytes(|out, length| {
                proxy_get_shared_data(first.as_ptr(), first.len(), out, length, &raw mut cas)
            });
            value.with(&format!("cas {cas}"), cas.to_string().into_bytes())
        }
        "set_shared_data" => Answer::status(proxy_set_shared_data(
            first.as_ptr(),
            first.len(),
            second.as_ptr(),
            second.len(),
            words.number(2),
        )),
        "register_shared_queue" => {
            Answer::number(|out| proxy_register_shared_queue(first.as_ptr(), first.len(), out))
        }
        "resolve_shared_queue" => Answer::number(|out| {
            proxy_resolve_shared_queue(
                first.as_ptr(),
                first.len(),
                second.as_ptr(),
                second.len(),
                out,
            )
        }),
        "dequeue_shared_queue" => {
            Answer::bytes(|out, length| proxy_dequeue_shared_queue(words.number(0), out, length))
        }
        "enqueue_shared_queue" => Answer::status(proxy_enqueue_shared_queue(
            words.number(0),
            second.as_ptr(),
            second.len(),
        )),
        _ => return None,
    })
}

fn metrics(step: &str, words: &Words<'_>) -> Option<Answer> {
    let id = words.number(0);
    Some(match step {
        "define_metric" => {
            let name = words.bytes(1);
            Answer::number(|out| proxy_define_metric(id, name.as_ptr(), name.len(), out))
        }
        "increment_metric" => Answer::status(proxy_increment_metric(id, words.wide(1))),
        "record_metric" => Answer::status(proxy_record_metric(id, words.wide(1).cast_unsigned())),
        "get_metric" => Answer::number(|out| proxy_get_metric(id, out)),
        _ => return None,
    })
}

fn calls(step: &str, words: &Words<'_>, context: u32) -> Option<Answer> {
    let (first, pairs, body, trailers) = (
        words.bytes(0),
        words.pairs(1),
        words.bytes(2),
        words.pairs(3),
    );
    let mut token = 0;
    let status = match step {
        // Cluster, headers, body, trailers, time-out in milliseconds.
        "http_call" => proxy_http_call(
            first.as_ptr(),
            first.len(),
            pairs.as_ptr(),
            pairs.len(),
            body.as_ptr(),
            body.len(),
            trailers.as_ptr(),
            trailers.len(),
            words.number(4).cast_signed(),
            &raw mut token,
        ),
        "resolve_dns" => envoy_resolve_dns(first.as_ptr(), first.len(), &raw mut token),
        _ => return None,
    };
    Some(called(status, token, context))
}

fn grpc(step: &str, words: &Words<'_>, context: u32) -> Option<Answer> {
    let (cluster, service, method) = (words.bytes(0), words.bytes(1), words.bytes(2));
    let metadata = words.pairs(3);
    let mut token = 0;
    let status = match step {
        // Cluster, service, method, metadata, message, time-out in milliseconds.
        "grpc_call" => {
            let message = words.bytes(4);
            proxy_grpc_call(
                cluster.as_ptr(),
                cluster.len(),
                service.as_ptr(),
                service.len(),
                method.as_ptr(),
                method.len(),
                metadata.as_ptr(),
                metadata.len(),
                message.as_ptr(),
                message.len(),
                words.number(5).cast_signed(),
                &raw mut token,
            )
        }
        "grpc_stream" => proxy_grpc_stream(
            cluster.as_ptr(),
            cluster.len(),
            service.as_ptr(),
            service.len(),
            method.as_ptr(),
            method.len(),
            metadata.as_ptr(),
            metadata.len(),
            &raw mut token,
        ),
        "grpc_send" => {
            let status = proxy_grpc_send(
                words.number(0),
                service.as_ptr(),
                service.len(),
                words.number(2),
            );
            return Some(Answer::status(status));
        }
        "grpc_close" => return Some(Answer::status(proxy_grpc_close(words.number(0)))),
        "grpc_cancel" => return Some(Answer::status(proxy_grpc_cancel(words.number(0)))),
        _ => return None,
    };
    Some(called(status, token, context))
}

/// A call that was sent, or not; its token is told even then.
fn called(status: u32, token: u32, context: u32) -> Answer {
    if status == 0 {
        vm::called(token, context);
    }
    Answer::status(status).with(&format!("token {token}"), token.to_string().into_bytes())
}
