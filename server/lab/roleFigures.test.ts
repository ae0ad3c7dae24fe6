import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { expect, test } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { readCsv } from "@/server/planning/imports/readCsv";
import { mean, quantile } from "@/solver/numeric/quantile";
import type { AgentCall, AgentRun } from "@/solver/workflow/measuredPrograms";
import { measuredFigures, RESAMPLED_SPREAD } from "@/solver/workflow/roles";
import { readAgentRuns } from "./agentRuns";

const FOLDER = "../shared/data/workflows";

/** A quartile's distance from the median of a normal distribution, both ways, in standard deviations. */
const QUARTILES_APART = 1.349;
const CHARACTERS_PER_TOKEN = 4;

type Pick = (call: AgentCall) => boolean;
const called =
  (phase: string, agent?: string): Pick =>
  (call) =>
    call.phase === phase && (agent === undefined || call.agent === agent);

const firstCode = called("Coding", "Programmer");
const reviewComment = called("CodeReviewComment", "Code Reviewer");
const modification = called("CodeReviewModification", "Programmer");
const PLANNING = ["DemandAnalysis", "LanguageChoose", "ChooseLanguage"];

const code = ({ calls }: AgentRun): number => calls.find(firstCode)?.completionTokens ?? Number.NaN;

/** Median and spread of the output of some calls relative to the first code of their own run; runs without code have none. */
function overCode(runs: readonly AgentRun[], picked: Pick) {
  const logs = runs.flatMap((run) => {
    const whole = code(run);
    return Number.isNaN(whole) ? [] : run.calls.filter(picked).map(({ completionTokens }) => Math.log(completionTokens / whole));
  });
  return {
    calls: logs.length,
    runs: runs.filter((run) => !Number.isNaN(code(run)) && run.calls.some(picked)).length,
    lengthRatio: Math.exp(quantile(logs, 0.5)),
    lengthSpread: (quantile(logs, 0.75) - quantile(logs, 0.25)) / QUARTILES_APART,
  };
}

async function measured() {
  const runs = await readAgentRuns({
    calls: { name: "calls.csv", stream: createReadStream(`${FOLDER}/calls.csv`) },
    runs: { name: "runs.csv", stream: createReadStream(`${FOLDER}/runs.csv`) },
  });
  if (!runs.ok) throw new Error(runs.message);
  let column = { id: -1, task: -1 };
  const taskTokens = new Map<string, number>();
  await readCsv(
    { name: "runs.csv", stream: createReadStream(`${FOLDER}/runs.csv`) },
    {
      header(names) {
        column = { id: names.indexOf("run_id"), task: names.indexOf("task_prompt") };
        return null;
      },
      row(cells) {
        taskTokens.set(cells[column.id] ?? "", (cells[column.task] ?? "").length / CHARACTERS_PER_TOKEN);
        return null;
      },
    },
  );
  /** Median over runs of the first such call's prompt, less the task and less the answers of the first calls that it reads. */
  const instructions = (picked: Pick, reads: readonly Pick[]): number => {
    const tokens = runs.runs.flatMap((run) => {
      const prompt = run.calls.find(picked)?.promptTokens;
      const readTokens = reads.map((read) => run.calls.find(read)?.completionTokens);
      if (prompt === undefined || readTokens.includes(undefined)) return [];
      return [readTokens.reduce<number>((left, read) => left - (read ?? 0), prompt - (taskTokens.get(run.id) ?? 0))];
    });
    return quantile(tokens, 0.5);
  };
  return { runs: runs.runs, instructions };
}

const rounded = (value: number): number => Math.round(value * 100) / 100;

test(
  "the lengths of roles that templates have are those of ChatDev's runs",
  needs(file(`${FOLDER}/calls.csv`), file(`${FOLDER}/runs.csv`)),
  async () => {
    const { runs, instructions } = await measured();
    const rows = {
      "reviewer's comment": overCode(runs, reviewComment),
      "programmer's modification": overCode(runs, modification),
      "report on a failed test": overCode(runs, called("TestErrorSummary")),
      "repair after a failed test": overCode(runs, called("TestModification", "Programmer")),
      "planning phase": overCode(runs, ({ phase }) => PLANNING.includes(phase)),
      "choice of a language": overCode(runs, called("LanguageChoose")),
      reflection: overCode(runs, called("Reflection")),
      manual: overCode(runs, called("Manual")),
    };
    console.table(
      Object.fromEntries(
        Object.entries(rows).map(([name, row]) => [
          name,
          { calls: row.calls, runs: row.runs, median: row.lengthRatio.toFixed(3), spread: row.lengthSpread.toFixed(2) },
        ]),
      ),
    );
    const figure = ({ lengthRatio, lengthSpread }: ReturnType<typeof overCode>) => ({
      lengthRatio: rounded(lengthRatio),
      lengthSpread: rounded(lengthSpread),
    });
    expect({
      firstCode: { instructionTokens: Math.round(instructions(firstCode, [])) },
      reviewComment: {
        ...figure(rows["reviewer's comment"]),
        instructionTokens: Math.round(instructions(reviewComment, [firstCode])),
      },
      modification: {
        ...figure(rows["programmer's modification"]),
        instructionTokens: Math.round(instructions(modification, [firstCode, reviewComment])),
      },
      testReport: figure(rows["report on a failed test"]),
      repair: figure(rows["repair after a failed test"]),
      testFails: rounded(runs.filter(({ calls }) => calls.some(called("TestModification"))).length / runs.length),
    }).toEqual(measuredFigures);
  },
);

const ANSWERS = "../shared/data/quality/answers_gsm.csv.gz";

test("another answer of a model to the same prompt differs in length as voters' do", needs(file(ANSWERS)), async () => {
  const lengths = new Map<string, Map<string, number>>();
  let columns: readonly string[] = [];
  const read = await readCsv(
    { name: "answers_gsm.csv", stream: createReadStream(ANSWERS).pipe(createGunzip()) },
    {
      header(names) {
        columns = names;
        return null;
      },
      row(cells) {
        const cell = (column: string): string => cells[columns.indexOf(column)] ?? "";
        const model = cell("model");
        if (!model.includes("405B")) return null;
        const ofModel = lengths.get(model) ?? new Map<string, number>();
        lengths.set(model, ofModel.set(cell("prompt_id"), Number(cell("out_tok_est"))));
        return null;
      },
    },
  );
  if (!read.ok) throw new Error(read.message);
  const providers = [...lengths];
  const spreads = providers.flatMap(([one, ofOne], at) =>
    providers.slice(at + 1).map(([other, ofOther]) => {
      const logs = [...ofOne].flatMap(([prompt, tokens]) => {
        const others = ofOther.get(prompt) ?? 0;
        return tokens > 0 && others > 0 ? [Math.log(tokens / others)] : [];
      });
      const center = mean(logs);
      return { one, other, prompts: logs.length, spread: Math.sqrt(mean(logs.map((log) => (log - center) ** 2)) / 2) };
    }),
  );
  console.table(spreads);
  expect(spreads).toHaveLength(3);
  expect(Math.abs(RESAMPLED_SPREAD - mean(spreads.map(({ spread }) => spread)))).toBeLessThan(0.03);
});
