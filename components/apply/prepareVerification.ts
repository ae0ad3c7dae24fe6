import type { Application, Verification } from "@/server/contracts/studio";
import { besideMeasured } from "../proposals/preparePromises";
import type { Tone } from "../ui/Badge";

interface VerificationRow {
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

/** The window after an application: what the plan promised, what was measured in it, and whether the one bears the other out. */
export function prepareVerification({ state, says, checks }: Verification): ShownVerification {
  return {
    ...verificationWords[state],
    says,
    rows: checks.map((check) => ({ name: check.name, reason: check.reason, ...verdicts[check.verdict], ...besideMeasured(check) })),
  };
}

/** The application that brought the plan in force, whose window speaks for what runs now; null: something else put it there. */
export function verifiedBy(applications: readonly Application[], runningPlanId: string | null): Application | null {
  const [latest] = applications
    .filter(({ state }) => state === "done" || state === "rolled-back")
    .sort((a, b) => (b.endedAt ?? "").localeCompare(a.endedAt ?? ""));
  return latest?.state === "done" && latest.planId === runningPlanId ? latest : null;
}
