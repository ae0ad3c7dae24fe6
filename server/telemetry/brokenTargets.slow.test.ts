import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { EngineFrame } from "@/server/contracts/studio";
import { type Collector, createCollector } from "./collector";
import type { Target } from "./engineTarget";
import { type EngineProcess, startEngineProcess } from "./testing/testEngineProcess";

/** Long enough for a process on a busy machine to answer within two of them. */
const INTERVAL_MS = 200;
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function started(options: Parameters<typeof startEngineProcess>[0] = {}): Promise<EngineProcess> {
  const engine = await startEngineProcess(options);
  endings.push(() => engine.kill());
  return engine;
}

function collecting(targets: () => readonly Target[]): Collector {
  const collector = createCollector({
    clusterId: "c",
    targets,
    dcgmUrls: [],
    gatewayAdminUrl: "http://127.0.0.1:9",
    adminToken: "",
    timeScale: 1,
    intervalMs: INTERVAL_MS,
  });
  endings.push(() => collector.close());
  return collector;
}

const at = (url: string): Target => ({ id: "a", model: "m", url, gpus: [] });

/** The first frame of the only engine for which the condition holds. Until then no rate may be negative. */
async function engineWhere(collector: Collector, holds: (engine: EngineFrame) => boolean): Promise<EngineFrame> {
  for await (const { engines } of collector.follow(new AbortController().signal)) {
    const [engine] = engines;
    if (engine === undefined) continue;
    for (const reading of Object.values(engine.readings ?? {})) {
      if (reading.state === "value" && typeof reading.value === "number") expect(reading.value).toBeGreaterThanOrEqual(0);
    }
    if (holds(engine)) return engine;
  }
  throw new Error("the collector closed");
}

const isCounting = ({ state, readings }: EngineFrame): boolean =>
  state === "fresh" && readings?.generationTokensPerSecond.state === "value" && (readings.generationTokensPerSecond.value ?? 0) > 0;
const kinds = ({ events }: EngineFrame): readonly string[] => events.map(({ kind }) => kind);

describe("a target that breaks", () => {
  it("is refused when it was killed, since then, and is seen again with another version when one stands in its place", async () => {
    const engine = await started();
    const collector = collecting(() => [at(engine.url)]);
    const whole = await engineWhere(collector, isCounting);
    expect(whole).toMatchObject({ failing: null, engine: { type: "vllm", version: "0.30.0" }, events: [] });
    const killedAtMs = Date.now();
    await engine.kill();
    const gone = await engineWhere(collector, ({ state }) => state === "unreachable");
    expect(gone).toMatchObject({ failing: { kind: "unreachable" }, running: null, readings: null });
    expect(gone.reason).toContain("ECONNREFUSED");
    expect(gone.failing?.sinceMs).toBeGreaterThanOrEqual(killedAtMs);
    expect(gone.failing?.sinceMs).toBeLessThan(killedAtMs + 10 * INTERVAL_MS);
    expect(gone.failing?.nextTryAtMs).toBeGreaterThan(gone.failing?.sinceMs ?? 0);
    expect(gone.sinceMs).toBeGreaterThanOrEqual(gone.failing?.sinceMs ?? 0);
    await started({ port: engine.port, version: "0.31.0", started: 2 });
    const back = await engineWhere(collector, (one) => isCounting(one) && one.engine?.version === "0.31.0");
    expect(kinds(back)).toEqual(["unreachable", "answers", "version-changed", "counters-reset"]);
    expect(back.events.find(({ kind }) => kind === "version-changed")?.text).toBe("Its version was 0.30.0 and is 0.31.0.");
    expect(back.failing).toBeNull();
  }, 20_000);

  it("is timed out while it hangs, and goes on from its counters when it wakes", async () => {
    const engine = await started();
    const collector = collecting(() => [at(engine.url)]);
    await engineWhere(collector, isCounting);
    engine.hang();
    const late = await engineWhere(collector, ({ state }) => state === "stale");
    expect(late).toMatchObject({ failing: { kind: "timeout" }, running: 1 });
    expect(late.reason).toContain("did not answer within");
    const gone = await engineWhere(collector, ({ state }) => state === "unreachable");
    expect(gone.failing?.sinceMs).toBe(late.failing?.sinceMs);
    expect(gone.sinceMs).toBeGreaterThan(late.sinceMs);
    engine.wake();
    const back = await engineWhere(collector, isCounting);
    expect(kinds(back)).toEqual(["timeout", "answers"]);
  }, 20_000);

  it("is unreadable while it answers garbage, and its good lines count where only some are bad", async () => {
    const engine = await started();
    const collector = collecting(() => [at(engine.url)]);
    await engineWhere(collector, isCounting);
    await engine.say({ metrics: "<html>\u0000\u0001 502 Bad {{{ Gateway\n}\n" });
    const garbage = await engineWhere(collector, ({ state }) => state === "stale");
    expect(garbage).toMatchObject({
      failing: { kind: "unreadable" },
      reason: `${engine.url}/metrics has no metric of a known engine type`,
    });
    await engine.say({ metrics: 'vllm:num_requests_running 4\nvllm:num_requests_waiting{model_name="x 2\n' });
    const some = await engineWhere(collector, ({ running }) => running === 4);
    expect(some).toMatchObject({ state: "fresh", failing: null, waiting: null });
    expect(some.reason).toMatch(/^1 of its lines could not be read, the first is line 2: .*; absent: vllm:num_requests_waiting/);
    expect(some.readings?.waiting).toEqual({ state: "absent", lookedFor: "vllm:num_requests_waiting" });
    expect(kinds(some)).toEqual(["unreadable", "answers"]);
  }, 20_000);

  it("is told to have begun anew when its counters fall between two scrapes, without a dip", async () => {
    const engine = await started();
    const collector = collecting(() => [at(engine.url)]);
    const before = await engineWhere(collector, (one) => isCounting(one));
    await engineWhere(collector, () => true);
    await engine.say({ reset: true });
    const after = await engineWhere(collector, ({ events }) => events.length > 0);
    expect(after).toMatchObject({ state: "fresh", failing: null, events: [{ kind: "counters-reset" }] });
    expect(after.events[0]?.text).toContain("generation tokens");
    expect(after.events[0]?.atMs).toBeGreaterThanOrEqual(before.sinceMs);
  }, 20_000);

  it("is told to be another version when one takes its place between two scrapes, whether or not it has counted", async () => {
    const engine = await started();
    await engine.say({ metrics: "vllm:num_requests_running 0\nprocess_start_time_seconds 1\n" });
    const collector = collecting(() => [at(engine.url)]);
    await engineWhere(collector, ({ state }) => state === "fresh");
    await engine.say({ version: "0.31.0", metrics: "vllm:num_requests_running 0\nprocess_start_time_seconds 2\n" });
    const restarted = await engineWhere(collector, (one) => one.engine?.version === "0.31.0");
    expect(kinds(restarted)).toEqual(["counters-reset", "version-changed"]);
    // Without any sign: the version is read periodically.
    await engine.say({ version: "0.32.0" });
    const asked = await engineWhere(collector, (one) => one.engine?.version === "0.32.0");
    expect(asked.events.at(-1)).toMatchObject({ kind: "version-changed", text: "Its version was 0.31.0 and is 0.32.0." });
    await engine.say({ metrics: "sglang:num_running_reqs 3\n" });
    const other = await engineWhere(collector, (one) => one.running === 3);
    expect(other).toMatchObject({ engine: { type: "sglang" } });
    expect(other.events.at(-1)?.text).toBe("It was vllm and is sglang.");
  }, 30_000);
});

