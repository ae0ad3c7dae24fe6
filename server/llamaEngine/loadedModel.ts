import { open } from "node:fs/promises";
import { basename, join } from "node:path";
import { reasonOf } from "@/server/lib/reasonOf";
import { type LlamaModel, type LlamaSequence, loadBinding } from "./binding";
import type { EngineSettings } from "./settings";

/** A message of a chat, its content as text. */
interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

/** A model in memory with its tokenizer and its sequences. */
export interface LoadedModel {
  /** The name of its file. */
  readonly fileName: string;
  /** Most tokens of a prompt and its answer. */
  readonly contextTokens: number;
  /** Size of its vocabulary; null: the file does not have it. */
  readonly vocabulary: number | null;
  /** The version of the library that runs it. */
  readonly version: string;
  readonly sequences: readonly LlamaSequence[];
  /** Tokens of a text; `addBos`: with the beginning-of-sequence token if the model wants one. */
  tokenize(text: string, addBos: boolean): readonly number[];
  /** Text of tokens that follow `before`; special tokens as text only if `special`. */
  detokenize(tokens: readonly number[], before: readonly number[], special: boolean): string;
  /** Whether a token ends an answer. */
  ends(token: number): boolean;
  /** The prompt of a chat by the model's template; null: it has none. @throws Error if the template refuses the messages. */
  renderChat(messages: readonly ChatMessage[]): string | null;
  close(): Promise<void>;
}

/** Longer contexts cost memory for every sequence, and few use them. */
const defaultContextTokens = 8192;

/**
 * Loads a model and reserves the KV cache of its sequences.
 * @throws Error with one sentence.
 */
export async function loadModel(settings: EngineSettings): Promise<LoadedModel> {
  await checkFile(settings.model);
  const { llama, jinja, version } = await loadBinding(join(settings.addons, "real-engine"), settings.threads);
  try {
    const model = await llama.loadModel({ modelPath: settings.model });
    const contextTokens = settings.contextTokens ?? Math.min(model.trainContextSize, defaultContextTokens);
    const context = await model.createContext({
      contextSize: contextTokens,
      sequences: settings.sequences,
      batchSize: settings.batchTokens,
      // On a processor it makes a prompt of 63 tokens take twice the time of one of 64, and decoding over 512 tokens twice the time.
      ...(llama.gpu === false ? { flashAttention: false } : {}),
      ...(settings.threads === undefined ? {} : { threads: settings.threads }),
      failedCreationRemedy: false,
    });
    const text = model.fileInfo.metadata.tokenizer?.chat_template;
    const template = text === undefined ? null : new jinja.Template(text);
    return {
      fileName: basename(settings.model),
      contextTokens,
      vocabulary: model.fileInfo.metadata.tokenizer?.ggml?.tokens?.length ?? null,
      version,
      sequences: Array.from({ length: settings.sequences }, () => context.getSequence()),
      ...tokenizerOf(model),
      renderChat: (messages) => {
        if (template === null) return null;
        const { bosString, eosString } = model.tokens;
        return template.render({ messages, add_generation_prompt: true, bos_token: bosString ?? "", eos_token: eosString ?? "" });
      },
      close: () => llama.dispose(),
    };
  } catch (problem) {
    await llama.dispose();
    throw new Error(`The model ${settings.model} cannot be loaded: ${reasonOf(problem).replace(/\.$/, "")}.`);
  }
}

function tokenizerOf(model: LlamaModel): Pick<LoadedModel, "tokenize" | "detokenize" | "ends"> {
  const { bos, shouldPrependBosToken } = model.tokens;
  return {
    tokenize(text, addBos) {
      const tokens = model.tokenize(text, true);
      return addBos && shouldPrependBosToken && bos !== null && tokens[0] !== bos ? [bos, ...tokens] : tokens;
    },
    detokenize: (tokens, before, special) => model.detokenize(tokens, special, before),
    ends: (token) => model.isEogToken(token),
  };
}

/** llama.cpp's own message for such files names its source lines. */
async function checkFile(path: string): Promise<void> {
  const file = await open(path).catch((problem: NodeJS.ErrnoException) => {
    throw new Error(problem.code === "ENOENT" ? `The model file ${path} does not exist.` : `The model file ${path} cannot be read.`);
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0).catch(() => ({ buffer: Buffer.alloc(0), bytesRead: 0 }));
    if (bytesRead < 4 || buffer.toString("latin1") !== "GGUF") throw new Error(`The file ${path} is not a model in GGUF.`);
  } finally {
    await file.close();
  }
}
