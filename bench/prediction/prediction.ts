import { seedEstimate } from "@/solver/lab/overSeeds";
import { mean } from "@/solver/numeric/quantile";
import { seededRandom } from "@/solver/numeric/random";
import { encodeArtefact } from "@/solver/prediction/artefact";
import { confidencePredictor, type Embeddings } from "@/solver/prediction/confidence";
import { lengthPredictor } from "@/solver/prediction/lengths";
import type { RequestFacts } from "@/solver/prediction/predictor";
import { predictionsOf } from "@/solver/prediction/programFacts";
import { sketchOf } from "@/solver/words/sketch";
import { atMost, type Benchmark, type Measurement, overSeeds } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { embedding, embeddingsOf, encoderFolder, miniLm } from "../lib/encoded";
import { type Ladder, ladders, workflowsOf } from "../lib/ladders";
import { once } from "../lib/once";
import { keptRows, writeResults, writeRows, writeTables } from "../lib/results";
import { CORRELATIONS, confidenceErrors, lengthErrors } from "./heldOutErrors";
import { confidenceTable, type EncoderErrors, encoderTable, lengthTable } from "./tables";
import { promptsOf, trained } from "./trained";

/** Splits of the prompts over which every error is averaged. */
const SEEDS = [1, 2, 3];

/** Among the correlations, the one of the ablations. */
const HALF = CORRELATIONS.indexOf(0.5);

/** Requests that a gateway's worker predicts together. */
const BATCH = 32;

const BATCHES = 200;

/** Programs of a sample of the lab: about 100,000 requests. */
const LAB_PROGRAMS = 43_000;

/** Every ladder of the ablations, and Qwen's two sizes on maths. */
const measured: readonly Ladder[] = [...ladders, { family: "Qwen2-Instruct", task: "gsm", replicas: [] }];

/** Errors on held-out prompts of every ladder, by split. */
const errors = once(async () => {
  const rows = [];
  for (const ladder of measured) {
    const prompts = await promptsOf(ladder);
    const lengths = SEEDS.map((seed) => lengthErrors(prompts, workflowsOf[ladder.task], seed));
    const confidence = SEEDS.map((seed) => confidenceErrors(prompts, seed));
    rows.push({ family: ladder.family, task: ladder.task, prompts: prompts.outcomes.promptIds.length, lengths, confidence });
    process.stderr.write(`prediction: ${ladder.family} on ${ladder.task}\n`);
  }
  writeResults("prediction", rows);
  const parts = ["Kendall tau distances of the length order:", lengthTable(rows), "Confidence heads:", confidenceTable(rows)];
  writeTables("prediction", parts);
  process.stderr.write(`\n${parts.join("\n\n")}\n`);
  return rows;
});

/** Compared with the source's (Chimera, tables 2 and 3). */
async function heldOut(): Promise<Measurement> {
  const rows = await errors();
  const taus = rows.flatMap(({ lengths }) => lengths.flatMap((seed) => seed.map(({ programs }) => programs[HALF]?.learnt ?? Number.NaN)));
  return {
    figure: mean(taus),
    unit: "Kendall tau distance",
    detail: `of what programs have yet to write, stages correlated by ${CORRELATIONS[HALF]}, mean over ${rows.length} ladders and tasks and ${SEEDS.length} splits; the source's 0.187 over its models; all in bench/results/prediction.json`,
  };
}

