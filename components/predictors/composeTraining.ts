import type { TrainRequest } from "@/server/contracts/studio";

/** The kinds of predictors; configurations have two sources. */
export type TrainingKind = Exclude<TrainRequest["train"], "executed">;

/** The sources of configurations. */
export type OutcomesOf = "workload" | "runs";

/** The form's current training; null: there is nothing to choose from yet. */
export interface TrainingForm {
  readonly what: TrainingKind;
  readonly workload: string | null;
  readonly clusterId: string | null;
  /** Workflows whose lengths are learnt. */
  readonly workflows: readonly string[];
  /** Declared workflow whose configurations are learnt, and the models that it may run on, smallest first. */
  readonly declared: string | null;
  readonly models: readonly string[];
  /**
   * Outcomes of its configurations: modelled from the workload, or from the executed runs of an uploaded file; null: none was uploaded yet.
   */
  readonly outcomesOf: OutcomesOf;
  readonly uploadId: string | null;
  readonly correlation: number;
  readonly misleads: number;
  /** Empty: words are read. */
  readonly encoderFolder: string;
}

/** The training of a form; null: a choice is not available yet. */
export function composeTraining(form: TrainingForm): TrainRequest | null {
  const { what, workload, clusterId, workflows, declared, models, correlation, misleads, encoderFolder } = form;
  if (what === "traffic") return clusterId === null ? null : { train: what, clusterId };
  const encoder = encoderFolder === "" ? {} : { encoderFolder };
  if (what === "configurations" && form.outcomesOf === "runs") {
    const { uploadId } = form;
    if (declared === null || models.length < 2 || uploadId === null) return null;
    return { train: "executed", uploadId, workflow: declared, models: [...models], ...encoder };
  }
  if (workload === null) return null;
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
