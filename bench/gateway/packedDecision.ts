import { quantileOfSorted } from "@/solver/numeric/quantile";
import type { OrderDocument, PlaceDocument } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { Reading, ReplicaView, WaitingWork } from "@/solver/policies/core/policy";
import { type AgentForecast, PublishedForecasts } from "@/solver/workflow/learning/agentForecast";
import { atMost, type Benchmark } from "../lib/benchmark";

const QUEUED = 1000;
const REPLICAS = 64;
const MAX_IN_FLIGHT = 64;
/** Some 40 of these requests fill it: memory runs out before places do. */
const KV_TOKENS = 60_000;
const AGENTS = 24;
const WARM_UP_ROUNDS = 2000;
const ROUNDS = 10_000;

const agingThreshold = 10_000;

interface Parts {
  readonly order: OrderDocument;
  readonly place: PlaceDocument;
}

const pairs: readonly Parts[] = [
  { order: { kind: "workflow", agingThreshold }, place: { kind: "time-slots" } },
  { order: { kind: "depth", agingThreshold }, place: { kind: "round-robin" } },
];

/** Prompts of which only a few fit an engine at a time: most of what waits is tried and held back. */
const LARGE_TOKENS = 20_000;
/** Decisions between two publications of forecasts: some seconds of a gateway under load. */
const DECISIONS_A_PUBLICATION = 100;

const publishedBenchmarks: readonly Benchmark[] = [0, LARGE_TOKENS].map((moreTokens) => ({
  name: `one routing decision while forecasts change, p99${moreTokens === 0 ? "" : ", large prompts"}`,
  budget: atMost(1, "giving new forecasts to what waits, ordering and placing it cost more than 1 us for each request"),
  run() {
    const parts: Parts = { order: { kind: "workflow", agingThreshold }, place: { kind: "time-slots" } };
    const { wallMs, p99Ms, slowestMs, releases, inFlight, holds } = packedMs(parts, { moreTokens, republishes: true });
    return {
      figure: p99Ms,
      unit: "ms of one core",
      detail: `${QUEUED} queued requests of ${AGENTS} agents, ${REPLICAS} replicas with ${inFlight.toFixed(0)} requests in flight each; every ${DECISIONS_A_PUBLICATION}th decision all forecasts are published anew, and giving them to what waits counts; ${ROUNDS} decisions, mean ${wallMs.toFixed(3)} ms of the wall, slowest ${slowestMs.toFixed(2)} ms of one core; placing ${releases.toFixed(2)} requests, in ${(100 * holds).toFixed(0)} % of them some are held back. The source sorts in 3.6 ms and packs in 4.1 ms`,
    };
  },
}));

const meanBenchmarks: readonly Benchmark[] = pairs.map((parts) => ({
  name: `one routing decision, order ${parts.order.kind} and place ${parts.place.kind}`,
  budget: atMost(0.2, "noting an end, ordering and placing cost more than 0.2 us for each request that waits"),
  run() {
    const { processorMs, wallMs, releases, inFlight, holds } = packedMs(parts);
    return {
      figure: processorMs,
      unit: "ms of one core",
      detail: `${QUEUED} queued requests of ${AGENTS} agents with forecasts, ${REPLICAS} replicas of one model with ${inFlight.toFixed(0)} requests in flight each; mean of ${ROUNDS} times that a request ends: noting it, ordering what waits and placing ${releases.toFixed(2)} requests; in ${(100 * holds).toFixed(0)} % of them the next was held back; ${wallMs.toFixed(3)} ms of the wall. The source takes 7.7 ms`,
    };
  },
}));

export const packedDecisionBenchmarks: readonly Benchmark[] = [...meanBenchmarks, ...publishedBenchmarks];

interface Served {
  readonly work: WaitingWork;
  readonly replicaId: string;
  readonly endSeconds: number;
}

/**
 * Mean milliseconds, of processor and of wall time, of recording that a request has ended and of the decision upon it; the same number of
 * requests waits before each.
 */
