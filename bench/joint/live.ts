import { setTimeout as sleep } from "node:timers/promises";
import { justInTimeOver } from "@/server/lab/aragogRace";
import { tableOf } from "@/server/lab/labPrograms";
import { emulatedPrograms } from "@/server/load/emulatedPrograms";
import { runProgramLoad } from "@/server/load/programLoad";
import { arrivals } from "@/solver/engine/arrivals";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { workflows } from "@/solver/workflow/templates";
import { splitPrompts } from "@/solver/workload/split";
import { emulatedReplica } from "../agreement/setup";
import { type BenchGateway, cascadeModel, startBenchGateway } from "../gateway/gatewayBench";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { Emulation } from "../lib/emulation";
import { answersOf } from "../lib/ladders";
import { once } from "../lib/once";
import { MODELLED_OUTCOMES, trainedHeads } from "../lib/trainedHeads";
import { cheapestCascade, qualityOf } from "./singles";
import { worthOf } from "./systems";

/** On emulated GPUs of 48 GB: the largest needs two. */
const LADDER = { models: ["gemma-2-2b", "gemma-2-9b", "gemma-2-27b"], gpus: [1, 1, 2] } as const;
const MAX_IN_FLIGHT = 32;
const SEED = 1;

/** Two thirds are single requests; the others refine or vote. */
const MIX = [
  { name: "solver", share: 4 / 6 },
  { name: "self-refine", share: 1 / 6 },
  { name: "voting", share: 1 / 6 },
] as const;

const TIME_SCALE = 4;

/** So many programs come so fast that more than a thousand of their requests wait, and fewer than the gateway's queue holds. */
const PROGRAMS = 1200;
const PROGRAMS_PER_SECOND = 60;

/** Decisions are counted while at least so many requests wait. */
const LEAST_WAITING = 1000;

/** Between two readings of the gateway's metrics, in milliseconds. */
const READ_EVERY_MS = 500;

/** Node's timer of the event loop's delay counts its own interval. */
const LOOP_TIMER_SECONDS = 0.01;

/** A Prometheus histogram: upper bounds in seconds, ascending, the last one Infinity, and the count at or below each. */
interface Buckets {
  readonly bounds: readonly number[];
  readonly cumulative: readonly number[];
}

/** What a gateway said of its decisions while many requests waited. */
interface LiveDecisions {
  readonly decisions: Buckets;
  readonly waiting: { readonly least: number; readonly most: number };
  /** Longest delay of the event loop, in seconds, that any reading told. */
  readonly loopSeconds: number;
  readonly programs: number;
  readonly failed: number;
}

const run = once(async (): Promise<LiveDecisions> => {
  const { workload, texts } = await answersOf({ family: "Gemma-2-it", task: "gsm", replicas: [] });
  const outcomes = tableOf(workload, LADDER.models);
  const mix = MIX.flatMap(({ name, share }) => {
    const workflow = workflows.find((known) => known.name === name);
    return workflow === undefined ? [] : [{ workflow, share }];
  });
  const { planning, heldOut } = splitPrompts(outcomes.promptIds.length, SEED);
  const law = { kind: "poisson" } as const;
  const sample = drawPrograms({
    ...{ ...MODELLED_OUTCOMES, outcomes, prompts: heldOut, mix, seed: SEED },
    arrivalSeconds: arrivals({ law, requests: PROGRAMS, requestsPerSecond: PROGRAMS_PER_SECOND, seed: SEED }),
  });
  const heads = trainedHeads(
    mix.slice(1).map(({ workflow }) => workflow),
    { outcomes, texts, seed: SEED },
  );
  const engines = LADDER.models.map((model, at) => ({
    model,
    replicas: [{ replica: { ...emulatedReplica(model, LADDER.gpus[at]), maxSequences: MAX_IN_FLIGHT }, count: 1 }],
  }));
  const over = justInTimeOver({ engines, sample, workflows: [], catalogue: catalogueOf(noUserCards) });
  const ground = { outcomes, planning, costs: over.models.map(({ cost }) => cost) };
  const quality = outcomes.models.map((_, model) => qualityOf(ground, model));
  const policy: JustInTimePolicy = {
    ...over,
    workflows: heads.map(({ document, hash }) => ({ workflow: document, predictor: hash })),
    singles: cheapestCascade(ground, ((quality[0] ?? 0) + (quality.at(-1) ?? 0)) / 2),
    selection: worthOf(4),
  };
  const emulation = await Emulation.start({
    ...{ models: LADDER.models, gpus: LADDER.gpus, outcomes: emulatedPrograms("programs", sample), timeScale: TIME_SCALE },
    modelPerturbation: "joint",
  });
  try {
    const gateway = await startBenchGateway(policy, {
      engines: (model) => emulation.engineUrls.filter((_, at) => LADDER.models[at] === model),
      ...{ judge: emulation.judgeUrl, maxInFlight: MAX_IN_FLIGHT, timeScale: TIME_SCALE, artefacts: heads.map(({ bytes }) => bytes) },
    });
    try {
      const load = runProgramLoad({
        ...{ id: "joint", gatewayUrl: gateway.url, model: cascadeModel, timeScale: TIME_SCALE, sample },
        textOf: (row) => texts[row] ?? null,
      });
      const [read, { failures }] = await Promise.all([readWhile(gateway, load), load]);
      return { ...read, programs: PROGRAMS, failed: failures.length };
    } finally {
      await gateway.close();
    }
  } finally {
    await emulation.end();
  }
});

