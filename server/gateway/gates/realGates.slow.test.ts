import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { addonsFolder } from "@/server/addons/addonFolder";
import { prepareRealModels } from "@/server/realModels/prepareRealModels";
import type { GateDocument } from "@/solver/gates/gateDocument";
import { chatAnswer } from "@/solver/judging/judgeCall";
import { arithmeticQuestions } from "@/solver/prompts/arithmeticQuestion";
import { startTestGateway, testConfig } from "../testing/testGateway";

const names = ["arith-small", "arith-large"] as const;
const bundle = join(process.env.WEIR_ROOT ?? process.cwd(), "dist/engine.mjs");
const addons = addonsFolder(process.env);
const addon = join(addons, "real-engine", "addon.json");

const QUESTIONS = 300;
const AT_ONCE = 4;

describe("gates on two real models", needs(file(addon), file(bundle)), () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-gates-"));
  const engines: { readonly model: string; readonly url: string; readonly child: ChildProcess }[] = [];
  const questions = arithmeticQuestions(QUESTIONS, 5);

  beforeAll(async () => {
    const prepared = await prepareRealModels(folder, ["gguf"]);
    if (!prepared.ok) throw new Error(prepared.message);
    for (const model of names) {
      const file = prepared.models.find(({ name }) => name === model)?.trainedGguf ?? "";
      const flags = ["--model", file, "--alias", model, "--port", "0", "--addons", addons, "--threads", "1", "--sequences", "8"];
      const child = spawn(process.execPath, [bundle, ...flags, "--context", "256"], { stdio: ["ignore", "pipe", "pipe"] });
      process.once("exit", () => child.kill("SIGKILL"));
      let output = "";
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
      while (!output.includes("ready: ")) {
        if (child.exitCode !== null) throw new Error(`The engine of ${model} ended: ${output}`);
        await sleep(50);
      }
      engines.push({ model, url: /listening on (\S+)/.exec(output)?.[1] ?? "", child });
    }
  }, 180_000);
  afterAll(() => {
    for (const { child } of engines) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });

  /** Share of right answers and of requests that were sent on. */
  async function measured(gate: GateDocument | null, threshold: number) {
    const gateway = await startTestGateway();
    const stages = engines.slice(gate === null ? 1 : 0).map(({ model, url }) => ({ model, urls: [url] }));
    await gateway.put(
      testConfig({ stages, thresholds: gate === null ? [] : [threshold], maxInFlight: 16, ...(gate && { gates: [gate] }) }),
    );
    const left = [...questions];
    let right = 0;
    const client = async (): Promise<void> => {
      for (let question = left.shift(); question !== undefined; question = left.shift()) {
        const answer = await gateway.chat({ messages: [{ role: "user", content: question.text }], max_tokens: 16, temperature: 0 });
        if ((chatAnswer(await answer.json()) ?? "").trim() === question.answer) right += 1;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    const decisions = await gateway.decisions();
    const sent = decisions.filter(({ stages: visits }) => visits.some(({ verdict }) => verdict === "escalated")).length;
    const unscored = decisions.flatMap(({ stages: visits }) => visits.filter(({ unscored: cause }) => cause !== undefined)).length;
    return { accuracy: right / QUESTIONS, sentOn: sent / QUESTIONS, unscored };
  }

  it("confidence and agreement keep most of the large model's accuracy and send on a part of the requests", async () => {
    const alone = await measured(null, 0);
    const small = await measured({ kind: "confidence", measure: "minimum" }, 0);
    const rows = {
      "large alone": alone,
      "small alone": small,
      "confidence, threshold 90": await measured({ kind: "confidence", measure: "minimum" }, 90),
      "agreement of 3 samples, threshold 100": await measured(
        { kind: "agreement", answer: "whole", samples: { count: 3, temperature: 1 } },
        100,
      ),
    };
    for (const [name, { accuracy, sentOn, unscored }] of Object.entries(rows))
      console.log(`${name}: ${(100 * accuracy).toFixed(1)} % right, ${(100 * sentOn).toFixed(1)} % sent on, ${unscored} without a score`);
    for (const name of ["confidence, threshold 90", "agreement of 3 samples, threshold 100"] as const) {
      const { accuracy, sentOn } = rows[name];
      const random = small.accuracy + sentOn * (alone.accuracy - small.accuracy);
      expect(sentOn).toBeGreaterThan(0.1);
      expect(sentOn).toBeLessThan(0.9);
      expect(accuracy).toBeGreaterThan(random);
    }
  }, 180_000);
});
