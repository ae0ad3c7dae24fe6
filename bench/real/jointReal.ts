import { join } from "node:path";
import { prepareRealModels } from "@/server/realModels/prepareRealModels";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { arithmeticQuestions } from "@/solver/prompts/arithmeticQuestion";
import { type BenchGateway, cascadeModel, startBenchGateway } from "../gateway/gatewayBench";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { boundOf, decisionsText, decisionsWhile, type LiveDecisions } from "../lib/liveDecisions";
import { once } from "../lib/once";
import { machine, resultsFolder, writeTables } from "../lib/results";
import { table } from "../lib/tables";
import { type EngineKind, isEngineThere, LARGE, SMALL } from "./connections";
import { type Answering, chatBody } from "./questions";
import { endOnSignals, orderOn, RealEngines } from "./realEngine";
import { runClient } from "./runClient";

/** The engines that are measured, where they are there. */
const KINDS = ["llama", "vllm"] as const satisfies readonly EngineKind[];
const NAMES = { llama: "Weir's engine (llama.cpp)", vllm: "vLLM" } as const;

/** Requests of an engine at once: what the add-on's engine batches. */
const SEQUENCES = 16;

/** Requests in all, and those that are in flight at the gateway as long as there are more. */
const REQUESTS = 2000;
const IN_FLIGHT = 1020;

/** Decisions count while so many wait: the others are with engines or the judge. */
const LEAST_WAITING = 900;

/** Requests that each point of an engine's throughput is measured with. */
const PROBES = { 1: 24, [SEQUENCES]: 160 } as const;

/** No request is sent after so many seconds. */
const MOST_SECONDS = 120;

/** Of the questions. */
const SEED = 2;

interface Served extends LiveDecisions {
  readonly answered: number;
  readonly failed: number;
}

/** What a gateway did over the engines of each kind that is there. */
const runs = once(async (): Promise<ReadonlyMap<EngineKind, Served>> => {
  endOnSignals();
  const served = new Map<EngineKind, Served>();
  for (const kind of KINDS) {
    const there = isEngineThere(kind);
    if (there.ok) served.set(kind, await servedBy(kind));
    else process.stderr.write(`joint policy, real engines: ${NAMES[kind]} is skipped: ${there.message}\n`);
  }
  if (served.size > 0) writeTables("joint-real-live", [`${machine}.`, tableOf(served)]);
  return served;
});

async function servedBy(kind: (typeof KINDS)[number]): Promise<Served> {
  const folder = join(resultsFolder("real"), "joint");
  const prepared = await prepareRealModels(join(folder, "models"), kind === "vllm" ? ["gguf", "hugging-face"] : ["gguf"]);
  if (!prepared.ok) throw new Error(prepared.message);
  const engines = await RealEngines.open(kind, prepared.models, join(folder, "engines", kind));
  try {
    const judge = await engines.judge();
    const up = (await engines.ensure([orderOn(SMALL, 0), orderOn(LARGE, 1)])).engines;
    const models: JustInTimePolicy["models"][number][] = [];
    for (const [at, engine] of up.entries()) models.push({ cost: at + 1, ...(await profileOf(engine)) });
    const gateway = await startBenchGateway(policyOf(models, judge.model), {
      engines: (model) => up.filter((engine) => engine.model === model).map(({ url }) => url),
      ...{ judge: judge.url, judgeModel: judge.model, maxInFlight: SEQUENCES },
    });
    try {
      return await loaded(gateway);
    } finally {
      await gateway.close();
    }
  } finally {
    await engines.end();
  }
}

/** Single requests of a cascade with the real judge, in rounds by worth. */
const policyOf = (models: JustInTimePolicy["models"], judgeModel: string): JustInTimePolicy => ({
  ...{ kind: "just-in-time", models, workflows: [], selection: { kind: "worth", rightSeconds: 0, delayWeight: 4 } },
  singles: {
    ...{ kind: "cascade", stages: [{ model: SMALL }, { model: LARGE }], thresholds: [60] },
    judge: { model: judgeModel, secondsPerCall: 0, usdPerCall: 0 },
    approvedRanges: { thresholds: [{ min: 0, max: 100 }] },
  },
  ...{ order: { kind: "fcfs" }, place: { kind: "least-load" } },
});

