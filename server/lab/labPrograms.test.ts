import { expect, test } from "vitest";
import { splitPrompts } from "@/solver/workload/split";
import { labCells } from "./labCells";
import { makeGround, modelsServed } from "./labGround";
import { learntPrograms, servedPrograms, tableOf } from "./labPrograms";
import type { LabTask } from "./labTask";
import { testSpec, testTask, testWorkload } from "./testing/testLab";

const call = (agent: string, completionTokens: number) => ({ agent, phase: "", promptTokens: 400, completionTokens });
const runs = Array.from({ length: 40 }, (_, at) => ({ id: `run ${at}`, calls: [call("planner", 10 + at), call("coder", 100 + at)] }));
const spec = { ...testSpec(["vLLM balancing", "STJF oracle"]), programs: 1000 };
const plain = testTask(spec);
const beside = (share: number): LabTask => ({ ...plain, recorded: { id: "runs", runs, share } });

const fromOf = (task: LabTask) => ({ task, table: tableOf(task.workload, modelsServed(task)), sketches: [] });
const isRun = (sample: ReturnType<typeof servedPrograms>["sample"], program: number): boolean =>
  sample.workflows[sample.workflow[program] ?? -1]?.name === "recorded-run";

test("a share of the programs are recorded runs, in the places of programs of the mix; the others stay as they are without runs", () => {
  const { sample } = servedPrograms(fromOf(beside(0.3)), 1);
  const { sample: drawn } = servedPrograms(fromOf(plain), 1);
  expect(sample.arrivalSeconds).toEqual(drawn.arrivalSeconds);
  const programs = Array.from(sample.arrivalSeconds.keys());
  const others = programs.filter((program) => !isRun(sample, program));
  expect(1 - others.length / programs.length).toBeCloseTo(0.3, 1);
  for (const program of others) {
    expect(sample.prompt[program]).toBe(drawn.prompt[program]);
    const [first = 0, before = 0] = [sample.firstRequest[program], drawn.firstRequest[program]];
    for (const [model, tokens] of sample.outputTokens.entries()) expect(tokens[first]).toBe(drawn.outputTokens[model]?.[before]);
  }
});

test("runs and rows that are served are others than those learnt from", () => {
  const [served, learnt] = [servedPrograms(fromOf(beside(0.5)), 1).sample, learntPrograms(fromOf(beside(0.5)), 1000).sample];
  const titles = ({ workflows }: typeof served) => workflows.filter(({ name }) => name === "recorded-run").map(({ title }) => title);
  expect(titles(served).filter((title) => titles(learnt).includes(title))).toEqual([]);
  expect(titles(served).length + titles(learnt).length).toBe(runs.length);
  const { heldOut, planning } = splitPrompts(testWorkload.outcomes.promptIds.length, testWorkload.seed);
  expect(served.row.every((row) => heldOut.includes(row))).toBe(true);
  expect(learnt.row.every((row) => planning.includes(row))).toBe(true);
});

test("a race has figures of the recorded runs, with their quality, beside those of the mix", () => {
  const task: LabTask = { ...beside(0.3), spec: { ...spec, programs: 200 } };
  const { workflows = [] } = labCells(task, makeGround(task))({ system: 0, rate: 0, seed: 0 });
  const own = workflows.find(({ workflow }) => workflow === "recorded-run");
  expect(workflows.reduce((sum, { programs }) => sum + programs, 0)).toBe(200);
  expect(own?.programs).toBeGreaterThan(30);
  expect(own?.quality).toBeGreaterThan(0);
});
