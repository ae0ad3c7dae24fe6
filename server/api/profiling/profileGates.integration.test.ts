import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCardStore } from "@/server/cards/cardStore";
import type { Answerer, Prompt } from "@/server/contracts/studio";
import { profileRequestSchema } from "@/server/contracts/studio/profile";
import { type HeardRequest, type Said, testModels } from "@/server/profiling/testing/testModels";
import { keepPrompts, until } from "@/server/profiling/testing/testProfileStudio";
import { openStore, type Store } from "@/server/store/store";
import { createUploads } from "@/server/store/uploads";
import { loadWorkload } from "@/server/workloads/storedWorkloads";
import { createGate } from "@/solver/gates/gates";
import { gateCandidates } from "@/solver/stageGates/gateCandidates";
import { gateTournament } from "@/solver/tournament/gateTournament";
import { splitPrompts } from "@/solver/workload/split";
import type { ProfileToWorkload } from "../base/profilingInputs";
import { createProfileService } from "./profileService";

const PROMPTS = 80;
const SMALL = "qwen2.5-3b";
const LARGE = "qwen2.5-7b";

let folder: string;
let store: Store;
let service: ReturnType<typeof createProfileService>;
let server: Awaited<ReturnType<typeof testModels>>;
let say: (request: HeardRequest) => Said;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-profile-gates-"));
  store = openStore(folder);
  server = await testModels((request) => say(request));
  say = answers;
  service = started();
  keepPrompts(store, prompts);
});
afterEach(async () => {
  await service.close();
  await server.close();
  store.close();
  rmSync(folder, { recursive: true });
});

function started() {
  const uploads = createUploads(folder);
  return createProfileService({
    ...{ store, uploads, cards: createCardStore(folder), clusterOf: () => null },
    arrivals: { openUpload: uploads.open, workloadOf: () => null, clusterOf: () => null, clusterName: (id) => id },
    sourceOf: async () => ({ ok: false, message: "there is none" }),
    unitTests: { problem: async () => null, passes: async () => true },
  });
}

const prompts: readonly Prompt[] = Array.from({ length: PROMPTS }, (_, index) => ({
  ...{ id: `p${index}`, category: "", atMs: null, reference: "4", test: null },
  body: { messages: [{ role: "user", content: `question ${index}` }], temperature: 0 },
}));
const numberOf = ({ messages }: HeardRequest): number => Number(/question (\d+)/.exec(messages[0]?.content ?? "")?.[1]);
const isSample = ({ temperature }: HeardRequest): boolean => temperature === 1;

/** The small model is wrong, and unsure, on every fourth prompt, where its samples differ. The large one is right. */
function answers(request: HeardRequest): Said {
  if (request.model === "judge") return { text: `${50 + (numberOf(request) % 7)}`, delayMs: 1 };
  const isHard = request.model === SMALL && numberOf(request) % 4 === 0;
  if (isSample(request)) return { text: isHard ? "it may be 6" : "I say 4", delayMs: 1 };
  return { text: isHard ? "it is 5" : "it is 4", probability: isHard ? 0.4 : 0.95, delayMs: 1 };
}

const at = (model: string): Answerer => ({
  ...{ model, at: { kind: "url", url: server.url } },
  ...{ usdPerMillionInputTokens: 1, usdPerMillionOutputTokens: 2 },
});
const requestOf = (change: object = {}) =>
  profileRequestSchema.parse({
    ...{ name: "ours", promptSetId: "set", models: [at(SMALL), at(LARGE)] },
    measures: [
      { id: "gate", name: "gate", kind: "rubric", judge: at("judge"), rubric: null, repeats: 1 },
      { id: "right", name: "right", kind: "exact", extract: "number" },
    ],
    ...{ concurrency: 4, requestsPerMinute: null, capUsd: null, maxOutputTokens: 100, keepAnswers: false, ...change },
  });
const samples = { gates: { confidence: true, samples: { count: 2, temperature: 1 } } };
const heard = (model: string) => server.heard.flatMap(({ request }) => (request.model === model ? [request] : []));

