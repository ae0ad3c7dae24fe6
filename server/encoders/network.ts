import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import type { EncoderIdentity } from "@/solver/prediction/confidence";
import type { Embedded } from "./encoder";
import { encoderFolderRefusal, encoderPackage, identifyEncoder } from "./encoderFiles";

/** Tokens of a text that an encoder reads, as it was trained to at least; what is longer is cut off there. */
export const ENCODED_TOKENS = 512;

/** What is used of @huggingface/transformers: an optional package, so that its own types may be missing. */
interface Transformers {
  readonly env: { allowRemoteModels: boolean; allowLocalModels: boolean; useFSCache: boolean };
  readonly AutoTokenizer: {
    from_pretrained(name: string, options: object): Promise<(texts: readonly string[], options: object) => TokenTensors>;
  };
  readonly AutoModel: { from_pretrained(name: string, options: object): Promise<Network> };
}
type TokenTensors = Readonly<Record<string, { readonly dims: readonly number[]; readonly data: BigInt64Array }>>;
type Network = (inputs: TokenTensors) => Promise<Readonly<Record<string, VectorTensor | undefined>>>;
interface VectorTensor {
  readonly dims: readonly number[];
  readonly data: Float32Array;
}

/** An encoder's network in this process. */
export interface EncoderNetwork {
  readonly identity: EncoderIdentity;
  /**
   * The mean of each text's token vectors, one text after another. Takes half of the cores.
   *
   * @throws Error, in a sentence, where the network gives something else than a vector for every token.
   */
  embed(texts: readonly string[]): Promise<Embedded>;
}

/**
 * Loads an ONNX encoder's network from a folder. Nothing is ever fetched.
 *
 * @throws Error, in one sentence with the way out: the package is not installed, a file is missing, the network cannot be loaded.
 */
export async function loadNetwork(folder: string): Promise<EncoderNetwork> {
  const refusal = encoderFolderRefusal(folder);
  if (refusal !== null) throw new Error(refusal);
  const { env, AutoTokenizer, AutoModel } = await transformers();
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.useFSCache = false;
  // A whole path is read as it is, and is no name that something could be fetched by.
  const path = resolve(folder);
  const local = { local_files_only: true };
  const loaded = Promise.all([
    AutoTokenizer.from_pretrained(path, local),
    AutoModel.from_pretrained(path, {
      ...local,
      dtype: "fp32",
      device: "cpu",
      session_options: { intraOpNumThreads: Math.max(1, Math.floor(availableParallelism() / 2)) },
    }),
    identifyEncoder(path),
  ]);
  const [tokenizer, network, identity] = await loaded.catch((problem: unknown) => {
    throw new Error(`The encoder in ${folder} cannot be loaded: ${firstLine(problem)}.`);
  });

  return {
    identity,
    async embed(texts) {
      const tokens = tokenizer(texts, { padding: true, truncation: true, max_length: ENCODED_TOKENS });
      const answer = await network(tokens);
      const vectors = answer.last_hidden_state ?? answer.token_embeddings;
      const mask = tokens.attention_mask?.data;
      if (vectors?.dims.length !== 3 || mask === undefined)
        throw new Error(
          `The encoder in ${folder} gives ${Object.keys(answer).join(", ")}: it has to give last_hidden_state, a vector a token.`,
        );
      return meanOfTokens(vectors, mask);
    },
  };
}

/** Means over the tokens that are not filling. */
function meanOfTokens({ dims, data }: VectorTensor, mask: BigInt64Array): Embedded {
  const [texts = 0, tokens = 0, dimensions = 0] = dims;
  const sums = new Float64Array(dimensions);
  const means = new Float32Array(texts * dimensions);
  for (let text = 0; text < texts; text += 1) {
    sums.fill(0);
    let counted = 0;
    for (let at = text * tokens; at < (text + 1) * tokens; at += 1) {
      if (mask[at] !== 1n) continue;
      counted += 1;
      for (let axis = 0; axis < dimensions; axis += 1) sums[axis] = (sums[axis] ?? 0) + (data[at * dimensions + axis] ?? 0);
    }
    means.set(
      sums.map((sum) => sum / Math.max(1, counted)),
      text * dimensions,
    );
  }
  return { dimensions, values: means };
}

async function transformers(): Promise<Transformers> {
  // Not a literal, so that neither types nor bundles ask for what may not be there.
  const name: string = encoderPackage;
  try {
    return (await import(name)) as Transformers;
  } catch (problem) {
    throw new Error(
      `Encoders need the optional package ${name}, which cannot be loaded (${firstLine(problem)}): run npm ci in Weir's folder, or go by words.`,
    );
  }
}

/** Errors of the package run over many lines. */
const firstLine = (problem: unknown): string => (problem instanceof Error ? problem.message : String(problem)).split("\n", 1)[0] ?? "";
