import { connectionSchema, type ProcessConnection } from "@/server/processes/processConnection";
import { PROCESSOR_CARD } from "@/solver/hardware/processorCard";

/** Context of the real models: what they were trained on is shorter. */
const mostTokens = 2_048;

/** For a model of megabytes; vLLM's default is half of the host's memory. */
const cacheGiB = 1;

export interface VllmHost {
  /** Path of vLLM's program, of a build for processors. */
  readonly program: string;
  /** Folder of each model in Hugging Face's form, by the id of its card. */
  readonly folders: Readonly<Record<string, string>>;
  /** Cores that engines may have, from the first one on. */
  readonly cores: number;
  readonly node?: string | undefined;
  readonly ports?: ProcessConnection["ports"];
  readonly judge?: ProcessConnection["judge"];
  readonly beside?: ProcessConnection["beside"];
}

/**
 * Connection of vLLM's build for processors on a Linux host. A "GPU" is a core: all processes of an engine run on the cores that the plan
 * gives it. The worker runs inside the engine's own process: a separate one waits by polling, which takes the core from the engine, the
 * gateway and clients.
 */
export function vllmConnection({ program, folders, cores, node, ports, judge, beside }: VllmHost): ProcessConnection {
  return connectionSchema.parse({
    kind: "processes",
    ...(node === undefined ? {} : { node }),
    gpus: { card: PROCESSOR_CARD, count: cores, processor: true },
    engine: "vllm",
    // The name of the built-in command line says which software this one starts.
    templates: {
      vllm: [
        ...["taskset", "-c", "{gpus}", program, "serve", "{source}", "--served-model-name", "{servedName}"],
        ...["--host", "{host}", "--port", "{port}", "--dtype", "float32", "--max-model-len", `${mostTokens}`],
        ...["--max-num-seqs", "{sequences}", "--distributed-executor-backend", "uni", "{args}"],
      ],
    },
    models: Object.fromEntries(Object.entries(folders).map(([model, source]) => [model, { source }])),
    environment: Object.fromEntries(
      Object.entries({
        VLLM_CPU_KVCACHE_SPACE: `${cacheGiB}`,
        // The cores are given by `taskset`, which holds for all processes of an engine and not for its worker alone.
        VLLM_CPU_OMP_THREADS_BIND: "nobind",
        OMP_NUM_THREADS: "1",
        // vLLM accepts `uni` only with this.
        VLLM_ENABLE_V1_MULTIPROCESSING: "0",
        VLLM_NO_USAGE_STATS: "1",
        HF_HUB_OFFLINE: "1",
      }).map(([name, value]) => [name, { value }]),
    ),
    ...(ports === undefined ? {} : { ports }),
    ...(judge === undefined ? {} : { judge }),
    ...(beside === undefined ? {} : { beside }),
  });
}
