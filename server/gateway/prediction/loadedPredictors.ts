import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Encoder, loadEncoder } from "@/server/encoders/encoder";
import { reasonOf } from "@/server/lib/reasonOf";
import { workerFile } from "@/server/threads/workerFile";
import { decodeArtefact } from "@/solver/prediction/artefact";
import type { Artefact } from "@/solver/prediction/checkedArtefact";
import { confidenceOfEmbeddings, confidencePredictor, type EncoderIdentity } from "@/solver/prediction/confidence";
import { type ConfigurationPredictor, configurationPredictor, type SearchOptions } from "@/solver/prediction/configurations";
import { lengthPredictor } from "@/solver/prediction/lengths";
import type { ConfidencePredictor, LengthPredictor, RequestFacts } from "@/solver/prediction/predictor";
import { commonWords } from "@/solver/words/commonWords";
import { sketchOf } from "@/solver/words/sketch";
import { hasConfiguration } from "@/solver/workflow/configurationSet";
import { MovingMean } from "../lib/movingMean";
import { encoderRefusal, type HeldEncoders } from "./encoderFolders";
import type { ArtefactSource, Loaded } from "./prediction";
import { type ReadPrompts, TimedSearch } from "./timedSearch";

const plain: RequestFacts = {
  ...{ instructionTokens: 10, promptTokens: 10, inputTokens: 20, workflow: "", stage: "" },
  sketch: sketchOf("What is 1 + 1?"),
};

/** Confidence by prompt, then by model. */
interface ConfidenceReader {
  readonly models: readonly string[];
  read(prompts: ReadPrompts): Promise<Float32Array>;
}

/** Embeddings of texts, one after another; for an empty text an average one is used, as for words. */
type Embed = (texts: readonly string[], usual: Float32Array) => Promise<Float32Array>;

type OwnEncoder = EncoderIdentity & { readonly dimensions: number };

/** The predictors of a thread by the hashes of their artefacts. */
export class LoadedPredictors {
  readonly lengths = new Map<string, LengthPredictor>();
  readonly confidence = new Map<string, ConfidenceReader>();
  readonly searches = new Map<string, TimedSearch>();
  /** Words of a text that may be logged, by the length predictor that was trained on them. */
  readonly common = new Map<string, ReadonlySet<number>>();
  /** Recent wall milliseconds of a search. */
  readonly searchMs = new MovingMean();
  /** By their hashes: heads that read the same encoder share one. */
  readonly #running = new Map<string, Encoder>();
  readonly #encoders: HeldEncoders;

  constructor(encoders: HeldEncoders) {
    this.#encoders = encoders;
  }

  /** Loads an artefact, or says why it cannot. Never rejects. */
  async load({ hash, at }: ArtefactSource): Promise<Loaded> {
    const refused = (problem: unknown, absent: "not-loaded" | "no-encoder" = "not-loaded"): Loaded => {
      return { hash, problem: reasonOf(problem), absent };
    };
    let artefact: Artefact;
    let encoder: OwnEncoder | null;
    try {
      const bytes = typeof at === "string" ? readFileSync(at) : at;
      if (createHash("sha256").update(bytes).digest("hex") !== hash) return refused("The SHA-256 of its file is not its name.");
      artefact = decodeArtefact(bytes);
      encoder = encoderOf(artefact);
      if (encoder === null) this.#takeWords(hash, artefact);
    } catch (error) {
      return refused(error);
    }
    const { kind, models } = artefact;
    const loaded = { hash, kind, models, ...(artefact.kind === "configurations" && { workflow: artefact.workflow }) };
    if (encoder === null) return loaded;
    const { name, sha256 } = encoder;
    const refusal = encoderRefusal(hash, { name, sha256 }, this.#encoders);
    if (refusal !== null) return refused(refusal, "no-encoder");
    try {
      this.#takeEmbeddings(hash, artefact, await this.#embeddingsOf(encoder));
      return { ...loaded, encoder: { name, sha256 } };
    } catch (error) {
      return refused(error, "no-encoder");
    }
  }

  /** Loads a predictor that reads words. Throws if its predictions for a plain request are invalid. */
  #takeWords(hash: string, artefact: Artefact): void {
    switch (artefact.kind) {
      case "lengths":
        this.lengths.set(hash, tried(lengthPredictor(artefact)));
        this.common.set(hash, commonWords(artefact.text.words));
        return;
      case "confidence":
        this.confidence.set(hash, wordReader(confidencePredictor(artefact)));
        return;
      case "configurations": {
        const { space, predict } = triedSearch(configurationPredictor(artefact));
        const search = async ({ facts }: ReadPrompts, options: SearchOptions) => predict(facts, options);
        this.searches.set(hash, new TimedSearch({ size: space.size, search }, this.searchMs));
      }
    }
  }

