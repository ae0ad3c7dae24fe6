import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { createGunzip } from "node:zlib";
import { describe, expect, test } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { importAnswers, surveyAnswers } from "./importAnswers";

const HEADER = "prompt_id,model,correct,parsed,answer,out_tok,category";
const GOOD = [
  'q1,small,1,1,"1,000",40,sums',
  "q1,large,1,1,1000.0,60,sums",
  "q2,small,0,0,,900,words",
  "q2,large,1,1,New  York,50,words",
  "q1,other,0,1,7,10,sums",
];
const source = (lines: readonly string[], header = HEADER) => ({
  name: "answers.csv",
  stream: Readable.from([[header, ...lines].join("\n")]),
});

async function imported(lines: readonly string[], { models = ["small", "large"], header = HEADER } = {}) {
  const read = await importAnswers(source(lines, header), models);
  if (!read.ok) throw new Error(read.message);
  return read;
}

async function refusal(lines: readonly string[], { models = ["small", "large"], header = HEADER } = {}): Promise<string> {
  const read = await importAnswers(source(lines, header), models);
  return read.ok ? "accepted" : read.message;
}

test("answers of the chosen models become votes; one off which nothing was read is none, and numbers are the same however written", async () => {
  const { sample, notes } = await imported(GOOD);
  expect(sample).toEqual({
    questionIds: ["q1", "q2"],
    categories: ["sums", "words"],
    models: [
      {
        model: "small",
        answers: ["1000", null],
        correct: Uint8Array.of(1, 0),
        outputTokens: Int32Array.of(40, 900),
        asked: Uint8Array.of(1, 1),
      },
      {
        model: "large",
        answers: ["1000", "new york"],
        correct: Uint8Array.of(1, 1),
        outputTokens: Int32Array.of(60, 50),
        asked: Uint8Array.of(1, 1),
      },
    ],
  });
  expect(notes).toEqual(["Answers that differ by no more than case, marks, blanks or how a number is written count as the same vote."]);
});

test("questions that not all chosen models answered are left out and counted, and estimated tokens are said to be", async () => {
  const header = "prompt_id,model,correct,answer,out_tok_est";
  const { sample, notes } = await imported(["q1,small,1,x,4", "q2,small,1,,4", "q2,large,0,y,4"], { header });
  expect([sample.questionIds, sample.categories, sample.models[0]?.answers]).toEqual([["q2"], undefined, [null]]);
  expect(notes.join(" ")).toMatch(/1 of 2 questions are left out.*estimated in the table \(out_tok_est\)/);
});

test("questions that only those reached which a smaller model failed are said to be no random part", async () => {
  const header = "prompt_id,model,correct,answer,out_tok";
  const lines = (reaches: (at: number) => boolean) =>
    Array.from({ length: 600 }, (_, at) => [
      `q${at},small,${at % 2},x,4`,
      ...(reaches(at) ? [`q${at},large,${at % 10 === 0 ? 0 : 1},y,4`] : []),
    ]).flat();
  const behind = await imported(
    lines((at) => at % 2 === 0 || at % 20 === 1),
    { header },
  );
  expect(behind.notes.join(" ")).toMatch(/not a random sample: small is right on 9\.1 % of them and on 50\.0 % of all it answered/);
  expect(behind.notes.join(" ")).toContain("not known from this table");
  const random = await imported(
    lines((at) => at % 3 !== 0),
    { header },
  );
  expect(random.notes.join(" ")).not.toContain("random part");
});

test("a grader that tells answers apart by case has them told apart by it, the empty text among them", async () => {
  const header = "prompt_id,model,correct,parsed,answer,out_tok";
  const { sample, notes } = await imported(["q1,small,1,1,PoO,4", "q1,large,0,1,poo,4", "q2,small,1,1,,4", "q2,large,0,1,  ,4"], {
    header,
  });
  expect(sample.models.map(({ answers }) => answers)).toEqual([
    ["PoO", '""'],
    ["poo", "  "],
  ]);
  expect(notes[0]).toMatch(/^2 of 4 answers were graded unlike others .* only equal texts count as the same vote\.$/);
});

