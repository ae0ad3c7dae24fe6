import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { orderOf, testEngines, unwatched } from "./testing/testEngines";
import { messageOf, observed } from "./testing/testLooks";

let engines: ReturnType<typeof testEngines>;
beforeEach(() => {
  engines = testEngines();
});
afterEach(() => engines.clear());

const small = orderOf("qwen2.5-3b", 0);
const large = orderOf("qwen2.5-7b", 1);
const text = (answer: { ok: true; value: string | null } | { ok: false; message: string }): string => {
  if (!answer.ok) throw new Error(answer.message);
  return answer.value ?? "";
};

describe("an engine's command line as text", () => {
  it("names program, source and GPUs, and shows the port that a running one has", async () => {
    const host = engines.host();
    const generated = text(host.generate!(small, null));
    expect(generated).toMatch(
      /^CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=0 \S+ \S+engine\.cjs --source Qwen\/Qwen2.5-3B-Instruct .* --port \d+ --tp 1\n$/,
    );
    await host.start(small, unwatched());
    const { url } = (await observed(host)).engines[0]!;
    expect(text(await host.actual!(small.id, {}))).toContain(`--port ${new URL(url).port} `);
    await host.stop(small.id, unwatched());
  });

  it("hides keys in its log", async () => {
    const environment = { HF_TOKEN: { fromEnv: "MY_TOKEN" } };
    const host = engines.host({ environment }, { environment: { PATH: process.env.PATH, MY_TOKEN: "quite-secret" } });
    const leak = orderOf("leak", 0);
    await host.start(leak, unwatched());
    const log = text(await host.log!(leak.id, {}));
    expect(log).toContain("export HF_TOKEN=***");
    expect(log).toContain("RuntimeError: 401 for ***");
    expect(log).not.toMatch(/quite-secret|abcdef0123456789|hf_ABC/);
    expect(messageOf(await host.log!(large.id, {}))).toBe(`${large.id} was not started by Weir on this host: its log is its operator's.`);
  });
});

describe("a rehearsed start", () => {
  it("finds program, GPUs and port, starts nothing, and takes GPUs of Weir's own engines for free by then", async () => {
    const host = engines.host();
    await host.start(small, unwatched());
    const other = { ...orderOf("qwen2.5-7b", 0), tp: 2, placements: [{ node: "node1", gpus: [0, 1] }] };
    const answer = await host.rehearse!(other, unwatched());
    expect(answer).toEqual({ ok: true, value: expect.stringMatching(/^\S+node would be run with its GPUs of node1 on port \d+, /) });
    expect((await observed(host)).engines.map(({ id }) => id)).toEqual([small.id]);
  });

  it.each([
    ["a program that is not there", { templates: { script: ["no-such-engine", "{port}"] } }, /^The program "no-such-engine" was not found/],
    ["a model that nobody said how to load", { models: {} }, /does not say what to load for qwen2.5-3b\.$/],
    [
      "a variable that refers to nothing",
      { environment: { KEY: { fromEnv: "NOT_SET_ANYWHERE" } } },
      /NOT_SET_ANYWHERE, which is not set\.$/,
    ],
    ["fewer GPUs", { gpus: { card: "l40s", count: 1 } }, null],
  ])("fails for %s", async (_, change, says) => {
    const host = engines.host(change);
    const order = says === null ? large : small;
    const answer = await host.rehearse!(order, unwatched());
    expect(messageOf(answer)).toMatch(says ?? /wants GPU 1 of node1, which has 1\.$/);
  });

  it("fails where a server of the operator's holds the GPU, which the host's notes name", async () => {
    const server = createServer((request, response) => {
      const models = { object: "list", data: [{ id: "qwen2.5-3b", object: "model" }] };
      response.writeHead(200, { "content-type": "application/json" }).end(request.url === "/v1/models" ? JSON.stringify(models) : "");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const host = engines.host({ adopt: [{ url, precision: "bf16", gpus: [1] }] });
    expect(messageOf(await host.rehearse!(large, unwatched()))).toBe(
      `GPU 1 of node1 is held by the server at ${url}, which its operator started.`,
    );
    expect((await observed(host)).notes?.join()).toContain(`at ${url} was started by its operator`);
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
});
