import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createConnectionPool } from "@/server/calls/upstream";
import { startTestCluster } from "@/server/clusters/testing/testCluster";
import { trustedJudgeModel } from "@/server/contracts/engine/emulatorAdmin";
import type { Answerer } from "@/server/contracts/studio";
import { generatedWorkload } from "@/solver/workload/generated";
import { createMeasureReadings } from "./measures/readings";
import { resumeProfile } from "./profileRun";
import { profileTable } from "./profileTable";
import { emulatorOf, keepProfile, keepPrompts, outcomesOf, profileStudio, promptsOf, servedAt, until } from "./testing/testProfileStudio";

const ladder = ["gemma-2-2b", "gemma-2-9b", "gemma-2-27b"];
const concurrency = 4;
const PROMPTS = 60;
const CALLS = PROMPTS * ladder.length * 3;

const generated = generatedWorkload({ prompts: PROMPTS, ladder, seed: 3 });
/** Short answers: an emulator writes no more than some ten thousand tokens a second. */
const brief = generated.outcomes.models.map((one) => ({ ...one, outputTokens: one.outputTokens.map((tokens) => 2 + (tokens >> 3)) }));
const workload = { ...generated, outcomes: { ...generated.outcomes, models: brief } };
let cluster: Awaited<ReturnType<typeof startTestCluster>>;
let studio: Awaited<ReturnType<typeof profileStudio>>;
beforeAll(async () => {
  [cluster, studio] = await Promise.all([startTestCluster({ timeScale: 40 }), profileStudio()]);
  const emulator = emulatorOf(cluster);
  await emulator.replay(outcomesOf(workload));
  await emulator.up({ "gemma-2-2b": [0], "gemma-2-9b": [1], "gemma-2-27b": [2, 3] });
});
afterAll(async () => {
  studio?.clear();
  await cluster?.stop();
});

const at = { kind: "cluster", clusterId: "embedded" } as const;
const asked = (model: string): Answerer => ({ model, at, usdPerMillionInputTokens: 1, usdPerMillionOutputTokens: 4 });
const rubric = (id: string, model: string) => ({ id, name: id, kind: "rubric", judge: asked(model), rubric: null, repeats: 1 }) as const;

