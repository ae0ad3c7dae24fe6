import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { messagesOf } from "./logLines";
import { orderOf, recordedStart, replayModel, testEngines, unwatched } from "./testing/testEngines";
import { messageOf, observed, runs, verified, whyGone } from "./testing/testLooks";

let engines: ReturnType<typeof testEngines>;
beforeEach(() => {
  engines = testEngines();
});
afterEach(() => engines.clear());

const small = orderOf("qwen2.5-3b", 0);

describe("engines that fail", () => {
  it("says at once how a command ended and what it wrote last, also to a studio that comes later", async () => {
    const host = engines.host({}, { limits: { settleMs: 10_000 } });
    const started = await host.start(orderOf("exit", 0), unwatched());
    expect(messageOf(started)).toMatch(
      /^exit-bf16-tp1-pp1-node1-0 ended with exit code 3, \d+\.\d s after it was started\. Its log says: engine \d+ loads \/weights\/exit \| ValueError: no such weights \(the whole: .*\.log\)\.$/,
    );
    expect((await observed(host)).engines).toEqual([]);
    expect(await whyGone(engines.host(), orderOf("exit", 0).id)).toBe(messageOf(started));
  });

  it("tells of one that dies while it loads, and brings it up anew when it is started again", async () => {
    const host = engines.host();
    const order = orderOf("later", 0);
    expect(await host.start(order, unwatched())).toMatchObject({ ok: true });
    await expect.poll(() => whyGone(host, order.id), { timeout: 10_000 }).toMatch(/exit code 4, .* \| torch\.OutOfMemoryError: CUDA out/);
    expect(await host.start(order, unwatched())).toMatchObject({ value: expect.stringMatching(/^loading/) });
    expect(await whyGone(host, order.id)).toBeNull();
  });

  it("tells the cause from vLLM's own log, and not the stacks of the processes that only report it", async () => {
    const host = engines.host({}, { limits: { settleMs: 10_000 } });
    const message = messageOf(await host.start(orderOf("recorded", 0), unwatched()));
    expect(message).toContain(
      "Its log says: RuntimeError: Cannot find any model weights with `/models/arith-small` | Exception: WorkerProc",
    );
    expect(message).not.toMatch(/Traceback|File "/);
    expect(message.length).toBeLessThan(700);
  });

  it.each([
    ["unknown flag", /unrecognized arguments: --no-such-flag/],
    ["model not found", /HFValidationError: Repo id must be/],
    ["port taken", /OSError: \[Errno 98\] Address already in use/],
    ["no room for one request", /No available memory for the cache blocks/],
    ["more memory than there is", /less than requested memory for kv/],
  ])("tells why vLLM did not start, with the exit code and the log that it had: %s", async (name, cause) => {
    const host = engines.host({}, { limits: { settleMs: 10_000 } });
    const message = messageOf(await host.start(orderOf(replayModel(name), 0), unwatched()));
    expect(message).toContain(`ended with exit code ${recordedStart(name).exitCode}, `);
    expect(message).toMatch(cause);
    expect(message).not.toMatch(/Traceback|File "/);
    expect(message.length).toBeLessThan(1_200);
  });

  it("tells the newest line of vLLM's log while it loads, and that it serves once it does", async () => {
    const { log, health, exitCode } = recordedStart("good");
    expect({ statuses: health.map(({ status }) => status), exitCode }).toEqual({ statuses: ["ECONNREFUSED", "200"], exitCode: null });
    const host = engines.host();
    const order = orderOf(replayModel("good"), 0);
    expect(await host.start(order, unwatched())).toMatchObject({ ok: true });
    const newest = await host.progress!(order.id, {});
    expect(messagesOf(log)).toContain(newest);
    expect(await verified(host, order)).toMatchObject({ ok: true });
  });

  it("tells of one that is killed by a signal", async () => {
    const host = engines.host();
    await host.start(small, unwatched());
    await expect.poll(() => host.progress!(small.id, {}), { timeout: 10_000 }).toMatch(/^engine \d+ loads Qwen/);
    process.kill(engines.records.read(small.id)!.process!.pid, "SIGKILL");
    await expect
      .poll(() => whyGone(host, small.id))
      .toMatch(/ended by signal SIGKILL, .* A system without free memory ends processes by this signal\. Its log says: engine/);
  });

  it("leaves one that never gets healthy to whoever verifies it, with the reason", async () => {
    const host = engines.host();
    const order = orderOf("never", 0);
    await host.start(order, unwatched());
    const { url } = (await observed(host)).engines[0]!;
    await expect.poll(async () => (await fetch(`${url}/health`).catch(() => null))?.status, { timeout: 10_000 }).toBe(503);
    expect(await verified(host, order, 1_000)).toEqual({
      ok: false,
      message: "After 1 s: It is still loading, or not well (/health answers 503).",
    });
    expect(await host.stop(order.id, unwatched())).toMatchObject({ ok: true });
  });

  it("hides keys, by value and by form, wherever it repeats what an engine wrote", async () => {
    const keyFile = join(engines.home, "key");
    writeFileSync(keyFile, "plain words of a file\n");
    const environment = { HF_TOKEN: { fromEnv: "MY_TOKEN" }, FILE_KEY: { fromFile: keyFile } };
    const own = { PATH: process.env.PATH, MY_TOKEN: "correct horse battery" };
    const host = engines.host({ environment }, { environment: own, limits: { settleMs: 10_000 } });
    const message = messageOf(await host.start(orderOf("leak", 0), unwatched()));
    expect(message).toContain("Its log says: RuntimeError: 401 for *** (");
    const log = await host.log!(orderOf("leak", 0).id, {});
    const text = log.ok ? log.value : "";
    expect(text).toContain("using *** and ***");
    expect(text).toContain("Authorization: Bearer *** and *** and ***");
    for (const told of [message, text]) expect(told).not.toMatch(/correct|battery|plain words|abcdef|live0123|ABCDEFG/);
    expect(message).not.toContain("serve.py");
    const kept = readFileSync(join(engines.folder, `${orderOf("leak", 0).id}.json`), "utf8");
    expect(kept).not.toMatch(/correct|plain words/);
  });

  it("kills one that does not end when it is told to, and says so", async () => {
    const host = engines.host({}, { limits: { settleMs: 400, graceMs: 300 } });
    const order = orderOf("stubborn", 0);
    await host.start(order, unwatched());
    expect(await verified(host, order)).toMatchObject({ ok: true });
    const { pid } = engines.records.read(order.id)!.process!;
    expect(await host.stop(order.id, unwatched())).toEqual({
      ok: true,
      value: "it did not end in 0.3 s and was killed; its GPUs are free",
    });
    expect(runs(pid)).toBe(false);
  });

  it("counts GPUs as held while a dead engine's other processes live, and ends these when it is stopped", async () => {
    const host = engines.host({}, { limits: { settleMs: 400, graceMs: 300 } });
    const order = orderOf("parent", 0);
    await host.start(order, unwatched());
    expect(await verified(host, order)).toMatchObject({ ok: true });
    process.kill(engines.records.read(order.id)!.process!.pid, "SIGKILL");
    await expect.poll(() => whyGone(host, order.id)).toMatch(/It left 1 of its processes behind, which hold its GPUs/);
    expect((await observed(host)).engines).toMatchObject([{ id: order.id, stopping: true }]);
    expect(messageOf(await host.start(order, unwatched()))).toMatch(/has not ended yet: stop it first/);
    expect(messageOf(await host.start(small, unwatched()))).toBe(`GPU 0 of node1 is held by ${order.id}.`);
    expect(await host.stop(order.id, unwatched())).toMatchObject({ ok: true });
    expect(await host.start(small, unwatched())).toMatchObject({ ok: true });
  });
});
