import type { Tone } from "@/components/ui/Badge";
import { formatClock, formatCount, formatCounted, formatDate, formatPercent, formatSeconds } from "@/components/ui/format";
import type { EnsembleCall, EnsembleCounts, EnsembleOutcome, KeptEnsemble, ServedEnsemble } from "@/server/contracts/studio";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { formatTau } from "@/solver/ensemble/gate/tauText";
import { byAgreement, votesInWords } from "../gate/prepareBuckets";
import type { GateFigure } from "../gate/prepareGate";
import type { PredictedSkips } from "./predictSkips";

const outcomes: readonly EnsembleOutcome[] = ["skipped", "aggregated", "aggregator-failed", "failed"];

const outcomeWords: Readonly<Record<EnsembleOutcome, { readonly word: string; readonly tone: Tone }>> = {
  skipped: { word: "aggregator skipped", tone: "good" },
  aggregated: { word: "aggregated", tone: "neutral" },
  "aggregator-failed": { word: "aggregator failed, leading answer", tone: "warn" },
  failed: { word: "no answer", tone: "bad" },
};

const ofRequests = (count: number, requests: number): string => formatPercent(requests === 0 ? null : count / requests);

const dateOf = (unixMs: number): string => formatDate(new Date(unixMs).toISOString());

/** Counts at the tau in force, for the head of an ensemble. @param predicted a sample's share of skips at this tau. */
export function onlineFigures(
  { inForce, ensemble, decidesAfterSeconds }: Pick<ServedEnsemble, "inForce" | "ensemble" | "decidesAfterSeconds">,
  predicted: PredictedSkips,
): readonly GateFigure[] {
  const { requests, outcomes: counts, atDeadline, belowQuorum, sinceMs } = inForce;
  const skipped = counts.skipped ?? 0;
  return [
    { name: "Requests at this tau", value: formatCount(requests), detail: `since ${dateOf(sinceMs)}` },
    {
      name: "Skipped at this tau",
      value: ofRequests(skipped, requests),
      detail: `the aggregator, for ${formatCounted(skipped, "request")}`,
    },
    { name: "Predicted at this tau", ...predicted },
    {
      name: "Decided at the deadline",
      value: ofRequests(atDeadline, requests),
      detail: `after ${formatSeconds(decidesAfterSeconds)}`,
    },
    {
      name: "Below the quorum",
      value: formatCount(belowQuorum),
      detail: `of ${ensemble.quorum}: experts late or failed`,
    },
    {
      name: "No answer",
      value: formatCount(counts.failed ?? 0),
      detail: `${formatCount(counts["aggregator-failed"] ?? 0)} more without the aggregator`,
    },
  ];
}

/** Counts over all values of tau that were in force, in a sentence. */
export function onlineTotals({ requests, outcomes: counts, sinceMs }: EnsembleCounts): string {
  const skipped = counts.skipped ?? 0;
  return `Since ${dateOf(sinceMs)} by the gateway's clock, under every tau: ${formatCounted(requests, "request")}, of which ${ofRequests(skipped, requests)} skipped the aggregator by the tau in force then.`;
}

export interface ShareRow {
  readonly key: string;
  readonly word: string;
  readonly tone: Tone;
  readonly count: number;
  readonly share: number;
}

/** Outcomes of requests that occurred. */
export const outcomeRows = ({ requests, outcomes: counts }: Pick<EnsembleCounts, "requests" | "outcomes">): readonly ShareRow[] =>
  outcomes.flatMap((outcome) => {
    const count = counts[outcome] ?? 0;
    return count === 0 ? [] : [{ key: outcome, ...outcomeWords[outcome], count, share: requests === 0 ? 0 : count / requests }];
  });

export interface LiveBucket {
  readonly votes: string;
  readonly words: string;
  readonly requests: number;
  readonly share: number;
  /** Of all requests: the part of the bar that is filled. */
  readonly skippedShare: number;
  /** Of the bucket's requests. */
  readonly skipped: string;
}

/** Requests at the tau in force by how experts voted, most agreement first. */
export function liveBuckets({ inForce: { votes }, ensemble }: Pick<ServedEnsemble, "inForce" | "ensemble">): readonly LiveBucket[] {
  const all = Object.values(votes).reduce((sum, { requests }) => sum + requests, 0);
  return Object.entries(votes)
    .toSorted(([a], [b]) => byAgreement(a, b))
    .map(([key, { requests, skipped, early }]) => ({
      votes: key,
      words: votesInWords(key, ensemble.expertsPerQuestion, lackingWords(requests, early)),
      requests,
      share: all === 0 ? 0 : requests / all,
      skippedShare: all === 0 ? 0 : skipped / all,
      skipped: ofRequests(skipped, requests),
    }));
}