/** Reads the gateway's metrics until the load has ended; what was decided while many waited is what its histogram gained meanwhile. */
async function readWhile(
  gateway: Pick<BenchGateway, "read">,
  load: Promise<unknown>,
): Promise<Pick<LiveDecisions, "decisions" | "waiting" | "loopSeconds">> {
  let ended = false;
  void load.finally(() => {
    ended = true;
  });
  const counted: { at: Reading; to: Reading }[] = [];
  let last = await readingOf(gateway);
  while (!ended) {
    await sleep(READ_EVERY_MS);
    const next = await readingOf(gateway);
    if (Math.min(last.waiting, next.waiting) >= LEAST_WAITING) counted.push({ at: last, to: next });
    last = next;
  }
  const [first] = counted;
  if (first === undefined) throw new Error(`At no time did ${LEAST_WAITING} requests wait.`);
  const readings = counted.map(({ to }) => to);
  return {
    decisions: {
      bounds: first.at.decisions.bounds,
      cumulative: first.at.decisions.bounds.map((_, bucket) => counted.reduce((sum, { at, to }) => sum + gained(at, to, bucket), 0)),
    },
    waiting: { least: Math.min(...readings.map(({ waiting }) => waiting)), most: Math.max(...readings.map(({ waiting }) => waiting)) },
    loopSeconds: Math.max(...readings.map(({ loopSeconds }) => loopSeconds)),
  };
}

interface Reading {
  readonly waiting: number;
  readonly decisions: Buckets;
  readonly loopSeconds: number;
}

const gained = (at: Reading, to: Reading, bucket: number): number =>
  (to.decisions.cumulative[bucket] ?? 0) - (at.decisions.cumulative[bucket] ?? 0);

async function readingOf(gateway: Pick<BenchGateway, "read">): Promise<Reading> {
  const lines = (await (await gateway.read("/metrics")).text()).split("\n");
  const valuesOf = (prefix: string): readonly { readonly labels: string; readonly value: number }[] =>
    lines.flatMap((line) => {
      if (!line.startsWith(prefix)) return [];
      const at = line.lastIndexOf(" ");
      return [{ labels: line.slice(prefix.length, at), value: Number(line.slice(at + 1)) }];
    });
  const buckets = valuesOf("weir_gateway_decision_seconds_bucket");
  return {
    waiting: valuesOf("weir_gateway_queued{").reduce((sum, { value }) => sum + value, 0),
    decisions: {
      bounds: buckets.map(({ labels }) => Number(/le="([^"]+)"/.exec(labels)?.[1]?.replace("+Inf", "Infinity"))),
      cumulative: buckets.map(({ value }) => value),
    },
    loopSeconds: (valuesOf("nodejs_eventloop_lag_max_seconds ")[0]?.value ?? Number.NaN) - LOOP_TIMER_SECONDS,
  };
}

/** The least bound of the gateway's buckets that a share of the decisions keeps, in milliseconds. */
async function decidedWithin(share: number): Promise<Measurement> {
  const { decisions, waiting, loopSeconds, programs, failed } = await run();
  const { bounds, cumulative } = decisions;
  const all = cumulative.at(-1) ?? 0;
  const at = cumulative.findIndex((count) => count >= share * all);
  const within = bounds
    .map((bound, index) => `${(1000 * bound).toLocaleString("en")} ms ${((100 * (cumulative[index] ?? 0)) / all).toFixed(1)} %`)
    .filter((_, index) => (cumulative[index] ?? 0) > 0);
  return {
    figure: 1000 * (bounds[at] ?? Number.NaN),
    unit: "ms at most",
    detail: `by the buckets of the gateway's own metric: ${within.join(", ")}; ${all} decisions while ${waiting.least} to ${waiting.most} requests waited; ${programs} programs, ${failed} failed; the event loop was late by at most ${(1000 * loopSeconds).toFixed(1)} ms, by Node's own measure, readings of the metrics included`,
  };
}

/** The joint policy in a real gateway over emulated engines while a thousand requests wait. */
export const jointLiveBenchmarks: readonly Benchmark[] = dataPresent()
  ? [
      { name: "joint policy live: decision, p50 at 1,000 waiting", budget: null, run: () => decidedWithin(0.5) },
      {
        name: "joint policy live: decision, p99 at 1,000 waiting",
        budget: atMost(1, "a decision looks at every waiting request, or many requests are sent at once"),
        run: () => decidedWithin(0.99),
      },
      {
        name: "joint policy live: longest delay of the event loop",
        budget: atMost(5, "a decision, a search or a reading of the metrics keeps the loop busy for longer"),
        run: async () => ({ ...(await decidedWithin(0.99)), figure: 1000 * (await run()).loopSeconds }),
      },
    ]
  : [];
