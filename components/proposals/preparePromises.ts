import type { PlanInput, PlanPromise, PromiseReport } from "@/server/contracts/studio";
import type { Tone } from "../ui/Badge";
import {
  ABSENT,
  formatClock,
  formatCount,
  formatCounted,
  formatPercent,
  formatPercentSpan,
  formatRate,
  formatScore,
  formatScoreSpan,
  formatSeconds,
  formatSecondsSpan,
  formatUsd,
} from "../ui/format";

export interface PromiseRow {
  readonly name: string;
  readonly promised: string;
  readonly measured: string;
  /** The sampling interval of the measured value; empty where it is counted exactly. */
  readonly interval: string;
  readonly verdict: string;
  readonly tone: Tone;
  readonly reason: string;
}

export interface InputRow {
  readonly name: string;
  readonly planned: string;
  readonly now: string;
  readonly distance: string;
  readonly word: string;
  readonly tone: Tone;
}

/** The overall state of the plan in force. */
export interface PromiseStanding {
  readonly word: string;
  readonly tone: Tone;
  /** One line. */
  readonly says: string;
  /** Whether there is nothing to investigate. */
  readonly calm: boolean;
  /** Whether another plan may suit the measured traffic better. */
  readonly offers: boolean;
}

type Ends = { readonly low: number; readonly high: number };

interface ToneWord {
  readonly word: string;
  readonly tone: Tone;
}

const verdictWords: Readonly<Record<PlanPromise["verdict"], ToneWord>> = {
  kept: { word: "on target", tone: "good" },
  broken: { word: "off target", tone: "bad" },
  "too little measured": { word: "too little data", tone: "neutral" },
  "not comparable": { word: "not comparable", tone: "neutral" },
};

const inputWords: Readonly<Record<PlanInput["state"], ToneWord>> = {
  drifted: { word: "drifted", tone: "warn" },
  moved: { word: "changed", tone: "warn" },
  "as planned": { word: "as planned", tone: "good" },
  "too little seen": { word: "too little data", tone: "neutral" },
};

const values: Readonly<Record<PlanPromise["kind"], (value: number | null) => string>> = {
  seconds: formatSeconds,
  score: formatScore,
  share: formatPercent,
  usd: formatUsd,
};

const spans: Readonly<Record<PlanPromise["kind"], (ends: Ends) => string>> = {
  seconds: formatSecondsSpan,
  score: formatScoreSpan,
  share: formatPercentSpan,
  usd: ({ low, high }) => `${formatUsd(low)} to ${formatUsd(high)}`,
};

const withUnit = (text: string, unit: string): string => (text === ABSENT ? text : `${text} ${unit}`);

const inputValues: Readonly<Record<PlanInput["kind"], (value: number | null) => string>> = {
  rate: formatRate,
  tokens: (value) => withUnit(formatCount(value), "tokens"),
  score: (value) => withUnit(formatScore(value), "points"),
  "judge-time": formatSeconds,
  "token-time": formatSeconds,
  engines: formatCount,
};

/** The promised next to the measured value, in words. A cost is compared with an upper end only. */
export function besideMeasured({
  kind,
  promised,
  band,
  measured,
  interval,
}: Pick<PlanPromise, "kind" | "promised" | "band" | "measured" | "interval">): Pick<PromiseRow, "promised" | "measured" | "interval"> {
  const within = band === null ? "" : kind === "usd" ? ` (up to ${formatUsd(band.high)})` : ` (${spans[kind](band)})`;
  return {
    promised: `${values[kind](promised)}${within}`,
    measured: values[kind](measured),
    interval: interval === null ? "" : spans[kind]({ low: Math.max(0, interval.low), high: interval.high }),
  };
}

/** Each prediction with its measured value. */
export function promiseRows({ promises }: Pick<PromiseReport, "promises">): readonly PromiseRow[] {
  return promises.map((promise) => {
    const { name, verdict, reason } = promise;
    const { word, tone } = verdictWords[verdict];
    return { name, verdict: word, reason, tone, ...besideMeasured(promise) };
  });
}

