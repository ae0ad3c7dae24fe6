import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { needs } from "@/scripts/needs.mjs";
import type { KeyLimits } from "@/server/contracts/gateway/gatewayKeys";
import { ValkeyLink } from "../shared/valkeyLink";
import { until } from "../testing/testGateway";
import { startTestValkey, valkeyServer } from "../testing/testValkey";
import type { ValkeyProcess } from "../testing/valkeyProcess";
import type { Spend } from "./keyBudget";
import { SharedBudgets } from "./sharedBudgets";

const key = "0".repeat(64);
const noon = Date.parse("2026-01-31T12:00:00Z");
const tokens = (count: number): Spend => ({ tokens: count, nanoUsd: 0 });

interface TestStart {
  readonly text?: string;
  readonly clock?: { nowMs: number };
}

/** A gateway's budgets over that Valkey. */
async function started({ url }: ValkeyProcess, limits: KeyLimits, { text, clock = { nowMs: noon } }: TestStart = {}) {
  const lines: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg) });
  const link = new ValkeyLink({ url, scope: "test", log });
  const budgets = new SharedBudgets({ link, limitsOf: () => limits, limited: () => [key], nowMs: () => clock.nowMs });
  if (text !== undefined) budgets.restore(text);
  link.add(budgets);
  await link.begin();
  onTestFinished(() => link.close());
  const reserve = async (spend: Spend): Promise<boolean> => (await budgets.reserve(key, spend)).refusal === null;
  const state = () => budgets.states(key).map(({ most, used, reserved }) => [most, used, reserved]);
  return { link, budgets, lines, clock, reserve, state };
}

async function three(valkey: ValkeyProcess, limits: KeyLimits) {
  const gateways = await Promise.all([1, 2, 3].map(() => started(valkey, limits)));
  await until(() => gateways.every(({ link }) => link.isUp && link.gateways === 3));
  return gateways;
}

