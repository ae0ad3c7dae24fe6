import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { condition, needs } from "@/scripts/needs.mjs";
import { ensureTestAddon, testAddonsFolder } from "@/server/addons/testing/testAddons";
import { type LlamaEngine, startEngineProcess, startLlamaEngine } from "./testing/testLlamaEngine";

const missing = await ensureTestAddon("real-engine");

/** Takes hundreds of steps. */
const long = { prompt: "1", temperature: 0, max_tokens: 900, ignore_eos: true };

describe("a real engine's life", needs(condition("the add-on real-engine", missing === null)), () => {
  let engine: LlamaEngine | undefined;
  afterEach(() => engine?.stop());

  const until = async (name: string, value: number, labels = ""): Promise<void> => {
    while ((await engine?.metric(name, labels)) !== value) await sleep(10);
  };

  it("ends a request whose client disconnects, gives its sequence to the next one, and its figures add up", async () => {
    engine = await startLlamaEngine(["--sequences", "2", "--context", "1024"]);
    const { post, ask, metric } = engine;
    const gone = new AbortController();
    const left = [1, 2].map(async () => {
      const response = await post("/v1/completions", { ...long, stream: true }, gone.signal);
      await response.body?.getReader().read();
    });
    await Promise.all(left);
    const waits = ask("/v1/completions", { prompt: "2", max_tokens: 3, temperature: 0, ignore_eos: true });
    await until("requests_waiting", 1);
    expect(await metric("requests_running")).toBe(2);
    expect(await metric("kv_cache_use_ratio")).toBeGreaterThan(0);
    gone.abort();
    const { usage } = await waits;
    expect(usage.completion_tokens).toBe(3);
    await until("requests_running", 0);
    expect(await metric("requests_finished_total", 'reason="cancelled"')).toBe(2);
    expect(await metric("kv_cache_use_ratio")).toBe(0);
    const answers = await Promise.all([4, 5, 6].map((count) => ask("/v1/completions", { ...long, max_tokens: count })));
    const finished = await Promise.all(
      ["stop", "length", "cancelled", "stopped", "error"].map((reason) => metric("requests_finished_total", `reason="${reason}"`)),
    );
    expect(finished).toEqual([0, 4, 2, 0, 0]);
    expect(await metric("requests_total")).toBe(6);
    expect(await metric("requests_refused_total", 'reason="bad-request"')).toBe(0);
    const tokens = answers.reduce((sum, answer) => sum + answer.usage.completion_tokens, usage.completion_tokens);
    expect(tokens).toBe(18);
    // The cancelled ones' tokens are in the count of generated tokens: it cost the same work.
    expect(await metric("generation_tokens_total")).toBeGreaterThan(tokens);
    expect(await metric("prompt_tokens_total")).toBe(12);
  });

  it("has its queue of --queue requests and refuses the rest with 503", async () => {
    engine = await startLlamaEngine(["--sequences", "1", "--queue", "1", "--context", "1024"]);
    const { post, metric } = engine;
    const order: number[] = [];
    const first = post("/v1/completions", long).then(() => order.push(1));
    await until("requests_running", 1);
    const second = post("/v1/completions", { ...long, max_tokens: 1 }).then(() => order.push(2));
    await until("requests_waiting", 1);
    const third = await post("/v1/completions", { ...long, max_tokens: 1 });
    expect(third.status).toBe(503);
    expect(await third.json()).toMatchObject({ error: { type: "ServiceUnavailableError", message: "The engine's queue is full." } });
    expect(await metric("requests_refused_total", 'reason="queue-full"')).toBe(1);
    await Promise.all([first, second]);
    expect(order).toEqual([1, 2]);
  });

  it("says that it is loading, and on SIGTERM finishes what runs, takes nothing more and ends with 0", async () => {
    engine = await startLlamaEngine(["--sequences", "1", "--context", "1024"]);
    const { post, child, url } = engine;
    const running = post("/v1/completions", { ...long, stream: true });
    const waiting = running.then(() => post("/v1/completions", long));
    await until("requests_waiting", 1);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    expect((await waiting).status).toBe(503);
    const text = await (await running).text();
    expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true);
    expect(text).toContain('"finish_reason":"length"');
    expect(await ended).toEqual([0, null]);
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  });
});

describe("the start of a real engine", needs(condition("the add-on real-engine", missing === null)), () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-llama-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const ending = async (args: readonly string[]): Promise<{ readonly code: unknown; readonly said: string }> => {
    const { child, output } = startEngineProcess(["--alias", "x", "--port", "0", "--addons", testAddonsFolder, ...args]);
    const [code] = await once(child, "close");
    return { code, said: output().replace(/^listening.*\n/, "") };
  };
  const file = (name: string, bytes: Buffer): string => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };

  it("ends with 1 and one sentence without its model, its add-on, its port or a flag", async () => {
    const none = join(folder, "none.gguf");
    expect(await ending(["--model", none])).toEqual({ code: 1, said: `The model file ${none} does not exist.\n` });
    const text = file("text.gguf", Buffer.from("not a model"));
    expect(await ending(["--model", text])).toEqual({ code: 1, said: `The file ${text} is not a model in GGUF.\n` });
    const empty = join(folder, "addons");
    const cut = file("cut.gguf", Buffer.from("GGUF\u0003"));
    expect((await ending(["--model", cut, "--addons", empty])).said).toMatch(
      /^The add-on real-engine is not in .*: run `weir add real-engine`\.\n$/,
    );
    expect(await ending([])).toEqual({ code: 1, said: "--model is missing.\n" });
    expect((await ending(["--model", none, "--sequences", "0"])).said).toMatch(/^--sequences 0: .*\n$/);
    expect((await ending(["--modle", none])).said).toMatch(/^The flags cannot be read: /);
    const holder = createServer().listen(0, "127.0.0.1");
    await once(holder, "listening");
    const { port } = holder.address() as AddressInfo;
    expect((await ending(["--model", none, "--port", `${port}`])).said).toMatch(new RegExp(`^Port ${port} is taken: `));
    holder.close();
  });

  it("ends with 1 and says so of a broken model, and answers 503 until then", async () => {
    const cut = file("cut.gguf", Buffer.concat([Buffer.from("GGUF"), Buffer.from([3, 0, 0, 0]), Buffer.alloc(40, 255)]));
    const { child, output } = startEngineProcess(["--alias", "x", "--port", "0", "--addons", testAddonsFolder, "--model", cut]);
    const ended = once(child, "close");
    while (!output().includes("listening")) await sleep(5);
    const url = /listening on (\S+)/.exec(output())?.[1];
    expect((await fetch(`${url}/health`)).status).toBe(503);
    expect(await (await fetch(`${url}/v1/models`)).json()).toMatchObject({ error: { message: "The engine is loading its model." } });
    expect((await ended)[0]).toBe(1);
    expect(output()).toMatch(/The model .*cut\.gguf cannot be loaded: .*\.\n$/);
  });
});
