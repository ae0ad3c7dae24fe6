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
  /** The engine concerned, whose log has details; null: it concerns no single engine. */
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
  /** Whether a rollback to the previous state is possible: a plan that is kept here, or nothing in force. */
  readonly hasWayBack: boolean;
  readonly kind: "apply" | "rollback";
  readonly state: ApplicationState;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly graceEndsAt: string | null;
  readonly steps: readonly ApplyStep[];
  readonly error: string | null;
  readonly actor: string;
  /** Whether its changes are being undone, or were. */
  readonly undoing: boolean;
  /** Whether it is rolled back automatically if it stops by itself, or if its plan breaks its promises. */
  readonly rollBackOnRegression: boolean;
  /** Why it paused by itself; null if it did not, or was resumed. */
  readonly halt: Halt | null;
  /** null: it did not succeed, or nothing was in force after it. */
  readonly verification: Verification | null;
}
