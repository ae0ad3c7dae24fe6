import type { ArtefactKind } from "@/server/contracts/gateway/artefacts";
import { packSketch } from "@/server/contracts/gateway/gatewayLearning";
import { serveTasks } from "@/server/threads/serveTasks";
import type { RequestFacts } from "@/solver/prediction/predictor";
import { commonPart } from "@/solver/words/commonWords";
import { sketchOf } from "@/solver/words/sketch";
import { LoadedPredictors } from "./loadedPredictors";
import type { Answer, Batch, FoundConfigurations, Loaded, LoadTask, ModelPrediction, PredictorQuery, Reply } from "./prediction";
import type { ReadPrompts } from "./timedSearch";

/** Entry of the thread that predicts requests; its artefacts come with its worker data. */
const warmUpBatch = 16;
const warmUpRounds = 20;
const mostWarmUpMs = 300;

let predictors = new LoadedPredictors({ list: [], canRun: false });

/** One policy's query: the index of its question, and its own index there. */
interface Place {
  readonly question: number;
  readonly at: number;
  readonly want: PredictorQuery;
}

async function answersTo({ questions, searchMs }: Pick<Batch, "questions" | "searchMs">): Promise<readonly Answer[]> {
  const searchedByMs = performance.now() + searchMs;
  const facts: readonly RequestFacts[] = questions.map((question) => ({ ...question.facts, sketch: sketchOf(question.text) }));
  const answers = questions.map(({ wanted }) => ({
    predicted: wanted.map((): Record<string, ModelPrediction> => ({})),
    configurations: wanted.map((): FoundConfigurations | null => null),
  }));
  const places: readonly Place[] = questions.flatMap(({ wanted }, question) => wanted.map((want, at) => ({ question, at, want })));
  const promptsOf = (chosen: readonly Place[]): ReadPrompts => ({
    facts: chosen.flatMap(({ question }) => facts[question] ?? []),
    texts: chosen.map(({ question }) => questions[question]?.text ?? ""),
  });
  const note = ({ question, at }: Place, model: string, prediction: ModelPrediction) => {
    const models = answers[question]?.predicted[at];
    if (models !== undefined) models[model] = { ...models[model], ...prediction };
  };
  // These come first: only they have a short time limit.
  for (const [hash, search] of predictors.searches) {
    const asking = places.filter(({ want }) => want.configurations === hash);
    const withMargins = asking.some(({ want }) => want.withMargins);
    const found = await search.run(promptsOf(asking), { byMs: searchedByMs, withMargins });
    for (const [at, { question, at: place }] of asking.entries()) answers[question]?.configurations.splice(place, 1, found[at] ?? null);
  }
  for (const [hash, predictor] of predictors.lengths) {
    for (const model of predictor.models) {
      const asking = places.filter(({ want }) => want.lengths === hash && want.models.includes(model));
      if (asking.length === 0) continue;
      const found = predictor.predict(promptsOf(asking).facts, model) ?? [];
      for (const [at, { requestTokens, remainingTokens }] of found.entries()) {
        const place = asking[at];
        if (place !== undefined) note(place, model, { requestTokens, remainingTokens });
      }
    }
  }
  for (const [hash, predictor] of predictors.confidence) {
    const asking = places.filter(({ want }) => want.confidence === hash);
    if (asking.length === 0) continue;
    const found = await predictor.read(promptsOf(asking));
    for (const [at, place] of asking.entries()) {
      for (const [head, model] of predictor.models.entries()) {
        const sure = found[at * predictor.models.length + head];
        if (sure !== undefined && place.want.models.includes(model)) note(place, model, { confidence: sure });
      }
    }
  }
  return answers.map((answer, at) => ({ ...answer, sketch: keptSketch(questions[at]?.wanted ?? [], facts[at]?.sketch ?? null) }));
}

/** The part of a text that may be logged; null if no predictor of lengths reads it. */
function keptSketch(wanted: readonly PredictorQuery[], sketch: RequestFacts["sketch"]): string | null {
  const reads = wanted.find(({ lengths }) => lengths !== null)?.lengths ?? null;
  const words = reads === null ? undefined : predictors.common.get(reads);
  return words === undefined || sketch === null ? null : packSketch(commonPart(sketch, words));
}

/** Compiles the frequently used code, so that the first requests are not late. */
async function warmUp(loaded: readonly Loaded[]): Promise<void> {
  const untilMs = performance.now() + mostWarmUpMs;
  const wanted = loaded.flatMap((one): readonly PredictorQuery[] => {
    if (!("kind" in one)) return [];
    const asked = (kind: ArtefactKind): string | null => (one.kind === kind ? one.hash : null);
    return [
      {
        lengths: asked("lengths"),
        confidence: asked("confidence"),
        configurations: asked("configurations"),
        models: one.models,
        withMargins: false,
      },
    ];
  });
  const facts = { instructionTokens: 10, promptTokens: 10, inputTokens: 20, workflow: "", stage: "" };
  const allowed = { searchMs: mostWarmUpMs };
  const questions = Array.from({ length: warmUpBatch }, (_, at) => ({ text: `What is ${at} + ${at * 3}?`, facts, wanted, ...allowed }));
  for (let round = 0; round < warmUpRounds && wanted.length > 0 && performance.now() < untilMs; round += 1)
    await answersTo({ questions, ...allowed });
}

async function load({ artefacts, encoders, serves }: LoadTask): Promise<readonly Loaded[]> {
  predictors = new LoadedPredictors(encoders);
  const loaded: Loaded[] = [];
  for (const artefact of artefacts) loaded.push(await predictors.load(artefact));
  if (serves) await warmUp(loaded);
  return loaded;
}

serveTasks(async (task: LoadTask | Batch): Promise<readonly Loaded[] | Reply> => {
  if (task.kind === "load") return load(task);
  let answers: readonly Answer[] | null = null;
  try {
    answers = await answersTo(task);
  } catch {
    // The error is not reported: it might quote a prompt.
  }
  return { answers, searchMs: predictors.searchMs.mean };
});