async function begun(change: object = {}): Promise<string> {
  const answer = await service.start(requestOf(change), "ann");
  if (!answer.ok) throw new Error(answer.message);
  return answer.id;
}
const isDone = (id: string) => until(() => service.get(id)?.state === "done");

const peer = { model: LARGE, answer: "number" } as const;

async function workloadOf(jobId: string, change: Partial<ProfileToWorkload> = {}) {
  const order = { jobId, name: "measured", gate: "gate", label: "right", arrivals: { kind: "generated" } as const, ...change };
  const made = await service.toWorkload({ ...order, segments: [], timeZone: "UTC" }, "ann");
  if (!made.ok) throw new Error(made.message);
  const workload = loadWorkload(store, made.ids[0] ?? "");
  if (workload === null) throw new Error("the workload is gone");
  return workload;
}

/** Answers of 300 words that differ from prompt to prompt: scorers that read them train for a while. */
const longAnswer = (request: HeardRequest): Said => {
  const said = answers(request);
  if (typeof said === "string" || request.model === "judge") return said;
  const words = Array.from({ length: 300 }, (_, index) => `w${(numberOf(request) * 31 + index * index) % 997}`);
  return { ...said, text: `${words.join(" ")} ${said.text}` };
};

describe("the workload that is being made of a profile with long texts", () => {
  it("says how far it is while the studio answers others, and is there or gone when it is cancelled", async () => {
    say = longAnswer;
    const id = await begun({ keepAnswers: true });
    await isDone(id);
    expect(service.workloadInMaking(id)).toBeNull();
    expect(service.cancelWorkload(id)).toMatchObject({ ok: false });
    const order = { jobId: id, name: "measured", gate: "gate", label: "right", arrivals: { kind: "generated" } as const };
    const making = service.toWorkload({ ...order, segments: [], timeZone: "UTC" }, "ann");
    await until(() => service.workloadInMaking(id)?.training != null);
    expect(service.workloadInMaking(id)?.training).toMatchObject({ model: SMALL, of: 6 });
    expect(await service.toWorkload({ ...order, segments: [], timeZone: "UTC" }, "bob")).toMatchObject({ ok: false });
    expect(service.cancelWorkload(id)).toEqual({ ok: true });
    expect(await making).toEqual({ ok: false, message: "Cancelled: no workload was made." });
    expect(service.workloadInMaking(id)).toBeNull();
    expect(store.workloads.list()).toEqual([]);
    const workload = await workloadOf(id);
    expect(workload.outcomes.promptIds).toHaveLength(PROMPTS);
  });
});

