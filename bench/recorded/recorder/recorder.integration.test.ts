import { mkdtempSync, rmSync } from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { bodyOf, type RecordedStart, readRecording } from "@/server/engines/testing/recordedEngine";
import { startReplay } from "@/server/engines/testing/replayServer";
import { anonymiser } from "./anonymous";
import { recordingFiles } from "./recordingFiles";
import { recordState } from "./recordState";

const anonymous = anonymiser({ model: "/secret/model", program: "/secret/vllm" });

function emptyRoot(): string {
  const root = mkdtempSync(join(tmpdir(), "weir-recording-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  return root;
}

it.each(["idle", "busy", "without-metrics", "loading"])(
  "records a llama.cpp that is %s as the tests read it: the same statuses and bodies",
  async (state) => {
    const original = readRecording(`llama.cpp/${state}`);
    const engine = await startReplay(original);
    const root = emptyRoot();
    await recordState({ url: engine.url, files: recordingFiles(join(root, "again")), anonymous }, {});
    const again = readRecording("again", root).exchanges;
    expect(again.length).toBeGreaterThanOrEqual(12);
    for (const exchange of again) {
      const before = original.exchanges.find(({ name }) => name === exchange.name);
      if (before === undefined) throw new Error(`${exchange.name} was not recorded.`);
      expect(exchange.request, exchange.name).toEqual(before.request);
      expect([exchange.response.status, bodyOf(exchange)], exchange.name).toEqual([before.response.status, bodyOf(before)]);
      expect(exchange.response.headers, exchange.name).toMatchObject(before.response.headers);
    }
  },
);

it("sends a served model and its adapter requests, and keeps the answers without the key", async () => {
  const engine = await startReplay(readRecording("llama.cpp/idle"));
  engine.answerWith("stream");
  const root = emptyRoot();
  const state = { key: "k", model: "arith-small", adapter: "tuned" };
  await recordState({ url: engine.url, files: recordingFiles(join(root, "again")), anonymous }, state);
  const asked = readRecording("again", root).exchanges.filter(({ request }) => request.method === "POST");
  expect(asked.map(({ name }) => name)).toEqual([
    ...["chat", "stream", "completion", "unknown model", "too long", "broken body", "wrong type", "adapter"],
  ]);
  expect(asked.map(({ request }) => request.body).sort()).toEqual([...engine.asked].sort());
  for (const { request, response } of asked) {
    expect(request.headers).not.toHaveProperty("authorization");
    expect(response.headers["content-type"]).toBe("text/event-stream");
  }
});

it("keeps how starts went, one a line, with the first and last lines of a long log", () => {
  const root = emptyRoot();
  const health = [{ seconds: 0.3, status: "ECONNREFUSED" }];
  const start: RecordedStart = { name: "unknown flag", args: ["serve", "m"], health, exitCode: 2, log: ["error: no such flag"] };
  const long = { ...start, name: "long", log: Array.from({ length: 300 }, (_, line) => `${line} ${"x".repeat(400)}`) };
  recordingFiles(join(root, "engine")).starts([start, long]);
  const [first, second] = readRecording("engine", root).starts;
  expect(first).toEqual(start);
  expect(second?.log).toHaveLength(25 + 1 + 200);
  expect(second?.log.at(-1)).toMatch(/^299 x/);
  expect(Math.max(...(second?.log.map(({ length }) => length) ?? []))).toBe(300);
});

it("replaces ids, times, paths and the host's name, the same id by the same one", () => {
  const id = "chatcmpl-DDrznhgdTUTFD8ftpaH4nKWTWf5SLQhE";
  const text = anonymous(`{"id":"${id}","created":1795877827} ${id} /secret/model/config.json on ${hostname()}`);
  const [made] = /chatcmpl-\w+/.exec(text) ?? [""];
  expect(text).toBe(`{"id":"${made}","created":1767225600} ${made} /models/arith-small/config.json on host`);
  expect(made).toHaveLength(id.length);
  expect(made).not.toBe(id);
});

it("replaces the folders of Python and of this user in stacks, and leaves those of the virtual environment", () => {
  const home = anonymous(`File "${homedir()}/.cache/vllm/a.json"`);
  expect(home).toBe('File "/home/user/.cache/vllm/a.json"');
  expect(anonymous(`  File "${homedir()}/.python/versions/3.11.7/lib/python3.11/asyncio/runners.py", line 190`)).toBe(
    '  File "/usr/lib/python3.11/asyncio/runners.py", line 190',
  );
  expect(anonymous('File "/secret/vllm/lib/python3.11/site-packages/vllm/a.py"')).toBe(
    'File "/opt/vllm/lib/python3.11/site-packages/vllm/a.py"',
  );
});
