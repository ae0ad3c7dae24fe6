import type { TrainRequest } from "@/server/contracts/studio";

/** What is to be trained, as the form has it; null: there is nothing to choose from yet. */
export interface TrainingForm {
  readonly what: TrainRequest["train"];
  readonly workload: string | null;
  readonly clusterId: string | null;
  /** Workflows whose lengths are learnt. */
  readonly workflows: readonly string[];
  /** Declared workflow whose configurations are learnt, and the models that it may run on, smallest first. */
  readonly declared: string | null;
  readonly models: readonly string[];
  readonly correlation: number;
  readonly misleads: number;
  /** Empty: words are read. */
  readonly encoderFolder: string;
}

/** The training that a form asks for; null: something is not there to be chosen yet. */
export function composeTraining(form: TrainingForm): TrainRequest | null {
  const { what, workload, clusterId, workflows, declared, models, correlation, misleads, encoderFolder } = form;
  if (what === "traffic") return clusterId === null ? null : { train: what, clusterId };
  if (workload === null) return null;
  const encoder = encoderFolder === "" ? {} : { encoderFolder };
  switch (what) {
    case "lengths":
      return workflows.length === 0 ? null : { train: what, workloadId: workload, workflows: [...workflows], correlation };
    case "confidence":
      return { train: what, workloadId: workload, ...encoder };
    case "configurations":
      if (declared === null || models.length < 2) return null;
      return { train: what, workloadId: workload, workflow: declared, models: [...models], correlation, misleads, ...encoder };
  }
}