it("makes each call once across two crashes, and measures what the emulator has in its table", { timeout: 120_000 }, async () => {
  const { store } = cluster;
  const id = keepProfile(store, keepPrompts(store, promptsOf(workload)), {
    models: ladder.map(asked),
    measures: [rubric("gate", "weir-judge"), rubric("label", trustedJudgeModel)],
    ...{ concurrency, requestsPerMinute: null, capUsd: 50, maxOutputTokens: 4096, keepAnswers: false },
  });
  const done = () => store.profiles.groups(id).reduce((sum, { state, calls }) => sum + (state === "done" ? calls : 0), 0);
  const begun = new Set<string>();
  const overBefore: string[] = [];
  let [killed, lost] = [0, 0];
  for (const killAt of [120, 320, null]) {
    const child = studio.run(cluster);
    const exit = once(child, "exit");
    await until(() => (killAt === null ? store.profiles.get(id)?.state === "done" : done() >= killAt));
    child.kill("SIGKILL");
    await exit;
    const rows = store.profiles.callsBetween(id, 0, PROMPTS);
    lost += rows.filter(({ state }) => state === "asked").length;
    killed += killAt === null ? 0 : 1;
    for (const key of overBefore) expect(begun).toContain(key);
    for (const { position, model, measureId, attempts, lost: own, state } of rows) {
      if (state !== "done") continue;
      // Asked once, and once more for each crash during which it was in flight.
      expect(attempts).toBe(1 + own);
      begun.add(`${position} ${model} ${measureId}`);
    }
    overBefore.push(...begun);
  }
  expect(killed).toBe(2);
  expect(lost).toBeGreaterThan(0);
  expect(lost).toBeLessThanOrEqual(killed * concurrency * (ladder.length + 2));
  const rows = store.profiles.callsBetween(id, 0, PROMPTS);
  expect(rows.filter(({ state }) => state === "done")).toHaveLength(CALLS);
  expect(rows.reduce((sum, row) => sum + row.lost, 0)).toBe(lost);

  const { engines, judge } = await emulatorOf(cluster).read();
  const served = await Promise.all([...engines.map(({ url }) => servedAt(url)), servedAt(judge.url)]);
  const answered = served.reduce((sum, one) => sum + one.answered, 0);
  expect(answered).toBeGreaterThanOrEqual(CALLS);
  expect(answered + served.reduce((sum, one) => sum + one.abandoned, 0)).toBeLessThanOrEqual(CALLS + lost);

  // They are no longer needed, and were not to be stored.
  expect(store.profiles.hasAnswers(id)).toBe(false);
  const profile = store.profiles.get(id);
  if (profile === null) throw new Error("the job is gone");
  const table = profileTable({
    ...{ profile, promptSetName: "set", prompts: PROMPTS, gate: "gate", label: "label", emulated: true, peer: null },
    promptOf: (position) => store.prompts.prompt("set", position),
    answers: store.profiles.answers(id),
    readingsOf: (measureId) => store.profiles.readings(id, measureId),
    countedScore: createMeasureReadings({ problem: async () => null, passes: async () => null }).countedScore,
    models: (await import("@/solver/hardware/models")).modelCards,
  });
  if (!table.ok) throw new Error(table.message);
  const { outcomes } = workload;
  expect(table.leftOut).toBe(0);
  expect(table.table.promptIds).toEqual(outcomes.promptIds);
  expect([...table.table.inputTokens]).toEqual([...outcomes.inputTokens]);
  for (const [index, { model, outputTokens, label, judged }] of outcomes.models.entries()) {
    expect(table.table.models[index]).toMatchObject({ model, label: label.map(Math.round), judged: judged.map(Math.round) });
    expect([...(table.table.models[index]?.outputTokens ?? [])]).toEqual([...outputTokens]);
  }
});

it("pauses where a model's engine is gone, says which and where, and goes on when it is back", { timeout: 60_000 }, async () => {
  const { store, connector } = cluster;
  const emulator = emulatorOf(cluster);
  let answer = await connector.observe();
  const looks = setInterval(() => void connector.observe().then((latest) => (answer = latest)), 200);
  const connections = createConnectionPool(5_000);
  const request = {
    gates: { confidence: false, samples: null },
    ...{ name: "another", promptSetId: "set", models: ladder.map(asked), measures: [rubric("gate", "weir-judge")] },
    ...{ concurrency, requestsPerMinute: null, capUsd: null, maxOutputTokens: 4096, keepAnswers: false },
  };
  const row = {
    id: "other",
    createdAt: "2026-01-02T00:00:00.000Z",
    actor: "a",
    promptSetId: "set",
    request,
    state: "running",
    pause: null,
    withoutLogprobs: null,
  } as const;
  store.profiles.insert(row);
  const run = await resumeProfile(row, {
    ...{ store, connections, limits: { placeMs: 1_000 }, clusterName: () => "embedded" },
    clusterOf: () => ({ kind: "embedded", seen: () => ({ atMs: Date.now(), answer }), timeScale: () => 40 }),
    measures: createMeasureReadings({ problem: async () => null, passes: async () => null }),
  });
  await until(() => run.tally.model("gemma-2-9b").done >= 3);
  await emulator.down("gemma-2-9b");
  await until(() => run.state === "paused" && run.inFlight() === 0);
  expect(run.pausedFor).toMatchObject({
    kind: "model-down",
    reason: expect.stringMatching(/^gemma-2-9b on embedded (has nowhere to be asked|is down)/),
  });
  await emulator.up({ "gemma-2-9b": [1] });
  run.resume(null);
  await until(() => run.state === "done");
  expect(run.ledger.models.map(({ done, failed }) => [done, failed])).toEqual(ladder.map(() => [PROMPTS, 0]));
  clearInterval(looks);
  await run.close();
  await connections.close();
});
