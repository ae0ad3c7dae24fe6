import type { Application, Verification } from "@/server/contracts/studio";
import { besideMeasured } from "../proposals/preparePromises";
import type { Tone } from "../ui/Badge";
import { formatCount, formatSeconds } from "../ui/format";

export interface VerificationRow {
  readonly name: string;
  readonly promised: string;
  readonly measured: string;
  /** What sampling leaves of what is measured; empty where it is counted. */
  readonly interval: string;
  readonly word: string;
  readonly tone: Tone;
  readonly reason: string;
}

export interface ShownVerification {
  readonly word: string;
  readonly tone: Tone;
  readonly says: string;
  /** What an open window still waits for; empty once it is closed. */
  readonly needs: string;
  readonly rows: readonly VerificationRow[];
}

/** How a verification as a whole, and a revision's in the history, is called. */
export const verificationWords: Readonly<Record<Verification["state"], { readonly word: string; readonly tone: Tone }>> = {
  watching: { word: "watching", tone: "accent" },
  passed: { word: "passed", tone: "good" },
  failed: { word: "failed", tone: "bad" },
  undecided: { word: "undecided", tone: "neutral" },
};

const verdicts: Readonly<Record<Verification["checks"][number]["verdict"], { readonly word: string; readonly tone: Tone }>> = {
  pass: { word: "passed", tone: "good" },
  fail: { word: "failed", tone: "bad" },
  undecided: { word: "undecided", tone: "neutral" },
};

/**
 * The window after an application: what the plan promised, what was measured in it, and whether the one bears the other out.
 *
 * @param timeScale engine seconds in one of the wall clock's.
 */
export function prepareVerification(verification: Verification, nowMs: number | null, timeScale: number): ShownVerification {
  const { state, says, checks } = verification;
  return {
    ...verificationWords[state],
    says,
    needs: state === "watching" ? needsOf(verification, nowMs, timeScale) : "",
    rows: checks.map((check) => ({ name: check.name, reason: check.reason, ...verdicts[check.verdict], ...besideMeasured(check) })),
  };
}

function needsOf({ fromMs, requests, needs }: Verification, nowMs: number | null, timeScale: number): string {
  const passed = nowMs === null ? 0 : Math.max(0, ((nowMs - fromMs) / 1000) * timeScale);
  const some = [
    ...(requests < needs.requests ? [`${formatCount(needs.requests - requests)} more requests`] : []),
    ...(passed < needs.seconds ? [`${formatSeconds(needs.seconds - passed)} more of traffic`] : []),
  ];
  const seen = `${formatCount(requests)} of ${formatCount(needs.requests)} requests, ${formatSeconds(Math.min(passed, needs.seconds))} of ${formatSeconds(needs.seconds)}`;
  return some.length === 0 ? `${seen}; it is being judged.` : `${seen}; it needs ${some.join(" and ")}.`;
}

/** The application that brought the plan in force, whose window speaks for what runs now; null: something else put it there. */
export function verifiedBy(applications: readonly Application[], runningPlanId: string | null): Application | null {
  const [latest] = applications
    .filter(({ state }) => state === "done" || state === "rolled-back")
    .sort((a, b) => (b.endedAt ?? "").localeCompare(a.endedAt ?? ""));
  return latest?.state === "done" && latest.planId === runningPlanId ? latest : null;
}