/** Errors of heads on words and on an encoder's embeddings of the same prompts, on the same splits. */
const encoderErrors = once(async (): Promise<readonly EncoderErrors[]> => {
  const rows: EncoderErrors[] = [];
  for (const ladder of measured) {
    const kept = `prediction-encoder-${ladder.family}-${ladder.task}`;
    const before = keptRows<EncoderErrors>(kept);
    if (before !== null) {
      rows.push(...before);
      continue;
    }
    const prompts = await promptsOf(ladder);
    const embeddings = await embeddingsOf(prompts.words);
    if (embeddings === null) throw new Error("The encoder was there when the bench began.");
    const over = (of: Embeddings | null) => SEEDS.map((seed) => confidenceErrors(prompts, seed, of));
    const own = { family: ladder.family, task: ladder.task, words: over(null), encoder: over(embeddings) };
    writeRows(kept, [own]);
    rows.push(own);
    process.stderr.write(`prediction on an encoder: ${ladder.family} on ${ladder.task}\n`);
  }
  writeResults("prediction-encoder", rows);
  writeTables("prediction-encoder", [encoderTable(rows)]);
  return rows;
});

/** What heads on the encoder gain (Chimera, table 2). */
async function encoderGain(): Promise<Measurement> {
  const rows = await encoderErrors();
  const gains = rows.flatMap(({ words, encoder }) =>
    encoder.flatMap((split, at) => split.map(({ auc }, model) => auc - (words[at]?.[model]?.auc ?? Number.NaN))),
  );
  const pace =
    embedding.texts === 0 ? "kept rows" : `${(embedding.ms / embedding.texts).toFixed(1)} ms each in batches of 16 on half of the cores`;
  return {
    figure: mean(gains),
    unit: "of AUC more than on words",
    detail: `all-MiniLM-L6-v2, int8, through the ONNX encoder on the real prompts, ${pace}; mean over ${rows.length} ladders and tasks and ${SEEDS.length} splits`,
  };
}

/** One batch of a gateway's worker: texts in, lengths by every model and confidence out. */
async function latency(): Promise<Measurement> {
  const { prompts, heldOut, lengths, confidence } = await trained();
  const [length, head] = [lengthPredictor(lengths), confidencePredictor(confidence)];
  const random = seededRandom(1);
  const timesOf = (textOf: () => string): readonly number[] => {
    const times = Array.from({ length: BATCHES }, () => {
      const texts = Array.from({ length: BATCH }, textOf);
      const before = performance.now();
      const facts = texts.map(
        (text): RequestFacts => ({
          ...{ instructionTokens: 60, promptTokens: text.length / 4, inputTokens: 60 + text.length / 4 },
          ...{ workflow: "planner-solver", stage: "solver", sketch: sketchOf(text) },
        }),
      );
      for (const model of length.models) length.predict(facts, model);
      head.predict(facts);
      return (performance.now() - before) / BATCH;
    });
    return times.slice(BATCHES / 10).sort((a, b) => a - b);
  };
  const drawn = (): string => prompts.words[heldOut[random.int(heldOut.length)] ?? 0] ?? "";
  const cpuBefore = process.cpuUsage();
  const short = timesOf(drawn);
  const cpu = process.cpuUsage(cpuBefore);
  const long = timesOf(() => Array.from({ length: 60 }, drawn).join("\n"));
  const at = (times: readonly number[], share: number): string => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(3);
  return {
    figure: short[Math.floor(0.5 * short.length)] ?? Number.NaN,
    unit: "ms a request",
    detail: `sketch of the text, both lengths by each of ${length.models.length} models, and confidence, in batches of ${BATCH} on one core, median; 99th percentile ${at(short, 0.99)} ms; ${((cpu.user + cpu.system) / 1000 / BATCHES / BATCH).toFixed(3)} ms of processor; prompts of some 3,000 words ${at(long, 0.5)} and ${at(long, 0.99)} ms`,
  };
}

/** Distance from the true order of an order of programs, mean over ladders and models, over splits. */
async function orderError(order: "learnt" | "arrival" | "input", words: string): Promise<Measurement> {
  const rows = await errors();
  const bySplit = SEEDS.map((_, split) =>
    mean(rows.flatMap(({ lengths }) => (lengths[split] ?? []).map(({ programs }) => programs[HALF]?.[order] ?? Number.NaN))),
  );
  return {
    ...overSeeds(seedEstimate(bySplit)),
    unit: "Kendall tau distance",
    detail: `of what programs have yet to write, by ${words}, stages correlated by ${CORRELATIONS[HALF]}, mean over ${rows.length} ladders and tasks and ${SEEDS.length} splits; all in bench/results/prediction.json`,
  };
}

