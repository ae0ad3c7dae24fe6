import type { Outcome } from "@/server/contracts/studio";
import type { ExpertsOrder } from "@/server/store/documents/batchOrder";
import type { ModelCard } from "@/solver/hardware/modelCard";
import { sessionName } from "./sessionInputs";

/** The model that a session loads. */
export interface LoadedModel {
  /** A repository's name or a path. */
  readonly source: string;
  readonly precision: ModelCard["precision"];
  /** Further flags of vLLM, after Weir's own. */
  readonly args: readonly string[];
}

/** One session in `sessions.json`. */
interface WorkerSession {
  readonly name: string;
  /** A list of arguments; the worker adds its files. */
  readonly command: readonly string[];
}

/**
 * The sessions of every worker, in turn, as `worker.py` reads them: JSON in printable ASCII.
 *
 * @returns a sentence if the weights of a model are unknown.
 */
export function workerSessions(
  order: ExpertsOrder,
  modelOf: (model: string) => LoadedModel | string,
  flags: readonly string[] = [],
): Outcome<{ readonly json: string }> {
  const workers: (readonly WorkerSession[])[] = [];
  for (const [worker, sessions] of order.sessions.entries()) {
    const own: WorkerSession[] = [];
    for (const [turn, { model }] of sessions.entries()) {
      const loaded = modelOf(model);
      if (typeof loaded === "string") return { ok: false, message: loaded };
      own.push({ name: sessionName(worker, turn), command: commandOf(model, loaded, [...flags, ...tensorParallel(order)]) });
    }
    workers.push(own);
  }
  return { ok: true, json: `${inAscii(JSON.stringify(workers, null, 1))}\n` };
}

/** JSON with every other character as its escape: no reader takes one for the end of a line. */
const inAscii = (json: string): string =>
  json.replace(/[^\n\x20-\x7e]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Source: vLLM's `run-batch`, which takes the engine's arguments in addition to its files. */
const commandOf = (model: string, { source, precision, args }: LoadedModel, flags: readonly string[]): readonly string[] => [
  ...["vllm", "run-batch", "--model", source, "--served-model-name", model],
  // Quantised weights state their own format.
  ...(precision === "bf16" ? ["--dtype", "bfloat16"] : []),
  ...flags,
  ...args,
];

const tensorParallel = ({ request }: ExpertsOrder): readonly string[] => ["--tensor-parallel-size", `${request.gpusPerWorker}`];