describe("a row at fault is told of with file, line and field", () => {
  test.each<[string, readonly string[], string]>([
    ["correct", ["q1,small,maybe,1,x,4,"], "answers.csv line 2: correct is 'maybe'; it must be 1 or 0"],
    ["parsed", ["q1,small,1,,x,4,"], "answers.csv line 2: parsed is ''; it must be 1 or 0"],
    ["tokens", [GOOD[0] ?? "", "q1,other,1,1,x,-4,"], "answers.csv line 3: out_tok is '-4'; it must be a whole number from 0 to 10000000"],
    ["model", ["q1,,1,1,x,4,"], "answers.csv line 2: model is empty; fill it in"],
    [
      "a second answer",
      [GOOD[0] ?? "", GOOD[0] ?? ""],
      "answers.csv line 3: prompt_id 'q1' was answered by 'small' before; keep one row per prompt and model",
    ],
    [
      "two categories",
      [GOOD[0] ?? "", "q1,large,1,1,x,4,words"],
      "answers.csv line 3: category of 'q1' is 'words' here and 'sums' before; give the prompt one",
    ],
    [
      "fields",
      ["q1,small,1"],
      "answers.csv line 2: found 3 fields where the header has 7; add or remove fields, or quote a field with commas",
    ],
  ])("%s", async (_, lines, message) => {
    expect(await refusal(lines)).toBe(message);
  });

  test("and so are missing columns, models and questions", async () => {
    expect(await refusal(["q1,small"], { header: "prompt_id,model" })).toMatch(
      /^answers.csv line 1: correct, answer, out_tok: no such column among 'prompt_id', 'model'; name/,
    );
    expect(await refusal(GOOD, { models: ["small", "huge"] })).toBe(
      "answers.csv: model 'huge' does not occur; choose from 'large', 'other', 'small'.",
    );
    expect(await refusal(["q1,small,1,1,x,4,", "q2,large,1,1,x,4,"])).toMatch(/no question was answered by all of these models/);
  });
});

test("a survey counts models and questions of every row, and says that there are no categories", async () => {
  const survey = await surveyAnswers(source(GOOD));
  expect(survey).toMatchObject({
    ok: true,
    survey: {
      questions: 2,
      models: [
        { model: "small", answers: 2, accuracy: 0.5 },
        { model: "large", answers: 2, accuracy: 1 },
        { model: "other", answers: 1, accuracy: 0 },
      ],
      notes: [],
    },
  });
  const bare = await surveyAnswers(source(["q1,a,1,x,4"], "prompt_id,model,correct,answer,out_tok"));
  expect(bare.ok && bare.survey.notes.join(" ")).toMatch(/no categories/);
  expect(await surveyAnswers(source(["q1,a,2,x,4"], "prompt_id,model,correct,answer,out_tok"))).toMatchObject({ ok: false });
});

const published = fileURLToPath(new URL("../../../../shared/data/quality/", import.meta.url));

describe("published answers", needs(file(`${published}answers_gsm.csv.gz`), file(`${published}answers_crux.csv.gz`)), () => {
  test.each([
    ["gsm", 1319, /^Answers that differ by no more/],
    ["crux", 800, /graded unlike others/],
  ])("of %s are %d questions, told apart as its grader does", async (task, questions, note) => {
    const stream = createReadStream(`${published}answers_${task}.csv.gz`).pipe(createGunzip());
    const read = await importAnswers({ name: task, stream }, ["Mistral-Large-2", "gemma-2-9b-it", "Meta-Llama-3.1-8B-Instruct"]);
    expect(read.ok && [read.sample.questionIds.length, read.notes.some((said) => note.test(said))]).toEqual([questions, true]);
  });
});