  #takeEmbeddings(hash: string, artefact: Artefact, embed: Embed): void {
    if (artefact.kind === "confidence") {
      const read = async ({ texts }: ReadPrompts) => confidenceOfEmbeddings(artefact, await embed(texts, artefact.usual));
      this.confidence.set(hash, { models: artefact.models, read });
    } else if (artefact.kind === "configurations") {
      const { space, predictOfEmbeddings } = configurationPredictor(artefact);
      const search = async ({ texts }: ReadPrompts, options: SearchOptions) =>
        predictOfEmbeddings(await embed(texts, artefact.reading.usual), options);
      this.searches.set(hash, new TimedSearch({ size: space.size, search }, this.searchMs));
    }
  }

  /** Throws if the encoder cannot be loaded, or has changed since the gateway was started. */
  async #embeddingsOf({ name, sha256, dimensions }: OwnEncoder): Promise<Embed> {
    const folder = this.#encoders.list.find((held) => held.sha256 === sha256)?.folder ?? "";
    const encoder = this.#running.get(sha256) ?? (await loadEncoder(folder, workerFile("encoderProcess")));
    if (encoder.sha256 !== sha256) throw new Error(`The encoder ${name} in ${folder} has changed since the gateway started.`);
    this.#running.set(sha256, encoder);
    // Another thread with a running process replaces it.
    void encoder.ended.then(() => process.exit());
    const first = await encoder.embed(["What is 1 + 1?"]);
    if (first.dimensions !== dimensions)
      throw new Error(`The encoder ${name} gives ${first.dimensions} numbers a text, not ${dimensions}.`);
    return async (texts, usual) => {
      const { values } = await encoder.embed(texts);
      for (const [at, text] of texts.entries()) if (text === "") values.set(usual, at * dimensions);
      return values;
    };
  }
}

/** The encoder whose embeddings an artefact's heads read; null if they read words. */
function encoderOf(artefact: Artefact): OwnEncoder | null {
  switch (artefact.kind) {
    case "lengths":
      return null;
    case "confidence":
      return artefact.encoder;
    case "configurations":
      return artefact.reading.encoder;
  }
}

/** The predictor, after a check that it predicts numbers for a plain request. Throws otherwise. */
function tried(predictor: LengthPredictor): LengthPredictor {
  const predictions = predictor.models.flatMap((model) => predictor.predict([plain], model) ?? []);
  if (predictions.length !== predictor.models.length || predictions.some((one) => !Object.values(one).every(Number.isFinite)))
    throw new RangeError("It does not predict the length of an answer to a plain request.");
  return predictor;
}

/** Throws if it does not predict numbers for a plain request. */
function wordReader({ models, predict }: ConfidencePredictor): ConfidenceReader {
  if (!predict([plain]).every(Number.isFinite)) throw new RangeError("It does not predict the confidence of a plain request.");
  return { models, read: async ({ facts }) => predict(facts) };
}

/** The predictor, after a search for a plain request. Throws if it does not find the largest models accurate. */
function triedSearch(predictor: ConfigurationPredictor): ConfigurationPredictor {
  const [found] = predictor.predict([plain]);
  if (found === undefined || !hasConfiguration(found.accurate, predictor.space.size - 1))
    throw new RangeError("It does not predict that the largest models are accurate for a plain request.");
  return predictor;
}
