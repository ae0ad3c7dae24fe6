import type { Tone } from "@/components/ui/Badge";
import { formatAge, formatClock, formatCount, formatCounted, formatPercent } from "@/components/ui/format";
import type { GatewayRounds } from "@/server/contracts/studio";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { MOST_REQUESTS_SHOWN, type WorthTerms } from "@/solver/policies/core/roundsView";

export type Round = NonNullable<GatewayRounds["rounds"]>[number];

/** More requests of a round are listed only on demand. */
export const MOST_ASSIGNED = 24;

/** How many rounds with several candidates are kept after newer ones push them out of the gateway's answer. */
export const MOST_KEPT = 4;

/** Wall seconds after which the engines' state before the latest round is outdated. */
const PAST_SECONDS = 5;

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

function wordOf({ replicas, down, free }: Round["models"][number], isPast: boolean): Pick<SlotBar, "word" | "tone"> {
  if (down) return { word: isPast ? "was down" : "down", tone: "bad" };
  if (replicas === 0) return { word: isPast ? "took nothing" : "takes nothing now", tone: "warn" };
  if (free > 0) return { word: isPast ? "had room" : "has room", tone: "good" };
  return { word: isPast ? "was full" : "full", tone: "warn" };
}

/** Whether a round is so old that its engine states are past: engine states are reported only with rounds. */
export const isPastRound = (ageSeconds: number): boolean => ageSeconds > PAST_SECONDS;

/**
 * Prepares the display of free slots, in the past tense where the round is past. The number in flight can exceed saturation, where an
 * engine got requests from another policy.
 */
export function prepareSlots(models: Round["models"], isPast: boolean): readonly SlotBar[] {
  return models.map((slots) => {
    const { model, replicas, inFlight, saturation, free, down } = slots;
    const top = Math.max(saturation, inFlight + free, 1);
    return {
      ...{ model, ...wordOf(slots, isPast), inFlight: inFlight / top, free: free / top },
      text: down
        ? `no engine ${isPast ? "answered" : "answers"}`
        : `${formatCount(inFlight)} ${isPast ? "were in flight" : "in flight"}, ${formatCount(free)} free, saturated from ${formatCount(saturation)} on ${formatCounted(replicas, "replica")}`,
    };
  });
}

export interface RoundRow {
  readonly key: string;
  readonly round: Round;
  /** Its wall-clock time to a tenth of a second: rounds under load are milliseconds apart. */
  readonly clock: string;
  readonly age: string;
  readonly ageSeconds: number;
  /** Its name in the list, for screen readers. */
  readonly says: string;
  readonly weighed: string;
  readonly passedOver: string;
  /** The applied assignment, by model. */
  readonly given: readonly { readonly model: string; readonly count: number }[];
  readonly gain: string;
  readonly candidates: string;
}

/** Output tokens per second that an assignment is forecast to add, as a share of those of all engines at saturation: `+0.7 %`. */
const gainText = (gain: number): string => (gain > 0 && gain < 0.0005 ? "<\u00a0+0.1\u00a0%" : `+${(100 * gain).toFixed(1)}\u00a0%`);

/** Whether a policy's rounds choose by worth: they have one assignment each. */
export const isByWorth = (policy: PolicyDocument | null): boolean => policy?.kind === "just-in-time" && policy.selection.kind === "worth";

export const roundKey = ({ nowSeconds, weighed }: Round): string => `${nowSeconds} ${weighed}`;

/**
 * The newest known rounds with several candidates that `rounds` no longer has, newest first; only those made a choice.
 * `kept` itself where there are no new ones.
 */
export function keepContested(
  kept: readonly Round[],
  { rounds, asOfSeconds }: Pick<GatewayRounds, "rounds" | "asOfSeconds">,
): readonly Round[] {
  // A restarted gateway resets its clock.
  const has = ({ nowSeconds }: Round) => nowSeconds <= asOfSeconds;
  const old = kept.filter(has);
  const known = new Set(old.map(roundKey));
  const fresh = (rounds ?? []).filter((round) => has(round) && round.candidates.length > 1 && !known.has(roundKey(round)));
  const next = [...old, ...fresh].toSorted((a, b) => b.nowSeconds - a.nowSeconds).slice(0, MOST_KEPT);
  return next.length === kept.length && next.every((round, at) => round === kept[at]) ? kept : next;
}

