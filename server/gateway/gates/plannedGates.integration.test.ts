import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EmulatedEngine } from "@/server/contracts/engine/emulatorAdmin";
import { ask, engineOn, isReady, MODEL, TestEmulators } from "@/server/emulator/testEmulators";
import { freePort } from "@/server/testing/freePorts";
import { simulateCluster } from "@/solver/cluster/simulateCluster";
import { gpuCards } from "@/solver/hardware/gpus";
import { modelCards } from "@/solver/hardware/models";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { quantile } from "@/solver/numeric/quantile";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { gateCandidates } from "@/solver/stageGates/gateCandidates";
import { isRefused } from "@/solver/stageGates/gateRefusal";
import { stageGatesOf } from "@/solver/stageGates/stageGate";
import { generatedWorkload } from "@/solver/workload/generated";
import type { Workload } from "@/solver/workload/workload";
import { startTestGateway, testConfig, until } from "../testing/testGateway";

const LARGE = "gemma-2-9b";
const ASKED = 30;

let emulators: TestEmulators;
beforeEach(async () => {
  emulators = new TestEmulators(await freePort());
});
afterEach(() => emulators.end());

/** Short answers whose confidence is what the emulator gives as the probability of their least sure token: the others are above 0.85. */
function workload(): Workload {
  const made = generatedWorkload({ prompts: 120, ladder: [MODEL, LARGE], seed: 5 });
  const models = made.outcomes.models.map((own) => {
    const confidence = own.judged.map((score) => Math.min(85, Math.max(1, score)));
    return { ...own, confidence, judged: confidence, outputTokens: own.outputTokens.map((tokens) => 2 + (tokens % 9)) };
  });
  return { ...made, outcomes: { ...made.outcomes, models } };
}

describe("gates that the planner has calibrated", () => {
  it("give the same scores and decisions at the gateway, on emulated engines, as in a simulation of the same policy", async () => {
    const planned = workload();
    const documents = gateCandidates(planned, [MODEL, LARGE], () => true).find(({ kind }) => kind === "confidence")?.documents;
    const document = documents?.[MODEL];
    if (documents == null || document === undefined) throw new Error("no confidence gate was planned");
    const { outcomes } = planned;
    const { call } = await emulators.start(20);
    await call("PUT", "/outcomes", {
      name: "planned",
      promptIds: outcomes.promptIds,
      inputTokens: [...outcomes.inputTokens],
      models: outcomes.models.map(({ model, outputTokens, label, judged }) => ({
        ...{ model, outputTokens: [...outputTokens], label: [...label], judged: [...judged] },
      })),
    });
    const started = await Promise.all([MODEL, LARGE].map((model, gpu) => call("POST", "/engines", engineOn(gpu, { model }))));
    const urls = (await Promise.all(started.map(async (answer) => (await answer.json()) as EmulatedEngine))).map(({ url }) => url);
    await until(async () => (await Promise.all(urls.map(isReady))).every(Boolean));
    const gateway = await startTestGateway();
    const gates = stageGatesOf(planned, documents);
    if (isRefused(gates)) throw new Error(gates.kind);
    const scored = (gates.get(MODEL)?.scores ?? new Float64Array()).slice(0, ASKED);
    // Half of the answers reach it.
    const threshold = Math.floor(quantile(scored, 0.5));
    const stages = [MODEL, LARGE].map((model, at) => ({ model, urls: [urls[at] ?? ""] }));
    const config = { ...testConfig({ stages, thresholds: [threshold], gates: [document] }), timeScale: 20 };
    await gateway.put(config);

    const { finalStage } = simulateCluster({
      policy: buildPolicy(config.policy),
      replicas: [MODEL, LARGE].map((model) => {
        const fit = replicaModel(modelCards[model]!, gpuCards.l40s!, { tp: 1, pp: 1 });
        if (!fit.fits) throw new Error(fit.reason);
        return { id: model, model, replica: fit.replica, maxInFlight: 8 };
      }),
      sample: {
        arrivalSeconds: Float64Array.from({ length: ASKED }, (_, at) => at),
        prompt: Int32Array.from({ length: ASKED }, (_, at) => at),
      },
      ...{ outcomes, gates, judgeSeconds: 0 },
    });
    const answered: string[] = [];
    for (let prompt = 0; prompt < ASKED; prompt += 1) {
      const answer = await gateway.chat({ ...ask(outcomes.promptIds[prompt] ?? ""), model: "cascade/test" });
      answered.push(answer.headers.get("x-weir-model") ?? "");
      await answer.text();
    }
    expect(answered).toEqual(Array.from(finalStage, (stage) => [MODEL, LARGE][stage]));
    expect(new Set(answered).size).toBe(2);
    const scores = (await gateway.decisions()).map(({ stages: [first] }) => first?.judgedScore ?? Number.NaN);
    for (const [prompt, score] of scores.entries()) expect(score).toBeCloseTo(scored[prompt] ?? 0, 2);
  });
});