/** @param read what the heads read of a prompt */
async function meanPrecision(read: "words" | "encoder"): Promise<Measurement> {
  const ladders =
    read === "words" ? (await errors()).map(({ confidence }) => confidence) : (await encoderErrors()).map((own) => own.encoder);
  const over = (figure: "averagePrecision" | "rightShare"): readonly number[] =>
    SEEDS.map((_, split) => mean(ladders.map((splits) => mean((splits[split] ?? []).map((error) => error[figure])))));
  const heads = read === "words" ? "heads on words" : `heads on embeddings of ${miniLm.name}`;
  return {
    ...overSeeds(seedEstimate(over("averagePrecision"))),
    unit: "mean average precision",
    detail: `${heads}, macro mean over models, mean over ${ladders.length} ladders and tasks and ${SEEDS.length} splits; a coin has ${mean(over("rightShare")).toFixed(3)}`,
  };
}

async function training(): Promise<Measurement> {
  const { rows, lengths, confidence, lengthSeconds, confidenceSeconds, cpuSeconds } = await trained();
  const kilobytes = [lengths, confidence].map((artefact) => Math.round(encodeArtefact(artefact).length / 1000));
  return {
    figure: lengthSeconds + confidenceSeconds,
    unit: "s",
    detail: `lengths of ${rows.models.length} models on ${rows.models[0]?.facts.length} requests each ${lengthSeconds.toFixed(1)} s, confidence ${confidenceSeconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of processor; artefacts of ${kilobytes.join(" and ")} kB`,
  };
}

/** The lab's predictions before a run. */
async function sample(): Promise<Measurement> {
  const { prompts, heldOut, draw, lengths, confidence } = await trained();
  const programs = draw(heldOut, LAB_PROGRAMS);
  const cpuBefore = process.cpuUsage();
  const before = performance.now();
  predictionsOf(programs, prompts.texts, { lengths: lengthPredictor(lengths), confidence: confidencePredictor(confidence) });
  const cpu = process.cpuUsage(cpuBefore);
  return {
    figure: (performance.now() - before) / 1000,
    unit: "s",
    detail: `lengths by ${lengths.models.length} models and confidence of ${programs.program.length.toLocaleString("en")} requests at once; ${((cpu.user + cpu.system) / 1e6).toFixed(1)} s of processor`,
  };
}

/** Accuracy and cost of learnt predictors, on outcomes of real models; nothing where those are not available. */
export const predictionBenchmarks: readonly Benchmark[] = dataPresent()
  ? [
      {
        name: "prediction: latency at batch 32",
        budget: atMost(0.5, "a prompt is read once for each head, or a batch one prompt at a time"),
        run: latency,
      },
      { name: "prediction: training", budget: null, run: training },
      { name: "prediction: a sample of the lab", budget: null, run: sample },
      { name: "prediction: order of learnt lengths", budget: null, run: () => orderError("learnt", "learnt lengths") },
      { name: "prediction: order of arrival", budget: null, run: () => orderError("arrival", "arrival") },
      { name: "prediction: order of the input's length", budget: null, run: () => orderError("input", "the input's length") },
      { name: "prediction: mean average precision of confidence", budget: null, run: () => meanPrecision("words") },
      { name: "prediction: held-out errors", budget: null, run: heldOut },
      ...(encoderFolder() === null
        ? []
        : [
            { name: "prediction: confidence on an encoder", budget: null, run: encoderGain },
            { name: "prediction: mean average precision on an encoder", budget: null, run: () => meanPrecision("encoder") },
          ]),
    ]
  : [];