/** What the policy reads of an engine: its throughput alone and with all its sequences busy, and the length of its answers. */
async function profileOf({ model, url }: Answering): Promise<Omit<JustInTimePolicy["models"][number], "cost">> {
  const points: { readonly batch: number; readonly tokensPerSecond: number; readonly meanTokens: number }[] = [];
  for (const [batch, count] of Object.entries(PROBES)) {
    const { answers } = await asked({ url, model, count, inFlight: Number(batch) });
    const tokens = answers.reduce((sum, { text }) => sum + tokensIn(text ?? ""), 0);
    const seconds = Math.max(...answers.map(({ sentSeconds, endSeconds }) => sentSeconds + endSeconds));
    points.push({ batch: Number(batch), tokensPerSecond: tokens / seconds, meanTokens: tokens / answers.length });
  }
  return {
    ...{ model, saturationBatch: SEQUENCES, meanOutputTokens: points.at(-1)?.meanTokens ?? 1 },
    throughput: points.map(({ batch, tokensPerSecond }) => ({ batch, tokensPerSecond })),
  };
}

interface Asked {
  readonly url: string;
  readonly model: string;
  readonly count: number;
  readonly inFlight: number;
}

/** Questions of a closed loop, from the client's process. */
function asked({ url, model, count, inFlight }: Asked) {
  const requests = arithmeticQuestions(count, SEED).map((question) => {
    return { atSeconds: 0, body: chatBody(model, question), outputTokens: null };
  });
  return runClient({ url, path: "/v1/chat/completions", requests, warmUp: 0, inFlight, seconds: MOST_SECONDS, streamed: false }, null);
}

/** Output tokens of a chat completion. Throws where it is none: a failed answer would make the profile slow. */
function tokensIn(json: string): number {
  return (JSON.parse(json) as { readonly usage: { readonly completion_tokens: number } }).usage.completion_tokens;
}

async function loaded(gateway: BenchGateway): Promise<Served> {
  const load = asked({ url: gateway.url, model: cascadeModel, count: REQUESTS, inFlight: IN_FLIGHT });
  const [read, { answers }] = await Promise.all([decisionsWhile(gateway, load, LEAST_WAITING), load]);
  const answered = answers.filter(({ status }) => status === 200).length;
  return { ...read, answered, failed: answers.length - answered };
}

const tableOf = (served: ReadonlyMap<EngineKind, Served>): string =>
  table(
    ["engines", "decision p50, ms at most", "p99", "loop delay p99, ms", "longest", "decisions", "waiting", "answered", "failed"],
    KINDS.flatMap((kind) => {
      const own = served.get(kind);
      if (own === undefined) return [];
      const { decisions, waiting, loop, answered, failed } = own;
      return [
        [
          ...[NAMES[kind], boundOf(own, 0.5).toPrecision(2), boundOf(own, 0.99).toPrecision(2)],
          ...[(1000 * loop.p99).toFixed(1), (1000 * loop.longest).toFixed(1), String(decisions.cumulative.at(-1) ?? 0)],
          ...[`${waiting.least} to ${waiting.most}`, String(answered), String(failed)],
        ],
      ];
    }),
  );

async function measured(kind: (typeof KINDS)[number], figure: (of: Served) => number, unit: string): Promise<Measurement> {
  const served = (await runs()).get(kind);
  if (served === undefined) throw new Error(`The joint policy on real engines needs ${NAMES[kind]}.`);
  const detail = `${decisionsText(served)}; ${served.answered} requests answered, ${served.failed} failed; two engines of ${NAMES[kind]}, the judge, gateway and client are real, on the same cores; nothing is emulated`;
  return { figure: figure(served), unit, detail };
}

/** The joint policy in a real gateway over real engines while hundreds of requests wait. */
export const jointRealBenchmarks: readonly Benchmark[] = KINDS.filter((kind) => kind === "llama" || isEngineThere(kind).ok).flatMap(
  (kind) => [
    {
      name: `joint policy, real engines: decision, p50, ${NAMES[kind]}`,
      budget: null,
      run: () => measured(kind, (own) => boundOf(own, 0.5), "ms at most"),
    },
    {
      name: `joint policy, real engines: decision, p99, ${NAMES[kind]}`,
      budget: atMost(1, "a decision looks at every waiting request, or engines on the same cores interrupt it"),
      run: () => measured(kind, (own) => boundOf(own, 0.99), "ms at most"),
    },
    {
      name: `joint policy, real engines: longest delay of the event loop, ${NAMES[kind]}`,
      budget: atMost(5, "a decision or a reading of the metrics keeps the loop busy, or engines on the same cores interrupt it"),
      run: () => measured(kind, ({ loop }) => 1000 * loop.longest, "ms"),
    },
  ],
);
