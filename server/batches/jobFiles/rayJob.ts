import type { ExpertsOrder } from "@/server/store/documents/batchOrder";
import { shellQuoted, shellWords } from "@/solver/wording/shellText";
import { inputParts } from "./jobParts";
import type { SessionInput } from "./sessionInputs";
import { workerProgram } from "./workerProgram";

/** For vLLM, which would otherwise ask the surrounding Ray for GPUs that the job already has. */
export const rayFlags: readonly string[] = ["--distributed-executor-backend", "mp"];

export interface RayJobParts {
  /** Of the jobs and of the folder of results: a DNS label. */
  readonly name: string;
  /** The sessions of all workers, as JSON. */
  readonly sessions: string;
  readonly inputs: readonly SessionInput[];
  /** Address of the dashboard; null: from RAY_API_SERVER_ADDRESS. */
  readonly address: string | null;
}

/**
 * The experts' stage of a batch as a script that submits a Ray job for each worker, with its inputs. Results are written to a folder of the
 * job's name, so that no job mistakes another's for its own. Models, flags and names are in a JSON file that the jobs read.
 */
export function rayJob(order: ExpertsOrder, { name, sessions, inputs, address }: RayJobParts): string {
  const write = (text: string, file: string) => `printf %s ${shellQuoted(text)} > "$folder"/${shellQuoted(file)}`;
  const unpack = inputParts(inputs).map(
    ({ file, base64 }) => `printf %s ${shellQuoted(base64)} | base64 -d > "$folder"/${shellQuoted(file)}`,
  );
  const at = address === null ? [] : ["--address", address];
  const options = shellWords([...at, "--no-wait", "--entrypoint-num-gpus", `${order.request.gpusPerWorker}`]);
  const submit = order.sessions.map(
    (_, worker) =>
      `ray job submit ${options} --submission-id ${shellQuoted(`${name}-w${worker}-`)}"$run" --working-dir "$folder" -- python3 worker.py ${worker} . "$results"`,
  );
  return `${[
    "set -euo pipefail",
    'if [ $# -ne 1 ]; then echo "usage: bash $0 RESULTS, a folder that all nodes of the Ray cluster have under this path" >&2; exit 2; fi',
    `results=$1/${shellQuoted(name)}`,
    "run=$(date +%s)",
    "folder=$(mktemp -d)",
    `trap 'rm -rf "$folder"' EXIT`,
    write(workerProgram, "worker.py"),
    write(sessions, "sessions.json"),
    ...unpack,
    ...submit,
  ].join("\n")}\n`;
}
