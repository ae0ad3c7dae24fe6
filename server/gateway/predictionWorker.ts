import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import type { ArtefactKind } from "@/server/contracts/artefacts";
import { packSketch } from "@/server/contracts/gatewayLearning";
import { type Encoder, loadEncoder } from "@/server/encoders/encoder";
import { type Artefact, decodeArtefact } from "@/solver/prediction/artefact";
import { commonPart, commonWords } from "@/solver/prediction/commonWords";
import { type ConfidenceArtefact, confidenceOfEmbeddings, confidencePredictor, type EncoderIdentity } from "@/solver/prediction/confidence";
import { lengthPredictor } from "@/solver/prediction/lengths";
import type { ConfidencePredictor, LengthPredictor, RequestFacts } from "@/solver/prediction/predictor";
import { sketchOf } from "@/solver/prediction/sketch";
import { bundledWorker } from "./bundledWorker";
import { encoderRefusal, type HeldEncoders } from "./encoderFolders";
import { MovingMean } from "./movingMean";
import type { Answer, ArtefactSource, Batch, FoundConfigurations, Loaded, ModelPrediction, Reply, ThreadData } from "./prediction";
import type { TimedSearch } from "./timedSearch";

/** Entry of the thread in which requests are read and predicted, with the artefacts that it was started with. */
const port = parentPort;
if (port === null) throw new Error("Predictions are made in a worker thread only.");

const warmUpBatch = 16;
const warmUpRounds = 20;
const mostWarmUpMs = 300;
const plain: RequestFacts = {
  ...{ instructionTokens: 10, promptTokens: 10, inputTokens: 20, workflow: "", stage: "" },
  sketch: sketchOf("What is 1 + 1?"),
};

const lengths = new Map<string, LengthPredictor>();
const confidence = new Map<string, ConfidenceReader>();
/** Words that may be remembered of a text, by the predictor of lengths that learnt of them. */
const common = new Map<string, ReadonlySet<number>>();
/** By their hashes: heads that read the same share one. */
const running = new Map<string, Encoder>();

/** Searches for accurate configurations, by predictor, and what one takes of late. */
const searches = new Map<string, TimedSearch>();
const searchTime = new MovingMean();

/** Confidence of texts whose facts are known, by text, then by model. */
interface ConfidenceReader {
  readonly models: readonly string[];
  read(facts: readonly RequestFacts[], texts: readonly string[]): Promise<Float32Array>;
}

async function load({ hash, at }: ArtefactSource, encoders: HeldEncoders): Promise<Loaded> {
  const refused = (problem: unknown, absent: "not-loaded" | "no-encoder" = "not-loaded"): Loaded => {
    return { hash, problem: problem instanceof Error ? problem.message : String(problem), absent };
  };
  let artefact: Artefact;
  try {
    const bytes = typeof at === "string" ? readFileSync(at) : at;
    if (createHash("sha256").update(bytes).digest("hex") !== hash) return refused("Its file is not what the name says.");
    artefact = decodeArtefact(bytes);
    if (artefact.kind === "lengths") {
      lengths.set(hash, tried(lengthPredictor(artefact)));
      common.set(hash, commonWords(artefact.text.words));
    } else if (artefact.encoder === null) confidence.set(hash, wordReader(confidencePredictor(artefact)));
  } catch (error) {
    return refused(error);
  }
  const { kind, models } = artefact;
  if (kind === "lengths" || artefact.encoder === null) return { hash, kind, models };
  const { name, sha256 } = artefact.encoder;
  const refusal = encoderRefusal(hash, { name, sha256 }, encoders);
  if (refusal !== null) return refused(refusal, "no-encoder");
  try {
    confidence.set(hash, await embeddingReader(artefact, artefact.encoder, encoders));
    return { hash, kind, models, encoder: { name, sha256 } };
  } catch (error) {
    return refused(error, "no-encoder");
  }
}

/** The predictor, once it has told numbers of a plain request. Throws where it does not. */
function tried(predictor: LengthPredictor): LengthPredictor {
  const told = predictor.models.flatMap((model) => predictor.predict([plain], model) ?? []);
  if (told.length !== predictor.models.length || told.some((one) => !Object.values(one).every(Number.isFinite)))
    throw new RangeError("It does not tell how long an answer to a plain request is.");
  return predictor;
}

/** Throws where it does not tell numbers of a plain request. */
function wordReader({ models, predict }: ConfidencePredictor): ConfidenceReader {
  if (!predict([plain]).every(Number.isFinite)) throw new RangeError("It does not tell how sure it is of a plain request.");
  return { models, read: async (facts) => predict(facts) };
}

