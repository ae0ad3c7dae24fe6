import type { Script } from "./valkeyLink";

/**
 * The bucket of one key's rate of requests, over all gateways, by the clock of Valkey. KEYS: the bucket. ARGV: gateway, requests a minute, 1 to take
 * a request, requests that this gateway let through without asking and that have not come back to a bucket of its own since, the same of all
 * requests that it let through, and the bucket that it saw last. Where the bucket is another one, Valkey has lost what the gateway took.
 * Returns the milliseconds to wait (0: taken, or nothing was to be taken), what is left, and the bucket's name.
 */
export const rateScript: Script = {
  lua: `
local perMinute, wanted, alone, all, seen = tonumber(ARGV[2]), ARGV[3] == '1', tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + time[2] / 1000
local perMs = perMinute / 60000
local known = redis.call('HMGET', KEYS[1], 'left', 'atMs', 'name')
local left, name = perMinute, known[3]
if known[1] then left = math.min(perMinute, tonumber(known[1]) + (nowMs - tonumber(known[2])) * perMs)
else name = time[1] .. '.' .. time[2] end
if seen ~= '' and seen ~= name then alone = math.max(alone, all) end
left = math.min(perMinute, math.max(-perMinute, left - alone))
local waitMs = 0
if wanted then
  if left < 1 then waitMs = (1 - left) / perMs else left = left - 1 end
end
redis.call('HSET', KEYS[1], 'left', string.format('%.17g', left), 'atMs', string.format('%.17g', nowMs), 'name', name)
redis.call('PEXPIRE', KEYS[1], 180000)
return { string.format('%.17g', waitMs), string.format('%.17g', left), name }
`,
};
