;; Does what the request header `x-test` says: `trap` traps, `pause` pauses in the header callback
;; and is never resumed. It has no body callback.
(module
  (import "env" "proxy_get_header_map_value"
    (func $get (param $map i32) (param $key i32) (param $key_size i32) (param $value i32) (param $value_size i32) (result i32)))

  (memory (export "memory") 2)
  (data (i32.const 0) "x-test")

  (func (export "proxy_abi_version_0_2_1"))

  ;; One value at a time is asked for: it always goes into the second page.
  (func (export "proxy_on_memory_allocate") (param $size i32) (result i32)
    i32.const 65536)

  (func (export "proxy_on_context_create") (param $context i32) (param $parent i32))
  (func (export "proxy_on_vm_start") (param $root i32) (param $size i32) (result i32) i32.const 1)
  (func (export "proxy_on_configure") (param $root i32) (param $size i32) (result i32) i32.const 1)

  (func (export "proxy_on_request_headers") (param $context i32) (param $count i32) (param $end_of_stream i32) (result i32)
    (local $first i32)
    (i32.store (i32.const 20) (i32.const 0))
    ;; Map 0 is the request's headers; pointer and size of the value go to 16 and 20.
    (if (call $get (i32.const 0) (i32.const 0) (i32.const 6) (i32.const 16) (i32.const 20))
      (then (return (i32.const 0))))
    (if (i32.eqz (i32.load (i32.const 20)))
      (then (return (i32.const 0))))
    (local.set $first (i32.load8_u (i32.load (i32.const 16))))
    (if (i32.eq (local.get $first) (i32.const 116)) ;; t
      (then unreachable))
    ;; 1 is pause, 0 is continue.
    (i32.eq (local.get $first) (i32.const 112))) ;; p
)
