import type { Halt, Verification } from "./rollOut";

export type StepState = "waiting" | "running" | "done" | "failed" | "skipped";

export interface ApplyStep {
  readonly id: string;
  readonly kind: "load-outcomes" | "start" | "verify" | "switch-policy" | "drain" | "stop";
  readonly text: string;
  readonly state: StepState;
  readonly detail: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Engine it is done to, whose log tells more; null: it concerns none alone. */
  readonly engineId: string | null;
}

export type ApplicationState = "grace" | "running" | "paused" | "done" | "failed" | "aborted" | "rolled-back";

/** One attempt to put a plan into force. A rollback is an application of the earlier plan. */
export interface Application {
  readonly id: string;
  readonly clusterId: string;
  /** null: a rollback to the empty cluster. */
  readonly planId: string | null;
  readonly previousPlanId: string | null;
  /** Whether what was in force before, a plan that is kept here or nothing, can be gone back to. */
  readonly hasWayBack: boolean;
  readonly kind: "apply" | "rollback";
  readonly state: ApplicationState;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly graceEndsAt: string | null;
  readonly steps: readonly ApplyStep[];
  readonly error: string | null;
  readonly actor: string;
  /** What was done is being undone, or was. */
  readonly undoing: boolean;
  /** Whether it is undone by itself where it has to stop, or its plan does not keep what it promised. */
  readonly rollBackOnRegression: boolean;
  /** Why it paused by itself; null where it did not, or went on. */
  readonly halt: Halt | null;
  /** null: it did not end well, or nothing was in force after it. */
  readonly verification: Verification | null;
}