describe("budgets over Valkey", needs(valkeyServer), () => {
  it("admit exactly as many requests as a limit has room for, whichever gateways ask", async () => {
    const gateways = await three(await startTestValkey(), { tokensPerDay: 1_000 });
    let admitted = 0;
    for (let at = 0; at < 110; at += 1) if (await gateways[at % 3]?.reserve(tokens(10))) admitted += 1;
    expect(admitted).toBe(100);
    expect(gateways[0]?.state()).toEqual([[1_000, 0, 1_000]]);
  });

  it("count each request once that is admitted in a burst, in which some answers come too late to be waited for", async () => {
    const gateways = await three(await startTestValkey(), { tokensPerDay: 1_000 });
    const asked = gateways.flatMap(({ reserve }) => Array.from({ length: 100 }, () => reserve(tokens(10))));
    const admitted = (await Promise.all(asked)).filter((isReserved) => isReserved).length;
    // A gateway that does not wait decides by its share of what it saw last.
    expect(admitted).toBeGreaterThan(33);
    expect(admitted).toBeLessThan(200);
    await until(async () => {
      await Promise.all(gateways.map(({ budgets }) => budgets.refresh()));
      return gateways.every((gateway) => gateway.state()?.[0]?.[2] === 10 * admitted);
    });
  });

  it("count what all gateways used, also after a reservation was larger", async () => {
    const [one, two] = await three(await startTestValkey(), { tokensPerDay: 100, usdPerMonth: 1 });
    expect(await one?.reserve({ tokens: 90, nanoUsd: 5e8 })).toBe(true);
    expect(await two?.reserve({ tokens: 20, nanoUsd: 1 })).toBe(false);
    await one?.budgets.settle(key, { tokens: 90, nanoUsd: 5e8 }, { tokens: 30, nanoUsd: 123_456_789 });
    expect(await two?.reserve({ tokens: 70, nanoUsd: 1 })).toBe(true);
    expect(two?.state()).toEqual([
      [100, 30, 70],
      [1e9, 123_456_789, 1],
    ]);
    await one?.budgets.refresh();
    expect(one?.state()).toEqual(two?.state());
  });

  it("warn once, in the gateway whose request reaches the share to warn at", async () => {
    const [one, two] = await three(await startTestValkey(), { tokensPerDay: 100, warnAt: 0.5 });
    const use = async (gateway: typeof one, count: number) => {
      await gateway?.reserve(tokens(count));
      return gateway?.budgets.settle(key, tokens(count), tokens(count));
    };
    expect(await use(one, 40)).toEqual([]);
    expect(await use(two, 20)).toMatchObject([{ name: "tokensPerDay", used: 60 }]);
    expect(await use(one, 10)).toEqual([]);
  });

  it("open the next window for all by the clock that is ahead", async () => {
    const [one, two] = await three(await startTestValkey(), { tokensPerMinute: 100 });
    await one?.reserve(tokens(100));
    await one?.budgets.settle(key, tokens(100), tokens(100));
    expect(await two?.reserve(tokens(1))).toBe(false);
    if (two) two.clock.nowMs += 60_000;
    expect(await two?.reserve(tokens(60))).toBe(true);
    expect(await one?.reserve(tokens(60))).toBe(false);
    expect(await one?.reserve(tokens(40))).toBe(true);
  });

  it("go on with a share of what is left while Valkey is away, post what they used, and say once that it went and came", async () => {
    const valkey = await startTestValkey();
    const gateways = await three(valkey, { tokensPerDay: 1_000 });
    const [one] = gateways;
    expect(await one?.reserve(tokens(400))).toBe(true);
    await one?.budgets.settle(key, tokens(400), tokens(400));
    await Promise.all(gateways.map(({ budgets }) => budgets.refresh()));
    await valkey.kill();
    await until(() => gateways.every(({ link }) => !link.isUp));
    // 600 are left, 200 for each.
    for (const { reserve } of gateways) {
      expect(await reserve(tokens(200))).toBe(true);
      expect(await reserve(tokens(1))).toBe(false);
    }
    expect(one?.state()).toEqual([[600, 400, 200]]);
    await one?.budgets.settle(key, tokens(200), tokens(150));
    await valkey.start();
    await until(() => gateways.every(({ link }) => link.isUp));
    await Promise.all(gateways.map(({ budgets }) => budgets.refresh()));
    for (const { state } of gateways) expect(state()).toEqual([[1_000, 550, 400]]);
    expect(await one?.reserve(tokens(50))).toBe(true);
    expect(await one?.reserve(tokens(1))).toBe(false);
    // A busy machine may take two attempts to connect at the start.
    expect(one?.lines.slice(-3)).toEqual([
      expect.stringMatching(/^state is shared over Valkey at 127\.0\.0\.1:\d+$/),
      expect.stringMatching(/cannot be reached: until it is back this gateway lets each key use 1\/3 of what is left of its limits$/),
      expect.stringMatching(/ is back: no limit was exceeded meanwhile$/),
    ]);
  });

  it("wait no longer than the bound for a Valkey that answers nothing, and count what they decided alone", async () => {
    const valkey = await startTestValkey();
    const gateways = await three(valkey, { tokensPerDay: 3_000 });
    const [one, two] = gateways;
    valkey.freeze();
    const waits: number[] = [];
    for (let request = 0; request < 60; request += 1) {
      const startedMs = performance.now();
      expect(await one?.reserve(tokens(10))).toBe(true);
      waits.push(performance.now() - startedMs);
    }
    // The bound is 10 ms; the rest is this machine's.
    expect(waits.toSorted((a, b) => a - b)[30]).toBeLessThan(20);
    await until(() => one?.link.isUp === false);
    expect(await one?.reserve(tokens(1_000))).toBe(false);
    valkey.resume();
    await until(() => gateways.every(({ link }) => link.isUp));
    await two?.budgets.refresh();
    expect(two?.state()).toEqual([[3_000, 0, 600]]);
  });

  it("keep what a gateway used that was killed, and count what it had reserved as used", async () => {
    const valkey = await startTestValkey();
    const [one, two] = await three(valkey, { tokensPerDay: 100 });
    await one?.reserve(tokens(30));
    await one?.budgets.settle(key, tokens(30), tokens(20));
    await one?.reserve(tokens(50));
    const text = one?.budgets.text ?? "";
    // Started again from its file, under another id; that of the killed one is alive for some seconds.
    const again = await started(valkey, { tokensPerDay: 100 }, { text });
    await until(() => again.link.isUp);
    expect(await again.reserve(tokens(31))).toBe(false);
    expect(await again.reserve(tokens(30))).toBe(true);
    await two?.budgets.refresh();
    expect(two?.state()).toEqual([[100, 20, 80]]);
  });

  it("carry over what a gateway used before it shared, and while Valkey was away over two starts", async () => {
    const valkey = await startTestValkey();
    const limits = { tokensPerDay: 100 };
    const stored = {
      latestMs: noon,
      reserved: { tokens: 5, nanoUsd: 0 },
      windows: { tokensPerDay: { startMs: Date.parse("2026-01-31"), used: 15, warned: false } },
    };
    await valkey.kill();
    const first = await started(valkey, limits, { text: JSON.stringify({ [key]: stored }) });
    expect(first.state()).toEqual([[100, 20, 0]]);
    expect(await first.reserve(tokens(10))).toBe(true);
    await first.budgets.settle(key, tokens(10), tokens(10));
    const second = await started(valkey, limits, { text: first.budgets.text });
    await first.link.close();
    expect(second.state()).toEqual([[100, 30, 0]]);
    await valkey.start();
    const other = await started(valkey, limits);
    await until(() => second.link.isUp && other.link.isUp);
    await other.budgets.refresh();
    expect(other.state()).toEqual([[100, 30, 0]]);
  });

  it("leave their use to the others when they end, and to their own next start", async () => {
    const valkey = await startTestValkey();
    const [one, two] = await three(valkey, { tokensPerDay: 100 });
    await one?.reserve(tokens(30));
    await one?.budgets.settle(key, tokens(30), tokens(30));
    await one?.link.close();
    await two?.budgets.refresh();
    expect(two?.state()).toEqual([[100, 30, 0]]);
    const again = await started(valkey, { tokensPerDay: 100 }, { text: one?.budgets.text ?? "" });
    await until(() => again.link.isUp);
    await again.budgets.refresh();
    expect(again.state()).toEqual([[100, 30, 0]]);
    // Nothing is shared any more, but what the others used is not forgotten.
    expect(JSON.parse(again.budgets.text)[key]).toMatchObject({ others: { windows: { tokensPerDay: { used: 30 } } } });
  });

  it("refuse an address that is none, without its password", () => {
    expect(() => new ValkeyLink({ url: "http://:secret@host", scope: "test", log: pino({ level: "silent" }) })).toThrow(
      "WEIR_VALKEY_URL must be the URL of a Valkey or Redis, such as redis://127.0.0.1:6379/0, or rediss:// for TLS.",
    );
  });
});
