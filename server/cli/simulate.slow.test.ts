import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import { readProfileText } from "@/solver/hardware/readProfileText";
import { weirIn } from "./testing/testWeir";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "weir-simulate-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const weir = weirIn(folder);

const HEADER = "model,gpu,engine,tp,isl,osl,concurrency,precision,ttft_ms,tpot_ms";
function csv(name: string, ...lines: readonly string[]): string {
  const file = join(folder, name);
  writeFileSync(file, [HEADER, ...lines, ""].join("\n"));
  return file;
}

describe("runs of a table", () => {
  const good = "llama-3.1-8b,h100-sxm,vllm,1,500,50,4,bf16,40,8";

  test("are predicted one by one, with errors where they measured, and the rest is named", async () => {
    const file = csv(
      "mixed.csv",
      good,
      good.replace(",40,8", ",,"),
      good.replace("llama-3.1-8b", "mystery-1b"),
      good.replace(",500,", ",x,"),
    );
    const { code, stdout, stderr } = await weir("simulate", "--rows", file, "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const answer = JSON.parse(stdout);
    expect(answer.rows.map(({ line }: { line: number }) => line)).toEqual([2, 3]);
    const [measured, silent] = answer.rows;
    for (const name of ["meanTtftSeconds", "meanTpotSeconds", "meanE2eSeconds"]) expect(measured[name]).toBeGreaterThan(0);
    expect(measured.errors.ttft).toBeCloseTo(measured.meanTtftSeconds / 0.04 - 1, 12);
    expect(silent.errors).toEqual({ ttft: null, tpot: null, endToEnd: null });
    expect(answer.unsupported).toMatchObject([{ line: 4, reason: expect.stringContaining("mystery-1b") }]);
    expect(answer.bad).toEqual([expect.stringMatching(/mixed\.csv.*ine 5.*isl/)]);
    expect(answer.errors.find(({ group }: { group: string }) => group === "all").ttft.rows).toBe(1);
  });

  test("say once what is wrong with many rows alike, in simulate and in calibrate", async () => {
    const unknown = [1, 2, 4, 8].map((users) => good.replace("h100-sxm", "cpu-core").replace(",4,bf16", `,${users},bf16`));
    const file = csv("cpu.csv", ...unknown, good.replace(",500,", ",x,"), good.replace(",500,", ",x,"));
    const said = 'cpu.csv, 4 rows (lines 2, 3, 4 …): the GPU "cpu-core" is not known; add a card on the Cards page';
    const misread = 'cpu.csv, 2 rows (lines 6, 7): isl must be a whole number from 1 to 4000000, found "x"';
    const simulated = await weir("simulate", "--rows", file);
    expect(simulated.stdout).toContain(`Not predicted, 4 rows:\n  ${said}.\n`);
    expect(simulated.stdout).toContain(`${misread}.\n`);
    const calibrated = await weir("calibrate", "--rows", file);
    expect(calibrated.code).toBe(2);
    expect(calibrated.stderr).toContain(said);
    expect(calibrated.stderr).toContain(misread);
  });

  test("of a table in which none can be read are refused with file, line and field", async () => {
    const { code, stdout, stderr } = await weir("simulate", "--rows", csv("bad.csv", good.replace(",500,", ",x,")));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/bad\.csv.*ine 2.*isl/);
  });

  test("make a profile that predicts them better and that planning reads", async () => {
    const lines = [1, 4, 16].flatMap((users) =>
      [100, 2000].map((prompt) => `llama-3.1-8b,h100-sxm,vllm,1,${prompt},40,${users},bf16,${200 + prompt / 20 + 5 * users},9`),
    );
    const file = csv("slow.csv", ...lines);
    const out = join(folder, "profile.json");
    const fitted = await weir("calibrate", "--rows", file, "--out", out, "--json");
    expect({ code: fitted.code, stderr: fitted.stderr }).toEqual({ code: 0, stderr: "" });
    const [fit] = JSON.parse(fitted.stdout).fits;
    expect(fit).toMatchObject({ outcome: "fitted", engine: "vllm", heldOutErrors: expect.anything() });
    const ttft = async (...more: readonly string[]) => {
      const { stdout } = await weir("simulate", "--rows", file, "--json", ...more);
      return JSON.parse(stdout).errors[0].ttft.meanAbsolute;
    };
    expect(await ttft("--profile", out)).toBeLessThan(0.5 * (await ttft()));
  });

  test("choose by the error on rows kept aside whether efficiencies are fitted, and a flag decides it either way", async () => {
    const lines = [1, 8].flatMap((users) =>
      [100, 1000, 4000].map((prompt) => `llama-3.1-8b,h100-sxm,vllm,1,${prompt},40,${users},bf16,${20 + prompt / 4},${20 + users / 2}`),
    );
    const file = csv("choose.csv", ...lines);
    const { stdout } = await weir("calibrate", "--rows", file);
    expect(stdout).toMatch(/rows kept aside by model, GPU, shape and lengths +TTFT +TPOT +end to end +decides/);
    expect(stdout).toMatch(/host and link terms only.* %\n/);
    expect(stdout).toMatch(/efficiencies of kernels too.* %\n/);
    expect(stdout).toMatch(/on rows kept aside the error is .*[\d.]+ % with efficiencies and [\d.]+ % without/);
    const choice = async (...flags: readonly string[]) =>
      JSON.parse((await weir("calibrate", "--rows", file, "--json", ...flags)).stdout).fits[0].choice;
    expect(await choice("--efficiencies")).toMatchObject({ kind: "asked", efficiencies: true });
    expect(await choice("--no-efficiencies")).toMatchObject({ kind: "asked", efficiencies: false });
  });

  test("make a profile whose file can be read whatever it is named after", async () => {
    const lines = [1, 4, 16].flatMap((users) => [100, 2000].map((prompt) => `${good.split(",500,")[0]},${prompt},40,${users},bf16,60,9`));
    const out = join(folder, "long.json");
    const file = csv(`${"long-name-".repeat(20)}.csv`, ...lines);
    expect((await weir("calibrate", "--rows", file, "--no-efficiencies", "--out", out)).code).toBe(0);
    expect(readProfileText(readFileSync(out, "utf8"), out)).toMatchObject({ ok: true });
    const refused = await weir("calibrate", "--rows", file, "--name", "x".repeat(121), "--out", out);
    expect({ code: refused.code, stderr: refused.stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--name: give a name of 1 to 120"),
    });
  });

  test("say where they extrapolate and which metric of an engine no profile matches, in words and in JSON", async () => {
    const file = csv("engines.csv", good, good.replace("vllm", "sglang"));
    const { rows } = JSON.parse((await weir("simulate", "--rows", file, "--json")).stdout);
    expect(rows.map(({ notMatched }: { notMatched: unknown }) => notMatched)).toEqual([[], ["ttft"]]);
    const { stdout } = await weir("simulate", "--rows", file);
    const [vllm, sglang] = stdout.split("engines.csv line 3: ");
    expect(vllm).not.toContain("not matched");
    expect(vllm).toMatch(/TTFT [\d.]+ ms \[[\d.]+ ms to [\d.]+ ms\] .*\n {4}extrapolated: .*h100-sxm/);
    expect(sglang).toContain("TTFT: not matched");
  });

  test("may leave TTFT out of a fit, which then explains no delay of first tokens", async () => {
    const lines = [1, 4, 8, 16, 32].map((users) => `llama-3.1-8b,h100-sxm,vllm,1,100,40,${users},bf16,5000,${9 + users / 20}`);
    const file = csv("delayed.csv", ...lines);
    const requestTimes = async (...more: readonly string[]) => {
      const { stdout } = await weir("calibrate", "--rows", file, "--no-efficiencies", "--json", ...more);
      const { requestSeconds, delaySeconds } = JSON.parse(stdout).fits[0].profile.coefficients;
      return { requestSeconds, delaySeconds };
    };
    expect((await requestTimes()).delaySeconds).toBeGreaterThan(1);
    const { requestSeconds, delaySeconds } = engineProfiles.vllm.coefficients;
    expect(await requestTimes("--tpot-only")).toEqual({ requestSeconds, delaySeconds });
  });

  test("beyond what the engine runs at once wait inside it: by a column of the table or by a flag", async () => {
    const crowded = good.replace(",4,bf16,40,8", ",64,bf16,40,8");
    const ttft = async (file: string, ...more: readonly string[]) =>
      JSON.parse((await weir("simulate", "--rows", file, "--json", ...more)).stdout).rows[0].meanTtftSeconds;
    const plain = csv("crowded.csv", crowded);
    const limited = join(folder, "limited.csv");
    writeFileSync(limited, `${HEADER},max_num_seqs\n${crowded},8\n`);
    const queued = await ttft(plain, "--max-num-seqs", "8");
    expect(queued).toBeGreaterThan(5 * (await ttft(plain)));
    expect(await ttft(limited)).toBe(queued);
    expect(await ttft(limited, "--max-num-seqs", "64")).toBe(queued);
  });

  test("end quietly when their reader has seen enough", async () => {
    const file = csv("many.csv", ...Array.from({ length: 2000 }, () => good));
    const run = `"${process.execPath}" "${join(root, "dist", "weir.mjs")}" simulate --rows "${file}" | head -1`;
    const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
      execFile("bash", ["-o", "pipefail", "-c", run], { env: { ...process.env, WEIR_ROOT: root } }, (error, out, err) =>
        resolve({ stdout: error === null ? out : `exit ${error.code}`, stderr: err }),
      );
    });
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^many\.csv line 2: /);
  });

  test("of several engines need the one to write to be named", async () => {
    const file = csv("two.csv", good, good.replace("vllm", "sglang"));
    const { code, stderr } = await weir("calibrate", "--rows", file, "--out", join(folder, "none.json"));
    expect(code).toBe(2);
    expect(stderr).toContain("name one with --engine");
    expect(existsSync(join(folder, "none.json"))).toBe(false);
  });
});

