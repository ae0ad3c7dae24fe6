import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { mean } from "@/solver/numeric/quantile";
import { importOutcomes } from "./importOutcomes";
import { surveyOutcomes } from "./surveyOutcomes";

const HEADER = "task,metric,prompt_id,category,in_tok,family,size_rank,model,params_b,active_b,score,out_tok";
const GOOD = [
  "arith,correct,p1,sums,12,Fam,1,Meta-Llama-3.1-8B-Instruct,8.0,8.0,0,40",
  "arith,correct,p2,sums,15,Fam,1,Meta-Llama-3.1-8B-Instruct,8.0,8.0,1,30",
  "arith,correct,p1,sums,12,Fam,2,Meta-Llama-3.1-70B-Instruct,70.6,70.6,1,50",
  "arith,correct,p2,sums,15,Fam,2,Meta-Llama-3.1-70B-Instruct,70.6,70.6,1,0",
];

const source = (lines: readonly string[], header = HEADER) => ({ name: "out.csv", stream: Readable.from([[header, ...lines].join("\n")]) });
const selection = { family: null, tasks: [], aliases: {} };
const run = (lines: readonly string[], options: object = {}, header = HEADER) =>
  importOutcomes(source(lines, header), { ...selection, ...options });

/** The message of the refusal of lines. */
async function refusal(lines: readonly string[], options: object = {}, header = HEADER): Promise<string> {
  const imported = await run(lines, options, header);
  return imported.ok ? "accepted" : imported.message;
}

async function accepted(lines: readonly string[], options: object = {}, header = HEADER) {
  const imported = await run(lines, options, header);
  if (!imported.ok) throw new Error(imported.message);
  return imported;
}

/** GOOD with one line changed. */
const withLine = (at: number, line: string): readonly string[] => GOOD.map((good, index) => (index === at ? line : good));

test("rows become a table, smallest model first wherever ranks start, labels 0..100, an empty answer still one token", async () => {
  const { table, family, tasks, promptLengths, droppedPrompts, origin } = await accepted([...GOOD].reverse());
  expect(table.models.map(({ model }) => model)).toEqual(["llama-3.1-8b", "llama-3.1-70b"]);
  expect(new Set(table.promptIds)).toEqual(new Set(["p1", "p2"]));
  const at = table.promptIds.indexOf("p2");
  expect([table.inputTokens[at], table.models[0]?.label[at], table.models[1]?.outputTokens[at]]).toEqual([15, 100, 1]);
  expect(table.models.every(({ judged }) => judged === null)).toBe(true);
  expect({ family, tasks, promptLengths, droppedPrompts }).toEqual({
    family: "Fam",
    tasks: ["arith"],
    promptLengths: "measured",
    droppedPrompts: 0,
  });
  expect(origin).toBe("out.csv, family Fam, task arith: 2 prompts x 2 models");
});

test("a byte order mark, CRLF line ends, blank lines and quoted commas are plain CSV", async () => {
  const lines = withLine(0, GOOD[0]!.replace("sums", '"sums, small"')).flatMap((line) => [line, ""]);
  const stream = Readable.from([Buffer.from(`\uFEFF${[HEADER, ...lines].join("\r\n")}\r\n`)]);
  const imported = await importOutcomes({ name: "out.csv", stream }, selection);
  expect(imported.ok && imported.table.categories).toEqual(["sums, small", "sums"]);
});

test("prompts that a model did not answer are dropped and counted", async () => {
  const { table, droppedPrompts, origin } = await accepted([
    ...GOOD,
    "arith,correct,p3,sums,9,Fam,1,Meta-Llama-3.1-8B-Instruct,8.0,8.0,1,5",
  ]);
  expect(table.promptIds).toEqual(["p1", "p2"]);
  expect(droppedPrompts).toBe(1);
  expect(origin).toContain("1 prompts left out");
});

test("the same prompt id in two tasks is two prompts with two ids", async () => {
  const { table } = await accepted([...GOOD, ...GOOD.map((line) => line.replace("arith", "other"))]);
  expect(table.promptIds).toEqual(["p1", "p2", "other:p1", "other:p2"]);
});

