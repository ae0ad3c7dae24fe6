import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { addonsFolder } from "@/server/addons/addonFolder";
import { judgePorts, judgePrograms, noJudgePorts } from "@/server/confidenceJudge/judgePrograms";
import { connectionSchema, type ProcessConnection } from "@/server/processes/processConnection";
import type { PreparedModel } from "@/server/realModels/prepareRealModels";
import { realConnection } from "@/server/realSetup/realConnection";
import { vllmConnection } from "@/server/realVllm/vllmConnection";
import { PROCESSOR_CARD } from "@/solver/hardware/processorCard";

/** vLLM, llama.cpp as Weir's add-on runs it, and llama.cpp's own server. */
export const engineKinds = ["vllm", "llama", "llama-server"] as const;
export type EngineKind = (typeof engineKinds)[number];

export const SMALL = "arith-small";
export const LARGE = "arith-large";

/** This host's name in plans of the bench. */
export const NODE = "node1";

/** Cores that plans may use; a cascade has two engines, each on one core; only vLLM and llama.cpp's server are pinned to theirs. */
export const CORES = Math.max(2, availableParallelism());

/** vLLM's program: `WEIR_VLLM` names it or the virtual environment that holds it; null without one. */
function vllmProgram(environment: NodeJS.ProcessEnv = process.env): string | null {
  const given = environment.WEIR_VLLM;
  if (given === undefined || given === "") return null;
  const within = join(given, "bin", "vllm");
  return existsSync(within) ? within : given;
}

/** llama.cpp's own server: `WEIR_LLAMA_SERVER` names the program; null without one. */
const llamaServerProgram = (environment: NodeJS.ProcessEnv = process.env): string | null => environment.WEIR_LLAMA_SERVER || null;

/** Whether an engine of a kind can be started here, or how it can be had. */
export function isEngineThere(kind: EngineKind): { readonly ok: true } | { readonly ok: false; readonly message: string } {
  if (kind === "vllm") {
    const program = vllmProgram();
    if (program === null) return { ok: false, message: "WEIR_VLLM names no vLLM." };
    return existsSync(program) ? { ok: true } : { ok: false, message: `WEIR_VLLM names ${program}, which is not there.` };
  }
  if (kind === "llama-server") {
    const program = llamaServerProgram();
    if (program === null) return { ok: false, message: "WEIR_LLAMA_SERVER names no server of llama.cpp." };
    return existsSync(program) ? { ok: true } : { ok: false, message: `WEIR_LLAMA_SERVER names ${program}, which is not there.` };
  }
  const addon = join(addonsFolder(process.env), "real-engine", "addon.json");
  return existsSync(addon) ? { ok: true } : { ok: false, message: "install it with weir add real-engine." };
}

/**
 * The connection with which the product starts engines of a kind, its judge's programs included: the bench measures the placement that a plan
 * makes.
 *
 * @param models with files in both formats.
 * @throws Error when a model was not prepared, or no port is free for the judge.
 */
export async function connectionOf(kind: EngineKind, models: readonly PreparedModel[]): Promise<ProcessConnection> {
  const root = process.env.WEIR_ROOT ?? process.cwd();
  const folder = addonsFolder(process.env);
  const file = (model: string, form: "gguf" | "trainedGguf" | "huggingFace"): string => {
    const found = models.find(({ name }) => name === model)?.[form];
    if (found == null) throw new Error(`${model} was not prepared`);
    return found;
  };
  const ports = await judgePorts(null, []);
  if (ports === null) throw new Error(`${noJudgePorts}.`);
  const judge = isEngineThere("llama").ok
    ? judgePrograms({ root, node: process.execPath, addonsFolder: folder, file: file(SMALL, "trainedGguf"), ports })
    : {};
  if (kind === "vllm") {
    const folders = { [SMALL]: file(SMALL, "huggingFace"), [LARGE]: file(LARGE, "huggingFace") };
    return vllmConnection({ program: vllmProgram() ?? "", folders, cores: CORES, node: NODE, ...judge });
  }
  if (kind === "llama-server") {
    const files = { [SMALL]: file(SMALL, "gguf"), [LARGE]: file(LARGE, "gguf") };
    return llamaServerConnection(llamaServerProgram() ?? "", files, judge);
  }
  const connection = realConnection({
    ...{ places: { root, node: process.execPath, addonsFolder: folder }, card: PROCESSOR_CARD, cores: CORES },
    files: { "arith-small": file(SMALL, "gguf"), "arith-large": file(LARGE, "gguf") },
    ...{ judgeFile: file(SMALL, "trainedGguf"), ports },
  });
  if (connection.kind !== "processes") throw new Error("the real models are not a cluster of processes");
  return { ...connection, node: NODE };
}

/** Requests that llama.cpp's server answers at once, and the tokens of each. */
const LLAMA_SLOTS = { sequences: 16, tokens: 2048 };

/** llama.cpp's own server on one core for each engine, with the limits of Weir's add-on. Its context is shared out among the slots. */
function llamaServerConnection(
  program: string,
  files: Readonly<Record<string, string>>,
  judge: Partial<ProcessConnection>,
): ProcessConnection {
  const { sequences, tokens } = LLAMA_SLOTS;
  return connectionSchema.parse({
    kind: "processes",
    node: NODE,
    gpus: { card: PROCESSOR_CARD, count: CORES, processor: true },
    engine: "llama-server on cores",
    templates: {
      "llama-server on cores": [
        ...["taskset", "-c", "{gpus}", program, "--model", "{source}", "--alias", "{servedName}", "--host", "{host}", "--port", "{port}"],
        ...["--metrics", "--parallel", `${sequences}`, "--ctx-size", `${sequences * tokens}`, "--threads", "1", "--flash-attn", "off"],
        "{args}",
      ],
    },
    models: Object.fromEntries(Object.entries(files).map(([model, source]) => [model, { source }])),
    ...judge,
  });
}
