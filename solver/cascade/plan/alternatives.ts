import type { Alternative } from "@/solver/plan/plan";
import { boundText, counted, secondsText, usdText } from "@/solver/wording/wording";
import { best, promisedQuality } from "../choose/choose";
import { unservedSays } from "../choose/unservedSays";
import type { DeployedStage } from "../deploy/deployedStage";
import type { Finalist } from "../deploy/finalist";
import type { Candidate, Exploration, Knobs } from "../explore/exploration";

/** Number of alternatives in a plan: single models first, then the cascades that came closest. */
const MAX_LISTED = 8;

type Verified = Pick<Finalist, "routing" | "verifiedSeconds">;

interface Weighed {
  readonly exploration: Exploration;
  readonly candidates: readonly Candidate[];
  readonly knobs: Knobs;
  readonly finalist: Verified & { readonly deployment: readonly Pick<DeployedStage, "gpus">[] };
  /** All that were simulated whole. */
  readonly verified: readonly Verified[];
  /** Under constraints: all candidates as they would be without, and those of them that the constraints rule out. */
  readonly undeployed?: { readonly candidates: readonly Candidate[]; readonly refused: readonly Candidate[] };
}

/** The other cascades of the ladder at their best, each with the reason why it was not chosen, and the comparison in sentences. */
export function alternativesTo(weighed: Weighed): { readonly list: Alternative[]; readonly why: string[] } {
  const { exploration, candidates, finalist, undeployed } = weighed;
  const stagesOf = (routing: number): readonly number[] => exploration.routings[routing]?.stages ?? [];
  const named = (stages: readonly number[]): string => stages.map((model) => exploration.models[model] ?? "").join(" > ");
  const chosen = stagesOf(finalist.routing);
  const keyOf = ({ routing }: Candidate): string => stagesOf(routing).join("-");
  const groupsOf = (all: readonly Candidate[], without: ReadonlySet<string>): ReadonlyMap<string, readonly Candidate[]> => {
    const groups = new Map<string, Candidate[]>();
    for (const candidate of all) {
      const key = keyOf(candidate);
      if (!without.has(key)) groups.set(key, [...(groups.get(key) ?? []), candidate]);
    }
    return groups;
  };
  const groups = groupsOf(candidates, new Set([chosen.join("-")]));
  const refused = groupsOf(undeployed?.refused ?? [], new Set([chosen.join("-"), ...groups.keys()]));
  const free = groupsOf(undeployed?.candidates ?? [], new Set([chosen.join("-"), ...groups.keys(), ...refused.keys()]));
  const others = [
    ...[...groups.values()].map((own) => verdictOn(own, weighed)),
    ...[...refused.values()].flatMap(([candidate]) => (candidate === undefined ? [] : [ruledOut(candidate)])),
    ...[...free.values()].map((own) => {
      const verdict = verdictOn(own, weighed);
      return verdict === null ? null : { ...verdict, reason: `${verdict.reason}, even without the constraints` };
    }),
  ].flatMap((verdict) => verdict ?? []);
  others.sort((a, b) => a.rank - b.rank);
  const list = others.slice(0, MAX_LISTED).map(({ candidate, reason }) => {
    const { thresholds = [], startBelow = 0 } = exploration.routings[candidate.routing] ?? {};
    return {
      stages: stagesOf(candidate.routing).map((model) => exploration.models[model] ?? ""),
      thresholds: [...thresholds],
      ...(startBelow === 0 ? {} : { startBelow: typeof startBelow === "number" ? startBelow : [...startBelow] }),
      quality: candidate.quality,
      p95Seconds: candidate.latencySeconds < Number.POSITIVE_INFINITY ? candidate.latencySeconds : null,
      gpus: candidate.gpusTotal,
      reason,
    };
  });
  const why = others
    .filter(({ candidate, simulated }) => simulated || (chosen.length === 1) !== (stagesOf(candidate.routing).length === 1))
    .map(({ candidate, reason }) => `${named(stagesOf(candidate.routing))}: ${reason}`);
  if (chosen.length === 1) why.unshift(oneModelWins(named(chosen), others[0]?.candidate ?? null, weighed));
  return { list, why };
}

interface Verdict {
  readonly candidate: Candidate;
  readonly reason: string;
  /** True when its latency is that of a whole simulation, not of the tables. */
  readonly simulated: boolean;
  /** Ascending: closer to winning first. */
  readonly rank: number;
}

