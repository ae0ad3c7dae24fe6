import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { generatedTable, OUTCOMES_HEADER, writeOutcomes } from "./testing/outcomesCsv";
import { refusalIn } from "./testing/refusalIn";

const folder = mkdtempSync(join(tmpdir(), "weir-refusals-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const refusal = refusalIn(folder);

const written = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

const [small = "", middle = "", large = ""] = generatedTable.models.map(({ model }) => model);
const outcomes = writeOutcomes(folder, "outcomes.csv");
const hardware = ["--gpu", "l40s", "--nodes", "2", "--gpus-per-node", "4"];
const asked = ["--outcomes", outcomes, "--rate", "20", "--quality", "40"];
const plan = (...more: readonly string[]) => refusal("plan", ...asked, ...hardware, ...more);

describe("bad input is refused in one sentence that names file, line and field, with exit code 2", () => {
  test.each([
    [
      "a missing column",
      writeOutcomes(folder, "nocolumn.csv", { header: OUTCOMES_HEADER.replace("out_tok", "tokens") }),
      [],
      "nocolumn.csv line 1: out_tok",
    ],
    [
      "a score of 140",
      writeOutcomes(folder, "score.csv", { change: { row: 9, column: 8, to: "140" } }),
      [],
      "score.csv line 11: score is '140'",
    ],
    [
      "a negative length",
      writeOutcomes(folder, "length.csv", { change: { row: 4, column: 9, to: "-3" } }),
      [],
      "length.csv line 6: out_tok is '-3'",
    ],
    ["an empty file", written("empty.csv", ""), [], "empty.csv is empty"],
    [
      "an unknown model",
      writeOutcomes(folder, "model.csv", { change: { row: 0, column: 7, to: "mystery-1b" } }),
      [],
      "model.csv line 2: model 'mystery-1b' has no model card; name one with --models 'mystery-1b=card'",
    ],
    ["an unknown card", outcomes, ["--models", "mystery-1b=nothing"], 'there is no model card "nothing"'],
    ["an unknown GPU", outcomes, ["--gpu", "h100x"], 'there is no GPU card "h100x"'],
    ["a file that is not there", join(folder, "nowhere.csv"), [], "nowhere.csv is no file"],
    ["a rate that is no number", outcomes, ["--rate", "fast"], "'fast' is invalid"],
  ] as const)("%s", async (_, file, more, expected) => {
    const { code, stderr } = await refusal("plan", "--outcomes", file, "--rate", "20", "--quality", "40", ...hardware, ...more);
    expect(code).toBe(2);
    expect(stderr).toContain(expected);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });
});

describe("constraints that cannot be meant are refused in one sentence that names flag, or file, line and field, with exit code 2", () => {
  const constraints = (name: string, text: string): readonly string[] => ["--constraints", written(name, text)];
  test.each([
    ["a model that is not there", ["--exclude", "qwen"], `--exclude: there is no model "qwen"; known: ${small}, ${middle}, ${large}.`],
    ["a pin without a number", ["--pin", `${small}:two`], "Write model or model:replicas"],
    ["a shape in other words", ["--shape", `${small}:4x2`], "Write model:tpN or model:tpNppM"],
    [
      "a node that is not there",
      ["--never-nodes", `${small}:node1,node9`],
      '--never-nodes: there is no node "node9"; known: node1, node2.',
    ],
    ["a limit on changes against nothing", ["--max-changes", "2"], "name its plan with --running"],
    ["a plan in force that is none", ["--running", written("none.json", '{"kind": "Plan"}')], "none.json line 1: apiVersion: "],
    ["a model pinned and excluded", ["--exclude", small, "--pin", small], `${small} is both pinned and excluded`],
    ["two shapes", ["--shape", `${small}:tp1`, ...constraints("two.yaml", `shapes: [{model: ${small}, tp: 2}]`)], "has two shapes"],
    [
      "two limits",
      ["--max-gpus", "4", ...constraints("limits.yaml", "maxGpus: 6")],
      "--max-gpus 4 contradicts maxGpus 6 of the constraints file",
    ],
    [
      "an unknown field",
      constraints("field.yaml", "excluded: []\npinned:\n  - model: x\n    replica: 2\n"),
      "field.yaml line 4: pinned.0.replica: ",
    ],
    ["a missing field", constraints("missing.yaml", `shapes:\n  - model: ${small}\n`), "missing.yaml line 2: shapes.0.tp: it is missing"],
    ["text that is not YAML", constraints("broken.yaml", "excluded: [a\nnodes: b"), "broken.yaml line 2: not YAML: "],
    ["a judge's tokens without its engine", ["--judge-output-tokens", "8"], "go with --judge-engine"],
    ["a judge of both kinds", ["--judge-engine", small, "--judge-seconds", "1"], "leave out --judge-seconds, --judge-p95 and --judge-usd"],
    ["a judge faster in its slowest calls than on average", ["--judge-seconds", "1", "--judge-p95", "0.5"], "--judge-p95 must lie between"],
    ["a judge without a card", ["--judge-engine", "sage-1b"], '--judge-engine: there is no model card "sage-1b"'],
    ["the lowest cost under one promise only", ["--cost"], "give --quality and --latency"],
    ["a slack above one", ["--slack", "1.5"], "'1.5' is invalid"],
  ] as const)("%s", async (_, more, expected) => {
    const { code, stderr } = await plan(...more);
    expect(code).toBe(2);
    expect(stderr).toContain(expected);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test.each([
    [
      "a type without a card",
      "gpu: l40s\nnodes:\n  - {name: a, gpus: 4}\n  - {name: b, gpus: 4, gpu: h100x}\n",
      'cluster.yaml line 4: nodes.1.gpu: there is no GPU card "h100x"',
    ],
    [
      "two nodes of one name",
      "gpu: l40s\nnodes:\n  - {name: a, gpus: 4}\n  - {name: a, gpus: 4}\n",
      "cluster.yaml line 4: nodes.1.name: another node is called a",
    ],
    [
      "a price of nothing",
      "gpu: l40s\nnodes: [{name: a, gpus: 4}]\nprices:\n  h100-sxm: 2\n",
      "cluster.yaml line 4: prices.h100-sxm: no node has",
    ],
    ["no nodes", "gpu: l40s\n", "cluster.yaml line 1: nodes: it is missing"],
  ] as const)("a cluster file with %s", async (_, text, expected) => {
    const { code, stderr } = await refusal("plan", ...asked, "--cluster", written("cluster.yaml", text));
    expect(code).toBe(2);
    expect(stderr).toContain(expected);
  });

  test("a cluster by file and by flags, and by neither", async () => {
    const file = written("whole.yaml", "gpu: l40s\nnodes: [{name: a, gpus: 4}]\n");
    expect((await plan("--cluster", file)).stderr).toBe("--cluster describes the whole cluster: leave out --gpu.");
    expect((await refusal("plan", ...asked, "--gpu", "l40s")).stderr).toBe("Give --cluster, or --gpu, --nodes and --gpus-per-node.");
  });
});

describe("one replica", () => {
  const replica = ["simulate", "--model", "llama-3.1-8b", "--gpu", "h100-sxm", "--input", "500", "--output", "50", "--json"];

  test.each([
    ["that does not fit", ["--model", "llama-3.1-70b", "--rate", "1"], 3, "141.1 GB of weights"],
    ["of requests beyond the model's context", ["--input", "131000", "--output", "100", "--rate", "1"], 3, "exceed the context of 131072"],
    ["on a GPU named by half", ["--gpu", "h100", "--rate", "1"], 2, 'no GPU card "h100"; nearest: h100-'],
    ["without a load", [], 2, "one of --rate and --concurrency"],
    ["with two loads", ["--rate", "1", "--concurrency", "2"], 2, "one of --rate and --concurrency"],
    ["of an unknown model", ["--model", "mystery", "--rate", "1"], 2, 'no model card "mystery"'],
    [
      "of fewer tokens a step than sequences",
      ["--rate", "1", "--max-num-seqs", "64", "--max-num-batched-tokens", "32"],
      2,
      "one token for each",
    ],
    ["by a profile that is none", ["--rate", "1", "--profile", written("none-either.json", "{}")], 2, "--profile:"],
  ] as const)("%s is refused", async (_, more, code, sentence) => {
    const answer = await refusal(...replica, ...more);
    expect(answer.code).toBe(code);
    expect(answer.stderr).toContain(sentence);
    expect(answer.stderr.trim().split("\n")).toHaveLength(1);
  });
});
