import type { BatchRequest } from "@/server/contracts/studio";
import type { SentAssignments } from "../place/AssignmentsField";

/** A batch to be started, as it stands in its dialog. */
export interface BatchForm {
  readonly name: string;
  readonly promptSetId: string;
  readonly ensemble: string;
  /** null: not known before it is known what is free. */
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

/** How engines are asked unless somebody says otherwise: what the request itself defaults to. */
export const usualCalls = { concurrency: 64, timeoutSeconds: 600, attempts: 3 } as const satisfies Partial<BatchForm>;

/** Workers to begin with: one for each expert, as far as they are free, and one where none is, of which it is then said. */
export const usualWorkers = (free: number, experts: number): number => Math.max(1, Math.min(free, experts));

/** The name of a batch that nobody names. */
export const usualName = (ensemble: string, prompts: string): string => `${ensemble} on ${prompts}`.slice(0, 80).trim();

/** The request that a form makes, or the first sentence of what is in the way. `prompts`: what their sample is called. */
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