test("graded metrics map to labels by their scale, and missing prompt lengths are estimated and marked", async () => {
  const graded = GOOD.map((line, at) =>
    line
      .replace("correct", "judge_1to10")
      .replace(/,1[25],Fam/, ",,Fam")
      .replace(/,[01],(\d+)$/, `,${[1, 5.5, 10, 7][at]},$1`),
  );
  const { table, promptLengths, origin } = await accepted(graded);
  expect(table.models.map(({ label }) => [...label])).toEqual([
    [0, 50],
    [100, expect.closeTo(66.67, 1)],
  ]);
  expect([...table.inputTokens, promptLengths]).toEqual([256, 256, "estimated"]);
  expect(origin).toContain("prompt lengths estimated");
});

test("estimated lengths are the median of the measured ones, where there are some", async () => {
  const graded = GOOD.map((line) => line.replace("correct", "grade")).map((line) => line.replace(/,[01],(\d+)$/, ",70,$1"));
  const { table, promptLengths } = await accepted(graded.map((line) => line.replace(",12,Fam", ",,Fam")));
  expect([...table.inputTokens, promptLengths]).toEqual([15, 15, "estimated"]);
  expect([...(table.models[0]?.label ?? [])]).toEqual([70, 70]);
});

test("a measured judge's scores are kept beside the labels, and half of them are refused", async () => {
  const header = `${HEADER},judged_score`;
  const { table } = await accepted(
    GOOD.map((line, at) => `${line},${20 * at}`),
    {},
    header,
  );
  expect(table.models.map(({ judged }) => [...(judged ?? [])])).toEqual([
    [0, 20],
    [40, 60],
  ]);
  expect(
    await refusal(
      GOOD.map((line, at) => `${line},${at === 0 ? 50 : ""}`),
      {},
      header,
    ),
  ).toBe("out.csv: judged_score is empty in 3 of 4 rows; fill in all of them or leave the column out");
  expect(
    await refusal(
      GOOD.map((line) => `${line},101`),
      {},
      header,
    ),
  ).toContain("4 rows (lines 2, 3, 4 …): judged_score is '101'; it must be a number from 0 to 100");
});

describe("scores of other gates", () => {
  const header = `${HEADER},confidence,agreement`;
  const scored = (rows: readonly string[]) => GOOD.map((line, at) => `${line},${rows[at] ?? ","}`);

  test("are read for the models that have them", async () => {
    const { table } = await accepted(scored(["91.5,0", "40,100", ",", ","]), {}, header);
    const [small, large] = table.models;
    expect([...(small?.confidence ?? [])]).toEqual([91.5, 40]);
    expect([...(small?.agreement ?? [])]).toEqual([0, 100]);
    expect(large).not.toHaveProperty("confidence");
    expect(small?.judged).toBeNull();
  });

  test("are for all answers of a model or for none", async () => {
    expect(await refusal(scored(["91.5,", ",", ",", ","]), {}, header)).toBe(
      "out.csv: confidence is empty in 1 of 2 rows of 'Meta-Llama-3.1-8B-Instruct'; fill in all of them or none",
    );
  });

  test("are from 0 to 100, and not probabilities", async () => {
    expect(await refusal(scored(["90,-1", "90,0", ",", ","]), {}, header)).toContain(
      "line 2: agreement is '-1'; it must be a number from 0 to 100",
    );
    expect(await refusal(scored(["0.9,0", "0.4,100", ",", ","]), {}, header)).toBe(
      "out.csv: confidence never exceeds 1 although it is read as 0..100; multiply it by 100",
    );
  });

  test("are listed by the survey", async () => {
    const survey = await surveyOutcomes(source(scored(["90,", "80,", ",", ","]), header));
    expect(survey.ok && survey.families.map(({ gateColumns }) => gateColumns)).toEqual([["confidence"]]);
  });
});

