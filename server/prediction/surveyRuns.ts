import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import { readRun } from "@/solver/prediction/executedRows";
import { badRunWords } from "@/solver/prediction/leftOutRuns";
import { runLines } from "./runLines";

/** Most models that are listed: more than any workflow uses. */
const MOST_MODELS = 64;

/** What a file of executed runs holds, before a predictor is trained of it. */
export interface RunsSurvey {
  readonly ok: true;
  readonly runs: number;
  /** Lines that are no run of any workflow. */
  readonly otherLines: number;
  /** Models that agents ran on, smallest first; which is larger is known of those that there is a card of. */
  readonly models: readonly string[];
  readonly withoutCard: readonly string[];
}

/** Reads executed runs once, line by line, and returns a summary; refused if no line is valid. */
export async function surveyRuns(
  { path, name }: { readonly path: string; readonly name: string },
  cards: CardCatalogue["models"],
): Promise<RunsSurvey | { readonly ok: false; readonly message: string }> {
  const found = new Set<string>();
  let [runs, otherLines] = [0, 0];
  for await (const { text } of runLines(path)) {
    const run = readRun(text);
    if (typeof run === "string") otherLines += 1;
    else {
      runs += 1;
      for (const model of Object.values(run.configuration)) if (found.size < MOST_MODELS) found.add(model);
    }
  }
  if (runs === 0)
    return {
      ok: false,
      message: otherLines === 0 ? `${name} is empty.` : `${name} has no executed run: its lines have ${badRunWords.damaged}.`,
    };
  const known = [...found].flatMap((model) => {
    const card = cardOf(cards, model);
    return card === undefined ? [] : [{ model, paramsB: card.paramsB }];
  });
  const models = known.sort((a, b) => a.paramsB - b.paramsB || (a.model < b.model ? -1 : 1)).map(({ model }) => model);
  return { ok: true, runs, otherLines, models, withoutCard: [...found].filter((model) => !models.includes(model)).sort() };
}
