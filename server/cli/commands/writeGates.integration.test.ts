import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { EmulatedEngine } from "@/server/contracts/engine/emulatorAdmin";
import { ask, engineOn, isReady, MODEL, TestEmulators } from "@/server/emulator/testEmulators";
import { configRefusal } from "@/server/gateway/serving/configRefusal";
import { hashed, startTestGateway, temporaryDirectory, testConfig, until } from "@/server/gateway/testing/testGateway";
import { readPlan } from "@/server/planning/planner/readPlan";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { freePort } from "@/server/testing/freePorts";
import type { Plan } from "@/solver/plan/plan";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { tournamentFigures } from "@/solver/tournament/tournamentFigures";
import { generatedWorkload } from "@/solver/workload/generated";
import { writeGates } from "./writeGates";

const LADDER = [MODEL, "gemma-2-9b"];
const SURE = 90;
const UNSURE = 40;

let emulators: TestEmulators;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
});
afterEach(() => emulators.end());

/** A tournament in which the small model's confidence tells its right answers from the wrong ones, and length tells nothing. */
function compared() {
  const workload = generatedWorkload({ prompts: 200, ladder: LADDER, seed: 1 });
  const models = workload.outcomes.models.map((model) => ({
    ...model,
    outputTokens: model.outputTokens.map(() => 20),
    confidence: model.label.map((label) => (label === 100 ? SURE : UNSURE)),
  }));
  const figures = tournamentFigures({ ...workload, outcomes: { ...workload.outcomes, models } }, { share: 0.5, judgeSeconds: null });
  if (!figures.ok) throw new Error(figures.message);
  return figures.tournament;
}

/** A sealed plan of both models for the judge. */
function planned(): Plan {
  const draft = examplePlanDraft();
  const [small, large] = draft.deployment;
  if (small === undefined || large === undefined) throw new Error("The example deploys two models");
  const deployment = [small, large].map((own, at) => ({ ...own, model: LADDER[at] ?? "" }));
  return sealPlan({ ...draft, deployment, policy: { ...draft.policy, stages: LADDER.map((model) => ({ model })) } }, new Date(0));
}

/** Two emulated engines whose small model is sure of its answer to `sure` alone; their answers carry log probabilities. */
async function engines(): Promise<readonly string[]> {
  const { call } = await emulators.start(20);
  await call("PUT", "/outcomes", {
    name: "served",
    promptIds: ["sure", "unsure"],
    inputTokens: [100, 100],
    models: [
      { model: MODEL, outputTokens: [20, 20], label: [100, 0], judged: [SURE, UNSURE] },
      { model: LADDER[1], outputTokens: [20, 20], label: [100, 100], judged: [SURE, SURE] },
    ],
  });
  const started = await Promise.all(LADDER.map((model, gpu) => call("POST", "/engines", engineOn(gpu, { model }))));
  const urls = (await Promise.all(started.map(async (answer) => (await answer.json()) as EmulatedEngine))).map(({ url }) => url);
  await until(async () => (await Promise.all(urls.map(isReady))).every(Boolean));
  return urls;
}

it.each(["confidence", "scorer"] as const)(
  "a gateway serves a plan with the %s gate that a tournament wrote into it, without a judge",
  async (gate) => {
    const path = join(await temporaryDirectory(), "plan.json");
    writeFileSync(path, JSON.stringify(planned()));
    expect(writeGates(path, compared(), { measure: "minimum", answer: "whole", gate }).ok).toBe(true);
    const read = readPlan(JSON.parse(readFileSync(path, "utf8")));
    if (!read.ok) throw new Error(read.message);
    const urls = await engines();
    const stages = LADDER.map((model, at) => ({ model, urls: [urls[at] ?? ""] }));
    const config = { ...testConfig({ stages }), ...hashed(read.plan.policy), planId: read.plan.id, timeScale: 20 };
    expect(configRefusal(config)).toBeNull();
    const gateway = await startTestGateway();
    await gateway.put(config);
    const served = [];
    for (const prompt of ["sure", "unsure"]) {
      const answer = await gateway.chat({ ...ask(prompt), model: "cascade/test" });
      await answer.text();
      served.push(answer.headers.get("x-weir-model"));
    }
    expect(served).toEqual(LADDER);
    const [sure, unsure] = (await gateway.decisions()).map((decision) => decision.stages[0]);
    expect([sure, unsure].map((stage) => [stage?.gate?.kind, stage?.reason])).toEqual([
      [gate, "score-at-or-above-threshold"],
      [gate, "score-below-threshold"],
    ]);
    // Calibrated: of the answers with this confidence all, and none, are right.
    expect(sure?.judgedScore).toBeGreaterThan(95);
    expect(unsure?.judgedScore).toBeLessThan(5);
  },
);
