import { mean, quantile } from "@/solver/numeric/quantile";
import { type Random, seededRandom } from "@/solver/numeric/random";
import { type JustInTimePolicy, roundChoices } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { ReplicaView, WaitingWork } from "@/solver/policies/core/policy";
import { beamSearch } from "@/solver/policies/justInTime/beamSearch";
import { exhaustiveRound, MOST_TRIED } from "@/solver/policies/justInTime/exhaustiveRound";
import { ModelEngines } from "@/solver/policies/justInTime/modelEngines";
import { RoundQueue, type StagedWork } from "@/solver/policies/justInTime/roundQueue";
import type { RoundSearch, RoundSlots } from "@/solver/policies/justInTime/roundSearch";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { documentOf, drawnProgram, drawnRequests, replicasOf } from "./sampledRounds";

const ROUNDS = 500;
const WIDTHS = [1, 2, 4, 8];
const STATED_WIDTH = roundChoices.beam.width;
const TIMED = 400;
const BEAM = roundChoices.beam;
const WORTH = roundChoices.worth;
const WARM_UP = 200;
/** Maximum number of free slots of a model: in most rounds fewer in total than eight requests, so that the requests compete. */
const MOST_FREE = 4;

const { models } = documentOf({ kind: "exhaustive" });

/** A round that may be searched repeatedly: up to eight requests of programs at various stages, over loaded engines. */
function drawnRound(random: Random): () => RoundSlots {
  const requests = 1 + random.int(MOST_TRIED);
  const waiting: StagedWork[] = [];
  for (let at = 0; waiting.length < requests; at += 1) {
    const { program, waits } = drawnProgram(`${at}`, random);
    const { depth } = program.workflow.space;
    for (const agent of [...waits].sort((a, b) => (depth[b] ?? 0) - (depth[a] ?? 0)).slice(0, requests - waiting.length)) {
      const work: WaitingWork = {
        ...{ id: `${waiting.length}`, programId: `${at}`, stage: 2, programArrivalSeconds: at, queuedSinceSeconds: at, inputTokens: 1 },
        state: { kind: "queued" },
      };
      waiting.push({ work, program, agent, bound: -1, gone: false });
    }
  }
  const byWork = new Map(waiting.map((one) => [one.work, one]));
  const loads = models.map(({ model, saturationBatch }): ReplicaView => {
    const free = random.int(MOST_FREE + 1);
    const inFlight = random.int(saturationBatch - free + 1);
    return { id: model, model, inFlight, maxInFlight: inFlight + free, accepting: true, kvUse: { state: "absent" } };
  });
  const engines = models.map((profile) => {
    const own = new ModelEngines(profile);
    own.seat(loads);
    own.refresh();
    return own;
  });
  let round = 0;
  return () => {
    round += 1;
    const queue = new RoundQueue({
      ...{ waiting: waiting.map(({ work }) => work), round, out: 0, ordered: false },
      staged: (work) => byWork.get(work) as StagedWork,
      allowed: ({ program, agent }) => program?.allowed(agent, 0) ?? 0,
    });
    const free = Int32Array.from(engines, (own) => own.free);
    return { free, gain: (model, count) => engines[model]?.gain(count) ?? 0, next: (open) => queue.next(open) };
  };
}

/** Search results on the same rounds: throughput gained and flexibility, compared with trying every assignment. */
function againstExhaustive(): Measurement {
  const random = seededRandom(11);
  const searches = WIDTHS.map((width) => beamSearch(width, models.length));
  const shares: number[][] = WIDTHS.map(() => []);
  const flexibilities: number[][] = [...WIDTHS, 0].map(() => []);
  const best = (search: RoundSearch, round: RoundSlots) => search(round)[0] ?? { gain: 0, flexibility: 1 };
  for (let at = 0; at < ROUNDS; at += 1) {
    const drawn = drawnRound(random);
    const most = best(exhaustiveRound, drawn());
    flexibilities.at(-1)?.push(most.flexibility);
    for (const [index, search] of searches.entries()) {
      const own = best(search, drawn());
      shares[index]?.push(most.gain === 0 ? 1 : own.gain / most.gain);
      flexibilities[index]?.push(own.flexibility);
    }
  }
  const percent = (value: number): string => (100 * value).toFixed(2);
  const each = WIDTHS.map((width, index) => {
    const own = shares[index] ?? [];
    const within = own.filter((share) => share >= 0.98).length / own.length;
    return `B ${width} ${percent(mean(own))} (worst ${percent(Math.min(...own))}, within 2 % in ${percent(within)} % of the rounds, flexibility ${mean(flexibilities[index] ?? []).toFixed(3)})`;
  });
  return {
    figure: 100 * (1 - mean(shares[WIDTHS.indexOf(STATED_WIDTH)] ?? [])),
    unit: "% less than trying every assignment gains",
    detail: `throughput forecast to be gained by beam ${STATED_WIDTH}, ${ROUNDS} random rounds of at most ${MOST_TRIED} requests and ${MOST_FREE} free slots of three models, programs of four workflows on their way: ${each.join("; ")}, all of 100; exhaustive flexibility ${mean(flexibilities.at(-1) ?? []).toFixed(3)}`,
  };
}

interface Timed {
  readonly selection: JustInTimePolicy["selection"];
  readonly requests: number;
  readonly replicas: ReplicaView[];
}

