import { best, type ComparedFigures, choose, promisedQuality } from "@/solver/cascade/choose/choose";
import { kindWithinSlack, slackApplies, slackLimit } from "@/solver/cascade/choose/slackChoice";
import type { Candidate, Exploration, Knobs } from "@/solver/cascade/explore/exploration";
import type { ComparedPolicy, PolicyChoice } from "@/solver/plan/planSlack";
import { chooseDispatch } from "./chooseDispatch";
import type { DispatchExploration, DispatchPoint } from "./dispatchExploration";

/** A candidate of some kind of policy. `candidate.routing` is an index into the exploration. */
export type PolicyCandidate = ComparedFigures &
  (
    | { readonly policy: "cascade" | "one-model"; readonly candidate: Candidate }
    | { readonly policy: "slack"; readonly point: DispatchPoint }
  );

/** The best of each kind of policy for one setting of the knobs, and of all that were asked for. */
export interface ChosenPolicy {
  /** The best of the kinds that were asked for; null where none of them meets floor and budget. */
  readonly chosen: PolicyCandidate | null;
  /** Kinds without a candidate are left out. */
  readonly bestOfEach: readonly PolicyCandidate[];
  /** The fastest at the floor among the kinds that were asked for, and the latency that the slack allows; null where no slack applies. */
  readonly slack: { readonly limitSeconds: number; readonly fastest: PolicyCandidate } | null;
}

/**
 * Chooses among kinds of policies on the same GPUs from the tables of both explorations. A slack counts from the fastest plan of the kinds
 * that were asked for.
 *
 * @param dispatch null: slack dispatch is not known, or there is none.
 * @param asked `any`: cascades, one model and slack dispatch. `cascade` includes one model alone, which is a cascade of one stage.
 * @param tau the tau to hold in slack dispatch; null: the best simulated tau is chosen.
 */
export function choosePolicy(
  { exploration, dispatch }: { readonly exploration: Exploration; readonly dispatch: DispatchExploration | null },
  knobs: Knobs,
  { asked, tau }: { readonly asked: PolicyChoice; readonly tau: number | null },
): ChosenPolicy {
  if (!slackApplies(knobs)) {
    const each = bestOfEach(knobs);
    return { chosen: pick(each, knobs.kind), bestOfEach: each, slack: null };
  }
  const { slack: _, ...without } = knobs;
  const fastest = pick(bestOfEach({ ...without, kind: "latency-under-quality" }), "latency-under-quality");
  if (fastest === null) return { chosen: null, bestOfEach: [], slack: null };
  const each = bestOfEach({ ...knobs, slackFromSeconds: fastest.latencySeconds });
  return {
    chosen: pick(each, kindWithinSlack(knobs)),
    bestOfEach: each,
    slack: { limitSeconds: slackLimit(fastest.latencySeconds, knobs), fastest },
  };

  function pick(all: readonly PolicyCandidate[], by: Knobs["kind"]): PolicyCandidate | null {
    const asking = all.filter(({ policy }) => isAsked(policy, asked));
    return best(asking, by, promisedQuality(knobs));
  }

  function bestOfEach(at: Knobs): readonly PolicyCandidate[] {
    const cascade = choose(exploration, at).chosen;
    const singles = oneModelOnly(exploration);
    const single = choose(singles.exploration, at).chosen;
    const point = dispatch === null ? null : chooseDispatch(dispatch, at, tau).chosen;
    return [
      ...(cascade === null ? [] : [ofCascade("cascade", cascade)]),
      ...(single === null ? [] : [ofCascade("one-model", { ...single, routing: singles.routings[single.routing] ?? 0 })]),
      ...(point === null ? [] : [{ policy: "slack" as const, point, ...figuresOf(point) }]),
    ];
  }
}

const ofCascade = (policy: "cascade" | "one-model", candidate: Candidate): PolicyCandidate => ({
  policy,
  candidate,
  ...figuresOf(candidate),
});

const figuresOf = ({ latencySeconds, costUsdPerRequest, quality, qualityLow }: ComparedFigures): ComparedFigures => ({
  latencySeconds,
  costUsdPerRequest,
  quality,
  qualityLow,
});

/** Whether a kind of policy is among those asked for. */
export const isAsked = (policy: ComparedPolicy["policy"], asked: PolicyChoice): boolean => asked === "any" || policy === asked;

interface OneModel {
  readonly exploration: Exploration;
  /** Index in the whole exploration of each routing. */
  readonly routings: readonly number[];
}

const kept = new WeakMap<Exploration, OneModel>();

/** The routings of one stage; kept, since an exploration never changes. */
function oneModelOnly(exploration: Exploration): OneModel {
  const known = kept.get(exploration);
  if (known !== undefined) return known;
  const routings = exploration.routings.flatMap(({ stages }, index) => (stages.length === 1 ? [index] : []));
  const made = {
    exploration: {
      ...exploration,
      routings: routings.flatMap((index) => exploration.routings[index] ?? []),
      tableOffset: Int32Array.from(routings, (index) => exploration.tableOffset[index] ?? 0),
      endToEndJudgeSeconds: Float32Array.from(routings, (index) => exploration.endToEndJudgeSeconds[index] ?? 0),
    },
    routings,
  };
  kept.set(exploration, made);
  return made;
}
