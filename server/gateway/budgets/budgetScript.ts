import type { Script } from "../shared/valkeyLink";

/** The longest window is a month. */
const keptMs = 32 * 86_400_000;

/**
 * The use of one key's limits by all gateways: a hash with a row for each gateway, in which only that gateway counts. A row holds its epoch `e`,
 * what requests in flight have reserved `r` (tokens, nano-USD), its use `w` by limit (start of the window, use) and the time of its last change
 * `t`. Rows are absolute: a gateway that posts its own again after an outage, or after Valkey lost its data, counts nothing twice.
 *
 * KEYS: the budget, the gateways. ARGV: gateway, operation, epoch, ms for which a gateway counts as alive, number of limits, then for each limit
 * its name, its amount and the start of its window by the gateway's clock; then what the operation takes:
 *
 * - `read`: nothing. `reserve`: tokens, nano-USD, and 1 to reserve them whatever the limits say.
 * - `settle`: tokens and nano-USD that were reserved, tokens and nano-USD that were used.
 * - `post`: reserved tokens and nano-USD, then name, start and use of each window: the gateway's whole row.
 * - `raise`: the id of an earlier start, then as `post`: its row becomes at least that.
 * - `leave`: nothing; the gateway's use stays, in a row of all that left.
 *
 * Returns `ok`, `short` (nothing was reserved) or `stale` (the gateway has posted anew since), the tokens and nano-USD that others have reserved,
 * and for each limit the start of its window, the use of others and the gateway's own. What a gateway that is gone had reserved counts as used.
 * Of clocks that differ the one ahead opens a window.
 */
export const budgetScript: Script = {
  lua: `
local me, op, epoch, aliveMs, count = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
local at = 6
local function take() at = at + 1 return ARGV[at - 1] end
local function number() return tonumber(take()) end
local function unit(name) if string.sub(name, 1, 3) == 'usd' then return 2 end return 1 end
local function text(value) return string.format('%.0f', value) end

local limits = {}
for i = 1, count do limits[i] = { name = take(), most = number(), start = number() } end
local own, others = nil, {}
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local id, row = fields[i], cmsgpack.unpack(fields[i + 1])
  if id == me then own = row
  elseif nowMs - row.t > ${keptMs} then redis.call('HDEL', KEYS[1], id)
  else
    local seen = redis.call('ZSCORE', KEYS[2], id)
    row.id = id
    row.alive = seen and nowMs - tonumber(seen) <= aliveMs
    others[#others + 1] = row
  end
end
own = own or { e = epoch, r = { 0, 0 }, w = {} }
if own.e > epoch then return { 'stale' } end

local function store(id, row)
  redis.call('HSET', KEYS[1], id, cmsgpack.pack({ e = row.e, r = row.r, w = row.w, t = nowMs }))
  redis.call('PEXPIRE', KEYS[1], ${keptMs})
end
local function windows()
  local read = {}
  while at <= #ARGV do local name = take() read[name] = { number(), number() } end
  return read
end
local function named(id)
  for _, row in ipairs(others) do if row.id == id then return row end end
  local row = { id = id, e = 0, r = { 0, 0 }, w = {} }
  others[#others + 1] = row
  return row
end

if op == 'raise' then
  local row = named(take())
  number() number()
  for name, window in pairs(windows()) do
    local known = row.w[name]
    if not known or known[1] < window[1] then row.w[name] = window
    elseif known[1] == window[1] then known[2] = math.max(known[2], window[2] - row.r[unit(name)]) end
  end
  store(row.id, row)
elseif op == 'post' then own = { e = epoch, r = { number(), number() }, w = windows() }
elseif op == 'leave' then
  local gone = named('gone')
  for name, window in pairs(own.w) do
    local known = gone.w[name]
    if not known or known[1] < window[1] then gone.w[name] = window
    elseif known[1] == window[1] then known[2] = known[2] + window[2] end
  end
  store('gone', gone)
  redis.call('HDEL', KEYS[1], me)
  own = { e = epoch, r = { 0, 0 }, w = {} }
end

local reserved = { 0, 0 }
for _, row in ipairs(others) do
  if row.alive then reserved = { reserved[1] + row.r[1], reserved[2] + row.r[2] } end
end
for _, limit in ipairs(limits) do
  local mine = own.w[limit.name]
  if mine then limit.start = math.max(limit.start, mine[1]) end
  for _, row in ipairs(others) do
    local window = row.w[limit.name]
    if window then limit.start = math.max(limit.start, window[1]) end
  end
  if not mine or mine[1] < limit.start then own.w[limit.name] = { limit.start, 0 } end
  limit.others = 0
  for _, row in ipairs(others) do
    local window = row.w[limit.name]
    if window and window[1] == limit.start then
      limit.others = limit.others + window[2]
      if not row.alive then limit.others = limit.others + row.r[unit(limit.name)] end
    end
  end
end

local status = 'ok'
if op == 'reserve' then
  local spend, force = { number(), number() }, take() == '1'
  for _, limit in ipairs(limits) do
    local u = unit(limit.name)
    local all = limit.others + own.w[limit.name][2] + reserved[u] + own.r[u]
    if not force and (all >= limit.most or all + spend[u] > limit.most) then status = 'short' end
  end
  if status == 'ok' then own.r = { own.r[1] + spend[1], own.r[2] + spend[2] } end
elseif op == 'settle' then
  own.r = { math.max(0, own.r[1] - number()), math.max(0, own.r[2] - number()) }
  local used = { number(), number() }
  for _, limit in ipairs(limits) do
    local window = own.w[limit.name]
    window[2] = window[2] + used[unit(limit.name)]
  end
end
if op == 'reserve' or op == 'settle' or op == 'post' then
  own.e = epoch
  store(me, own)
end
local answer = { status, text(reserved[1]), text(reserved[2]) }
for _, limit in ipairs(limits) do
  answer[#answer + 1] = text(limit.start)
  answer[#answer + 1] = text(limit.others)
  answer[#answer + 1] = text(own.w[limit.name][2])
end
return answer
`,
};
