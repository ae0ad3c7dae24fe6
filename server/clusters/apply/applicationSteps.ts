import type { Application, ApplyStep } from "@/server/contracts/studio";
import type { StoredApplication } from "@/server/store/applicationRepository";
import type { StepAction, StoredStep } from "@/server/store/documents/storedStep";
import type { PlannedStep } from "../steps/planSteps";

/** A planned step in the form in which an application stores it before it begins; `index` counts from 0 over the whole application. */
export const waitingStep = ({ action, text }: PlannedStep, index: number): StoredStep => ({
  id: String(index + 1),
  kind: action.kind,
  text,
  state: "waiting",
  detail: "",
  startedAt: null,
  endedAt: null,
  action,
});

/** The number of the next step: an aborted step keeps its number in the journal. */
export const nextStepNumber = (steps: readonly StoredStep[]): number => Math.max(0, ...steps.map(({ id }) => Number(id)));

/** A step without its internal fields. */
export const shownStep = ({ action, ...step }: StoredStep): ApplyStep => ({ ...step, engineId: engineOf(action) });

const engineOf = (action: StepAction): string | null =>
  "engineId" in action ? action.engineId : "engine" in action ? action.engine.id : null;

/** An application as the studio shows it. */
export const shownApplication = ({ steps, ...application }: StoredApplication): Application => ({
  ...application,
  steps: steps.map(shownStep),
});
