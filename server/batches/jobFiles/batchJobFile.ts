import { createHash } from "node:crypto";
import type { Outcome } from "@/server/contracts/studio";
import type { BatchExport } from "@/server/contracts/studio/batches";
import { type ClusterConnection, readConnection } from "@/server/fleet/connection";
import type { ExpertsOrder } from "@/server/store/documents/batchOrder";
import type { Store } from "@/server/store/store";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import { commentLine, shellWords } from "@/solver/wording/shellText";
import { kubernetesJob } from "./kubernetesJob";
import { rayFlags, rayJob } from "./rayJob";
import { sessionInputs } from "./sessionInputs";
import { type LoadedModel, workerSessions } from "./workerSessions";

export interface JobFileParts {
  readonly format: BatchExport["format"];
  /** Connection of the cluster, as stored; null: it has none. One of another kind than the format counts as none. */
  readonly connection: { readonly kind: string } | null;
  readonly cards: CardCatalogue;
  readonly prompts: Store["prompts"];
}

/**
 * The experts' stage of a batch as a file for use outside of Weir: the models that each worker loads and their questions, in order, with
 * the prompts. The weights come from the cluster's connection if it is of that kind, otherwise from the repository on each model's card.
 * Workers without a session are left out.
 *
 * @returns a sentence if the weights are unknown, or the prompts are too large.
 */
export async function batchJobFile(
  whole: ExpertsOrder,
  { format, connection: kept, cards, prompts }: JobFileParts,
): Promise<Outcome<{ readonly name: string; readonly text: string }>> {
  const order = withoutIdle(whole);
  const connection = kept?.kind === format ? readConnection(kept) : null;
  if (connection !== null && !connection.ok) return connection;
  const at = connection?.value ?? null;
  const made = workerSessions(order, (model) => loadedModel(model, at, cards), format === "ray" ? rayFlags : []);
  if (!made.ok) return made;
  const written = await sessionInputs(order, prompts);
  if (!written.ok) return written;
  const { json: sessions } = made;
  const { inputs } = written;
  const name = jobName(order, [sessions, ...inputs.map(({ gzip }) => gzip)]);
  const text =
    format === "kubernetes"
      ? kubernetesJob(order, { name, sessions, inputs, connection: at?.kind === "kubernetes" ? at : null })
      : rayJob(order, { name, sessions, inputs, address: at?.kind === "ray" ? at.dashboard : null });
  const first = format === "ray" ? ["#!/usr/bin/env bash"] : [];
  const head = [...first, ...headOf(order), ...howTo(name)[format]].join("\n");
  return { ok: true, name: `${name}.${format === "ray" ? "sh" : "yaml"}`, text: `${head}\n${text}` };
}

/** A pod or a job without work would hold GPUs. */
function withoutIdle(order: ExpertsOrder): ExpertsOrder {
  const isBusy = (worker: number): boolean => (order.sessions[worker]?.length ?? 0) > 0;
  return {
    ...order,
    sessions: order.sessions.filter((_, worker) => isBusy(worker)),
    workers: order.workers.filter((_, worker) => isBusy(worker)),
  };
}

/** The name of the batch and a hash of its content, so that another batch of that name is another job. */
function jobName({ request }: ExpertsOrder, content: readonly (string | Buffer)[]): string {
  const hash = createHash("sha256");
  for (const part of content) hash.update(part);
  const plain = request.name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 24)
    .replace(/^-+|-+$/g, "");
  return `weir-batch-${plain === "" ? "" : `${plain}-`}${hash.digest("hex").slice(0, 8)}`;
}

function loadedModel(model: string, connection: ClusterConnection | null, { models }: CardCatalogue): LoadedModel | string {
  const card = cardOf(models, model);
  if (card === undefined) return `There is no card of ${model}.`;
  const { precision, huggingFace } = card;
  if (connection?.kind === "ray") {
    const known = entryOf(connection.models, model);
    if (known !== undefined) return { source: known.source, args: [], precision };
  }
  if (connection?.kind === "kubernetes") {
    const known = entryOf(connection.models, model);
    // Another engine's flags have no meaning for vLLM.
    const kind = (known?.engine ?? connection.engine).kind;
    if (known !== undefined) return { source: known.source, args: kind === "vllm" ? known.args : [], precision };
  }
  if (huggingFace !== null) return { source: huggingFace, args: [], precision };
  return `It is unknown what to load for ${model}: its card names no repository, and the cluster's connection has no such model.`;
}

const entryOf = <Entry>(entries: Readonly<Record<string, Entry>>, name: string): Entry | undefined =>
  Object.hasOwn(entries, name) ? entries[name] : undefined;

const headOf = (order: ExpertsOrder): readonly string[] => headLines(order).map(commentLine);

const headLines = ({ request, ensemble, sessions, questions, gpu }: ExpertsOrder): readonly string[] => [
  `The batch ${JSON.stringify(request.name)}: ${questions} questions through the experts of ${ensemble.name}, on ${sessions.length} workers of ${request.gpusPerWorker} ${gpu}.`,
  "It runs the experts only. Whether their votes agree is decided by the gate, and the aggregator is asked after it: neither is in this file.",
  "Results are a file for each session, w<worker>-s<turn>.jsonl, in the form of vllm run-batch; custom_id is the prompt's id.",
  "Keep them as a sample of answers, to choose the gate on, where the prompts have references:",
  `  npm run -s weir -- import results ${shellWords(["--prompts", request.promptSetId, "--ensemble", ensemble.name])} --sample NAME w*-s*.jsonl`,
];

const howTo = (name: string) => ({
  kubernetes: [
    "# Apply it by `kubectl apply --server-side -f FILE` (its inputs are too large for the annotation of a plain apply).",
    "# The claim for results wants a storage class that several nodes may write: give it another claim where yours has none.",
  ],
  ray: [
    `# Run it as \`bash FILE RESULTS\` where \`ray\` is installed; the nodes need vLLM. Results come into RESULTS/${name}.`,
    "# Run again it passes over sessions whose results are there.",
  ],
});
