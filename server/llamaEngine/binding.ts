import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The part of node-llama-cpp 3.22 that is used; it is in the add-on's folder, so its own types are not. */
interface LlamaModule {
  getLlama(options: {
    readonly gpu: false | "metal";
    readonly build: "never";
    readonly skipDownload: true;
    readonly progressLogs: false;
    readonly maxThreads?: number;
    readonly logger: (level: string, message: string) => void;
    readonly logLevel: "error";
  }): Promise<Llama>;
}

interface Llama {
  /** llama.cpp's release, such as b9000. */
  readonly llamaCppRelease: { readonly release: string };
  /** What computes; false: the processor. */
  readonly gpu: false | string;
  loadModel(options: { readonly modelPath: string }): Promise<LlamaModel>;
  dispose(): Promise<void>;
}

export interface LlamaModel {
  readonly tokens: {
    readonly bos: number | null;
    readonly bosString: string | null;
    readonly eosString: string | null;
    readonly shouldPrependBosToken: boolean;
  };
  readonly trainContextSize: number;
  readonly fileInfo: {
    readonly metadata: {
      readonly tokenizer?: { readonly chat_template?: string; readonly ggml?: { readonly tokens?: readonly string[] } };
    };
  };
  tokenize(text: string, specialTokens: boolean): number[];
  detokenize(tokens: readonly number[], specialTokens: boolean, lastTokens?: readonly number[]): string;
  isEogToken(token: number): boolean;
  createContext(options: {
    readonly contextSize: number;
    readonly sequences: number;
    readonly batchSize: number;
    readonly flashAttention?: boolean;
    readonly threads?: number;
    readonly failedCreationRemedy: false;
  }): Promise<LlamaContext>;
}

interface LlamaContext {
  getSequence(): LlamaSequence;
}

/** Query of the distribution after a token. `logits`: of all tokens, or of some. */
export interface TokenQuery {
  readonly token?: boolean;
  readonly logits?:
    | true
    | { readonly filter: { readonly tokens: readonly number[]; readonly includeTop: number; readonly includeSelected: boolean } };
  /** The sum of exp(logit - largest logit). */
  readonly totalLogitWeight?: boolean;
}

export interface TokenResult {
  readonly token?: number | null;
  /** Largest first, except tokens that were asked for by name. */
  readonly logits?: ReadonlyMap<number, number>;
  readonly totalLogitWeight?: number;
}

/** One text in a context: the tokens that it holds in the KV cache. */
export interface LlamaSequence {
  readonly nextTokenIndex: number;
  clearHistory(): Promise<void>;
  controlledEvaluate(
    input: readonly (number | readonly [number, { readonly generateNext: TokenQuery }])[],
  ): Promise<readonly ({ readonly next: TokenResult } | undefined)[]>;
}

/** Renders a chat template in Jinja. */
interface JinjaModule {
  readonly Template: new (text: string) => { render(values: Readonly<Record<string, unknown>>): string };
}

export interface Binding {
  readonly llama: Llama;
  readonly jinja: JinjaModule;
  /** The version of node-llama-cpp with llama.cpp's release. */
  readonly version: string;
}

/**
 * Loads llama.cpp from the folder of the add-on `real-engine`. Apple's chips have one build, which uses Metal; everywhere else it is the
 * processor's.
 *
 * @param threads most threads; absent: as many as the processor has cores for arithmetic.
 * @throws Error with one sentence if the add-on is not installed or cannot be loaded here.
 */
export async function loadBinding(folder: string, threads: number | undefined): Promise<Binding> {
  const packageFile = join(folder, "node_modules", "node-llama-cpp", "package.json");
  if (!existsSync(packageFile)) throw new Error(`The add-on real-engine is not in ${folder}: run \`weir add real-engine\`.`);
  const { version } = createRequire(packageFile)(packageFile) as { readonly version: string };
  const own = createRequire(packageFile);
  const module = (await import(pathToFileURL(join(folder, "node_modules", "node-llama-cpp", "dist", "index.js")).href)) as LlamaModule;
  const jinja = (await import(pathToFileURL(own.resolve("@huggingface/jinja")).href)) as JinjaModule;
  const llama = await module.getLlama({
    gpu: process.platform === "darwin" && process.arch === "arm64" ? "metal" : false,
    build: "never",
    skipDownload: true,
    progressLogs: false,
    ...(threads === undefined ? {} : { maxThreads: threads }),
    logger: (_, message) => void process.stderr.write(`llama.cpp: ${message.trimEnd()}\n`),
    logLevel: "error",
  });
  return { llama, jinja, version: `${version}+llama.cpp-${llama.llamaCppRelease.release}` };
}
