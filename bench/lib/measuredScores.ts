import { createReadStream } from "node:fs";
import { basename, join } from "node:path";
import { readCsv } from "@/server/planning/imports/readCsv";
import type { OutcomeTable } from "@/solver/workload/workload";
import { data } from "./compareData";

/** Scores of two judges of the same answers to WildBench. */
export const MEASURED_SCORES = join(data, "quality", "judge_scores.csv");

/** The judge that gates; GPT-4o's scores are the labels. Both read the same answers. */
const GATE = { judge: "gpt-4-turbo-2024-04-09", release: "v2.0522" } as const;

/** The measured scores of the gating judge in place of modelled ones, prompts without them left out. */
export async function withMeasuredScores(outcomes: OutcomeTable): Promise<OutcomeTable> {
  const scores = new Map<string, number>();
  let columns: readonly number[] = [];
  const read = await readCsv(
    { name: basename(MEASURED_SCORES), stream: createReadStream(MEASURED_SCORES) },
    {
      header(names) {
        columns = ["release", "judge", "session_id", "model", "judge_score_1to10"].map((name) => names.indexOf(name));
        return columns.includes(-1) ? "a column is missing" : null;
      },
      row(cells) {
        const [release, judge, session, model, score] = columns.map((at) => cells[at] ?? "");
        if (release === GATE.release && judge === GATE.judge) scores.set(`${model} wb-${session}`, (100 * (Number(score) - 1)) / 9);
        return null;
      },
    },
  );
  if (!read.ok) throw new Error(read.message);
  const scoreOf = (tableName: string, row: number): number | undefined => scores.get(`${tableName} ${outcomes.promptIds[row]}`);
  const rows = Int32Array.from(outcomes.promptIds.keys()).filter((row) =>
    outcomes.models.every(({ tableName }) => scoreOf(tableName, row) !== undefined),
  );
  const tokensOf = (tokens: Int32Array): Int32Array => rows.map((row) => tokens[row] ?? 0);
  return {
    promptIds: Array.from(rows, (row) => outcomes.promptIds[row] ?? ""),
    categories: Array.from(rows, (row) => outcomes.categories[row] ?? ""),
    inputTokens: tokensOf(outcomes.inputTokens),
    models: outcomes.models.map(({ model, tableName, outputTokens, label }) => ({
      ...{ model, tableName, outputTokens: tokensOf(outputTokens) },
      label: Float64Array.from(rows, (row) => label[row] ?? 0),
      judged: Float64Array.from(rows, (row) => Math.round(scoreOf(tableName, row) ?? 0)),
    })),
  };
}