describe("bad input is refused with file, line, field and the way out:", () => {
  const cells = (at: number, change: (line: string) => string) => withLine(at, change(GOOD[at]!));
  test.each([
    [
      "a score of 140",
      cells(2, (line) => line.replace(",1,50", ",140,50")),
      "out.csv line 4: score is '140'; it must be a number from 0 to 1 of metric 'correct'",
    ],
    [
      "a score that is no number",
      cells(0, (line) => line.replace(",0,40", ",good,40")),
      "out.csv line 2: score is 'good'; it must be a number",
    ],
    ["an empty score", cells(0, (line) => line.replace(",0,40", ",,40")), "out.csv line 2: score is ''; it must be a number"],
    [
      "a negative length",
      cells(1, (line) => line.replace(",30", ",-30")),
      "out.csv line 3: out_tok is '-30'; it must be a whole number from 0",
    ],
    [
      "a fractional length",
      cells(1, (line) => line.replace(",15,Fam", ",15.5,Fam")),
      "out.csv line 3: in_tok is '15.5'; it must be a whole number from 1",
    ],
    [
      "a right-or-wrong row without prompt length",
      cells(1, (line) => line.replace(",15,Fam", ",,Fam")),
      "out.csv line 3: in_tok is missing; give the prompt's tokens",
    ],
    ["an empty model", cells(1, (line) => line.replace("Meta-Llama-3.1-8B-Instruct", "")), "out.csv line 3: model is empty; fill it in"],
    [
      "a bracket in a prompt id",
      cells(1, (line) => line.replace("p2", "p[2]")),
      "out.csv line 3: prompt_id is 'p[2]'; leave out square brackets",
    ],
    [
      "a repeated row",
      [...GOOD, GOOD[0]!],
      "out.csv line 6: prompt_id 'p1' was answered by 'Meta-Llama-3.1-8B-Instruct' before; keep one row",
    ],
    [
      "two ranks of one model",
      cells(1, (line) => line.replace("Fam,1", "Fam,7")),
      "out.csv line 3: size_rank of 'Meta-Llama-3.1-8B-Instruct' is 7 here and 1 before",
    ],
    ["one rank of two models", GOOD.map((line) => line.replace("Fam,2", "Fam,1")), "out.csv: size_rank 1 is that of"],
    ["a missing field", cells(1, (line) => line.replace(/,30$/, "")), "out.csv line 3: found 11 fields where the header has 12"],
    ["an open quote", cells(1, (line) => line.replace("sums", '"sums')), "out.csv line 3: a quote is opened and never closed"],
    ["a stray quote", cells(1, (line) => line.replace("sums", 'su"ms')), "out.csv line 3: a quote stands inside an unquoted field"],
    ["text after a quote", cells(1, (line) => line.replace("sums", '"su"ms')), "out.csv line 3: text follows a closing quote"],
    [
      "no common prompt",
      [GOOD[0]!, GOOD[3]!],
      "out.csv: prompt_id: no prompt is answered by all of 'Meta-Llama-3.1-8B-Instruct', 'Meta-Llama-3.1-70B-Instruct'",
    ],
    [
      "a fraction taken for a grade",
      GOOD.map((line) => line.replace("correct", "accuracy")),
      "out.csv: score of metric 'accuracy' never exceeds 1",
    ],
    ["no rows", [], "out.csv has a header line but no rows"],
  ])("%s", async (_, lines, message) => {
    expect(await refusal(lines)).toContain(message);
  });

  test("a missing column", async () => {
    const message = await refusal(GOOD, {}, HEADER.replace("score", "points"));
    expect(message).toMatch(/^out\.csv line 1: score: no such column among 'task', .*'points'.*; name the columns task, metric, /);
  });

  test("an empty file", async () => {
    const imported = await importOutcomes({ name: "out.csv", stream: Readable.from([]) }, selection);
    expect(imported).toEqual({ ok: false, message: "out.csv is empty; it needs a header line and rows" });
  });

  test("an unknown family, several families without a choice, and an unknown task, with those there are", async () => {
    const two = [...GOOD, ...GOOD.map((line) => line.replace("Fam", "Kin"))];
    expect(await refusal(two, { family: "Clan" })).toBe("out.csv: family 'Clan' does not occur; choose one of 'Fam', 'Kin'");
    expect(await refusal(two)).toBe("out.csv: family: there are several, choose one of 'Fam', 'Kin'");
    expect(await refusal(two, { family: "Kin", tasks: ["arith", "chess"] })).toBe(
      "out.csv: task 'chess' does not occur in family 'Kin'; choose from 'arith'",
    );
  });

  test("an unknown model, which a mapping to a card settles", async () => {
    const own = GOOD.map((line) => line.replace("Meta-Llama-3.1-8B-Instruct", "llama-tuned"));
    expect(await refusal(own)).toMatch(
      /^out\.csv, 2 rows \(lines 2, 3\): model 'llama-tuned' has no model card; name one with --models 'llama-tuned=card', for instance llama-/,
    );
    expect(await refusal(own, { aliases: { "llama-tuned": "lama" } })).toContain("is mapped to 'lama', which is no model card");
    expect(await refusal(own, { aliases: { "llama-tuned": "llama-3.1-70b" } })).toContain(
      "has the card llama-3.1-70b, as has 'llama-tuned'",
    );
    expect((await accepted(own, { aliases: { "llama-tuned": "llama-3.1-8b" } })).table.models[0]).toMatchObject({
      model: "llama-3.1-8b",
      tableName: "llama-tuned",
    });
  });

  test("a fault in a family that was not asked for", async () => {
    expect(await refusal([...GOOD, GOOD[0]!.replace("Fam", "Kin").replace(",0,40", ",9,40")], { family: "Fam" })).toContain(
      "line 6: score is '9'",
    );
  });
});