const ruledOut = (candidate: Candidate): Verdict => ({
  candidate: { ...candidate, latencySeconds: Number.POSITIVE_INFINITY },
  reason: "no deployment of it that was tried keeps the constraints",
  simulated: false,
  rank: 1e5,
});

function verdictOn(own: readonly Candidate[], weighed: Weighed): Verdict | null {
  const { knobs, finalist, exploration } = weighed;
  const quality = promisedQuality(knobs);
  const simulated = false;
  const floor = knobs.qualityFloor ?? 0;
  const budget = knobs.latencyBudgetSeconds ?? Number.POSITIVE_INFINITY;
  const serving = own.filter((candidate) => candidate.latencySeconds < Number.POSITIVE_INFINITY);
  const rival = simulatedWhole(own, weighed);
  if (rival !== null) return rival;
  const meets = best(
    serving.filter((candidate) => quality(candidate) >= floor && candidate.latencySeconds <= budget),
    knobs.kind,
    quality,
  );
  if (meets !== null) {
    const { latencySeconds, costUsdPerRequest, gpusTotal } = meets;
    const verdicts = {
      "latency-under-quality": {
        reason: `${secondsText(latencySeconds)} by the tables, against ${secondsText(finalist.verifiedSeconds)} of this plan`,
        rank: latencySeconds,
      },
      "quality-under-latency": { reason: `a quality of ${boundText(quality(meets))} within the budget`, rank: 100 - quality(meets) },
      "cost-under-both": { reason: `${usdText(costUsdPerRequest)} on ${counted(gpusTotal, "GPU")} by the tables`, rank: costUsdPerRequest },
    };
    return { candidate: meets, simulated, ...verdicts[knobs.kind] };
  }
  const highest = best(serving, "quality-under-latency", quality);
  if (highest === null) {
    const idle = best(own, "quality-under-latency", quality);
    if (idle === null) return null;
    return { candidate: idle, reason: unservedSays(idle.routing, exploration, knobs), simulated, rank: 1e6 - quality(idle) };
  }
  const bound = knobs.qualityConfidence === null ? "" : " as a lower bound";
  if (quality(highest) < floor)
    return {
      candidate: highest,
      reason: `reaches a quality of ${boundText(quality(highest))} at most${bound}, under the floor of ${floor}`,
      simulated,
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
    reason: `takes ${secondsText(fastest.latencySeconds)}, over the budget of ${secondsText(budget)}`,
    simulated,
    rank: 1e3 + fastest.latencySeconds,
  };
}

/** The verdict on a cascade that was simulated whole and came out slower than the plan; null where none was. */
function simulatedWhole(own: readonly Candidate[], { knobs, finalist, verified }: Weighed): Verdict | null {
  if (knobs.kind !== "latency-under-quality") return null;
  const rivals = verified.flatMap(({ routing, verifiedSeconds }) => {
    const candidate = own.find((one) => one.routing === routing);
    return candidate === undefined ? [] : [{ ...candidate, latencySeconds: verifiedSeconds }];
  });
  const candidate = best(rivals, knobs.kind, promisedQuality(knobs));
  if (candidate === null) return null;
  const more = secondsText(candidate.latencySeconds - finalist.verifiedSeconds);
  const reason = `${secondsText(candidate.latencySeconds)} simulated whole, ${more} more than this plan`;
  return { candidate, reason, simulated: true, rank: candidate.latencySeconds };
}

function oneModelWins(name: string, next: Candidate | null, { exploration, finalist, knobs }: Weighed): string {
  const promise = knobs.qualityFloor === null ? "" : ` meets the floor of ${knobs.qualityFloor} and`;
  return `One model alone wins: ${name}${promise} answers within ${secondsText(finalist.verifiedSeconds)} on ${counted(
    finalist.deployment.reduce((sum, { gpus }) => sum + gpus, 0),
    "GPU",
  )}; ${rest()}.`;

  function rest(): string {
    if (next === null) return exploration.models.length === 1 ? "the ladder has no other model" : "no other could be deployed as asked";
    if (next.latencySeconds === Number.POSITIVE_INFINITY) return "nothing else sustains the load";
    const slower = `the next best takes ${secondsText(next.latencySeconds)}`;
    if ((exploration.routings[next.routing]?.stages.length ?? 1) === 1) return slower;
    return `${slower}: in a cascade every request that is sent on also waits for the smaller model and the judge`;
  }
}
