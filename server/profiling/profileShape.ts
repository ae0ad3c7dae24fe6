import type { Answerer, Measure, ProfileRequest } from "@/server/contracts/studio";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";
import { answererKey } from "./answererPool";
import type { CallShape } from "./callLedger";
import type { MeasureReadings } from "./measures/reading";

/** Processes of unit tests, and other work without a call, at once. */
const LOCAL_LIMIT = 16;

/**
 * A job as the ledger counts it. Samples are kept in the order of their file, so prompts are asked at random: what a job has answered that
 * is paused or stopped is a random part of its sample. A lane for each model and each judge, which share one where they are the same, and
 * the last for work done here. Samples of the models come after the measures, as readings of their answers.
 */
export interface ProfileShape extends CallShape {
  readonly answerers: readonly { readonly answerer: Answerer; readonly isJudge: boolean }[];
}

/** The source of a measure's readings; null: it needs no calls. */
export const judgeOf = (measure: Measure): Answerer | null => ("judge" in measure ? measure.judge : null);

/** How many readings of an answer count for its score. */
export const countedReadings = (measure: Measure | undefined): number => (measure?.kind === "pairwise" && measure.swap ? 2 : 1);

export function profileShape(
  request: ProfileRequest,
  prompts: number,
  { readingCount }: Pick<MeasureReadings, "readingCount">,
): ProfileShape {
  const { models, measures, concurrency, gates } = request;
  const answerers = new Map(models.map((answerer) => [answererKey(answerer), { answerer, isJudge: false }]));
  for (const measure of measures) {
    const judge = judgeOf(measure);
    if (judge !== null && !answerers.has(answererKey(judge))) answerers.set(answererKey(judge), { answerer: judge, isJudge: true });
  }
  const keys = [...answerers.keys()];
  return {
    prompts,
    order: shuffled(prompts, seededRandom(mixSeed(request.promptSetId, "order"))),
    answerers: [...answerers.values()],
    models: models.map((model) => ({ lane: keys.indexOf(answererKey(model)) })),
    measures: [
      ...measures.map((measure) => {
        const judge = judgeOf(measure);
        return {
          readings: readingCount(measure),
          lane: judge === null ? keys.length : keys.indexOf(answererKey(judge)),
          against: measure.kind === "pairwise" ? models.findIndex(({ model }) => model === measure.against) : null,
        };
      }),
      ...(gates.samples === null ? [] : [{ readings: gates.samples.count, lane: null, against: null }]),
    ],
    lanes: [...keys.map(() => ({ limit: concurrency })), { limit: LOCAL_LIMIT }],
  };
}
