import { SlotHeap } from "../collections/slotHeap";
import { type JudgeVariation, secondsAt, spreadFactor } from "../judging/judgeTime";
import { mixSeed, seededRandom } from "../numeric/random";
import { leastLoadPlace } from "../policies/places/leastLoadPlace";
import { ClusterEngines, type ClusterReplica } from "./clusterEngines";

/** A judge on separate engines: the tokens that a judgement adds to the prompt and the answer it reads, and those it writes. */
export interface JudgeEngines {
  readonly replicas: readonly ClusterReplica[];
  readonly rubricTokens: number;
  readonly outputTokens: number;
}

/** Answers in the judge's queue, on virtual time. Requests are identified by their index in the sample. */
export interface JudgeQueue {
  /** Sends an answer with so many tokens, to a prompt with so many, to the judge. */
  judge(request: number, answer: { readonly nowSeconds: number; readonly inputTokens: number; readonly outputTokens: number }): void;
  nextSeconds(): number;
  advanceTo(now: number): void;
  /** The next request that is judged by now; null when there is none. */
  takeJudged(now: number): number | null;
  /** Mean time of the judgements so far, queueing included; 0 without judgements. */
  meanSeconds(): number;
}

/** A judge with the same time for every answer, regardless of its load. */
export function fixedJudge(seconds: number): JudgeQueue {
  // In the order of finishing, as all take the same time.
  const judging: { readonly request: number; readonly atSeconds: number }[] = [];
  let judged = 0;
  const nextSeconds = (): number => judging[judged]?.atSeconds ?? Number.POSITIVE_INFINITY;
  return {
    judge: (request, { nowSeconds }) => judging.push({ request, atSeconds: nowSeconds + seconds }),
    nextSeconds,
    advanceTo: () => undefined,
    takeJudged(now) {
      if (nextSeconds() > now) return null;
      judged += 1;
      return judging[judged - 1]?.request ?? null;
    },
    meanSeconds: () => (judging.length === 0 ? 0 : seconds),
  };
}

/** A judge whose time depends on the length of its input and on a random factor, regardless of its load. */
export function varyingJudge(secondsPerCall: number, variation: JudgeVariation, requests: number): JudgeQueue {
  const random = seededRandom(mixSeed("judgements"));
  // A request has one answer with the judge at a time.
  const judging = new SlotHeap(requests);
  let judged = 0;
  let totalSeconds = 0;
  return {
    judge(request, { nowSeconds, inputTokens, outputTokens }) {
      const seconds = secondsAt(secondsPerCall, variation, inputTokens + outputTokens) * spreadFactor(random, variation);
      judging.push(request, nowSeconds + seconds, judged);
      judged += 1;
      totalSeconds += seconds;
    },
    nextSeconds: () => judging.leastKey,
    advanceTo: () => undefined,
    takeJudged: (now) => (judging.leastKey > now ? null : judging.pop()),
    meanSeconds: () => (judged === 0 ? 0 : totalSeconds / judged),
  };
}

/** A judge on its own replicas: an answer goes to the least loaded, or waits in order of arrival where all are full. */
export function engineJudge({ replicas, rubricTokens, outputTokens }: JudgeEngines, requests: number): JudgeQueue {
  const inputTokens = new Int32Array(requests);
  const sentSeconds = new Float64Array(requests);
  const engines = new ClusterEngines(replicas, inputTokens);
  const capacity = Int32Array.from(replicas, ({ maxInFlight }) => maxInFlight);
  const inFlight = new Int32Array(replicas.length);
  const slots = { model: replicas[0]?.model ?? "", replicaIds: replicas.map(({ id }) => id), inFlight, capacity };
  const waiting: number[] = [];
  let served = 0;
  let judged = 0;
  let totalSeconds = 0;

  function dispatch(now: number): void {
    for (let request = waiting[served]; request !== undefined; request = waiting[served]) {
      for (const [index, { inFlight: own }] of engines.views.entries()) inFlight[index] = own;
      const view = engines.views[leastLoadPlace.choose(slots)];
      if (view === undefined) return;
      served += 1;
      // An answer that exceeds the judge's cache is never judged: its request stays unserved.
      if (!engines.dispatch(request, view.id, { atSeconds: now, outputTokens })) engines.release(request);
    }
  }

  return {
    judge(request, { nowSeconds, inputTokens: prompt, outputTokens: answer }) {
      inputTokens[request] = prompt + answer + rubricTokens;
      sentSeconds[request] = nowSeconds;
      waiting.push(request);
      dispatch(nowSeconds);
    },
    nextSeconds: () => engines.nextSeconds(),
    advanceTo: (now) => engines.advanceTo(now),
    takeJudged(now) {
      const request = engines.takeAnswered(now);
      if (request === null) return null;
      engines.release(request);
      judged += 1;
      totalSeconds += now - (sentSeconds[request] ?? now);
      dispatch(now);
      return request;
    },
    meanSeconds: () => (judged === 0 ? 0 : totalSeconds / judged),
  };
}
