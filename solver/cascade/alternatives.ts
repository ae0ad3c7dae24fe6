import type { Alternative } from "../plan/plan";
import { best, promisedQuality } from "./choose";
import type { Candidate, Exploration, Knobs } from "./exploration";
import type { Finalist } from "./finalist";

/** Alternatives a plan lists: single models first, then the cascades that came closest. */
const MAX_LISTED = 8;

interface Weighed {
  readonly exploration: Exploration;
  readonly candidates: readonly Candidate[];
  readonly knobs: Knobs;
  readonly finalist: Finalist;
}

/** The other cascades of the ladder at their best, each with the reason why it lost, and the comparison in sentences. */
export function alternativesTo(weighed: Weighed): { readonly list: Alternative[]; readonly why: string[] } {
  const { exploration, candidates, knobs, finalist } = weighed;
  const stagesOf = (routing: number): readonly number[] => exploration.routings[routing]?.stages ?? [];
  const named = (stages: readonly number[]): string => stages.map((model) => exploration.models[model] ?? "").join(" > ");
  const chosen = stagesOf(finalist.routing);
  const groups = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    const key = stagesOf(candidate.routing).join("-");
    if (key === chosen.join("-")) continue;
    groups.set(key, [...(groups.get(key) ?? []), candidate]);
  }
  const others = [...groups.values()].flatMap((own) => {
    const verdict = verdictOn(own, weighed);
    return verdict === null ? [] : [verdict];
  });
  others.sort((a, b) => a.rank - b.rank);
  const list = others.slice(0, MAX_LISTED).map(({ candidate, reason }) => ({
    stages: stagesOf(candidate.routing).map((model) => exploration.models[model] ?? ""),
    thresholds: [...(exploration.routings[candidate.routing]?.thresholds ?? [])],
    quality: candidate.quality,
    p95Seconds: candidate.latencySeconds < Number.POSITIVE_INFINITY ? candidate.latencySeconds : null,
    gpus: candidate.gpusTotal,
    reason,
  }));
  const why = others
    .filter(({ candidate }) => (chosen.length === 1) !== (stagesOf(candidate.routing).length === 1))
    .map(({ candidate, reason }) => `${named(stagesOf(candidate.routing))}: ${reason}`);
  if (chosen.length === 1) why.unshift(oneModelWins(named(chosen), others[0]?.candidate ?? null, finalist, knobs));
  return { list, why };
}

interface Verdict {
  readonly candidate: Candidate;
  readonly reason: string;
  /** Ascending: closer to winning first. */
  readonly rank: number;
}

const seconds = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(1)} s`;

function verdictOn(own: readonly Candidate[], { knobs, finalist, exploration }: Weighed): Verdict | null {
  const quality = promisedQuality(knobs);
  const floor = knobs.qualityFloor ?? 0;
  const budget = knobs.latencyBudgetSeconds ?? Number.POSITIVE_INFINITY;
  const serving = own.filter((candidate) => candidate.latencySeconds < Number.POSITIVE_INFINITY);
  const meets = best(
    serving.filter((candidate) => quality(candidate) >= floor && candidate.latencySeconds <= budget),
    knobs.kind,
    quality,
  );
  if (meets !== null) {
    const reason =
      knobs.kind === "latency-under-quality"
        ? `${seconds(meets.latencySeconds)} by the tables, against ${seconds(finalist.verifiedSeconds)} of this plan`
        : `a quality of ${quality(meets).toFixed(1)} within the budget`;
    return { candidate: meets, reason, rank: knobs.kind === "latency-under-quality" ? meets.latencySeconds : 100 - quality(meets) };
  }
  const highest = best(serving, "quality-under-latency", quality);
  if (highest === null) {
    const idle = best(own, "quality-under-latency", quality);
    if (idle === null) return null;
    const reason = `does not keep up with ${exploration.requestsPerSecond} requests/s on ${knobs.maxGpus} GPUs`;
    return { candidate: idle, reason, rank: 1e6 - quality(idle) };
  }
  const bound = knobs.qualityConfidence === null ? "" : " as a lower bound";
  if (quality(highest) < floor)
    return {
      candidate: highest,
      reason: `reaches a quality of ${quality(highest).toFixed(1)} at most${bound}, under the floor of ${floor}`,
      rank: 1e4 + floor - quality(highest),
    };
  const fastest = best(
    serving.filter((candidate) => quality(candidate) >= floor),
    "latency-under-quality",
    quality,
  );
  if (fastest === null) return null;
  return {
    candidate: fastest,
    reason: `takes ${seconds(fastest.latencySeconds)}, over the budget of ${seconds(budget)}`,
    rank: 1e3 + fastest.latencySeconds,
  };
}

function oneModelWins(name: string, next: Candidate | null, finalist: Finalist, knobs: Knobs): string {
  const promise = knobs.qualityFloor === null ? "" : ` meets the floor of ${knobs.qualityFloor} and`;
  const rest =
    next === null || next.latencySeconds === Number.POSITIVE_INFINITY
      ? "no cascade comes near"
      : `the next best takes ${seconds(next.latencySeconds)}: in a cascade every request that is sent on also waits for the smaller model and the judge`;
  return `One model alone wins: ${name}${promise} answers within ${seconds(finalist.verifiedSeconds)} with all GPUs to itself; ${rest}.`;
}