/** Throws where the encoder cannot be loaded, or has changed since the gateway was started. */
async function embeddingReader(
  artefact: ConfidenceArtefact,
  { name, sha256, dimensions }: EncoderIdentity & { readonly dimensions: number },
  { list }: HeldEncoders,
): Promise<ConfidenceReader> {
  const folder = list.find((held) => held.sha256 === sha256)?.folder ?? "";
  const encoder = running.get(sha256) ?? (await loadEncoder(folder, bundledWorker("encoderProcess")));
  if (encoder.sha256 !== sha256) throw new Error(`The encoder ${name} in ${folder} is not the one with which the gateway was started.`);
  running.set(sha256, encoder);
  // Another thread takes its place, with a process that runs.
  void encoder.ended.then(() => process.exit());
  const tried = await encoder.embed(["What is 1 + 1?"]);
  if (tried.dimensions !== dimensions) throw new Error(`The encoder ${name} gives ${tried.dimensions} numbers a text, not ${dimensions}.`);
  return {
    models: artefact.models,
    read: async (_, texts) => {
      const { values } = await encoder.embed(texts);
      // As by words, where there is no text it is taken to be a usual one.
      for (const [at, text] of texts.entries()) if (text === "") values.set(artefact.usual, at * dimensions);
      return confidenceOfEmbeddings(artefact, values);
    },
  };
}

async function answersTo({ questions, searchMs }: Batch): Promise<readonly Answer[]> {
  const searchedByMs = performance.now() + searchMs;
  const facts: readonly RequestFacts[] = questions.map((question) => ({ ...question.facts, sketch: sketchOf(question.text) }));
  const predicted = questions.map(({ wanted }) => wanted.map((): Record<string, ModelPrediction> => ({})));
  const places = questions.flatMap(({ wanted }, question) => wanted.map((want, at) => ({ question, at, want })));
  /** The facts of some places. */
  const of = (chosen: readonly { readonly question: number }[]) => chosen.flatMap(({ question }) => facts[question] ?? []);
  const note = ({ question, at }: { readonly question: number; readonly at: number }, model: string, prediction: ModelPrediction) => {
    const models = predicted[question]?.[at];
    if (models !== undefined) models[model] = { ...models[model], ...prediction };
  };
  const searched = questions.map(({ wanted }) => wanted.map((): FoundConfigurations | null => null));
  // First: for these alone the time is short.
  for (const [hash, search] of searches) {
    const asking = places.filter(({ want }) => want.configurations === hash);
    for (const [at, found] of search.run(of(asking), searchedByMs).entries()) {
      const { question = 0, at: place = 0 } = asking[at] ?? {};
      searched[question]?.splice(place, 1, found);
    }
  }
  for (const [hash, predictor] of lengths) {
    for (const model of predictor.models) {
      const asking = places.filter(({ want }) => want.lengths === hash && want.models.includes(model));
      if (asking.length === 0) continue;
      const found = predictor.predict(of(asking), model) ?? [];
      for (const [at, { requestTokens, remainingTokens }] of found.entries()) {
        const place = asking[at];
        if (place !== undefined) note(place, model, { requestTokens, remainingTokens });
      }
    }
  }
  for (const [hash, predictor] of confidence) {
    const asking = places.filter(({ want }) => want.confidence === hash);
    if (asking.length === 0) continue;
    const found = await predictor.read(
      of(asking),
      asking.map(({ question }) => questions[question]?.text ?? ""),
    );
    for (const [at, place] of asking.entries()) {
      for (const [head, model] of predictor.models.entries()) {
        const sure = found[at * predictor.models.length + head];
        if (sure !== undefined && place.want.models.includes(model)) note(place, model, { confidence: sure });
      }
    }
  }
  return facts.map(({ sketch }, at) => {
    const reads = questions[at]?.wanted.find((want) => want.lengths !== null)?.lengths ?? null;
    const words = reads === null ? undefined : common.get(reads);
    return {
      sketch: words === undefined || sketch === null ? null : packSketch(commonPart(sketch, words)),
      predicted: predicted[at] ?? [],
      configurations: searched[at] ?? [],
    };
  });
}

/** Has the compiler know what is asked all the time, so that the first requests do not come too late. */
async function warmUp(loaded: readonly Loaded[]): Promise<void> {
  const untilMs = performance.now() + mostWarmUpMs;
  const wanted = loaded.flatMap((one) => {
    if (!("kind" in one)) return [];
    const { hash, kind, models } = one;
    const asked = (wanted: ArtefactKind): string | null => (kind === wanted ? hash : null);
    return [{ lengths: asked("lengths"), confidence: asked("confidence"), configurations: asked("configurations"), models }];
  });
  const facts = { instructionTokens: 10, promptTokens: 10, inputTokens: 20, workflow: "", stage: "" };
  const searchMs = mostWarmUpMs;
  const questions = Array.from({ length: warmUpBatch }, (_, at) => ({ text: `What is ${at} + ${at * 3}?`, facts, wanted, searchMs }));
  for (let round = 0; round < warmUpRounds && wanted.length > 0 && performance.now() < untilMs; round += 1)
    await answersTo({ questions, searchMs });
}

const { artefacts, encoders, serves } = workerData as ThreadData;
const loaded: Loaded[] = [];
for (const artefact of artefacts) loaded.push(await load(artefact, encoders));
if (serves) await warmUp(loaded);
port.postMessage(loaded);
port.on("message", async (batch: Batch) => {
  let answers: readonly Answer[] | null = null;
  try {
    answers = await answersTo(batch);
  } catch {
    // Nothing is said of it: the error might quote a prompt.
  }
  port.postMessage({ answers, searchMs: searchTime.mean } satisfies Reply);
});
