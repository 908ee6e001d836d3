-- The clients of the rotation drill, run by wrk in each of its threads:
--
--   wrk ... -s client.lua URL -- ROLE FILE PAUSE_MS
--
-- FILE has the generation and the key to show, and is looked at again and again; what a worker gets is marked with
-- role and generation. At the end one line a figure is printed: `drill NAME VALUE`. Times are milliseconds since 1970.

local ffi = require("ffi")
ffi.cdef [[
typedef struct { long seconds; long nanoseconds; } drill_time;
int clock_gettime(int clock, drill_time *time);
]]

local LOOK_MS = 20
local time = ffi.new("drill_time")

local function now_ms()
  ffi.C.clock_gettime(0, time)
  return tonumber(time.seconds) * 1000 + math.floor(tonumber(time.nanoseconds) / 1000000)
end

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  role, file, pause = args[1], args[2], tonumber(args[3])
  looked = 0
  -- By status: accepted, refused (401), anything else.
  accepted, refused, others = 0, 0, 0
  last_accepted, first_refused = 0, 0
  other = ""
end

function delay()
  return pause
end

function request()
  local now = now_ms()
  if now - looked >= LOOK_MS then
    looked = now
    local input = io.open(file)
    local line = input and input:read("*l") or nil
    if input then input:close() end
    -- Files are replaced by rename, so a line that is there is whole.
    if line ~= nil and line ~= seen then
      seen = line
      local generation, key = line:match("(%d+) (%S+)")
      local body = string.format('{"model":"chat","user":"%s %s","messages":[]}', role, generation)
      local headers = { ["authorization"] = "Bearer " .. key, ["content-type"] = "application/json" }
      made = wrk.format("POST", "/v1/chat/completions", headers, body)
    end
  end
  return made
end

function response(status, headers, body)
  if status == 200 then
    accepted = accepted + 1
    last_accepted = now_ms()
  elseif status == 401 then
    refused = refused + 1
    if first_refused == 0 then first_refused = now_ms() end
  else
    others = others + 1
    other = status .. " " .. body:sub(1, 200)
  end
end

function done(summary, latency, requests)
  local sums = { accepted = 0, refused = 0, others = 0 }
  local last, first = 0, 0
  for _, thread in ipairs(threads) do
    for name in pairs(sums) do sums[name] = sums[name] + thread:get(name) end
    last = math.max(last, thread:get("last_accepted"))
    local one = thread:get("first_refused")
    if one ~= 0 and (first == 0 or one < first) then first = one end
    if thread:get("other") ~= "" then io.write("drill other ", thread:get("other"), "\n") end
  end
  for name, value in pairs(sums) do io.write(string.format("drill %s %d\n", name, value)) end
  io.write(string.format("drill last_accepted %.0f\n", last))
  io.write(string.format("drill first_refused %.0f\n", first))
  local errors = summary.errors
  io.write(string.format("drill broken %d\n", errors.connect + errors.read + errors.write + errors.timeout))
  io.write(string.format("drill p99_us %d\n", latency:percentile(99)))
end
