import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { type Decision, type GatewayConfig, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { listen } from "@/server/contracts/http/apiServer";
import { createEngine } from "@/server/emulator/emulatedEngine";
import { createOutcomeBook } from "@/server/emulator/outcomeTable";
import { ask, engineOn, isReady, MODEL, metric, outcomes } from "@/server/emulator/testEmulators";
import { modelPerturbation } from "@/solver/calibration/modelPerturbation";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { hashed, oneModel, startTestGateway, type TestGateway, until } from "../testing/testGateway";

const timeScale = 10;
const kvTokens = 4000;

/** The address of an emulated engine with a small cache and the perturbed step times of its seed. */
async function tightEngine(): Promise<string> {
  const request = engineOn(0);
  const fit = replicaModel(modelCard(MODEL)!, gpuCard("l40s")!, request);
  const read = createOutcomeBook(outcomes([1, 300]));
  if (!fit.fits || !read.ok) throw new Error("no engine to test with");
  const truth = modelPerturbation(fit.replica, vllmProfile.errors, { seed: 1, engineId: "e0" });
  const options = {
    request,
    replicaModel: { ...truth, kvTokens },
    maxModelTokens: kvTokens,
    timeScale,
    loadMs: 1,
    outcomes: () => read.book,
  };
  const engine = createEngine(options);
  await listen(engine.server, 0);
  onTestFinished(() => engine.stop(0));
  const url = `http://127.0.0.1:${(engine.server.address() as AddressInfo).port}`;
  await until(() => isReady(url));
  return url;
}

function packed(url: string): GatewayConfig {
  const { replicas, ...config } = oneModel([url], 64);
  const policy = { kind: "fixed", model: MODEL, order: { kind: "workflow", agingThreshold: 100 }, place: { kind: "time-slots" } } as const;
  return { ...config, timeScale, ...hashed(policy), replicas: replicas.map((replica) => ({ ...replica, model: MODEL })) };
}

/** A request's record of its engine, once the request is answered. */
async function knownAt(gateway: TestGateway, prompt: string) {
  const answer = await gateway.chat({ ...ask(prompt), model: "cascade/default" });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  const id = answer.headers.get("x-weir-decision-id");
  const { stages } = (await (await fetch(`${gateway.adminUrl}/decisions/${id}`)).json()) as Decision;
  return stages[0]?.engine;
}

const countOf = (preemptions: { readonly value?: number | undefined } | undefined): number => preemptions?.value ?? Number.NaN;

it("preemptions of an emulated engine whose cache is too small are seen to rise, and its requests are answered all the same", async () => {
  const url = await tightEngine();
  const gateway = await startTestGateway();
  await gateway.put(packed(url));
  await until(async () => (await knownAt(gateway, "short"))?.preemptions?.state === "fresh");
  const before = await knownAt(gateway, "short");
  expect([before?.kvCapacity, countOf(before?.preemptions)]).toEqual([{ tokens: kvTokens }, 0]);
  // Their prompts are longer at the engine than they look to the gateway, so that it sends more than the cache has room for.
  const burst = Array.from({ length: 60 }, () => knownAt(gateway, "long"));
  await until(async () => ((await metric(url, "vllm:num_preemptions_total")) ?? 0) > 0);
  await until(async () => countOf((await knownAt(gateway, "short"))?.preemptions) > 0);
  await Promise.all(burst);
  const counted = await metric(url, "vllm:num_preemptions_total");
  await until(async () => countOf((await knownAt(gateway, "short"))?.preemptions) === counted);
  const { queued, replicas } = gatewayStatusSchema.parse(await (await fetch(`${gateway.adminUrl}/status`)).json());
  expect([queued[MODEL], replicas[0]?.inFlight]).toEqual([0, 0]);
});