/** The latest rounds, followed by the kept earlier ones. */
export function listedRounds(rounds: GatewayRounds["rounds"], kept: readonly Round[]): readonly Round[] {
  const told = new Set((rounds ?? []).map(roundKey));
  return [...(rounds ?? []), ...kept.filter((round) => !told.has(roundKey(round)))];
}

/** A gateway's answer, with its time of arrival and the scale of its clock. */
export interface RoundsAnswer extends Pick<GatewayRounds, "asOfSeconds"> {
  /** Unix milliseconds. */
  readonly atMs: number;
  /** Seconds of the rounds' clock per wall second. */
  readonly timeScale: number;
}

/** Prepares the rows of rounds, newest first. */
export function prepareRounds(rounds: readonly Round[], { asOfSeconds, atMs, timeScale }: RoundsAnswer): readonly RoundRow[] {
  return rounds.map((round, at) => {
    const carried = round.candidates[0];
    const ageSeconds = Math.max(0, asOfSeconds - round.nowSeconds) / timeScale;
    const age = formatAge(ageSeconds);
    const wasMs = atMs - 1000 * ageSeconds;
    const clock = `${formatClock(new Date(wasMs).toISOString())}.${Math.floor((wasMs % 1000) / 100)}`;
    return {
      key: `${roundKey(round)} ${at}`,
      round,
      ...{ clock, ageSeconds, age: age === "now" ? age : `${age} ago` },
      says: `round ${at + 1} of ${rounds.length}, at ${clock}`,
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

interface CandidateColumn {
  readonly key: string;
  readonly name: string;
  readonly gain: string;
  readonly flexibility: string;
  readonly requests: string;
}

export interface CandidatePicture {
  /** Which part of the round is shown, if not all of it. */
  readonly shown: string | null;
  readonly columns: readonly CandidateColumn[];
  readonly rows: readonly {
    readonly key: string;
    readonly programId: string;
    /** `undeclared`: a request of no declared workflow has none. */
    readonly agent: string;
    /** By column: the model, null where the request waits; whether it differs from the applied assignment; why, where worth chose it. */
    readonly cells: readonly {
      readonly key: string;
      readonly model: string | null;
      readonly differs: boolean;
      readonly terms: string | null;
    }[];
  }[];
}

/** Prepares a round's candidates side by side: a row for each listed request that any of them serves. */
export function prepareCandidates({ candidates, kept, requests: asked }: Round): CandidatePicture {
  const requests = new Map<string, { readonly programId: string; readonly agent: string }>();
  const byWork = candidates.map(({ assignments }) => {
    for (const { workId, programId, agent } of assignments) if (!requests.has(workId)) requests.set(workId, { programId, agent });
    return new Map(assignments.map((assigned) => [assigned.workId, assigned]));
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
      ...{ key, programId, agent: agent === "" ? "undeclared" : agent },
      cells: byWork.map((assigned, at) => {
        const { model = null, terms } = assigned.get(key) ?? {};
        const differs = model !== (byWork[0]?.get(key)?.model ?? null);
        return { key: nameOf(at), model, differs, terms: terms === undefined ? null : termsText(terms) };
      }),
    })),
  };
}

/** The terms of a worth in words; those that are 0 are left out, but for the latency. */
function termsText({ surenessSeconds, latencySeconds, priceSeconds, planPriceSeconds, restSeconds }: WorthTerms): string {
  const seconds = (value: number): string => `${value.toFixed(2)} s`;
  return [
    `answers in ${seconds(latencySeconds)}`,
    ...(priceSeconds === 0 ? [] : [`delays others by ${seconds(priceSeconds)}`]),
    ...(planPriceSeconds === 0 ? [] : [`price of its tokens ${seconds(planPriceSeconds)}`]),
    ...(restSeconds === 0 ? [] : [`leaves ${seconds(restSeconds)} to do`]),
    ...(surenessSeconds === 0 ? [] : [`likely right, worth ${seconds(surenessSeconds)}`]),
  ].join(", ");
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