describe("one replica", () => {
  const replica = ["simulate", "--model", "llama-3.1-8b", "--gpu", "h100-sxm", "--input", "500", "--output", "50", "--json"];

  test("in an open loop has latencies that grow with the rate, and none past its limit", async () => {
    const at = async (rate: number) => JSON.parse((await weir(...replica, "--rate", String(rate), "--requests", "2000")).stdout);
    const light = await at(1);
    const heavy = await at(0.7 * light.saturationRequestsPerSecond);
    expect(heavy.figures.endToEndSeconds.p95).toBeGreaterThan(light.figures.endToEndSeconds.p95);
    expect([light.stability, heavy.utilisation]).toEqual(["stable", expect.closeTo(0.7, 6)]);
    expect(await at(1.2 * light.saturationRequestsPerSecond)).toMatchObject({ stability: "unstable", figures: null });
    expect(light.notes.join()).toContain("means only");
    for (const [metric, seconds] of [
      ["ttft", light.figures.ttftSeconds.mean],
      ["tpot", light.figures.tpotSeconds.mean],
      ["endToEnd", light.figures.endToEndSeconds.mean],
    ]) {
      expect(light.bands[metric].low).toBeLessThan(seconds);
      expect(light.bands[metric].high).toBeGreaterThan(seconds);
    }
    expect(light.extrapolated.join()).toContain("h100-sxm");
  });

  test("in a closed loop answers as many as are in flight, by Little's law", async () => {
    const { stdout } = await weir(...replica, "--concurrency", "8", "--requests", "400");
    const { figures } = JSON.parse(stdout);
    expect(figures.requestsPerSecond * figures.endToEndSeconds.mean).toBeCloseTo(8, 0);
  });

  test("carries less where its engine runs fewer requests at once, or fewer tokens a step", async () => {
    const saturation = async (...more: readonly string[]) =>
      JSON.parse((await weir(...replica, "--rate", "1", ...more)).stdout).saturationRequestsPerSecond;
    const free = await saturation();
    const few = await saturation("--max-num-seqs", "16");
    expect(few).toBeLessThan(0.5 * free);
    expect(await saturation("--max-num-seqs", "16", "--max-num-batched-tokens", "64")).toBeLessThan(few);
  });

  test("finds part of its prompts in the prefix cache and answers sooner", async () => {
    const cold = JSON.parse((await weir(...replica, "--rate", "5")).stdout);
    const warm = JSON.parse((await weir(...replica, "--rate", "5", "--prefix-hit-rate", "0.9")).stdout);
    expect(warm.figures.ttftSeconds.mean).toBeLessThan(cold.figures.ttftSeconds.mean);
  });

  test("that does not fit is refused in one sentence, with exit code 3", async () => {
    const { code, stderr } = await weir(...replica, "--model", "llama-3.1-70b", "--rate", "1");
    expect(code).toBe(3);
    expect(stderr).toContain("141.1 GB of weights");
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });
});
