import { describe, expect, it } from "vitest";
import type { EmulatedEngine } from "@/server/contracts/engine/emulatorAdmin";
import { decisionPageSchema, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { policyHash } from "@/server/contracts/gateway/policyHash";
import { type WorkflowRun, workflowRunSchema } from "@/server/contracts/gateway/workflowRuns";
import { engineOn, isReady } from "@/server/emulator/testEmulators";
import { freePorts } from "@/server/testing/freePorts";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { hasConfiguration } from "@/solver/workflow/configurationSet";
import { configurationSpace, modelIn } from "@/solver/workflow/configurationSpace";
import { temporaryDirectory, testConfig, until } from "../testing/testGateway";
import { longText, putArtefact, shortText, testConfigurations } from "../testing/testPredictors";
import { startEmulatorProcess, startGatewayProcess } from "../testing/testProcesses";
import { justInTime, roundsOf } from "../testing/testRounds";

const timeScale = 20;
/** Smallest first; the largest takes two GPUs. */
const models = ["gemma-2-2b", "gemma-2-9b", "gemma-2-27b"];
const [smallest = "", , largest = ""] = models;
const voters = ["voter-1", "voter-2", "voter-3"];
/** The smallest model is excluded for its last agent. */
const voting = workflowDocumentSchema.parse({
  name: "voting",
  agents: [...voters.map((name) => ({ name })), { name: "aggregator", reads: voters, part: "votes", models: models.slice(1) }],
});
const space = configurationSpace(voting, models);
const prompts = ["short", "long"];

/**
 * An engine for each model on emulated GPUs, and a gateway in front of them that chooses models with a trained predictor: each in its own
 * process.
 */
async function embedded() {
  const emulator = await startEmulatorProcess(await temporaryDirectory(), { ports: await freePorts(3), timeScale });
  const outputs = { outputTokens: [600, 1200], label: [100, 0], judged: [80, 20] };
  await emulator.call("PUT", "/outcomes", {
    name: "held-out",
    promptIds: prompts,
    inputTokens: [30, 30],
    models: models.map((model) => ({ model, ...outputs })),
  });
  const gpusOf = [[0], [1], [2, 3]];
  const urls = await Promise.all(
    models.map(async (model, at) => {
      const gpus = gpusOf[at] ?? [];
      const request = engineOn(at, { id: model, model, tp: gpus.length, placements: [{ node: "node1", gpus }] });
      return ((await (await emulator.call("POST", "/engines", request)).json()) as EmulatedEngine).url;
    }),
  );
  await until(async () => (await Promise.all(urls.map(isReady))).every(Boolean));
  const gateway = await startGatewayProcess(await temporaryDirectory());
  const predictor = testConfigurations(voting, models);
  expect((await putArtefact(gateway, predictor)).status).toBe(200);
  const policy = {
    ...justInTime([{ workflow: voting, predictor: predictor.hash }]),
    models: models.map((model, at) => ({ ...justInTime([]).models[at]!, model })),
  };
  const config = {
    ...testConfig({ stages: models.map((model, at) => ({ model, urls: [urls[at] ?? ""] })) }),
    policy,
    policyHash: policyHash(policy),
    timeScale,
  };
  const put = await fetch(`${gateway.adminUrl}/config`, {
    method: "PUT",
    headers: { "content-type": "application/json", "if-match": "none", ...gateway.adminHeaders },
    body: JSON.stringify(config),
  });
  expect([put.status, await put.text()]).toEqual([200, expect.any(String)]);

  /** Makes the gateway run the workflow: its voters at once, then its aggregator. */
  const run = async (input: string): Promise<WorkflowRun> => {
    const answer = await fetch(`${gateway.dataUrl}/v1/workflows/voting/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input }),
    });
    return workflowRunSchema.parse(await answer.json());
  };
  const inFlight = async (model: string): Promise<number> => {
    const status = gatewayStatusSchema.parse(await (await fetch(`${gateway.adminUrl}/status`, { headers: gateway.adminHeaders })).json());
    return status.replicas.find((replica) => replica.model === model)?.inFlight ?? 0;
  };
  const kill = (model: string) => emulator.call("DELETE", `/engines/${model}?graceSeconds=0`);
  const decisions = async () =>
    decisionPageSchema.parse(await (await fetch(`${gateway.adminUrl}/decisions`, { headers: gateway.adminHeaders })).json()).decisions;
  // The first search may be late: its thread has not run yet.
  while ((await roundsOf(gateway)).predictions.whole === 0) await run(easy("warm"));
  return { run, inFlight, kill, decisions };
}

const easy = (name: string): string => `[prompt short] ${shortText(name)}`;
const hard = (name: string): string => `[prompt long] ${longText(name)}`;

describe("a voting workflow on the embedded cluster whose model loses its only engine", () => {
  it("goes on with configurations that are still accurate", async () => {
    const { run, inFlight, kill, decisions } = await embedded();
    const running: Promise<WorkflowRun>[] = [];
    let open = 0;
    await until(async () => {
      if ((await inFlight(smallest)) > 0) return true;
      // More than there is room for, so that none of the engines is idle; and further ones if no search finished in time.
      for (; open < 7; open += 1) {
        running.push(
          run(easy(`q${running.length}`)).finally(() => {
            open -= 1;
          }),
        );
      }
      return false;
    });
    await kill(smallest);
    const runs = await Promise.all(running);
    expect(runs.map(({ status, error }) => [status, error])).toEqual(runs.map(() => ["completed", null]));
    const records = (await decisions()).filter(({ program }) => runs.some(({ id }) => id === program));
    const moved = records.filter(({ stages }) => stages[0]?.model === smallest && stages[0].verdict === "failed");
    expect(moved.length).toBeGreaterThan(0);
    for (const { stages } of moved) expect(models.slice(1)).toContain(stages.at(-1)?.model);
    for (const { id, stages } of runs) {
      const told = records.find(({ program, configurations }) => program === id && configurations !== undefined);
      const set = Uint32Array.from(told?.configurations?.set ?? []);
      const chosen = space.agents.map((agent) => models.indexOf(stages.find((stage) => stage.agent === agent)?.model ?? ""));
      const every = Array.from({ length: space.size }, (_, at) => at);
      const configuration = every.find((at) => chosen.every((model, agent) => modelIn(space, at, agent) === model)) ?? -1;
      // If nothing was predicted in time for a program, only the largest configuration is accurate.
      expect(set.length === 0 ? configuration === space.size - 1 : hasConfiguration(set, configuration)).toBe(true);
    }
  });

  it("fails what has no such configuration with one sentence, and leaves the rest alone", async () => {
    const { run, inFlight, kill, decisions } = await embedded();
    const running = run(hard("q1"));
    await until(async () => (await inFlight(largest)) === voters.length);
    await kill(largest);
    const { id, status, stages, error } = await running;
    expect([status, stages]).toEqual(["failed", []]);
    expect(error).toMatchObject({ status: 503, code: "no_configuration", agent: expect.stringMatching(/^voter-/) });
    for (const name of ["voting", error?.agent ?? "?", largest]) expect(error?.message).toContain(name);
    const refused = (await decisions()).filter(({ program, call }) => program === id && call?.agent === error?.agent);
    expect(refused.map((record) => [record.status, record.stages.map(({ model, verdict }) => [model, verdict])])).toEqual([
      [503, [[largest, "failed"]]],
    ]);
    expect((await run(hard("q2"))).error).toMatchObject({ status: 503, code: "no_configuration" });
    // Programs predicted in time to be easy are answered without it.
    await until(async () => (await run(easy("q3"))).status === "completed");
  });
});
