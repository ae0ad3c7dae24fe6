import type { RealSetup, RealSetupOrder, RealSetupStepName } from "@/server/contracts/studio";

/** How far a step has come. Times are ISO; an end is null while it runs. */
interface RealStepRecord {
  readonly state: "running" | "done" | "failed" | "stopped";
  readonly says: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

/** What the set-up of real models has made so far, by which it goes on and is not made twice. */
export interface RealSetupRecord extends Pick<RealSetup, "clusterId" | "workloadId" | "suggested"> {
  readonly state: "running" | "stopped" | "failed" | "ready";
  readonly message: string | null;
  /** Who started it: later steps are in the audit under this name. */
  readonly actor: string;
  readonly order: RealSetupOrder;
  readonly promptSetId: string | null;
  readonly profileId: string | null;
  /** The engine profile with the measured speeds. */
  readonly speedId: string | null;
  /** The profile that plans used before the set-up put its own, `by`, in use; left out: it put none in use. Ids. */
  readonly replaced?: { readonly id: string; readonly by: string };
  readonly steps: Readonly<Partial<Record<RealSetupStepName, RealStepRecord>>>;
}
