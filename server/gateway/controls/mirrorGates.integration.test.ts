import { describe, expect, it } from "vitest";
import { mirrorSamplePageSchema } from "@/server/contracts/gateway/gatewayControls";
import type { GateDocument } from "@/solver/gates/gateDocument";
import { startTestEngine } from "../testing/testEngine";
import { sayScored } from "../testing/testGates";
import { startTestGateway, type TestGateway, testConfig } from "../testing/testGateway";
import { isCopy, putMirror, questions, settled } from "../testing/testMirror";
import { askAll, control } from "../testing/testScoredCascade";

const samplesOf = async (gateway: TestGateway, after = 0) =>
  mirrorSamplePageSchema.parse((await control(gateway, "GET", `/mirror/samples?after=${after}`)).document);

/** Three models that are as sure of their answers as `sure` says, and a cascade without a judge whose first two stages have this gate. */
async function gated(gate: GateDocument, sure: readonly number[]) {
  const models = ["small", "middle", "large"];
  const engines = await Promise.all(
    models.map((_, at) => startTestEngine((asked, response) => sayScored(asked, response, [["4", sure[at] ?? 1]]))),
  );
  const gateway = await startTestGateway();
  const stages = models.map((model, at) => ({ model, urls: [engines[at]?.url ?? ""] }));
  await gateway.put(testConfig({ stages, thresholds: [50, 50], gates: [gate, gate] }));
  return { gateway, engines };
}

describe("the mirror of a cascade without a judge", () => {
  const calibration = { raw: [0, 100], calibrated: [10, 90] };
  const gate: GateDocument = { kind: "confidence", measure: "minimum", calibration };

  it("scores the answers of all stages by the gates of the stages, and gives of the last one, which has no gate, the length alone", async () => {
    const { gateway, engines } = await gated(gate, [0.9, 0.3, 0.7]);
    await putMirror(gateway, 1);
    await askAll(gateway, questions(20), 2);
    const mirror = await settled(gateway, 20);
    expect(mirror).toMatchObject({
      completed: 20,
      failed: 0,
      skipped: 0,
      lastSample: 20,
      gates: { small: "confidence", middle: "confidence" },
    });
    // 90 % and 30 % sure, by the calibration.
    expect([mirror.scores.small?.[82], mirror.scores.middle?.[34], mirror.scores.large]).toEqual([20, 20, undefined]);
    expect(engines.map(({ asked }) => asked.filter(isCopy).length)).toEqual([0, 20, 20]);
    const { samples, latest } = await samplesOf(gateway);
    expect([samples.length, latest]).toEqual([20, 20]);
    const known = { inputTokens: 7, outputTokens: 1 };
    expect(samples[0]?.answers).toEqual([
      { model: "small", ...known, score: 82, gate: { kind: "confidence", raw: [90] } },
      { model: "middle", ...known, score: 34, gate: { kind: "confidence", raw: [30] } },
      { model: "large", ...known, score: null },
    ]);
    const ids = (await gateway.decisions()).map(({ id }) => id);
    expect(samples.map(({ decisionId }) => decisionId).sort()).toEqual([...ids].sort());
    expect((await samplesOf(gateway, 15)).samples.map(({ sequence }) => sequence)).toEqual([16, 17, 18, 19, 20]);
  });

  it("takes no request for answered whose engines report no log probabilities", async () => {
    const { gateway, engines } = await gated(gate, [0.9, 0.3, 0.7]);
    const [small, , large] = engines;
    const silent = await startTestEngine(({ body }, response) =>
      sayScored({ ...large?.asked[0], body: { ...body, logprobs: false } } as never, response, [["4", 1]]),
    );
    const stages = [small, silent, large].map((engine, at) => ({
      model: ["small", "middle", "large"][at] ?? "",
      urls: [engine?.url ?? ""],
    }));
    await gateway.put(testConfig({ stages, thresholds: [50, 50], gates: [gate, gate] }));
    await putMirror(gateway, 1);
    await askAll(gateway, questions(5), 1);
    expect(await settled(gateway, 5)).toMatchObject({ failed: 5, completed: 0 });
    expect((await samplesOf(gateway)).samples).toEqual([]);
  });

  it("compares all further answers, where the stage itself stops as soon as its verdict is sure", async () => {
    const { gateway, engines } = await gated({ kind: "agreement", answer: "whole", samples: { count: 4, temperature: 1 } }, [1, 1, 1]);
    await putMirror(gateway, 1);
    await askAll(gateway, questions(6), 1);
    expect(await settled(gateway, 6)).toMatchObject({ picked: 6, failed: 0 });
    const { samples } = await samplesOf(gateway);
    expect(samples.length).toBeGreaterThan(0);
    for (const { answers } of samples)
      expect(answers.map(({ gate: by, score }) => [by?.kind, score])).toEqual([
        ["agreement", 100],
        ["agreement", 100],
        [undefined, null],
      ]);
    const samplesOfMirror = engines[1]?.asked.filter(({ headers }) => String(headers["x-request-id"]).includes("-mirror-gate-")).length;
    expect(samplesOfMirror).toBe(4 * samples.length);
  });

  it("copies every answer whose gate compares further ones, however far it came to compare, so that no verdict is seen more often", async () => {
    // With one further answer the verdict is open to the end, and with eight that agree it is sure before.
    for (const count of [1, 8]) {
      const gate: GateDocument = { kind: "agreement", answer: "whole", samples: { count, temperature: 1 } };
      const { gateway, engines } = await gated(gate, [1, 1, 1]);
      await putMirror(gateway, 1);
      await askAll(gateway, questions(3), 1);
      expect(await settled(gateway, 3)).toMatchObject({ picked: 3, failed: 0 });
      const copies = engines.map(({ asked }) => asked.filter(isCopy).length);
      expect(copies[0]).toBe(copies[1]);
    }
  });

  it("counts no score of a request that a model did not answer", async () => {
    const { gateway, engines } = await gated(gate, [0.9, 0.3, 0.7]);
    await putMirror(gateway, 1);
    await engines[2]?.close();
    await askAll(gateway, questions(3), 1);
    expect(await settled(gateway, 3)).toMatchObject({ completed: 0, scores: {} });
  });
});
