import type { Application, Verification } from "@/server/contracts/studio";
import { besideMeasured } from "../proposals/preparePromises";
import type { Tone } from "../ui/Badge";

interface VerificationRow {
  readonly name: string;
  readonly promised: string;
  readonly measured: string;
  /** The sampling interval of the measured value; empty where it is counted exactly. */
  readonly interval: string;
  readonly word: string;
  readonly tone: Tone;
  readonly reason: string;
}

export interface ShownVerification {
  readonly word: string;
  readonly tone: Tone;
  readonly says: string;
  readonly rows: readonly VerificationRow[];
}

/** The name of a verification's verdict, also in the history of revisions. */
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

/** The window after an application: what the plan promised, what was measured, and whether the measurement confirms the promise. */
export function prepareVerification({ state, says, checks }: Verification): ShownVerification {
  return {
    ...verificationWords[state],
    says,
    rows: checks.map((check) => ({ name: check.name, reason: check.reason, ...verdicts[check.verdict], ...besideMeasured(check) })),
  };
}

/** The application that applied the plan in force, whose window describes the running state; null: it came into force in another way. */
export function verifiedBy(applications: readonly Application[], runningPlanId: string | null): Application | null {
  const [latest] = applications
    .filter(({ state }) => state === "done" || state === "rolled-back")
    .sort((a, b) => (b.endedAt ?? "").localeCompare(a.endedAt ?? ""));
  return latest?.state === "done" && latest.planId === runningPlanId ? latest : null;
}
