import type { GatewayRounds } from "@/server/contracts/studio";
import { MOST_REQUESTS_SHOWN } from "@/solver/policies/roundsView";
import type { Tone } from "../ui/Badge";
import { formatAge, formatCount, formatCounted, formatPercent } from "../ui/format";

export type Round = NonNullable<GatewayRounds["rounds"]>[number];

/** More requests of a round are listed only when all are asked for. */
export const MOST_ASSIGNED = 24;

/** Engines of one model before a round, as a bar from none in flight to saturation. */
export interface SlotBar {
  readonly model: string;
  readonly word: string;
  readonly tone: Tone;
  /** Shares of the bar, 0..1. */
  readonly inFlight: number;
  readonly free: number;
  readonly text: string;
}

function wordOf({ replicas, down, free }: Round["models"][number]): Pick<SlotBar, "word" | "tone"> {
  if (down) return { word: "down", tone: "bad" };
  if (replicas === 0) return { word: "takes nothing now", tone: "warn" };
  return free > 0 ? { word: "has room", tone: "good" } : { word: "full", tone: "warn" };
}

/** Decides how free slots are drawn. In flight can be beyond saturation, where an engine was given work by another policy. */
export function prepareSlots(models: Round["models"]): readonly SlotBar[] {
  return models.map((slots) => {
    const { model, replicas, inFlight, saturation, free, down } = slots;
    const top = Math.max(saturation, inFlight + free, 1);
    return {
      ...{ model, ...wordOf(slots), inFlight: inFlight / top, free: free / top },
      text: down
        ? "no engine answers"
        : `${formatCount(inFlight)} in flight, ${formatCount(free)} free, saturated from ${formatCount(saturation)} on ${formatCounted(replicas, "replica")}`,
    };
  });
}

export interface RoundRow {
  readonly key: string;
  readonly round: Round;
  readonly age: string;
  readonly weighed: string;
  readonly passedOver: string;
  /** What was carried out, by model. */
  readonly given: readonly { readonly model: string; readonly count: number }[];
  readonly gain: string;
  readonly candidates: string;
}

/** Output tokens a second that an assignment is forecast to add, as a share of those of all engines at saturation: `+0.7 %`. */
const gainText = (gain: number): string => (gain > 0 && gain < 0.0005 ? "<\u00a0+0.1\u00a0%" : `+${(100 * gain).toFixed(1)}\u00a0%`);

export const roundKey = ({ nowSeconds, weighed }: Round): string => `${nowSeconds} ${weighed}`;

/** Decides the rows of the latest rounds, newest first. `timeScale`: seconds of the rounds' clock in one of the wall, by which ages are told. */
export function prepareRounds(
  { rounds, asOfSeconds }: Pick<GatewayRounds, "rounds" | "asOfSeconds">,
  timeScale: number,
): readonly RoundRow[] {
  return (rounds ?? []).map((round, at) => {
    const carried = round.candidates[0];
    const age = formatAge(Math.max(0, asOfSeconds - round.nowSeconds) / timeScale);
    return {
      key: `${roundKey(round)} ${at}`,
      round,
      age: age === "now" ? age : `${age} ago`,
      weighed: formatCount(round.weighed),
      passedOver: formatCount(round.passedOver),
      given: round.models.flatMap(({ model }, index) => {
        const count = carried?.given[index] ?? 0;
        return count === 0 ? [] : [{ model, count }];
      }),
      gain: carried === undefined ? "–" : gainText(carried.utilisationGain),
      candidates: formatCount(round.kept),
    };
  });
}

export interface CandidateColumn {
  readonly key: string;
  readonly name: string;
  readonly gain: string;
  readonly flexibility: string;
  readonly requests: string;
}

export interface CandidatePicture {
  /** What of the round is shown, where that is not all of it. */
  readonly shown: string | null;
  readonly columns: readonly CandidateColumn[];
  readonly rows: readonly {
    readonly key: string;
    readonly programId: string;
    readonly agent: string;
    /** By column: the model, null where it waits; whether the one that was carried out has it otherwise. */
    readonly cells: readonly { readonly key: string; readonly model: string | null; readonly differs: boolean }[];
  }[];
}

/** Decides how a round's candidates stand side by side: a row for each listed request that any of them serves. */
export function prepareCandidates({ candidates, kept, requests: asked }: Round): CandidatePicture {
  const requests = new Map<string, { readonly programId: string; readonly agent: string }>();
  const byWork = candidates.map(({ assignments }) => {
    for (const { workId, programId, agent } of assignments) if (!requests.has(workId)) requests.set(workId, { programId, agent });
    return new Map(assignments.map(({ workId, model }) => [workId, model]));
  });
  const nameOf = (at: number) => (at === 0 ? "carried out" : `candidate ${at + 1}`);
  return {
    shown: shownText({ candidates: candidates.length, kept, requests: asked }),
    columns: candidates.map(({ utilisationGain, flexibility, given }, at) => ({
      ...{ key: nameOf(at), name: nameOf(at), gain: gainText(utilisationGain), flexibility: formatPercent(flexibility) },
      requests: formatCounted(
        given.reduce((sum, count) => sum + count, 0),
        "request",
      ),
    })),
    rows: Array.from(requests, ([key, { programId, agent }]) => ({
      ...{ key, programId, agent },
      cells: byWork.map((models, at) => {
        const model = models.get(key) ?? null;
        return { key: nameOf(at), model, differs: model !== (byWork[0]?.get(key) ?? null) };
      }),
    })),
  };
}

function shownText({ candidates, kept, requests }: { readonly candidates: number; readonly kept: number; readonly requests: number }) {
  const best = kept > candidates ? `the best ${candidates} of ${formatCount(kept)} candidates` : null;
  const first =
    requests > MOST_REQUESTS_SHOWN
      ? `the first ${MOST_REQUESTS_SHOWN} of ${formatCount(requests)} requests that a free engine might have served`
      : null;
  const parts = [best, first].filter((part) => part !== null);
  return parts.length === 0 ? null : `Shown are ${parts.join(" and ")}; counts are of all.`;
}

const msText = (ms: number | null): string => (ms === null ? "–" : `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)}\u00a0ms`);

/** How accurate configurations were predicted since the gateway started, as figures and in a sentence. */
export function preparePredictions(predictions: GatewayRounds["predictions"]): {
  readonly figures: readonly { readonly name: string; readonly value: string; readonly detail: string }[];
  readonly says: string;
} {
  const { whole, partial, none, meanMs, meanBudgetMs, evaluatedShare } = predictions;
  const all = whole + partial + none;
  const share = (part: number) => (all === 0 ? "no program yet" : `${formatPercent(part / all)} of programs`);
  return {
    figures: [
      { name: "Searched to the end", value: formatCount(whole), detail: share(whole) },
      { name: "Cut off", value: formatCount(partial), detail: share(partial) },
      { name: "Without prediction", value: formatCount(none), detail: share(none) },
      { name: "A search took", value: msText(meanMs), detail: `of ${msText(meanBudgetMs)} it had, in the mean` },
      { name: "Heads evaluated", value: formatPercent(evaluatedShare), detail: "of a workflow's, the rest was inferred or left" },
    ],
    says:
      all > 0 && none === all
        ? "No program had a prediction: only the largest models throughout count as accurate. Name a predictor in the plan, or look at why the gateway has none."
        : "Of a search that was cut off, what was verified by then counts; without a prediction only the largest models throughout do.",
  };
}