/** Milliseconds of whole decisions over fresh requests each. */
function decisionTimes({ selection, requests, replicas }: Timed): { readonly milliseconds: number[]; readonly sent: number } {
  const policy = buildPolicy(documentOf(selection));
  const random = seededRandom(requests);
  const milliseconds: number[] = [];
  let sent = 0;
  for (let at = 0; at < WARM_UP + TIMED; at += 1) {
    const waiting = drawnRequests(requests, random, at * requests);
    for (const work of waiting) policy.observe({ kind: "queued", work });
    const start = performance.now();
    const actions = policy.decide({ nowSeconds: at, waiting, replicas });
    const took = performance.now() - start;
    if (at < WARM_UP) continue;
    milliseconds.push(took);
    sent += actions.length / TIMED;
  }
  return { milliseconds, sent };
}

const timedRounds = new Map<number, readonly number[][]>();

/** Decisions of every width with room for all requests, so that every one is compared with all models; measured once. */
function timesOf(requests: number): readonly number[][] {
  const replicas = replicasOf(3, [requests, requests, requests]);
  const timed =
    timedRounds.get(requests) ??
    WIDTHS.map((width) => decisionTimes({ selection: { kind: "beam", width }, requests, replicas }).milliseconds);
  timedRounds.set(requests, timed);
  return timed;
}

function roundTime(requests: number, share: number): Measurement {
  const timed = timesOf(requests);
  const each = WIDTHS.map((width, at) => {
    const own = timed[at] ?? [];
    const within = (100 * own.filter((milliseconds) => milliseconds <= 1).length) / own.length;
    return `B ${width} ${quantile(own, 0.5).toFixed(3)} (p99 ${quantile(own, 0.99).toFixed(3)}, ${within.toFixed(1)} % within 1 ms)`;
  }).join(", ");
  return {
    figure: quantile(timed[WIDTHS.indexOf(STATED_WIDTH)] ?? [], share),
    unit: "ms",
    detail: `${share === 0.5 ? "median" : "99th percentile"} of decisions of beam ${STATED_WIDTH} that weigh ${requests} requests of new programs on three models and send all, ${TIMED} of them: ${each}`,
  };
}

/** Decisions of a selection while a long queue waits: nothing is free, one slot is, or all first requests wait for a model without one. */
function longQueue(selection: JustInTimePolicy["selection"], share: number): Measurement {
  const full = replicasOf(64, []);
  const one = replicasOf(64, [1]);
  const requests = 1000;
  const [saturated, single, roomy] = [
    full,
    one,
    replicasOf(
      64,
      Array.from({ length: 64 }, () => 8),
    ),
  ].map((replicas) => {
    const { milliseconds, sent } = decisionTimes({ selection, requests, replicas });
    return { p50: quantile(milliseconds, 0.5), p99: quantile(milliseconds, 0.99), sent };
  });
  const shown = (of: typeof single): string => `${of?.p50.toFixed(3)} ms (p99 ${of?.p99.toFixed(3)}, ${of?.sent.toFixed(0)} sent)`;
  return {
    figure: (share === 0.5 ? single?.p50 : single?.p99) ?? Number.NaN,
    unit: "ms",
    detail: `${share === 0.5 ? "median" : "99th percentile of a"} decision by ${selection.kind === "beam" ? `beam ${selection.width}` : selection.kind} with ${requests} new requests waiting for 64 replicas of three models of which one has a free slot; none free ${shown(saturated)}, one ${shown(single)}, eight each ${shown(roomy)}`,
  };
}

/** Decisions by worth with room for all requests. */
function worthTime(): Measurement {
  const requests = 64;
  const { milliseconds } = decisionTimes({ selection: WORTH, requests, replicas: replicasOf(3, [requests, requests, requests]) });
  return {
    figure: quantile(milliseconds, 0.99),
    unit: "ms",
    detail: `99th percentile of decisions by worth that weigh ${requests} requests of new programs, with up to ${3 ** 5} configurations each, on three models and send those that wait for none, ${TIMED} of them; median ${quantile(milliseconds, 0.5).toFixed(3)}`,
  };
}

export const roundsBenchmarks: readonly Benchmark[] = [
  {
    name: "rounds, utilisation beside exhaustive",
    budget: atMost(0.5, "the beam keeps the wrong candidates: greedy rounds lose more than 1 %"),
    run: againstExhaustive,
  },
  // Its 99th percentile has the budget.
  { name: "rounds, time at 64 requests", budget: null, run: () => roundTime(64, 0.5) },
  {
    name: "rounds, 99th percentile at 64 requests",
    budget: atMost(1, "garbage, or compiling in the middle, holds one decision in a hundred"),
    run: () => roundTime(64, 0.99),
  },
  { name: "rounds, time at 256 requests", budget: null, run: () => roundTime(256, 0.5) },
  { name: "rounds, 1000 waiting, 64 replicas", budget: null, run: () => longQueue(BEAM, 0.5) },
  {
    name: "rounds by worth, 99th percentile at 64 requests",
    budget: atMost(10, "what a choice leaves to later agents is found again for each request that asks the same"),
    run: worthTime,
  },
  {
    name: "rounds by worth, 99th percentile, 1000 waiting, 64 replicas",
    budget: atMost(1, "all that wait are weighed, not the first of them"),
    run: () => longQueue(WORTH, 0.99),
  },
];
