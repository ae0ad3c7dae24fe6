import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { measuredPrograms } from "@/solver/workflow/measuredPrograms";
import { readAgentRuns } from "./agentRuns";

const CALLS = "run_id,call_idx,phase,agent,t_start_s,t_end_s,prompt_tokens,completion_tokens";
const RUNS = "run_id,n_calls,prompt_tokens,completion_tokens";

const goodCalls = ["a,0,Plan,Chief,0,2,100,10", "a,1,Code,Coder,2,30,300,200", "b,0,,,0,1,50,5"];
const goodRuns = ["a,2,400,210", "b,1,50,5"];

const read = (calls: readonly string[], runs: readonly string[] = goodRuns, lineEnd = "\n") =>
  readAgentRuns({
    calls: { name: "calls.csv", stream: Readable.from([[CALLS, ...calls].join(lineEnd)]) },
    runs: { name: "runs.csv", stream: Readable.from([[RUNS, ...runs].join(lineEnd)]) },
  });

test.each(["\n", "\r\n"])("runs are read in the order of their file, their calls by number, lines ending in %j", async (lineEnd) => {
  const runs = await read(goodCalls.toReversed(), goodRuns, lineEnd);
  if (!runs.ok) throw new Error(runs.message);
  expect(runs.bad).toEqual([]);
  expect(runs.runs.map(({ id, calls }) => [id, calls.map(({ agent, completionTokens }) => [agent, completionTokens])])).toEqual([
    [
      "a",
      [
        ["Chief", 10],
        ["Coder", 200],
      ],
    ],
    ["b", [["", 5]]],
  ]);
  expect(runs.notes).toEqual(["1 of 3 calls name neither agent nor phase."]);
});

describe("what cannot be used is told in a sentence, and the other runs are kept:", () => {
  test.each([
    [
      "tokens that are no number",
      ["a,0,Plan,Chief,0,2,many,10"],
      "calls.csv line 2: prompt_tokens is 'many'; it must be a whole number from 1",
    ],
    ["an answer of nothing", ["a,0,Plan,Chief,0,2,100,0"], "calls.csv line 2: completion_tokens is '0'; it must be a whole number from 1"],
    ["an end before the start", ["a,0,Plan,Chief,2,0,100,10"], "calls.csv line 2: t_end_s is 0; it must not be before t_start_s, 2."],
    ["an empty time", ["a,0,Plan,Chief,,2,100,10"], "calls.csv line 2: t_start_s is ''; it must be a number from 0 up."],
    ["a call without a run", [",0,Plan,Chief,0,2,100,10"], "calls.csv line 2: run_id is empty; fill it in."],
    ["a line cut short", ["a,0,Plan"], "calls.csv line 2: found 3 fields where the header has 8; add or remove fields"],
  ])("%s", async (_, first, problem) => {
    const runs = await read([...first, ...goodCalls.slice(1)]);
    if (!runs.ok) throw new Error(runs.message);
    expect(runs.bad).toEqual([
      expect.stringContaining(problem),
      "runs.csv line 2: n_calls is 2, of which 1 were read; run 'a' is left out.",
    ]);
    expect(runs.runs.map(({ id }) => id)).toEqual(["b"]);
  });

  test.each([
    [
      "calls that do not add up",
      goodCalls,
      ["a,2,400,211", "b,1,50,5"],
      "completion_tokens is 211, its calls add up to 210; run 'a' is left out.",
    ],
    [
      "a gap in the count",
      ["a,0,Plan,Chief,0,2,100,10", "a,2,Code,Coder,2,30,300,200", "b,0,,,0,1,50,5"],
      goodRuns,
      "its calls count from 0 without gaps, found call_idx 2; run 'a' is left out.",
    ],
    [
      "calls at once",
      ["a,0,Plan,Chief,0,20,100,10", "a,1,Code,Coder,2,30,300,200", "b,0,,,0,1,50,5"],
      goodRuns,
      "call 1 starts before the one before it ends, and a sequence cannot say so; run 'a' is left out.",
    ],
    ["a run told twice", goodCalls, ["b,1,50,5", "b,1,50,5", "c,1,1,1"], "runs.csv line 3: run_id is 'b' again; a run has one line."],
    ["calls of no run", goodCalls, ["b,1,50,5"], "runs.csv: no line of run 'a' could be read; its 2 calls are left out."],
  ])("%s", async (_, calls, runLines, problem) => {
    const runs = await read(calls, runLines);
    if (!runs.ok) throw new Error(runs.message);
    expect(runs.bad.join("\n")).toContain(problem);
    expect(runs.runs.map(({ id }) => id)).toEqual(["b"]);
  });
});

test("files without a needed column or without a run that can be used are refused", async () => {
  expect(
    await readAgentRuns({
      calls: { name: "calls.csv", stream: Readable.from(["run_id,phase\na,Plan"]) },
      runs: { name: "runs.csv", stream: Readable.from([RUNS]) },
    }),
  ).toEqual({ ok: false, message: "calls.csv line 1: call_idx: no such column among 'run_id', 'phase'; add it" });
  expect(await read(goodCalls, ["a,7,400,210"])).toEqual({
    ok: false,
    message: "runs.csv: no run can be used; runs.csv line 2: n_calls is 7, of which 2 were read; run 'a' is left out.",
  });
});

const FOLDER = "../shared/data/workflows";

test(
  "ChatDev's 87 runs are read whole, and programs of them have the tokens that were recorded",
  needs(file(`${FOLDER}/calls.csv`), file(`${FOLDER}/runs.csv`)),
  async () => {
    const runs = await readAgentRuns({
      calls: { name: "calls.csv", stream: createReadStream(`${FOLDER}/calls.csv`) },
      runs: { name: "runs.csv", stream: createReadStream(`${FOLDER}/runs.csv`) },
    });
    if (!runs.ok) throw new Error(runs.message);
    expect(runs.bad).toEqual([]);
    expect(runs.runs).toHaveLength(87);
    expect(runs.notes).toEqual([
      "14 of 1812 calls name neither agent nor phase.",
      "19 of 1812 calls have a prompt shorter than the answer before it, which is then taken as their input.",
    ]);
    const sample = measuredPrograms({
      runs: runs.runs,
      models: ["small", "large"],
      arrivalSeconds: Float64Array.from({ length: 87 }, (_, at) => at),
      seed: 1,
    });
    expect(sample.program).toHaveLength(1812);
    const recorded = runs.runs.flatMap(({ calls }) => calls).reduce((sum, { completionTokens }) => sum + completionTokens, 0);
    expect(sample.outputTokens.map((tokens) => tokens.reduce((sum, count) => sum + count, 0))).toEqual([recorded, recorded]);
  },
);
