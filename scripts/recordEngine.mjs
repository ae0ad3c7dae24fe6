// Records what an engine answers, for contract tests: node scripts/recordEngine.mjs URL FILE SCENE [--requests MODEL] [--busy MODEL] [--key KEY]
//
// A scene is one state of the engine (idle, loading, without metrics). It is added to the FILE, or replaced there. `--requests` sends a
// few short requests: answers, streams and refusals. `--busy` holds twelve requests in flight while the pages are read. Loopback only.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { requests: { type: "string" }, busy: { type: "string" }, key: { type: "string" } },
});
const [url, file, scene] = positionals;
if (url === undefined || file === undefined || scene === undefined) {
  console.error("Usage: node scripts/recordEngine.mjs URL FILE SCENE [--requests MODEL] [--busy MODEL] [--key KEY]");
  process.exit(2);
}
if (!/^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?$/.test(url)) {
  console.error(`${url} is not an http:// address of this machine.`);
  process.exit(2);
}

const pages = ["/health", "/v1/models", "/version", "/server_info", "/info", "/props", "/slots", "/metrics"].concat([
  ...["/lora-adapters", "/api/version", "/api/tags", "/api/ps"],
]);
const kept = ["content-type", "server", "retry-after"];

async function exchange(path, body) {
  const headers = {
    ...(values.key === undefined ? {} : { authorization: `Bearer ${values.key}` }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(url + path, { method: text === undefined ? "GET" : "POST", headers, body: text });
  const said = Object.fromEntries(kept.flatMap((name) => (response.headers.has(name) ? [[name, response.headers.get(name)]] : [])));
  return { ...(text === undefined ? {} : { sent: text }), status: response.status, headers: said, body: await response.text() };
}

const busy = values.busy;
const load = Array.from({ length: busy === undefined ? 0 : 12 }, (_, index) =>
  exchange("/v1/completions", { model: busy, prompt: `${index}+1=`, max_tokens: 300, ignore_eos: true }),
);
if (busy !== undefined) await new Promise((wake) => setTimeout(wake, 1_500));
const found = {};
for (const path of pages) found[`GET ${path}`] = await exchange(path);
await Promise.all(load);
if (values.requests !== undefined) {
  const model = values.requests;
  const messages = [{ role: "user", content: "12+30=" }];
  const chat = { model, messages, max_tokens: 8, temperature: 0 };
  const asked = {
    chat: ["/v1/chat/completions", { ...chat, logprobs: true, top_logprobs: 2 }],
    stream: ["/v1/chat/completions", { ...chat, stream: true, stream_options: { include_usage: true } }],
    completion: ["/v1/completions", { model, prompt: "12+30=", max_tokens: 4, temperature: 0, logprobs: 1 }],
    "unknown model": ["/v1/chat/completions", { ...chat, model: "not-there" }],
    "too long": ["/v1/chat/completions", { ...chat, messages: [{ role: "user", content: "1+".repeat(1500) }] }],
    "broken body": ["/v1/chat/completions", '{"model":'],
    "wrong type": ["/v1/chat/completions", { ...chat, messages: "12+30=" }],
  };
  for (const [name, [path, body]] of Object.entries(asked)) found[`POST ${path} (${name})`] = await exchange(path, body);
}
const before = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
writeFileSync(file, `${JSON.stringify({ ...before, [scene]: found }, null, 2)}\n`);
console.log(
  `${scene}: ${Object.entries(found)
    .map(([what, { status }]) => `${what} ${status}`)
    .join(", ")}`,
);
