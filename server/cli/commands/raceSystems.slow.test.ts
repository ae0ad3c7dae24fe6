import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import type { LabSpec } from "@/server/contracts/studio/lab";
import { labCells } from "@/server/lab/labCells";
import { labRunId } from "@/server/lab/labRunId";
import { testTask, testWorkload } from "@/server/lab/testing/testLab";
import { workloadHash } from "@/server/workloads/workloadCodec";
import { workloadLines } from "@/server/workloads/workloadLines";
import { weirIn } from "../testing/testWeir";

const folder = mkdtempSync(join(tmpdir(), "weir-race-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const weir = weirIn(folder);

const workloadFile = join(folder, "workload.jsonl");
writeFileSync(workloadFile, [...workloadLines(testWorkload)].join(""));
const workload = ["--workload", workloadFile] as const;

const printed = weir("compare", "--print-spec", "--gpu", "l40s", ...workload);

async function suggested(): Promise<LabSpec> {
  const { code, stdout } = await printed;
  expect(code).toBe(0);
  return parse(stdout) as LabSpec;
}

async function specFile(name: string, change: (spec: LabSpec) => object): Promise<string> {
  const file = join(folder, name);
  writeFileSync(file, stringify(change(await suggested())));
  return file;
}

const small = (spec: LabSpec) => ({
  ...{ ...spec, programs: 60, seeds: [1, 2], rates: spec.rates.slice(0, 1) },
  systems: spec.systems.filter(({ name }) => name === "vLLM balancing" || name === "STJF oracle"),
});

test("a printed description is one that can be run, and gives the cells and the id that the studio gives", async () => {
  const file = await specFile("small.yaml", (spec) => {
    const { workloadId, ...rest } = small(spec);
    expect(workloadId).toBe(workloadHash(testWorkload));
    return rest;
  });
  const [json, text] = await Promise.all([
    weir("compare", "--spec", file, ...workload, "--json"),
    weir("compare", "--spec", file, ...workload),
  ]);
  expect([json.code, text.code]).toEqual([0, 0]);
  const answer = JSON.parse(json.stdout);
  const spec = small(await suggested());
  expect(answer.id).toBe(labRunId(testTask(spec), null));
  const cellOf = labCells(testTask(spec), { sketches: [], lengths: null, confidence: null, configurations: {} });
  expect(answer.cells).toEqual(
    answer.cells.map((cell: { system: number; rate: number; seed: number }) =>
      cellOf({ system: cell.system, rate: cell.rate, seed: cell.seed }),
    ),
  );
  expect(answer.cells).toHaveLength(4);
  expect(text.stdout).toMatch(/STJF oracle +[\d.]+ \[[\d.]+, [\d.]+\]/);
  expect(text.stdout).toContain("Engines are modelled");
  expect(text.stderr).toContain("4 of 4 cells");
});

test("bad input is refused with file and field and exit code 2", async () => {
  const refused = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await weir("compare", ...args, ...workload);
    expect([code, stdout]).toEqual([2, ""]);
    return stderr;
  };
  const [noRates, strangers, elsewhere, own] = await Promise.all([
    specFile("rates.yaml", (spec) => ({ ...spec, rates: [] })),
    specFile("mix.yaml", (spec) => ({ ...spec, mix: [{ workflow: "knitting", share: 1 }] })),
    specFile("elsewhere.yaml", (spec) => ({ ...spec, workloadId: "another" })),
    specFile("profile.yaml", (spec) => ({ ...spec, engineProfile: "mine" })),
  ]);
  const texts = join(folder, "prompts.csv");
  writeFileSync(texts, "prompt_id,prompt\nnone of them,what?\n");
  expect(await refused("--spec", noRates)).toMatch(/^rates\.yaml line \d+: rates: /);
  expect(await refused("--spec", strangers)).toContain('mix.yaml: mix.0.workflow: there is no workflow "knitting"');
  expect(await refused("--spec", elsewhere)).toContain("workloadId does not match the files: it names another");
  expect(await refused("--spec", own)).toContain('engineProfile: "mine" is not built in: give its file with --profile.');
  expect(await refused("--spec", join(folder, "nowhere.yaml"))).toContain("is no file that can be read");
  const [misspelt, rare] = await Promise.all([
    specFile("misspelt.yaml", (spec) => ({ ...spec, engineprofil: "mine" })),
    specFile("rare.yaml", (spec) => ({ ...spec, rates: [1e-300] })),
  ]);
  const bomb = join(folder, "bomb.yaml");
  const level = (name: string, of: string) => `${name}: &${name} [${Array.from({ length: 10 }, () => of).join(", ")}]\n`;
  writeFileSync(
    bomb,
    ["b", "c", "d", "e", "f"].reduce((text, name, at) => text + level(name, `*${"abcde"[at]}`), level("a", "1")),
  );
  expect(await refused("--spec", misspelt)).toMatch(/^misspelt\.yaml line \d+: engineprofil: there is no such field\.$/m);
  expect(await refused("--spec", rare)).toMatch(/^rare\.yaml line \d+: rates\.0: /);
  expect(await refused("--spec", bomb)).toMatch(/^bomb\.yaml: Excessive alias count/);
  expect(await refused("--spec", misspelt, "--quality", "50")).toMatch(/^A race does not use --quality; /);
  const file = await specFile("small.yaml", small);
  expect(await refused("--spec", file, "--prompts", texts)).toContain("has none of the workload's prompts");
  expect(await refused()).toBe("Give one of --spec, --print-spec and --baselines.\n");
  expect(await refused("--print-spec", "--gpu", "abacus")).toMatch(/^--gpu: .*abacus/);
});

test("recorded runs of agents are raced in place of the mix, with a run id of their own, and not by systems that go by confidence", async () => {
  const runs = join(folder, "recorded");
  mkdirSync(runs);
  const ids = Array.from({ length: 8 }, (_, run) => `r${run}`);
  const calls = ids.flatMap((id, run) => [`${id},0,Plan,Chief,0,2,${100 + run},10`, `${id},1,Code,Coder,2,30,300,${200 + 10 * run}`]);
  const head = "run_id,call_idx,phase,agent,t_start_s,t_end_s,prompt_tokens,completion_tokens";
  writeFileSync(join(runs, "calls.csv"), `${[head, ...calls].join("\n")}\n`);
  const sums = ids.map((id, run) => `${id},2,${400 + run},${210 + 10 * run}`);
  writeFileSync(join(runs, "runs.csv"), `${["run_id,n_calls,prompt_tokens,completion_tokens", ...sums].join("\n")}\n`);
  const spec = await specFile("recorded.yaml", (given) => ({
    ...small(given),
    systems: given.systems.filter(({ name }) => name === "vLLM balancing" || name === "LTR"),
  }));
  const [drawn, raced] = await Promise.all([
    weir("compare", "--spec", spec, "--json", ...workload),
    weir("compare", "--spec", spec, "--recorded", runs, "--json", ...workload),
  ]);
  expect([drawn.code, raced.code]).toEqual([0, 0]);
  const [mix, recorded] = [JSON.parse(drawn.stdout), JSON.parse(raced.stdout)];
  expect(recorded.id).not.toBe(mix.id);
  expect(recorded.notes.join(" ")).toContain("Programs are 8 recorded runs of 16 calls");
  for (const cell of recorded.cells) {
    expect(cell.requests).toBe(2 * cell.programs);
    expect(cell.quality).toBe(null);
  }
  const knowing = await specFile("knowing.yaml", (given) => ({ ...small(given), systems: given.systems.slice(0, 9) }));
  const refused = await weir("compare", "--spec", knowing, "--recorded", runs, ...workload);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("recorded runs do not say which answers were right");
  const nowhere = await weir("compare", "--spec", spec, "--recorded", join(folder, "nowhere"), ...workload);
  expect([nowhere.code, nowhere.stderr.includes("calls.csv is no file that can be read")]).toEqual([2, true]);
});
