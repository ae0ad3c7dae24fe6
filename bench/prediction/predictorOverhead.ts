import { Pool } from "undici";
import { slackBy, testConfidence, testLengths } from "@/server/gateway/testing/testPredictors";
import { quantile } from "@/solver/numeric/quantile";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { askChat, type BenchGateway, cascadeModel, chatBody, mockedBy, startBenchGateway, startMock } from "../gateway/gatewayBench";
import type { Benchmark, Measurement } from "../lib/benchmark";

const ROUNDS = 6;

/** Capacity of one batch of the prediction thread. */
const AT_ONCE = 32;

const lengths = testLengths();
const confidence = testConfidence();
const fixed = { kind: "fixed", model: "large", order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;
const stjf = { kind: "stjf", agingThreshold: 100 } as const;
const policies: Readonly<Record<string, PolicyDocument>> = {
  "no predictors": fixed,
  "features remembered": { ...fixed, order: stjf },
  "predicted lengths": { ...fixed, order: stjf, learnt: { lengths: lengths.hash } },
  "predicted lengths and confidence": slackBy({ lengths: lengths.hash, confidence: confidence.hash }),
};

/** Median of the gateway's own time of requests that arrive so many at once, in milliseconds. */
async function ownTime({ url, decisionsAfter }: BenchGateway, atOnce: number): Promise<number> {
  const before = (await decisionsAfter(0)).at(-1)?.sequence ?? 0;
  const pool = new Pool(url, { connections: atOnce });
  const body = chatBody({ model: cascadeModel, stream: false });
  for (let round = 0; round < ROUNDS; round += 1) await Promise.all(Array.from({ length: atOnce }, () => askChat(pool, body)));
  await pool.close();
  const decisions = await decisionsAfter(before);
  const late = decisions.filter(({ predictions }) => predictions?.absent !== undefined).length;
  if (late > 0) throw new Error(`${late} of ${decisions.length} requests were not predicted in time.`);
  return quantile(
    decisions.map(({ overheadSeconds }) => 1000 * overheadSeconds),
    0.5,
  );
}

/** The gateway's own time per request under policies with and without predictors, sent one by one and together. */
async function overhead(): Promise<Measurement> {
  const mock = await startMock();
  const gateway = await startBenchGateway(fixed, { ...mockedBy(mock.url), artefacts: [lengths.bytes, confidence.bytes] });
  try {
    const rows: string[] = [];
    let most = 0;
    for (const [name, policy] of Object.entries(policies)) {
      await gateway.put(policy);
      // The first requests warm up.
      await ownTime(gateway, 1);
      const alone = await ownTime(gateway, 1);
      most = await ownTime(gateway, AT_ONCE);
      rows.push(`${name} ${alone.toFixed(2)} ms alone and ${most.toFixed(2)} ms of ${AT_ONCE} at once`);
    }
    return { figure: most, unit: "ms", detail: `median, the largest of ${rows.join("; ")}` };
  } finally {
    await Promise.all([mock.close(), gateway.close()]);
  }
}

export const predictorOverheadBenchmarks: readonly Benchmark[] = [
  { name: "gateway's own time per request with predictors", budget: null, run: overhead },
];