/** The inputs of the promises, planned and now; distances are in units of the limit, to two digits: from 1 on it is drift. */
export function inputRows({ inputs }: Pick<PromiseReport, "inputs">): readonly InputRow[] {
  return inputs.map(({ name, kind, planned, now, level, state }) => ({
    name,
    // Drift is reported after several windows beyond the limit.
    ...(state === "as planned" && level !== null && level >= 1
      ? { word: "over the limit, not confirmed yet", tone: "warn" as const }
      : inputWords[state]),
    planned: inputValues[kind](planned),
    now: inputValues[kind](now),
    distance: level === null ? ABSENT : `${level.toFixed(2)} × the limit`,
  }));
}

/** Requests with an answer, and how many had none where some failed: `1,234 answered requests and 12 that failed`. */
const requestsText = ({ requests, failed }: Pick<PromiseReport, "requests" | "failed">): string =>
  failed === 0
    ? formatCounted(requests, "request")
    : `${formatCounted(requests, "answered request")} and ${formatCount(failed)} that failed`;

export function standingOf({ promises, inputs, notComparable, requests, failed, windowSeconds }: PromiseReport): PromiseStanding {
  const changed = inputs.filter(({ state }) => state === "drifted" || state === "moved");
  const moved = changed.map(({ name }) => name);
  const inputsSay = moved.length === 0 ? "" : ` Changed since planning: ${moved.join(", ")}.`;
  const count = (verdict: PlanPromise["verdict"]): number => promises.filter((promise) => promise.verdict === verdict).length;
  // Slow or missing engines are not traffic to plan for.
  const offers = changed.some(({ kind }) => kind === "rate" || kind === "tokens" || kind === "score");
  if (notComparable !== null) return { word: "not comparable", tone: "neutral", says: notComparable, calm: false, offers: false };
  const [broken, kept, early] = [count("broken"), count("kept"), count("too little measured")];
  if (broken > 0) {
    const word = `${broken} of ${promises.length} figures off target`;
    return { word, tone: "bad", says: `${kept} of ${promises.length} are on target.${inputsSay}`, calm: false, offers };
  }
  if (kept === 0) {
    const says = `Too little data yet: ${requestsText({ requests, failed })} in ${formatSeconds(windowSeconds)}.${inputsSay}`;
    return { word: "too little data", tone: "neutral", says, calm: false, offers };
  }
  const apart = promises.filter(({ verdict }) => verdict === "not comparable").map(({ name }) => name);
  const othersSay = [
    ...(early === 0 ? [] : [`too little data for ${early === 1 ? "one" : early}`]),
    ...(apart.length === 0 ? [] : [`${apart.join(", ")} is not comparable`]),
  ];
  const keptSays =
    othersSay.length === 0
      ? `All ${promises.length} figures are on target.`
      : `${kept} of ${promises.length} figures are on target; ${othersSay.join(", and ")}.`;
  const [word, tone] = moved.length > 0 ? (["on target; traffic changed", "warn"] as const) : (["on target", "good"] as const);
  return { word, tone, says: `${keptSays}${inputsSay}`, calm: moved.length === 0, offers };
}

/** The limits of measurements on emulated engines, as a word and a sentence; null where engines are real. */
export function emulatedSays({
  emulated,
  emulatedAsPlanned,
}: Pick<PromiseReport, "emulated" | "emulatedAsPlanned">): { readonly word: string; readonly says: string } | null {
  if (!emulated) return null;
  return emulatedAsPlanned
    ? {
        word: "emulated as planned",
        says: "The engines are emulated and follow the planner's own model: meeting the predictions shows nothing about real engines.",
      }
    : {
        word: "emulated",
        says: "The engines are emulated: these measurements are modelled timing with deviations that the planner does not see, and show nothing about real engines.",
      };
}

/** The basis of the figures. */
export function promiseWindowSays({ requests, failed, windowSeconds, drift: { last, windowSeconds: tested } }: PromiseReport): string {
  const judged = last === null ? "none ended yet" : `the last ${formatClock(last.at)}`;
  return `${requestsText({ requests, failed })} in ${formatSeconds(windowSeconds)}; drift by windows of ${formatSeconds(tested)}, ${judged}`;
}
