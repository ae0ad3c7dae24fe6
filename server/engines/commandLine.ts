/** Engines with known command lines. */
export const engineKinds = ["vllm", "sglang", "llama.cpp"] as const;
export type EngineKind = (typeof engineKinds)[number];

/** A command line, argument by argument, with names in braces for the parts that vary between engines. It is never read by a shell. */
export type CommandTemplate = readonly string[];

/**
 * How each engine is started. Its telemetry must be available: SGLang and llama.cpp export metrics only with a flag.
 *
 * Sources: vLLM's page "Engine Arguments", SGLang's "Server Arguments", llama.cpp's `docs/multi-gpu.md` and llama-server(1).
 */
export const commandTemplates: Readonly<Record<EngineKind, CommandTemplate>> = {
  vllm: [
    ...["vllm", "serve", "{source}", "--served-model-name", "{servedName}", "--host", "{host}", "--port", "{port}"],
    ...["--tensor-parallel-size", "{tp}", "--pipeline-parallel-size", "{pp}", "--max-num-seqs", "{sequences}"],
    ...["{precisionFlags}", "{args}"],
  ],
  sglang: [
    ...["python3", "-m", "sglang.launch_server", "--model-path", "{source}", "--served-model-name", "{servedName}"],
    ...["--host", "{host}", "--port", "{port}", "--tp-size", "{tp}", "--pp-size", "{pp}", "--enable-metrics", "{precisionFlags}", "{args}"],
  ],
  "llama.cpp": [
    ...["llama-server", "--model", "{source}", "--alias", "{servedName}", "--host", "{host}", "--port", "{port}", "--metrics"],
    ...["--n-gpu-layers", "999", "--split-mode", "{splitMode}", "{args}"],
  ],
};

/** The values for a template's braces. */
export interface CommandValues {
  /** The source of the weights: a repository's name or a path. */
  readonly source: string;
  /** The model's name in requests. */
  readonly servedName: string;
  /** The address it listens on. */
  readonly host: string;
  readonly port: number;
  readonly tp: number;
  readonly pp: number;
  /** Indices on its node. */
  readonly gpus: readonly number[];
  readonly precision: "bf16" | "fp8" | "int4";
  /** The most requests that the plan has in it at once. */
  readonly sequences: number;
  /** Further flags of this model, after Weir's own so that they take precedence. */
  readonly args: readonly string[];
}

const listNames = ["precisionFlags", "args"] as const;
const wordNames = ["source", "servedName", "host", "port", "tp", "pp", "gpus", "sequences", "splitMode"] as const;
const names: readonly string[] = [...listNames, ...wordNames];

const brace = /\{([A-Za-z]+)\}/g;

/** The problem with a template, in one sentence; null if there is none. */
export function templateFault(template: CommandTemplate): string | null {
  if ((template[0] ?? "") === "") return "A command needs a program as its first argument.";
  const found = template.flatMap((argument) => [...argument.matchAll(brace)].map(([whole, name = ""]) => ({ argument, whole, name })));
  const unknown = found.find(({ name }) => !names.includes(name));
  if (unknown !== undefined) return `${unknown.whole} is not one of ${names.map((name) => `{${name}}`).join(", ")}.`;
  const list = found.find(({ argument, whole, name }) => listNames.some((one) => one === name) && argument !== whole);
  if (list !== undefined) return `${list.whole} stands for several arguments and must be a separate argument.`;
  return found.some(({ name }) => name === "port") ? null : "{port} is missing: the engine would listen on a port that Weir does not know.";
}

/**
 * The command line of one engine. Braces within a value are kept.
 * @throws RangeError for an invalid template.
 */
export function commandLine(template: CommandTemplate, values: CommandValues): readonly string[] {
  const fault = templateFault(template);
  if (fault !== null) throw new RangeError(fault);
  const { source, servedName, host, port, tp, pp, gpus, precision, sequences, args } = values;
  const words: Readonly<Record<string, string>> = {
    ...{ source, servedName, host, port: `${port}`, tp: `${tp}`, pp: `${pp}`, gpus: gpus.join(","), sequences: `${sequences}` },
    // In llama.cpp, layers on one GPU after the other are pipeline parallelism, and rows over all of them tensor parallelism.
    splitMode: tp > 1 ? "row" : "layer",
  };
  return template.flatMap((argument) => {
    if (argument === "{args}") return args;
    if (argument === "{precisionFlags}") return precisionFlags[precision];
    return argument.replace(brace, (_, name: string) => words[name] ?? "");
  });
}

/**
 * Quantised weights state their own format, and a flag with another name for it ("fp8" for compressed-tensors) is refused; weights that are
 * quantised while they load need the flag among the model's own.
 */
const precisionFlags: Readonly<Record<CommandValues["precision"], readonly string[]>> = {
  bf16: ["--dtype", "bfloat16"],
  fp8: [],
  int4: [],
};
