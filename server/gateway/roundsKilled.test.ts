import { describe, expect, it } from "vitest";
import type { EmulatedEngine } from "@/server/contracts/emulatorAdmin";
import { decisionPageSchema, gatewayStatusSchema } from "@/server/contracts/gatewayAdmin";
import { policyHash } from "@/server/contracts/policyHash";
import { engineOn, isReady } from "@/server/emulator/testEmulators";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { hasConfiguration } from "@/solver/workflow/configurationSet";
import { configurationSpace, modelIn } from "@/solver/workflow/configurationSpace";
import { temporaryDirectory, testConfig, until } from "./testGateway";
import { longText, putArtefact, shortText, testConfigurations } from "./testPredictors";
import { startEmulatorProcess, startGatewayProcess } from "./testProcesses";
import { justInTime, roundsOf } from "./testRounds";

const timeScale = 20;
/** Smallest first; the largest takes two GPUs. */
const models = ["gemma-2-2b", "gemma-2-9b", "gemma-2-27b"];
const [smallest = "", , largest = ""] = models;
const voters = ["voter-1", "voter-2", "voter-3"];
/** Its last agent may not be of the smallest model. */
const voting = workflowDocumentSchema.parse({
  name: "voting",
  agents: [...voters.map((name) => ({ name })), { name: "aggregator", reads: voters, part: "votes", models: models.slice(1) }],
});
const space = configurationSpace(voting, models);
const prompts = ["short", "long"];

/** An engine of each model on emulated GPUs, and a gateway before them that chooses models by a trained predictor: each in a process of its own. */
async function embedded(port: number) {
  const emulator = await startEmulatorProcess(await temporaryDirectory(), { port, timeScale });
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
  const put = await fetch(`${gateway.adminUrl}/config`, { method: "PUT", headers: { "if-match": "none" }, body: JSON.stringify(config) });
  expect([put.status, await put.text()]).toEqual([200, expect.any(String)]);

  const ask = (program: string, agent: string, text: string) =>
    fetch(`${gateway.dataUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "x-session-id": program, "x-weir-workflow": "voting", "x-weir-stage": agent },
      body: JSON.stringify({ model: "cascade/default", messages: [{ role: "user", content: text }] }),
    });
  /** Its voters at once, then its aggregator, as long as they are answered. */
  const run = async (program: string, text: string): Promise<readonly number[]> => {
    const votes = await Promise.all(voters.map(async (agent) => (await ask(program, agent, text)).status));
    return votes.every((status) => status === 200) ? [...votes, (await ask(program, "aggregator", text)).status] : votes;
  };
  const inFlight = async (model: string): Promise<number> => {
    const status = gatewayStatusSchema.parse(await (await fetch(`${gateway.adminUrl}/status`)).json());
    return status.replicas.find((replica) => replica.model === model)?.inFlight ?? 0;
  };
  const kill = (model: string) => emulator.call("DELETE", `/engines/${model}?graceSeconds=0`);
  const decisions = async () => decisionPageSchema.parse(await (await fetch(`${gateway.adminUrl}/decisions`)).json()).decisions;
  // The first search may come too late: its thread has done nothing yet.
  for (let warm = 0; (await roundsOf(gateway)).predictions.whole === 0; warm += 1) await ask(`warm-${warm}`, "voter-1", easy("warm"));
  return { ask, run, inFlight, kill, decisions };
}

const easy = (name: string): string => `[prompt short] ${shortText(name)}`;
const hard = (name: string): string => `[prompt long] ${longText(name)}`;

describe("a voting workflow on the embedded cluster whose model loses its only engine", () => {
  it("goes on with configurations that are still accurate", async () => {
    const { run, inFlight, kill, decisions } = await embedded(24850);
    // More than there is room for at once, so that none of the engines is ever idle.
    const programs = ["p1", "p2", "p3", "p4", "p5", "p6", "p7"];
    const running = programs.map((program) => run(program, easy(program)));
    await until(async () => (await inFlight(smallest)) > 0);
    await kill(smallest);
    expect(await Promise.all(running)).toEqual(programs.map(() => [200, 200, 200, 200]));
    const records = (await decisions()).filter(({ program }) => programs.includes(program ?? ""));
    const moved = records.filter(({ stages }) => stages[0]?.model === smallest && stages[0].verdict === "failed");
    expect(moved.length).toBeGreaterThan(0);
    for (const { stages } of moved) expect(models.slice(1)).toContain(stages.at(-1)?.model);
    for (const program of programs) {
      const own = records.filter((record) => record.program === program);
      const set = Uint32Array.from(own.find(({ configurations }) => configurations !== undefined)?.configurations?.set ?? []);
      const chosen = space.agents.map((agent) => models.indexOf(own.find(({ call }) => call?.agent === agent)?.stages.at(-1)?.model ?? ""));
      const configuration = Array.from({ length: space.size }, (_, at) => at).find((at) =>
        chosen.every((model, agent) => modelIn(space, at, agent) === model),
      );
      // Of a program of which nothing came in time the largest alone is accurate.
      expect(
        configuration !== undefined && (set.length === 0 ? configuration === space.size - 1 : hasConfiguration(set, configuration)),
      ).toBe(true);
    }
  });

  it("fails what has no such configuration with one sentence, and leaves the rest alone", async () => {
    const { run, inFlight, kill, ask, decisions } = await embedded(24870);
    const running = run("hard", hard("hard"));
    await until(async () => (await inFlight(largest)) === voters.length);
    await kill(largest);
    expect(await running).toEqual([503, 503, 503]);
    const refused = (await decisions()).filter(({ program }) => program === "hard");
    for (const { reason, stages } of refused) {
      for (const name of ["voting", "voter-", largest]) expect(reason).toContain(name);
      expect(stages.map(({ model, verdict }) => [model, verdict])).toEqual([[largest, "failed"]]);
    }
    const again = await ask("harder", "voter-1", hard("harder"));
    expect([again.status, Number(again.headers.get("retry-after")) >= 1]).toEqual([503, true]);
    // What is predicted in time of easy ones does without it.
    let easyOnes = 0;
    await until(async () => {
      easyOnes += 1;
      return (await run(`easy-${easyOnes}`, easy("other"))).every((status) => status === 200);
    });
  });
});
