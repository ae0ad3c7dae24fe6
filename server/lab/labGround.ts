import type { LabSystem } from "@/server/contracts/studio/lab";
import { textsOf } from "@/server/prediction/textsOf";
import { openToRead } from "@/server/store/openToRead";
import { mixSeed } from "@/solver/numeric/random";
import { encodeArtefact } from "@/solver/prediction/artefact";
import { type ConfidenceRows, embeddingsAt, trainConfidence } from "@/solver/prediction/confidence";
import { trainLengths } from "@/solver/prediction/lengths";
import { confidenceRowsOf, lengthRowsOf } from "@/solver/prediction/programRows";
import { sketchOf } from "@/solver/words/sketch";
import { splitPrompts } from "@/solver/workload/split";
import { learnConfigurations } from "./labConfigurations";
import { learntPrograms, promptTextsOf, tableOf } from "./labPrograms";
import type { LabGround, LabTask } from "./labTask";

/** Programs that lengths are learnt of: enough that more hardly helps, few enough for seconds. */
const TRAINING_PROGRAMS = 3000;

type Source = LabSystem["lengths"] | LabSystem["confidence"];

/** Whether a figure is read off predictors rather than the truth or nothing. */
export const predicts = (source: Source): boolean => source === "learnt" || typeof source === "object";

/** Whether a system reads any predictor. */
export const readsPredictors = ({ lengths, confidence, configurations }: LabSystem): boolean =>
  predicts(lengths) || predicts(confidence) || configurations === "learnt" || configurations === "named";

/** Sketches the prompts where a system predicts, and trains the predictors that systems learn for the run, on prompts that it does not serve. */
export function makeGround(task: LabTask): LabGround {
  const { spec, workload } = task;
  const { systems } = spec;
  if (!systems.some(readsPredictors)) return { sketches: [], lengths: null, confidence: null, configurations: {} };
  const texts = textsAt(task);
  const sketches = workload.outcomes.promptIds.map((_, row) => {
    const text = texts?.[row] ?? null;
    return text === null ? null : sketchOf(text);
  });
  const table = tableOf(workload, modelsServed(task));
  const seed = mixSeed(workload.seed, "lab");
  const learnLengths = () => {
    const { sample, texts: known } = learntPrograms({ task, table, sketches }, TRAINING_PROGRAMS);
    return trainLengths(lengthRowsOf(sample, known), { seed });
  };
  const lengths = systems.some((system) => system.lengths === "learnt") ? learnLengths() : null;
  const { planning } = splitPrompts(workload.outcomes.promptIds.length, workload.seed);
  const confidence = systems.some((system) => system.confidence === "learnt")
    ? trainConfidence({ ...confidenceRowsOf(table, planning, promptTextsOf(task, sketches)), ...embedded(task, planning) }, { seed })
    : null;
  return {
    ...{ sketches, lengths: lengths && encodeArtefact(lengths), confidence: confidence && encodeArtefact(confidence) },
    configurations: learnConfigurations(task, { sketches }),
  };
}

const embedded = ({ embeddings }: LabTask, rows: Int32Array): Pick<ConfidenceRows, "embeddings"> =>
  embeddings === undefined ? {} : { embeddings: embeddingsAt(embeddings, rows) };

/** Models with engines in a run: the run's own or those of a system. */
export const modelsServed = ({ spec }: Pick<LabTask, "spec">): readonly string[] => [
  ...new Set([...spec.replicas, ...spec.systems.flatMap(({ replicas }) => replicas ?? [])].map(({ model }) => model)),
];

function textsAt({ texts, workload, spec }: LabTask): readonly (string | null)[] | null {
  if (texts === null) return null;
  if (texts.kind === "given") return texts.texts;
  const store = openToRead(texts.file);
  try {
    return textsOf(store, spec.workloadId, workload.outcomes.promptIds);
  } finally {
    store.close();
  }
}
