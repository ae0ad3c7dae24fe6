import { secondsAt, spreadFactor } from "@/solver/judging/judgeTime";
import { minMaxAllocation } from "@/solver/milp/bisection";
import { weightedAllocation } from "@/solver/milp/weightedAllocation";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import type { StartBelow } from "@/solver/plan/directStart";
import { qualityLowerBound, selectionCritical } from "../routing/qualityBound";
import { type PlanningSample, type Routed, routePrompts } from "../routing/routing";
import { orderedSubsets } from "../routing/routingGrid";
import { latencyByGpus, latencyOfHosted } from "../tables/capacityTable";
import { askedPeers, hasJudgeRow, mixesOf, relativePercentileOf } from "../tables/deployedRows";
import { composeEndToEnd, STARVATION_LIMIT } from "../tables/endToEnd";
import { latencyOnFixedTopology } from "../tables/fixedTopology";
import { hostedUses, isCarried } from "../tables/hostedStages";
import { judgedVisits } from "../tables/judgeTables";
import type { MixTables } from "../tables/latencyTables";
import { createRowTables } from "../tables/rowTables";
import { boundFamily } from "./boundFamily";
import type { Exploration } from "./exploration";
import type { EvaluatedRouting, ExploreInput, Explorer, RoutedOutcome } from "./explorer";
import { gatherExploration } from "./gatherExploration";
import { createSearch } from "./search";

/** Maximum number of routings in an exploration: as many as the browser can choose among within a frame. */
const MAX_ROUTINGS = 1500;

/** Approximate number of prompts followed end to end per routing: with 700 the percentile is as accurate as the tables. */
const COMPOSED_PROMPTS = 700;

/** Rounds of weights and allocation; a third would change the latency by less than the tables' error. */
const WEIGHT_ROUNDS = 2;

/**
 * Evaluates cascades of a ladder on one workload, rate and mix of GPU types, so that `choose` can answer for any floor, budget and
 * GPU count: shares, quality with its bound, and latency tables by simulation (Cascadia, section 3 and algorithm 1).
 */