/** The wording for experts without a vote. @param early requests that did not wait for all of them. */
function lackingWords(requests: number, early: number): string {
  if (early === 0) return "without a vote";
  return early < requests ? "without a vote or not waited for" : "not waited for";
}

export interface OnlineExpert {
  readonly model: string;
  readonly asked: number;
  readonly voted: string;
  readonly noVote: number;
  readonly late: number;
  readonly notNeeded: number;
  readonly failed: number;
  /** Of its votes. */
  readonly inMajority: string;
}

export const onlineExperts = ({ experts }: Pick<ServedEnsemble, "experts">): readonly OnlineExpert[] =>
  experts.map(({ model, asked, voted, noVote, late, notNeeded, failed, inMajority }) => ({
    ...{ model, asked, noVote, late, notNeeded, failed },
    voted: ofRequests(voted, asked),
    inMajority: ofRequests(inMajority, voted),
  }));

const states: Readonly<Record<EnsembleCall["experts"][number]["state"], string>> = {
  voted: "voted",
  "no-vote": "no vote",
  late: "late",
  "not-needed": "not waited for",
  failed: "failed",
};

export interface CallRow {
  readonly id: string;
  readonly time: string;
  readonly outcome: { readonly word: string; readonly tone: Tone };
  readonly votes: string;
  readonly confidence: string;
  readonly tau: string;
  readonly decided: string;
  readonly whole: string;
  readonly experts: readonly {
    readonly model: string;
    /** null: there was none, and `text` says why. */
    readonly vote: string | null;
    readonly text: string;
  }[];
}

/** The latest calls in rows, newest first. @param most of them. */
export const callRows = ({ latest, ensemble }: Pick<ServedEnsemble, "latest" | "ensemble">, most: number): readonly CallRow[] =>
  latest.slice(0, most).map((call) => ({
    id: call.id,
    time: formatClock(new Date(call.atMs).toISOString()),
    outcome: outcomeWords[call.outcome],
    votes: call.votes,
    confidence: call.confidence.toFixed(2),
    tau: formatTau(call.tau, ensemble.expertsPerQuestion),
    decided: formatSeconds(call.decidedSeconds),
    whole: formatSeconds(call.seconds),
    experts: call.experts.map(({ model, state, vote, seconds }) => ({
      ...{ model, vote: state === "voted" ? vote : null },
      text: [state === "voted" ? null : states[state], seconds === null ? null : formatSeconds(seconds)]
        .filter((part) => part !== null)
        .join(", "),
    })),
  }));

/** Obstacles for an ensemble where it is served, one sentence each. */
export function onlineDoubts({
  missing,
  ensemble,
  decidesAfterSeconds,
}: Pick<ServedEnsemble, "missing" | "ensemble" | "decidesAfterSeconds">): readonly string[] {
  const experts = missing.filter((model) => ensemble.experts.includes(model));
  const left = ensemble.experts.length - experts.length;
  return [
    ...(decidesAfterSeconds < ensemble.deadlineSeconds
      ? [
          `Its deadline of ${formatSeconds(ensemble.deadlineSeconds)} exceeds half of the gateway's time limit of a request: the gate decides after ${formatSeconds(decidesAfterSeconds)} to leave time for the aggregator.`,
        ]
      : []),
    ...(experts.length === 0
      ? []
      : [
          `No engine here serves ${experts.join(", ")}: ${left === 0 ? "no expert" : `only ${formatCounted(left, "expert")} of ${ensemble.experts.length}`} can answer.`,
        ]),
    ...(missing.includes(ensemble.aggregator.model)
      ? [`No engine here serves the aggregator ${ensemble.aggregator.model}: where experts do not agree, the leading answer is returned.`]
      : []),
  ];
}

/** Names of an ensemble's fields for operators. */
const fields: Readonly<Partial<Record<keyof Ensemble, string>>> = {
  expertsPerQuestion: "experts per question",
  deadlineSeconds: "deadline",
  maxTokens: "longest answer",
};

/** How a gateway's copy differs from the stored ensemble, in a sentence; null: not at all, or none is stored. */
export function differsFromKept(served: Ensemble, kept: KeptEnsemble | undefined): string | null {
  if (kept === undefined) return `${served.name} is no longer stored in the studio: the gateway has its own copy.`;
  const keys = [...new Set([...Object.keys(served), ...Object.keys(kept.ensemble)])] as (keyof Ensemble)[];
  const other = keys.filter((key) => JSON.stringify(served[key]) !== JSON.stringify(kept.ensemble[key]));
  if (other.length === 0) return null;
  return `The stored version ${kept.version} differs from the served one in ${other.map((key) => fields[key] ?? key).join(", ")}.`;
}