function packedMs({ order, place }: Parts, { moreTokens = 0, republishes = false } = {}) {
  let publications = 0;
  const published = new PublishedForecasts((agentKey) => forecastAt(Number(agentKey), publications));
  const times = new Float64Array(ROUNDS);
  const policy = buildPolicy({ kind: "fixed", model: "model", order, place });
  const replicas: (ReplicaView & { inFlight: number; kvUse: Reading; preemptions: Reading })[] = Array.from(
    { length: REPLICAS },
    (_, index) => {
      const empty = { inFlight: 0, kvUse: fresh(0), preemptions: fresh(0) };
      return { id: `replica-${index}`, model: "model", maxInFlight: MAX_IN_FLIGHT, accepting: true, kvTokens: KV_TOKENS, ...empty };
    },
  );
  const replicaOf = new Map(replicas.map((replica) => [replica.id, replica]));
  const served: Served[] = [];
  let waiting: Waiting[] = [];
  let [nowSeconds, came, processorMs, wallMs, releases, inFlight, holds, rounds] = [0, 0, 0, 0, 0, 0, 0, 0];

  const join = (): void => {
    const work = workOf(came++, { nowSeconds, moreTokens, published });
    waiting.push(work);
    policy.observe({ kind: "queued", work });
  };
  const end = (): void => {
    const ended = served.shift();
    if (ended === undefined) return;
    nowSeconds = ended.endSeconds;
    const replica = replicaOf.get(ended.replicaId);
    if (replica !== undefined) replica.inFlight -= 1;
    for (const one of replicas) one.kvUse = { state: "fresh", value: 0.8, ageSeconds: nowSeconds % 1 };
    for (const one of replicas) one.preemptions = { state: "fresh", value: 0, ageSeconds: nowSeconds % 1 };
  };
  const dispatch = (workId: string, replicaId: string): void => {
    const replica = replicaOf.get(replicaId);
    const work = waiting.find(({ id }) => id === workId);
    if (replica === undefined || work === undefined) throw new Error(`Nothing waits that is ${workId}, or no replica is ${replicaId}`);
    replica.inFlight += 1;
    policy.observe({ kind: "dispatched", workId, programId: work.programId, replicaId, nowSeconds });
    waiting = waiting.filter((one) => one !== work);
    const endSeconds = nowSeconds + lengthShare(came + releases) * (work.forecast?.requestSeconds ?? 0);
    served.splice(served.findLastIndex((one) => one.endSeconds <= endSeconds) + 1, 0, { work, replicaId, endSeconds });
  };
  const round = (): void => {
    const [ended] = served;
    end();
    const [cpuBefore, beganMs] = [process.cpuUsage(), performance.now()];
    if (ended !== undefined)
      policy.observe({ kind: "finished", workId: ended.work.id, replicaId: ended.replicaId, nowSeconds, failed: false });
    if (republishes && rounds % DECISIONS_A_PUBLICATION === 0) {
      publications += 1;
      published.publish();
      for (const work of waiting) work.forecast = published.of(work.agentKey, "model");
    }
    const actions = policy.decide({ nowSeconds, waiting, replicas });
    wallMs += performance.now() - beganMs;
    const { user, system } = process.cpuUsage(cpuBefore);
    processorMs += (user + system) / 1000;
    times[rounds % ROUNDS] = (user + system) / 1000;
    rounds += 1;
    for (const action of actions) if (action.kind === "dispatch") dispatch(action.workId, action.replicaId);
    while (waiting.length < QUEUED) join();
    releases += actions.length;
    inFlight += served.length / REPLICAS;
    if ((policy.askAgainSeconds?.() ?? null) !== null) holds += 1;
  };

  while (waiting.length < QUEUED) join();
  for (let warmUp = 0; warmUp < WARM_UP_ROUNDS; warmUp += 1) round();
  [processorMs, wallMs, releases, inFlight, holds, rounds] = [0, 0, 0, 0, 0, 0];
  for (let counted = 0; counted < ROUNDS; counted += 1) round();
  const perRound = (sum: number): number => sum / ROUNDS;
  return {
    ...{ processorMs: perRound(processorMs), wallMs: perRound(wallMs), releases: perRound(releases) },
    ...{ inFlight: perRound(inFlight), holds: perRound(holds) },
    ...{ p99Ms: quantileOfSorted(times.sort(), 0.99), slowestMs: Math.max(...times) },
  };
}

const fresh = (value: number): Reading => ({ state: "fresh", value, ageSeconds: 0 });

/** Duration of a request relative to its agent's usual one: some end early, some late. */
const lengthShare = (index: number): number => 0.5 + ((index * 7919) % 1009) / 1009;

/** Agents' figures change a little with each publication. */
const forecastAt = (agent: number, publications: number): AgentForecast => ({
  agent: `application-${agent % 3}/agent-${agent}`,
  distanceSeconds: 2 + ((agent * 5) % AGENTS) * 3.7 + ((publications * 7 + agent) % 5),
  remainingCalls: 1 + (agent % 5),
  requestSeconds: 4 + agent,
  tokensPerSecond: 40,
});

interface Waiting extends WaitingWork {
  readonly agentKey: string;
  forecast: AgentForecast | undefined;
}

interface Arriving {
  readonly nowSeconds: number;
  readonly moreTokens: number;
  readonly published: PublishedForecasts;
}

function workOf(index: number, { nowSeconds, moreTokens, published }: Arriving): Waiting {
  const agentKey = String((index * 31) % AGENTS);
  return {
    id: `request-${index}`,
    programId: `program-${index % 300}`,
    stage: 0,
    programArrivalSeconds: nowSeconds - ((index * 13) % 60),
    queuedSinceSeconds: nowSeconds,
    inputTokens: 200 + ((index * 6101) % 1800) + (index % 2 === 0 ? moreTokens : 0),
    agentKey,
    forecast: published.of(agentKey, "model"),
    state: { kind: "queued" },
  };
}