export function createExplorer(input: ExploreInput): Explorer {
  const { sample, maxGpus, judge, quantile } = input;
  const { tables, judging, peers, rows: rowsOf } = createRowTables(input);
  const judgedSeconds = judging === null ? judgedSecondsOf(sample, judge, mixSeed(input.seed, "judged seconds")) : null;
  // A peer answers for gates alone: as a stage it would take two parts in one cascade.
  const isStage = (model: number): boolean => peers.every(({ engine }) => engine.model !== sample.models[model]);
  const isHosted = (model: number): boolean => (input.hosted?.[model] ?? null) !== null;
  // A plan deploys something: a cascade has a stage of the cluster's own.
  const cascades = orderedSubsets(sample.models.length).filter(
    (stages) => stages.every((model) => (input.shapes[model]?.length ?? 0) > 0 && isStage(model)) && !stages.every(isHosted),
  );
  const family = [input.sample, ...(input.rivals ?? [])].flatMap((own) => boundFamily({ ...input, sample: own }, cascades));
  const critical = selectionCritical(family, {
    confidence: input.qualityConfidence,
    seed: mixSeed(input.seed, "quality bound"),
  });
  const gpuCounts = [...new Set([maxGpus, Math.max(1, Math.ceil(maxGpus / 2))])];
  let rewind: (() => void) | null = null;

  function compose(
    stages: readonly number[],
    routed: Omit<Routed, "accepted">,
    at: { seconds: readonly number[]; tables: readonly Pick<MixTables, "relativePercentile">[] },
  ) {
    // Relative latencies of a model are shared by all routings; the percentile over a stage's own requests normalises them.
    const norms = at.tables.map((own) => own.relativePercentile || 1);
    const of = { stages, routed };
    const withJudge = hasJudgeRow({ judging }, of);
    const besides = askedPeers(peers, of).flatMap((peer, index) =>
      peer.besides(of).map((own) => ({ ...own, row: stages.length + (withJudge ? 1 : 0) + index })),
    );
    const composed = composeEndToEnd({
      start: routed.start,
      exit: routed.exit,
      visits: routed.visits,
      scored: routed.scored,
      judged: routed.judged,
      relative: stages.map((model) => tables.relativeLatency(model)),
      stageSeconds: at.seconds.map((seconds, stage) => seconds / (norms[stage] ?? 1)),
      judgeSecondsPerCall: judging === null ? judge.secondsPerCall : 0,
      judgedSeconds: judgedSeconds?.({ stages, routed }),
      ...(judging === null || !withJudge ? {} : { judgedRelative: judging.relativeLatency(of) }),
      besides,
      quantile,
      stride: Math.max(1, Math.floor(sample.prompts / COMPOSED_PROMPTS)),
    });
    return { ...composed, weights: composed.weights.map((weight, stage) => weight / (norms[stage] ?? 1)) };
  }

  function evaluate(stages: readonly number[], thresholds: readonly number[], startBelow: StartBelow): EvaluatedRouting {
    const { accepted, ...routed } = routePrompts(sample, stages, thresholds, startBelow);
    const qualityLow = qualityLowerBound({ accepted, quality: routed.quality }, critical);
    return evaluateRouted({ stages, thresholds, startBelow, routed, qualityLow });
  }

  function evaluateRouted(given: RoutedOutcome): EvaluatedRouting {
    const { stages, routed, qualityLow } = given;
    const rows = rowsOf({ stages, routed });
    const own = rows.map((row) => (row.requestsPerSecond > 0 ? row.near() : null));
    const uses = hostedUses(input, { stages, routed });
    const refused = new Set(uses.filter((use) => !isCarried(use)).map(({ stage }) => stage));
    // Tables have no place for a stage on no GPU: each hosted one takes one that is there for it alone.
    const most = (gpus: number): number => gpus + uses.length;
    const stageTables = own.map((near, row) => {
      const seconds = new Float32Array(maxGpus).fill(Number.POSITIVE_INFINITY);
      if (near === null || refused.has(row)) return seconds;
      const { tables: shared, lengthFactor } = near;
      const rate = (rows[row]?.requestsPerSecond ?? 0) * lengthFactor;
      const fixed = input.fixedTopology?.[rows[row]?.index ?? 0];
      if (isHosted(rows[row]?.index ?? -1)) latencyOfHosted(shared.capacity, rate, seconds);
      else if (fixed === undefined) latencyByGpus(shared.capacity, rate, seconds);
      else latencyOnFixedTopology(shared.capacity, rate, { fixed, into: seconds });
      return seconds.map((value) => value * lengthFactor);
    });
    const present = own.flatMap((near) => (near === null ? [] : [{ relativePercentile: relativePercentileOf(near) }]));
    const base = { ...given, quality: qualityLow, tables: stageTables };
    const even = present.length === rows.length ? minMaxAllocation(stageTables, most(maxGpus)) : null;
    if (even === null) {
      const idle = { latencySeconds: Number.POSITIVE_INFINITY, quality: qualityLow };
      const none = gpuCounts.flatMap(() => [idle, idle]);
      const overloaded = present.length === rows.length;
      return { ...base, overloaded, weights: rows.map(() => 0), judgeSeconds: 0, measured: none };
    }
    let gpus = even.gpus;
    let weights: readonly number[] = [];
    let judgeSeconds = 0;
    for (let round = 0; round < WEIGHT_ROUNDS; round += 1) {
      const seconds = stageTables.map((table, stage) => table[(gpus[stage] ?? 1) - 1] ?? Number.POSITIVE_INFINITY);
      ({ weights, judgeSeconds } = compose(stages, routed, { seconds, tables: present }));
      const better = weightedAllocation(stageTables, most(maxGpus), { weights, stageLimitSeconds: STARVATION_LIMIT * even.latencySeconds });
      if (better === null || better.gpus.every((count, stage) => count === gpus[stage])) break;
      gpus = better.gpus;
    }
    const measured = gpuCounts.flatMap((count) => {
      const largest = minMaxAllocation(stageTables, most(count))?.latencySeconds ?? Number.POSITIVE_INFINITY;
      const found = weightedAllocation(stageTables, most(count), { weights, stageLimitSeconds: STARVATION_LIMIT * largest });
      const endToEnd = (found?.latencySeconds ?? Number.POSITIVE_INFINITY) + judgeSeconds;
      return [endToEnd, largest].map((latencySeconds) => ({ latencySeconds, quality: qualityLow }));
    });
    return { ...base, overloaded: false, weights, judgeSeconds, measured };
  }

  const search = createSearch<EvaluatedRouting>({
    sample,
    evaluate,
    limit: MAX_ROUTINGS,
    directStart: input.directStart !== undefined,
    cancelled: input.cancelled,
    visited: (done) => input.progress?.({ phase: "searching", done, of: null }),
    cascades,
  });

  function routing(index: number): EvaluatedRouting {
    const found = search.points[index];
    if (found === undefined) throw new Error(`no routing ${index} among ${search.points.length}`);
    return found;
  }

  return {
    input,
    tables,
    gateTables: { judge: judging?.tables ?? null, peers: peers.map((peer) => peer.tables) },
    cascades,
    search() {
      if (rewind === null) {
        search.run();
        const found = search.points.length;
        const forgetTables = tables.checkpoint();
        const forgetGates = [...(judging === null ? [] : [judging]), ...peers].map((own) => own.tables.checkpoint());
        rewind = () => {
          search.keepFirst(found);
          forgetTables();
          for (const forget of forgetGates) forget();
        };
      }
      rewind();
    },
    focus: search.focus,
    exploration: () => gatherExploration(input, search.points),
    add: search.add,
    evaluate: evaluateRouted,
    routing,
    whole(index) {
      const { stages, thresholds, startBelow } = routing(index);
      return routePrompts(sample, stages, thresholds, startBelow);
    },
    outlook(stages, thresholds, startBelow) {
      const routed = routePrompts(sample, stages, thresholds, startBelow);
      return { routed, qualityLow: qualityLowerBound(routed, critical) };
    },
    mixes: mixesOf,
    rows: rowsOf,
    compose: ({ stages, routed }, seconds, own) => compose(stages, routed, { seconds, tables: own }),
  };
}

