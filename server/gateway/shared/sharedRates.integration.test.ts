import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { needs } from "@/scripts/needs.mjs";
import { TokenBucket } from "../http/callers";
import { until } from "../testing/testGateway";
import { startTestValkey, valkeyServer } from "../testing/testValkey";
import type { ValkeyProcess } from "../testing/valkeyProcess";
import { SharedRates } from "./sharedRates";
import { ValkeyLink } from "./valkeyLink";

const key = "0".repeat(64);

/** Gateways that share a rate; each has a bucket of its own. */
async function gatewaysOf({ url }: ValkeyProcess, { count, perMinute }: { readonly count: number; readonly perMinute: number }) {
  const gateways = await Promise.all(
    Array.from({ length: count }, async () => {
      const link = new ValkeyLink({ url, scope: "test", log: pino({ level: "silent" }) });
      const bucket = new TokenBucket(perMinute, performance.now());
      const rates = new SharedRates(link, () => [[key, bucket]]);
      await link.begin();
      onTestFinished(() => link.close());
      const passed = async (requests: number): Promise<number> => {
        const waits = await Promise.all(Array.from({ length: requests }, () => rates.take(key, bucket)));
        return waits.filter((wait) => wait === 0).length;
      };
      return { link, rates, bucket, passed };
    }),
  );
  await until(() => gateways.every(({ link }) => link.isUp && link.gateways === count));
  return gateways;
}

const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);

describe("rates over Valkey", needs(valkeyServer), () => {
  it("let a minute's worth through at once, over all gateways, and say when the next may come", async () => {
    const gateways = await gatewaysOf(await startTestValkey(), { count: 3, perMinute: 60 });
    // The first use of a connection takes longer than the bound of a request.
    for (const gateway of gateways) await gateway.rates.refresh();
    const startedMs = performance.now();
    const passed = sum(await Promise.all(gateways.map((gateway) => gateway.passed(50))));
    const added = Math.ceil((performance.now() - startedMs) / 1000);
    expect(passed).toBeGreaterThanOrEqual(60);
    expect(passed).toBeLessThanOrEqual(60 + added);
    const [one] = gateways;
    const wait = await one?.rates.take(key, one.bucket);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(1);
    expect(one?.bucket.state(performance.now()).rest).toBe(0);
  });

  it("are divided while Valkey is away, and what passed meanwhile counts when it is back without its data", async () => {
    const valkey = await startTestValkey();
    const gateways = await gatewaysOf(valkey, { count: 3, perMinute: 60 });
    const startedMs = performance.now();
    for (const { passed } of gateways) expect(await passed(5)).toBe(5);
    for (const { rates } of gateways) await rates.refresh();
    await valkey.kill();
    await until(() => gateways.every(({ link }) => !link.isUp));
    const alone = await Promise.all(gateways.map((gateway) => gateway.passed(60)));
    // Of the 45 requests that were left.
    for (const passed of alone) expect(passed).toBeGreaterThanOrEqual(15);
    const added = () => Math.ceil((performance.now() - startedMs) / 1000);
    expect(15 + sum(alone)).toBeLessThanOrEqual(60 + added());
    await valkey.start();
    await until(() => gateways.every(({ link }) => link.isUp));
    const after = sum(await Promise.all(gateways.map((gateway) => gateway.passed(60))));
    expect(15 + sum(alone) + after).toBeLessThanOrEqual(60 + added() + 3);
  });
});
