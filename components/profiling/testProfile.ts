import type { ProfileJob, PromptSet } from "@/server/contracts/studio";
import { prepareRequest } from "./prepareRequest";
import type { EndpointCluster } from "./profileEndpoints";
import { measureOf, ofCluster, type ProfileForm, startingForm } from "./profileForm";

/** A sample of 500 prompts, half of them with a reference answer. */
export const testSet: PromptSet = {
  ...{
    id: "s",
    name: "support",
    createdAt: "2026-01-01T00:00:00Z",
    actor: "a",
    from: "a.jsonl",
    population: 10_000,
    prompts: 500,
    skipped: 0,
  },
  ...{ strata: [], interval: { confidence: 0.9, points: 3.6 }, meanCharacters: 400, withReference: 250, withTest: 0, multiTurn: 0 },
  ...{ withTools: 0, expiresAt: null, deleted: false },
};

/** A cluster that runs two models and has a judge. */
export const testGround: EndpointCluster = {
  ...{ id: "c", name: "prod", emulated: false, judges: ["weir-judge"] },
  models: [
    { model: "llama-3.1-8b", engines: 2, serving: 2 },
    { model: "llama-3.1-70b", engines: 1, serving: 1 },
  ],
};

/** A form that can be started. */
export const testForm = (change: Partial<ProfileForm> = {}) => ({
  ...startingForm(testSet, []),
  chosen: [ofCluster("c", "llama-3.1-70b"), ofCluster("c", "llama-3.1-8b")],
  measures: [
    measureOf("rubric", { id: "gate", name: "Gate's judge", judge: ofCluster("c", "weir-judge") }),
    measureOf("exact", { id: "label", name: "Equal to the reference" }),
  ],
  ...change,
});

const { request } = prepareRequest(
  { ...testForm(), chosen: testForm().chosen ?? [], measures: testForm().measures ?? [] },
  testSet,
  new Map(),
);
if (request === null) throw new Error("The form cannot be started.");

const counts = { planned: 500, done: 100, failed: 0 };

/** A running job: 100 of 500 prompts answered by both models and measured. */
export const testJob = (change: Partial<ProfileJob> = {}): ProfileJob => ({
  ...{
    id: "j",
    createdAt: "2026-01-01T00:00:00Z",
    actor: "a",
    request,
    promptSetName: "support",
    state: "running",
    pause: null,
    prompts: 500,
  },
  total: { planned: 3000, done: 600, failed: 0, inFlight: 16 },
  askedAgain: 0,
  models: ["llama-3.1-8b", "llama-3.1-70b"].map((model) => ({ ...counts, model, meanOutputTokens: 200, cut: 0, meanSeconds: 2 })),
  measures: [
    {
      ...counts,
      planned: 1000,
      done: 200,
      id: "gate",
      name: "Gate's judge",
      kind: "rubric",
      unscored: {},
      usd: 0,
      scored: 200,
      meanScore: 71.5,
    },
    {
      ...counts,
      planned: 1000,
      done: 200,
      id: "label",
      name: "Equal",
      kind: "exact",
      unscored: { "no-reference": 100 },
      usd: 0,
      scored: 100,
      meanScore: 60,
    },
  ],
  ...{
    inputTokens: 90_000,
    outputTokens: 40_000,
    spentUsd: 0.4,
    etaSeconds: 600,
    callsPerMinute: 240,
    failures: [],
    notes: [],
    workloadIds: [],
  },
  hasAnswers: true,
  ...change,
});
