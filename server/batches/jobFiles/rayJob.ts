import { quoted } from "@/server/engines/commandLine";
import type { ExpertsOrder } from "@/server/store/documents/batchOrder";
import { inputParts } from "./jobParts";
import type { SessionInput } from "./sessionInputs";

/** For vLLM, which would otherwise ask the surrounding Ray for GPUs that the job already has. */
export const rayFlags: readonly string[] = ["--distributed-executor-backend", "mp"];

export interface RayJobParts {
  readonly name: string;
  readonly script: string;
  readonly inputs: readonly SessionInput[];
  /** Address of the dashboard; null: from RAY_API_SERVER_ADDRESS. */
  readonly address: string | null;
}

/** Ends a text in the script: base64 has no underscores, and no line of the worker's script is this. */
const end = "WEIR_END";

/**
 * The experts' stage of a batch as a script that submits a Ray job for each worker, with its inputs. Results are written to a folder of the
 * job's name, so that no job mistakes another's for its own.
 */
export function rayJob(order: ExpertsOrder, { name, script, inputs, address }: RayJobParts): string {
  const unpack = inputParts(inputs).flatMap(({ file, base64 }) => [`base64 -d > "$folder/${file}" <<'${end}'`, base64, end]);
  const at = address === null ? [] : ["--address", address];
  const options = [...at, "--no-wait", "--entrypoint-num-gpus", `${order.request.gpusPerWorker}`].map(quoted).join(" ");
  const submit = order.sessions.map(
    (_, worker) =>
      `ray job submit ${options} --submission-id "${name}-w${worker}-$run" --working-dir "$folder" -- bash worker.sh ${worker} . "$results"`,
  );
  return `${[
    "set -euo pipefail",
    'if [ $# -ne 1 ]; then echo "usage: bash $0 RESULTS, a folder that all nodes of the Ray cluster have under this path" >&2; exit 2; fi',
    `results=$1/${name}`,
    "run=$(date +%s)",
    "folder=$(mktemp -d)",
    `trap 'rm -rf "$folder"' EXIT`,
    `cat > "$folder/worker.sh" <<'${end}'`,
    `${script}${end}`,
    ...unpack,
    ...submit,
  ].join("\n")}\n`;
}
