import { describe, expect, it } from "vitest";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { type EnsemblesView, ensembleInView, ensemblesCodec } from "../address/ensemblesCodec";
import { testEnsemble, testKept } from "../testing/testEnsembles";
import { gpusNeeded, type PlaceGround, preparePlaceForm } from "./preparePlaceForm";

const { models, gpus } = catalogueOf(noUserCards);
const cards = {
  models: Object.values(models).map((card) => ({ ...card, own: false })),
  gpus: Object.values(gpus).map((card) => ({ ...card, own: false, ownPrice: false })),
};
const known = (names: readonly string[]) =>
  names.map((model) => ({ model, tableName: model, meanLabel: 70, meanOutputTokens: 300, accuracy: 0.7, voted: 1, meanTokens: 300 }));
const ground: PlaceGround = {
  cluster: {
    id: "c",
    name: "c",
    kind: "described",
    gpu: "h100-sxm",
    usdPerGpuHour: 3,
    nodes: [
      { name: "a", gpus: 8 },
      { name: "b", gpus: 4 },
    ],
  },
  cards,
  workloads: [{ id: "w1", name: "chat", version: 1, prompts: 800, models: known(["llama-3.1-8b"]) }],
  prompts: [
    { id: "p1", name: "exam", prompts: 300, deleted: false },
    { id: "p2", name: "gone", prompts: 9, deleted: true },
  ],
  samples: [{ id: "s1", name: "gsm", questions: 1319, models: known(["gemma-2-9b", "qwen2.5-7b", "llama-3.1-8b", "llama-3.1-70b"]) }],
};
const view = (query = ""): EnsemblesView => ensemblesCodec.parse(new URLSearchParams(query));

describe("preparePlaceForm", () => {
  it("asks of assignments as many questions as they name, unless prompts or somebody say otherwise", () => {
    const sent = { uploadId: "u", name: "who.csv", questions: 40 };
    expect(preparePlaceForm(testEnsemble(), view(), ground, sent).request).toMatchObject({ questions: 40, assignmentsUploadId: "u" });
    expect(preparePlaceForm(testEnsemble(), view("prompts=p1"), ground, sent).request).toMatchObject({ questions: 300, promptSetId: "p1" });
    expect(preparePlaceForm(testEnsemble(), view("questions=7"), ground, sent).questions).toBe(7);
    expect(preparePlaceForm(testEnsemble(), view(), ground).request).not.toHaveProperty("assignmentsUploadId");
  });

  it("begins with what suits the cluster and with lengths that know every expert", () => {
    const form = preparePlaceForm(testEnsemble(), view(), ground);
    expect(form).toMatchObject({ gpu: "h100-sxm", gpusPerWorker: 1, workers: 12, questions: 1319, lengths: "sample:s1", problem: null });
    expect(form.request).toMatchObject({
      ...{ maxModelsPerWorker: null, replicas: "amortised", storage: "local-nvme", lengths: { kind: "sample", sampleId: "s1" } },
    });
    expect(form.lengthOptions.map(({ text }) => text)).toEqual(["sample gsm", "workload chat (without 2 experts)"]);
    expect(form.gpuOptions[0]?.text).toBe("h100-sxm, in this cluster");
  });

  it("asks for what the address says", () => {
    const asked = view("gpu=a100-sxm-80g&workers=64&perWorker=2&k=3&questions=12000&storage=object-store&single=yes");
    expect(preparePlaceForm(testEnsemble(), asked, ground).request).toMatchObject({
      ...{ gpu: "a100-sxm-80g", workers: 64, gpusPerWorker: 2, maxModelsPerWorker: 3, questions: 12_000 },
      ...{ storage: "object-store", replicas: "single" },
    });
  });

  it("takes as many questions as the chosen prompts are, whose categories say who answers what", () => {
    const form = preparePlaceForm(testEnsemble(), view("prompts=p1"), ground);
    expect(form.request).toMatchObject({ questions: 300, promptSetId: "p1" });
    expect(form.promptOptions.map(({ text }) => text)).toEqual(["any", "exam, 300 prompts"]);
    const gone = preparePlaceForm(testEnsemble(), view("prompts=p2"), ground);
    expect(gone.prompts).toBe("");
    expect(gone.request).not.toHaveProperty("promptSetId");
    expect(gone.strayed).toEqual(["The prompts in the address no longer exist; none are chosen."]);
  });

  it("says what the address names and is not there, and asks with what it shows in its place", () => {
    const form = preparePlaceForm(testEnsemble(), view("gpu=foo&lengths=sample:gone"), ground);
    expect(form).toMatchObject({ gpu: "h100-sxm", lengths: "sample:s1" });
    expect(form.request).toMatchObject({ gpu: "h100-sxm", lengths: { kind: "sample", sampleId: "s1" } });
    expect(form.strayed).toEqual([
      "The GPU foo in the address has no card; this is h100-sxm.",
      "The answer lengths in the address no longer exist; these are from the sample gsm.",
    ]);
    const there = view("gpu=a100-sxm-80g&lengths=workload:w1&prompts=p1");
    expect(preparePlaceForm(testEnsemble(), there, ground).strayed).toEqual([]);
  });

  it("says whom the chosen lengths do not know, and asks nothing", () => {
    const { request, problem } = preparePlaceForm(testEnsemble(), view("lengths=workload:w1"), ground);
    expect(request).toBeNull();
    expect(problem).toContain("gemma-2-9b, qwen2.5-7b");
    expect(preparePlaceForm(testEnsemble(), view(), { ...ground, workloads: [], samples: [] }).problem).toMatch(
      /Answer lengths are unknown/,
    );
  });
});

it("gives a worker as many GPUs as its largest expert needs, and one where no card is known", () => {
  expect(gpusNeeded(["llama-3.1-8b"], "h100-sxm", cards)).toBe(1);
  expect(gpusNeeded(["llama-3.1-8b", "llama-3.1-70b"], "h100-sxm", cards)).toBeGreaterThan(1);
  expect(gpusNeeded(["nobody-1b"], "h100-sxm", cards)).toBe(1);
  expect(gpusNeeded(["llama-3.1-8b"], "none", cards)).toBe(1);
});

it("looks at the ensemble that the address names, else at the first", () => {
  const list = [testKept({ name: "a" }), testKept({ name: "b" })];
  expect(ensembleInView(list, "b")?.ensemble.name).toBe("b");
  expect(ensembleInView(list, null)?.ensemble.name).toBe("a");
  expect(ensembleInView(list, "gone")).toBeNull();
  expect(ensembleInView([], "a")).toBeNull();
});