test("a stream that breaks is not taken for a bad file", async () => {
  const broken = Readable.from(
    (async function* () {
      yield `${HEADER}\n`;
      throw new Error("connection lost");
    })(),
  );
  await expect(importOutcomes({ name: "out.csv", stream: broken }, selection)).rejects.toThrow("connection lost");
});

test("a survey lists families, tasks and models with their cards, and finds the same faults", async () => {
  const survey = await surveyOutcomes(source([...GOOD, GOOD[0]!.replace("Fam", "Kin").replace("Meta-Llama-3.1-8B-Instruct", "mine")]));
  expect(survey).toEqual({
    ok: true,
    rows: 5,
    families: [
      {
        family: "Fam",
        tasks: [{ task: "arith", metric: "correct", rows: 4 }],
        models: [
          { tableName: "Meta-Llama-3.1-8B-Instruct", model: "llama-3.1-8b" },
          { tableName: "Meta-Llama-3.1-70B-Instruct", model: "llama-3.1-70b" },
        ],
        judged: false,
        gateColumns: [],
      },
      {
        family: "Kin",
        tasks: [{ task: "arith", metric: "correct", rows: 1 }],
        models: [{ tableName: "mine", model: null }],
        judged: false,
        gateColumns: [],
      },
    ],
  });
  expect(await surveyOutcomes(source(withLine(0, GOOD[0]!.replace(",0,40", ",140,40"))))).toMatchObject({
    ok: false,
    message: expect.stringContaining("line 2: score is '140'"),
  });
});

const PUBLISHED = fileURLToPath(new URL("../../../../shared/data/quality/cascade_outcomes.csv", import.meta.url));
const published = () => ({ name: "cascade_outcomes.csv", stream: createReadStream(PUBLISHED) });

describe("on the published outcome table", needs(file(PUBLISHED)), () => {
  test("a family of three sizes on two tasks has its known prompts and means", async () => {
    const imported = await importOutcomes(published(), { family: "Llama-3.1-Instruct", tasks: ["gsm", "crux"], aliases: {} });
    if (!imported.ok) throw new Error(imported.message);
    expect(imported.table.promptIds.length).toBe(2119);
    expect(imported.table.models.map(({ model }) => model)).toEqual(["llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b-fp8"]);
    const [, middle, large] = imported.table.models.map(({ label }) => mean(label));
    expect(middle).toBeCloseTo(82.9, 1);
    expect(large).toBeCloseTo(87.3, 1);
  });

  test("every family can be imported whole", async () => {
    const survey = await surveyOutcomes(published());
    if (!survey.ok) throw new Error(survey.message);
    expect(survey.rows).toBe(33_743);
    const lengths = await Promise.all(
      survey.families.map(async ({ family }) => {
        const imported = await importOutcomes(published(), { family, tasks: [], aliases: {} });
        return imported.ok ? imported.promptLengths : imported.message;
      }),
    );
    expect(lengths).toEqual(
      survey.families.map(({ tasks }) => (tasks.some(({ task }) => task === "wildbench") ? "estimated" : "measured")),
    );
  });
});

test("a file with both kinds of line ends reads line by line", async () => {
  const stream = Readable.from([`${HEADER}\r\n${GOOD[0]}\r\n${GOOD[1]}\n${GOOD[2]}\r\n${GOOD[3]}\n`]);
  const imported = await importOutcomes({ name: "out.csv", stream }, selection);
  expect(imported.ok && imported.table.promptIds).toEqual(["p1", "p2"]);
});