type Judged = Parameters<typeof judgedVisits>[0];

/**
 * Seconds that the judgements of each prompt take together under an external judge with varying time, or one that gates ask for some answers
 * only. A varying time depends on the length of the judge's input and on a random factor, drawn once for each answer, so that routings are
 * compared on the same draws.
 *
 * @returns null where all answers are judged, and its time does not vary.
 */
function judgedSecondsOf(
  sample: PlanningSample,
  { secondsPerCall, variation }: Exploration["judge"],
  seed: number,
): ((of: Judged) => Float64Array) | null {
  if (variation === undefined && sample.asksJudge === undefined) return null;
  const random = seededRandom(seed);
  const perAnswer = sample.outputTokens.map((answers) =>
    Float64Array.from(answers, (answer, prompt) =>
      variation === undefined
        ? secondsPerCall
        : secondsAt(secondsPerCall, variation, (sample.inputTokens[prompt] ?? 0) + answer) * spreadFactor(random, variation),
    ),
  );
  return (of) => {
    const sums = new Float64Array(sample.prompts);
    for (const { model, prompts } of judgedVisits(of, sample))
      for (const prompt of prompts) sums[prompt] = (sums[prompt] ?? 0) + (perAnswer[model]?.[prompt] ?? 0);
    return sums;
  };
}
