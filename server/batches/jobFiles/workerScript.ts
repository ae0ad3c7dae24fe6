import type { Outcome } from "@/server/contracts/studio";
import { quoted } from "@/server/engines/commandLine";
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

/**
 * The script that each worker runs, `worker.sh WORKER INPUTS RESULTS`: its sessions in turn, each one load of a model by `vllm run-batch`,
 * whose results take their name once they are whole. When run again it skips sessions with complete results, and restarts the one that was
 * interrupted.
 *
 * @returns a sentence if the weights of a model are unknown.
 */
export function workerScript(
  order: ExpertsOrder,
  modelOf: (model: string) => LoadedModel | string,
  flags: readonly string[] = [],
): Outcome<{ readonly script: string }> {
  const cases: string[] = [];
  for (const [worker, sessions] of order.sessions.entries()) {
    const lines: string[] = [];
    for (const [turn, { model }] of sessions.entries()) {
      const loaded = modelOf(model);
      if (typeof loaded === "string") return { ok: false, message: loaded };
      lines.push(
        `    session ${sessionName(worker, turn)} ${commandOf(model, loaded, [...flags, ...tensorParallel(order)])
          .map(quoted)
          .join(" ")}`,
      );
    }
    cases.push(`  ${worker})`, ...lines, "    ;;");
  }
  return { ok: true, script: `${[...head, 'case "$worker" in', ...cases, "esac"].join("\n")}\n` };
}

const head = [
  "#!/usr/bin/env bash",
  "# worker.sh WORKER INPUTS RESULTS: runs the sessions of one worker in turn. Results take their name once they are whole,",
  "# so that a worker that was cut off passes over what is done and goes on with the next session.",
  "set -euo pipefail",
  "worker=$1 inputs=$2 results=$3",
  'mkdir -p "$results"',
  "scratch=$(mktemp -d)",
  `trap 'rm -rf "$scratch"' EXIT`,
  "session() {",
  "  local name=$1",
  "  shift",
  '  if [ -e "$results/$name.jsonl" ]; then return 0; fi',
  '  cat "$inputs/$name.jsonl.gz."* | gunzip > "$scratch/$name.jsonl"',
  '  "$@" -i "$scratch/$name.jsonl" -o "$results/$name.part"',
  '  mv "$results/$name.part" "$results/$name.jsonl"',
  "}",
];

/** Source: vLLM's `run-batch`, which takes the engine's arguments in addition to its files. */
const commandOf = (model: string, { source, precision, args }: LoadedModel, flags: readonly string[]): readonly string[] => [
  ...["vllm", "run-batch", "--model", source, "--served-model-name", model],
  // Quantised weights state their own format.
  ...(precision === "bf16" ? ["--dtype", "bfloat16"] : []),
  ...flags,
  ...args,
];

const tensorParallel = ({ request }: ExpertsOrder): readonly string[] => ["--tensor-parallel-size", `${request.gpusPerWorker}`];
