import type { StoredApplication } from "@/server/store/applicationRepository";
import type { StepAction, StoredStep } from "@/server/store/documents/storedStep";

/** Moments of the roll-out from the single model to the cascade, in their order. */
export const moments = ["before it", "while the old engine drains", "while the new engine loads", "at the switch", "after it"] as const;
export type Moment = (typeof moments)[number];

export const victims = ["gateway", "studio", "engine"] as const;
type Victim = (typeof victims)[number];

export interface Kill {
  readonly victim: Victim;
  readonly moment: Moment;
}

/** An engine that a roll-out starts: not started by it yet, without an answer to its health check, or healthy. */
export type NewEngineState = "absent" | "loading" | "healthy";

/** Where a roll-out was at one time. */
export interface RollOutPoint {
  /** null: it had not begun. */
  readonly application: StoredApplication["state"] | null;
  /** The running step or, where none ran, the last one that ended; null: none had begun. */
  readonly step: StepAction["kind"] | null;
  readonly stepState: StoredStep["state"] | null;
  /** Asked for only where the moment depends on it. */
  readonly newEngine?: NewEngineState;
}

type RunningApplication = Pick<StoredApplication, "state" | "steps" | "endedAt">;

/**
 * Where a roll-out is.
 * @param application null: it has not begun.
 */
export function pointOf(application: RunningApplication | null, newEngine?: NewEngineState): RollOutPoint {
  const steps = application?.steps ?? [];
  const step = steps.find(({ state }) => state === "running") ?? steps.findLast(({ state }) => state !== "waiting" && state !== "skipped");
  return {
    application: application?.state ?? null,
    step: step?.kind ?? null,
    stepState: step?.state ?? null,
    ...(newEngine !== undefined && { newEngine }),
  };
}

/** Whether a roll-out is at a moment. */
export function isAt(moment: Moment, { application, step, stepState, newEngine }: RollOutPoint): boolean {
  const isRunning = (kind: StepAction["kind"]): boolean => application === "running" && step === kind && stepState === "running";
  switch (moment) {
    case "before it":
      return application === null;
    case "while the old engine drains":
      return isRunning("drain");
    case "while the new engine loads":
      return application === "running" && newEngine === "loading";
    case "at the switch":
      return isRunning("switch-policy");
    case "after it":
      return application === "done";
  }
}

/** The steps that are two of the moments. They last some milliseconds where nothing waits for them. */
export type MomentStep = Extract<StepAction["kind"], "drain" | "switch-policy">;

/** Whether a roll-out has reached its step of a kind, or never will. */
export const hasReached = (kind: MomentStep, { endedAt, steps }: RunningApplication): boolean =>
  endedAt !== null || steps.some((step) => step.kind === kind && step.state !== "waiting");

/** Whether the step of a kind may begin next. */
export function isNext(kind: MomentStep, { steps }: RunningApplication): boolean {
  const next = steps.find(({ state }) => state === "waiting");
  return next === undefined || next.kind === kind;
}

/** The share of an engine's load time that has passed at a kill. */
const loadShare = 0.5;
/** Where the load time is not known: shorter than any engine loads. */
const shortestLoadSeconds = 0.2;

/**
 * Seconds from the start of an engine to a kill while it loads.
 * @param loadSeconds its load time in a roll-out without kills; null: not measured.
 */
export const killAfterSeconds = (loadSeconds: number | null): number =>
  loadSeconds === null ? shortestLoadSeconds : loadShare * loadSeconds;
