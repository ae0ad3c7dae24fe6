import type { BatchRequest } from "@/server/contracts/studio";
import type { SentAssignments } from "../place/AssignmentsField";

/** The current state of the dialog that starts a batch. */
export interface BatchForm {
  readonly name: string;
  readonly promptSetId: string;
  readonly ensemble: string;
  /** null: unknown until the free GPUs are known. */
  readonly workers: number | null;
  readonly gpusPerWorker: number;
  /** null: swept. */
  readonly maxModelsPerWorker: number | null;
  readonly single: boolean;
  readonly concurrency: number;
  readonly timeoutSeconds: number;
  readonly attempts: number;
  /** null: by the ensemble's skills. */
  readonly assignments: SentAssignments | null;
}

/** Default settings of engine calls: the defaults of the request itself. */
export const usualCalls = { concurrency: 64, timeoutSeconds: 600, attempts: 3 } as const satisfies Partial<BatchForm>;

/** Default number of workers: one for each expert, as far as they are free; one if none is free, which is then reported. */
export const usualWorkers = (free: number, experts: number): number => Math.max(1, Math.min(free, experts));

/** The default name of a batch. */
export const usualName = (ensemble: string, prompts: string): string => `${ensemble} on ${prompts}`.slice(0, 80).trim();

/** The request of a form, or the first obstacle in a sentence. `prompts`: name of their sample. */
export function composeBatch(
  form: BatchForm,
  { clusterId, prompts }: { readonly clusterId: string; readonly prompts: string },
): { readonly request: BatchRequest } | { readonly problem: string } {
  if (form.ensemble === "") return { problem: "Make an ensemble first, on the Place tab." };
  if (form.promptSetId === "") return { problem: "Take a sample of prompts first, on Workloads." };
  const { single, name, assignments, workers, ...rest } = form;
  if (workers === null) return { problem: "Asking what is free …" };
  const assigned = assignments === null ? {} : { assignmentsUploadId: assignments.uploadId };
  return {
    request: {
      ...rest,
      ...assigned,
      workers,
      name: name.trim() || usualName(form.ensemble, prompts),
      clusterId,
      replicas: single ? "single" : "amortised",
    },
  };
}
