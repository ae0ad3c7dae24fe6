import type { Canary } from "@/server/contracts/studio";
import type { Tone } from "../ui/Badge";

export interface CanaryStep {
  readonly share: number;
  readonly state: "done" | "now" | "next" | "not reached";
}

interface CanaryArm {
  readonly name: string;
  readonly finished: number;
  readonly failed: number;
  readonly failedShare: number | null;
  /** null: latency does not count. */
  readonly slow: number | null;
  readonly slowShare: number | null;
}

export interface CanaryPicture {
  readonly word: string;
  readonly tone: Tone;
  readonly running: boolean;
  /** The candidate's current share of the programs. */
  readonly share: number;
  readonly steps: readonly CanaryStep[];
  readonly arms: readonly CanaryArm[];
  /** Progress to the next step: the slower of time and requests, 0..1. */
  readonly progress: number;
  readonly secondsInStep: number;
  /** Why it ended, or when a running one stops. */
  readonly says: string;
}

const words: Readonly<Record<Canary["state"], { readonly word: string; readonly tone: Tone }>> = {
  running: { word: "running", tone: "accent" },
  stopped: { word: "stopped", tone: "bad" },
  promoted: { word: "promoted", tone: "good" },
  withdrawn: { word: "withdrawn", tone: "neutral" },
};

const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;

/** A canary's progress, the figures of both arms in the current step, and its stop conditions. */
export function prepareCanary(canary: Canary, nowMs: number): CanaryPicture {
  const { state, step, shares, stop, minRequests, stepSeconds } = canary;
  const running = state === "running";
  const slowCounts = stop.slow !== null;
  const arm = (name: string, { finished, failed, slow }: Canary["candidateArm"]): CanaryArm => ({
    name,
    finished,
    failed,
    failedShare: finished === 0 ? null : failed / finished,
    slow: slowCounts ? slow : null,
    slowShare: slowCounts && finished > 0 ? slow / finished : null,
  });
  const secondsInStep = Math.max(0, (nowMs - canary.stepSinceMs) / 1000);
  return {
    ...words[state],
    running,
    share: state === "promoted" ? 1 : running ? (shares[step] ?? 0) : 0,
    steps: shares.map((share, at) => ({ share, state: stepState(canary, at) })),
    arms: [arm("candidate", canary.candidateArm), arm("in force", canary.currentArm)],
    progress: Math.min(1, secondsInStep / stepSeconds, canary.candidateArm.finished / minRequests),
    secondsInStep,
    says: running ? stopRule(canary) : canary.endReason,
  };
}

function stepState({ state, step }: Canary, at: number): CanaryStep["state"] {
  if (state === "promoted" || at < step) return "done";
  if (state === "running") return at === step ? "now" : "next";
  return at === step ? "now" : "not reached";
}

/** How a finished canary ended, and whether the plan it put into force is still in force. */
export function canaryEnd({ state, by, candidate, endReason }: Canary, policyHash: string): string {
  const over = state === "promoted" && candidate.policyHash !== policyHash ? " It is no longer in force." : "";
  return `started by ${by}. ${endReason}${/[.!?]$/.test(endReason) ? "" : "."}${over}`;
}

/** When it stops by itself, in a sentence. */
export function stopRule({ stop, minRequests }: Pick<Canary, "stop" | "minRequests">): string {
  const slow =
    stop.slow === null
      ? ""
      : `, or more than ${percent(stop.slow.share)} take longer than ${Number(stop.slow.endToEndSeconds.toPrecision(3))} s`;
  return `Stops automatically when more than ${percent(stop.errorShare)} of the candidate's requests in a step (of ${minRequests}, while fewer are finished) fail${slow}.`;
}

/** Rising shares up to all, typed as `5, 25, 100` per cent; null for anything else. */
export function parseShares(text: string): readonly number[] | null {
  const parts = text.split(/[\s,;%]+/).filter((part) => part !== "");
  const percents = parts.map(Number);
  const rising = percents.every((one, at) => Number.isFinite(one) && one > (percents[at - 1] ?? 0) && one <= 100);
  return rising && percents.at(-1) === 100 && percents.length <= 10 ? percents.map((one) => one / 100) : null;
}

/** Default limit of slow requests for a plan without a predicted latency. */
const UNPREDICTED_SLOW_SECONDS = 60;

/** The default limit of slow requests from a plan's promise: 1.5 times its p95. null: it promises none. */
export function slowSeconds(p95Seconds: number | null): number {
  return p95Seconds === null ? UNPREDICTED_SLOW_SECONDS : Number((p95Seconds * 1.5).toPrecision(2));
}