describe("a profile that measures gates", () => {
  it("fills the columns confidence and agreement, on which a tournament of gates runs", async () => {
    const estimate = await service.estimate(requestOf(samples));
    // Each model answers each prompt three times, and the judge reads the first answer.
    const planned = 2 * PROMPTS * 3 + 2 * PROMPTS;
    expect(estimate).toMatchObject({ ok: true, estimate: { calls: planned } });
    const id = await begun(samples);
    await isDone(id);
    expect(service.get(id)).toMatchObject({ total: { planned: planned + 2 * PROMPTS, failed: 0 }, notes: [] });
    expect(heard(SMALL).filter(isSample)).toHaveLength(2 * PROMPTS);
    expect(heard(SMALL).every((request) => isSample(request) !== (request.logprobs === true))).toBe(true);
    expect(heard("judge").some(({ logprobs }) => logprobs)).toBe(false);
    const workload = await workloadOf(id);
    const [small, large] = workload.outcomes.models;
    const expected = (hard: number, easy: number) => Array.from({ length: PROMPTS }, (_, at) => (at % 4 === 0 ? hard : easy));
    const byPrompt = (column: Float64Array | undefined) =>
      prompts.map(({ id: name }) => column?.[workload.outcomes.promptIds.indexOf(name)]);
    expect(byPrompt(small?.label)).toEqual(expected(0, 100));
    expect(byPrompt(small?.confidence).map((value) => Math.round(value ?? 0))).toEqual(expected(40, 95));
    expect(byPrompt(small?.agreement)).toEqual(expected(0, 100));
    expect([...(large?.agreement ?? [])]).toEqual(expected(100, 100));
    const tournament = gateTournament(workload, { share: 0.3, judgeSeconds: null });
    const gates = tournament?.stages[0]?.gates ?? [];
    expect(gates.map(({ name }) => name).toSorted()).toEqual(["agreement", "confidence", "judge", "scorer", "sequence"]);
    expect(gates.find(({ name }) => name === "confidence")?.auc?.value).toBe(1);
  });

  it("takes one model as the peer of the others without further calls where texts are stored, and says so of the workload", async () => {
    const id = await begun({ ...samples, keepAnswers: true });
    await isDone(id);
    const calls = server.heard.length;
    const { outcomes, origin } = await workloadOf(id, { peer });
    expect(server.heard).toHaveLength(calls);
    expect(origin.agreement).toEqual({ answer: "number", peers: [LARGE] });
    expect(origin.outcomes).toContain(`agreement with the answers of ${LARGE}`);
    const [small, large] = outcomes.models;
    expect(outcomes.promptIds.map((name, at) => [name, small?.agreement?.[at]])).toEqual(
      outcomes.promptIds.map((name) => [name, Number(name.slice(1)) % 4 === 0 ? 0 : 100]),
    );
    expect(large?.agreement).toBeUndefined();
    expect((await workloadOf(id, { name: "by samples" })).origin.agreement).toEqual({
      answer: "number",
      samples: { count: 2, temperature: 1 },
    });
    const order = {
      jobId: id,
      name: "x",
      gate: "gate",
      label: "right",
      arrivals: { kind: "generated" },
      segments: [],
      timeZone: "UTC",
    } as const;
    store.profiles.dropAnswers(id);
    expect(await service.toWorkload({ ...order, peer }, "ann")).toMatchObject({ message: expect.stringContaining("keep the texts") });
  });

  it("trains a scorer on the words of prompts and answers where these are stored, which scores at the gateway as in the workload", async () => {
    // As sure of wrong answers: the words alone tell them.
    say = (request) => {
      const isHard = request.model === SMALL && numberOf(request) % 4 === 0;
      return request.model === "judge"
        ? { text: "50", delayMs: 1 }
        : { text: isHard ? "it may be 5" : "it is 4", probability: 0.9, delayMs: 1 };
    };
    const id = await begun({ keepAnswers: true });
    await isDone(id);
    const workload = await workloadOf(id);
    const { outcomes, origin, seed } = workload;
    const [small, large] = outcomes.models;
    const learnt = origin.scorers?.[SMALL];
    if (learnt === undefined || small?.scorer === undefined) throw new Error("no scorer was trained");
    expect([large?.scorer, Object.keys(origin.scorers ?? {})]).toEqual([undefined, [SMALL]]);
    const gate = createGate({ kind: "scorer", answer: "whole", ...learnt });
    for (const row of splitPrompts(outcomes.promptIds.length, seed).heldOut) {
      const number = Number(outcomes.promptIds[row]?.slice(1));
      const evidence = {
        ...{ prompt: `user: question ${number}`, answer: number % 4 === 0 ? "it may be 5" : "it is 4" },
        ...{ inputTokens: outcomes.inputTokens[row] ?? 0, outputTokens: small.outputTokens[row] ?? 0, endedByLength: false },
        ...{ tokens: { texts: ["a"], logProbabilities: Float64Array.of(Math.log(0.9)) }, others: null, judgedScore: null },
      };
      expect(gate.score(evidence)).toMatchObject({ kind: "scored", score: expect.closeTo(small.scorer[row] ?? -1, 6) });
    }
    const gates = gateTournament(workload, { share: 0.3, judgeSeconds: null })?.stages[0]?.gates ?? [];
    expect(gates.find(({ name }) => name === "scorer with words")?.auc?.value).toBe(1);
    expect(gateCandidates(workload, [SMALL, LARGE], () => true).find(({ kind }) => kind === "scorer")?.documents?.[SMALL]).toMatchObject(
      learnt,
    );
  });

  it("fills the column confidence with the measure that is asked for, and a plan's gate asks for the same", async () => {
    const id = await begun({ gates: { confidence: true, measure: "mean", samples: null } });
    await isDone(id);
    const workload = await workloadOf(id);
    expect(workload.origin.confidence).toEqual({ measure: "mean" });
    const gate = gateCandidates(workload, [SMALL, LARGE], () => true).find(({ kind }) => kind === "confidence")?.documents?.[SMALL];
    expect(gate).toMatchObject({ kind: "confidence", measure: "mean" });
  });

  it.each([
    [
      "ignores that it is asked for log probabilities",
      (request: HeardRequest): Said => {
        const { text } = answers(request) as { readonly text: string };
        return { text };
      },
    ],
    [
      "refuses log probabilities by name",
      (request: HeardRequest): Said =>
        request.logprobs ? { status: 403, text: "You may not request logprobs of this model" } : answers(request),
    ],
    [
      "refuses a request for log probabilities without a reason",
      (request: HeardRequest): Said => (request.logprobs ? { status: 400 } : answers(request)),
    ],
  ])("goes on without the column where an engine %s, says so, and does not ask again", async (_, said) => {
    say = (request) => (request.model === SMALL ? said(request) : answers(request));
    const id = await begun();
    await isDone(id);
    const note = `${SMALL} does not report log probabilities: workloads have no column confidence of its answers.`;
    expect(service.get(id)).toMatchObject({ total: { failed: 0 }, notes: [note] });
    // Those that were in flight when the first reply came.
    expect(heard(SMALL).filter(({ logprobs }) => logprobs).length).toBeLessThanOrEqual(4);
    const [small, large] = (await workloadOf(id)).outcomes.models;
    expect([small?.confidence, small?.agreement]).toEqual([undefined, undefined]);
    expect(large?.confidence).toHaveLength(PROMPTS);
    await service.close();
    service = started();
    expect(service.get(id)?.notes).toEqual([note]);
  });

  it("takes a refusal as one of the prompt where the model reports log probabilities", async () => {
    say = (request) => (request.model === SMALL && numberOf(request) === 7 ? { status: 400 } : answers(request));
    const id = await begun();
    await isDone(id);
    expect(service.get(id)).toMatchObject({ models: [{ failed: 1 }, { failed: 0 }], notes: [] });
    const { outcomes } = await workloadOf(id);
    expect(outcomes.promptIds).toHaveLength(PROMPTS - 1);
    expect(outcomes.models[0]?.confidence).toHaveLength(PROMPTS - 1);
  });

  it("keeps samples across a restart and takes none twice", async () => {
    const id = await begun(samples);
    await until(() => store.profiles.readings(id, ":samples").length >= 40);
    expect(service.pause(id, "ann")).toEqual({ ok: true });
    await until(() => service.get(id)?.total.inFlight === 0);
    const before = store.profiles.readings(id, ":samples").length;
    const spent = service.get(id)?.spentUsd ?? 0;
    expect(before).toBeLessThan(4 * PROMPTS);
    await service.close();
    service = started();
    await until(() => service.resume(id, undefined, "ann").ok);
    expect(service.get(id)?.spentUsd).toBeGreaterThan(0.999 * spent);
    await isDone(id);
    expect(service.get(id)).toMatchObject({ total: { done: 2 * PROMPTS * 5, failed: 0 }, askedAgain: 0 });
    expect(heard(SMALL)).toHaveLength(3 * PROMPTS);
    expect((await workloadOf(id)).outcomes.models.map(({ agreement }) => agreement?.length)).toEqual([PROMPTS, PROMPTS]);
  });

  it("asks for nothing of it where a request that was stored before names no gates", async () => {
    const { gates: _, ...stored } = requestOf();
    const createdAt = "2026-01-01T00:00:00.000Z";
    await service.close();
    store.profiles.insert({
      ...{ id: "old", createdAt, actor: "ann", promptSetId: "set", state: "running" },
      request: stored as ReturnType<typeof requestOf>,
    });
    service = started();
    await isDone("old");
    expect(heard(SMALL).some(({ logprobs }) => logprobs)).toBe(false);
    expect(service.get("old")).toMatchObject({ notes: [], request: { gates: { confidence: false, samples: null } } });
  });
});