/** A server that can be made to accept requests and not answer. */
async function serving(): Promise<{ readonly url: string; scrapes: number; hangs: boolean; readonly server: Server }> {
  const one = { url: "", scrapes: 0, hangs: false, server: createServer() };
  one.server.on("request", (request, response) => {
    if (request.url === "/metrics") one.scrapes += 1;
    if (!one.hangs) response.end(request.url === "/metrics" ? "vllm:num_requests_running 1\n" : '{"version":"0.30.0"}');
  });
  await new Promise<void>((resolve) => one.server.listen(0, "127.0.0.1", resolve));
  endings.push(() => {
    one.server.closeAllConnections();
    one.server.close();
  });
  return Object.assign(one, { url: `http://127.0.0.1:${(one.server.address() as AddressInfo).port}` });
}

it.each([10, 30])(
  "keeps the cadence of 64 targets when %d of them hang",
  async (count) => {
    const servers = await Promise.all(Array.from({ length: 64 }, serving));
    const targets = servers.map(({ url }, index) => ({ id: `e${index}`, model: "m", url, gpus: [] }));
    const collector = collecting(() => targets);
    const frames = async (many: number): Promise<void> => {
      let seen = 0;
      for await (const _ of collector.follow(new AbortController().signal)) {
        seen += 1;
        if (seen === many) return;
      }
    };
    await frames(5);
    const [hanging, good] = [servers.slice(0, count), servers.slice(count)];
    /** Scrapes of the good ones in 15 rounds. */
    const scraped = async (): Promise<number> => {
      const total = () => good.reduce((sum, { scrapes }) => sum + scrapes, 0);
      const before = total();
      await frames(15);
      return total() - before;
    };
    // A busy machine skips rounds with and without hanging targets.
    const quiet = await scraped();
    for (const one of hanging) one.hangs = true;
    expect(await scraped()).toBeGreaterThan(0.8 * quiet);
    const last = collector.frames().at(-1);
    expect(last?.engines.slice(0, count).every(({ failing }) => failing?.kind === "timeout")).toBe(true);
  },
  30_000,
);
