import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { gatewayArtefactsSchema } from "@/server/contracts/gateway/gatewayLearning";
import { decodeArtefact, encodeArtefact } from "@/solver/prediction/artefact";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { hashed, oneModel, startTestGateway, type TestGateway, temporaryDirectory, until } from "../testing/testGateway";
import { longText, putArtefact, testLengths } from "../testing/testPredictors";
import { sha256 } from "./artifactStore";
import { PredictionThread } from "./predictionThread";

const lengths = testLengths();
const order = { kind: "stjf", agingThreshold: 100 } as const;
const policy = { kind: "fixed", model: "large", order, place: { kind: "least-load" }, learnt: { lengths: lengths.hash } } as const;

async function lackingOf({ adminUrl }: TestGateway) {
  return gatewayStatusSchema.parse(await (await fetch(`${adminUrl}/status`)).json()).lackingPredictors;
}

async function shownOf({ adminUrl }: TestGateway) {
  return gatewayArtefactsSchema.parse(await (await fetch(`${adminUrl}/artefacts`)).json()).artefacts;
}

/** Why the next request is not predicted; undefined if it is. */
async function absenceOf(gateway: TestGateway): Promise<string | undefined> {
  const messages = [{ role: "user", content: longText("q1") }];
  const answer = await gateway.post("/v1/chat/completions", { model: "cascade/test", messages });
  expect(answer.status).toBe(200);
  await answer.text();
  return (await gateway.decisions()).at(-1)?.predictions?.absent;
}

async function startedOn(stateDirectory: string): Promise<TestGateway> {
  return startTestGateway({ predictionSeconds: 5 }, { stateDirectory });
}

afterEach(() => void vi.restoreAllMocks());

describe("a predictor that a policy names and that does not serve", () => {
  it("is told in the status, and serves from when its bytes come back, without a restart", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "done"));
    const stateDirectory = await temporaryDirectory();
    const first = await startedOn(stateDirectory);
    await putArtefact(first, lengths);
    await first.put({ ...oneModel([engine.url]), ...hashed(policy) });
    expect([await absenceOf(first), await lackingOf(first)]).toEqual([undefined, undefined]);
    expect((await shownOf(first)).map(({ fails }) => fails)).toEqual([undefined]);
    await first.close();

    for (const spoil of [(path: string) => writeFile(path, "something else"), (path: string) => rm(path)]) {
      await spoil(join(stateDirectory, "artefacts", `${lengths.hash}.bin`));
      const again = await startedOn(stateDirectory);
      expect(await absenceOf(again)).toBe("not-loaded");
      expect(await lackingOf(again)).toEqual([{ hash: lengths.hash, reason: "not-loaded" }]);
      expect((await putArtefact(again, lengths)).status).toBe(200);
      expect([await absenceOf(again), await lackingOf(again)]).toEqual([undefined, undefined]);
      await again.close();
    }
    const last = await startedOn(stateDirectory);
    expect(await absenceOf(last)).toBeUndefined();
  });

  it("keeps no panic waiting while its thread does not start", async () => {
    const engine = await startTestEngine((_, response) => sayCompletion(response, "done"));
    const gateway = await startedOn(await temporaryDirectory());
    await putArtefact(gateway, lengths);
    const config = { ...oneModel([engine.url]), ...hashed(policy) };
    await gateway.put({ ...config, ...hashed({ ...policy, learnt: undefined }), planId: "before" });
    let started = (): void => undefined;
    const start = PredictionThread.start;
    const held = new Promise<void>((resolve) => {
      started = resolve;
    });
    const spy = vi.spyOn(PredictionThread, "start").mockImplementation(async (options) => {
      await held;
      return start.call(PredictionThread, options);
    });
    const changed = gateway.put(config);
    await until(async () => spy.mock.calls.length > 0);
    const body = JSON.stringify({ model: "large", by: "ada", reason: "fire" });
    const panic = await fetch(`${gateway.adminUrl}/panic`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body,
      signal: AbortSignal.timeout(2000),
    });
    expect(panic.status).toBe(200);
    started();
    await changed;
  });

  it("is not kept in the first place where its bytes are no predictor that was trained, and breaks no list", async () => {
    const gateway = await startedOn(await temporaryDirectory());
    const trained = () => structuredClone(decodeArtefact(lengths.bytes)) as never as Record<string, unknown>;
    const endless = decodeArtefact(lengths.bytes);
    if (endless.kind === "lengths") for (const { request } of endless.lengths) request.forest.next.fill(0);
    for (const wrong of [endless, { ...trained(), models: 5 }, { ...trained(), lengths: [] }, { ...trained(), kind: "nonsense" }]) {
      const bytes = encodeArtefact(wrong as never);
      const answer = await putArtefact(gateway, { hash: sha256(bytes), bytes });
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain("These bytes cannot be used as a predictor. This is not a trained predictor");
    }
    expect(await shownOf(gateway)).toEqual([]);
  });
});
