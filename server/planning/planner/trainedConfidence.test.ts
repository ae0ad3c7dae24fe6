import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Artefact } from "@/server/contracts/studio";
import { openStore, type Store } from "@/server/store/store";
import { labelHashes } from "@/server/workloads/labelHashes";
import { generatedWorkload } from "@/solver/workload/generated";
import type { OutcomeTable } from "@/solver/workload/workload";
import { workloadKey } from "./planningRequest";
import { confidencePart, withTrainedConfidence } from "./trainedConfidence";

const workload = generatedWorkload({ prompts: 40, ladder: ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b"], seed: 1 });
const { outcomes } = workload;
const [small, middle, large] = outcomes.models;

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-trained-confidence-"));
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

/** A predictor that gives all models of a table the same confidence. */
function keep(hash: string, at: number, { of = outcomes, confidence = 0.5 }: { of?: OutcomeTable; confidence?: number } = {}): void {
  const artefact: Omit<Artefact, "version" | "bytes"> = {
    ...{ hash, kind: "confidence", createdAt: new Date(at).toISOString(), actor: "ada", heldOut: { prompts: 3 } },
    training: {
      ...{ workloadId: "w", workloadName: "W", models: [], workflows: [], correlation: null, prompts: 1, requests: 1, texts: true },
      ...{ encoder: null, source: "labelled prompts", emulated: false },
    },
  };
  store.artefacts.insert(artefact, new Uint8Array([at]));
  const scores = new Float32Array(of.models.length * of.promptIds.length).fill(confidence);
  store.artefacts.keepScores(hash, { models: labelHashes(of), scores });
}
const found = (of = workload) => withTrainedConfidence(store, of)?.artefact ?? null;

describe("the trained predictor of a workload", () => {
  it("is none without one, and the newest of several", () => {
    expect(found()).toBeNull();
    keep("old", 1, { confidence: 0.25 });
    expect(found()).toBe("old");
    keep("new", 3, { confidence: 0.75 });
    keep("between", 2);
    const scored = withTrainedConfidence(store, workload);
    expect(scored?.artefact).toBe("new");
    for (const { routerScore } of scored?.workload.outcomes.models ?? []) expect(routerScore).toEqual(new Float64Array(40).fill(75));
    expect(scored?.workload.arrivalSeconds).toBe(workload.arrivalSeconds);
  });

  it("is that of the same prompts with other arrivals, and with fewer models, in another order", () => {
    keep("h", 1);
    expect(found({ ...workload, name: "other", arrivalSeconds: Float64Array.of(0, 1, 2), seed: 9 })).toBe("h");
    expect(found({ ...workload, outcomes: { ...outcomes, models: [large!, small!] } })).toBe("h");
  });

  it("is not that of other prompts, other labels or fewer models, even if it is the newest", () => {
    keep("own", 1);
    const relabelled = { ...middle!, label: middle!.label.map((label) => 100 - label) };
    keep("relabelled", 2, { of: { ...outcomes, models: [small!, relabelled, large!] } });
    keep("fewer", 3, { of: { ...outcomes, models: [small!, middle!] } });
    keep("renamed", 4, { of: { ...outcomes, promptIds: outcomes.promptIds.map((id) => `${id}'`) } });
    expect(found()).toBe("own");
    store.artefacts.remove("own");
    expect(found()).toBeNull();
  });
});

describe("the part of a situation", () => {
  const granted = (asked: Parameters<typeof confidencePart>[2]) => {
    const found = confidencePart(store, workload, asked);
    if (!found.ok) throw new Error(found.message);
    const { part, notes } = found;
    return { part, notes };
  };

  it("has the scores and the predictor's hash, under which the worker keeps the workload apart from the one without", () => {
    keep("h", 1);
    const { part, notes } = granted({ confidence: true });
    expect(notes).toEqual([]);
    expect(part.confidence).toEqual({ artefact: "h" });
    expect(part.workload?.outcomes.models.every(({ routerScore }) => routerScore?.length === 40)).toBe(true);
    expect(workloadKey({ workloadId: "w", ...part })).not.toBe(workloadKey({ workloadId: "w" }));
    expect(workloadKey({ workloadId: "w" })).toBe("w");
  });

  it("has nothing where nobody reads scores, or without a predictor", () => {
    expect(granted({ confidence: true })).toEqual({ part: {}, notes: [] });
    keep("h", 1);
    expect(granted({ confidence: false })).toEqual({ part: {}, notes: [] });
  });

  it("has only a note with a modelled router, and that only where the scores would have been read", () => {
    const directStart = { auc: 0.8 };
    expect(granted({ directStart, confidence: true })).toEqual({ part: { directStart }, notes: [] });
    keep("h", 1);
    expect(granted({ directStart, confidence: false })).toEqual({ part: { directStart }, notes: [] });
    expect(granted({ directStart, confidence: true })).toEqual({
      part: { directStart },
      notes: [expect.stringContaining("modelled router")],
    });
  });

  it("has the scores for a trained router and, where both read them, for slack dispatch too", () => {
    const directStart = { predictor: "newest" } as const;
    keep("h", 1);
    const alone = granted({ directStart, confidence: false });
    expect(alone.part).toMatchObject({ directStart: { predictor: "h" } });
    expect(alone.part.confidence).toBeUndefined();
    expect(alone.part.workload?.outcomes.models.every(({ routerScore }) => routerScore?.length === 40)).toBe(true);
    expect(workloadKey({ workloadId: "w", ...alone.part })).toBe("w+h");
    const both = granted({ directStart, confidence: true });
    expect(both).toMatchObject({ part: { directStart: { predictor: "h" }, confidence: { artefact: "h" } }, notes: [] });
    expect(granted({ directStart: { predictor: "h" }, confidence: false })).toEqual(alone);
  });

  it("is refused in one sentence for a trained router whose scores are not kept", () => {
    const refusal = (predictor: string) => confidencePart(store, workload, { directStart: { predictor }, confidence: false });
    expect(refusal("newest")).toEqual({ ok: false, message: expect.stringMatching(/^No trained predictor[^.]+\.$/) });
    keep("h", 1);
    expect(refusal("other")).toEqual({ ok: false, message: expect.stringMatching(/^The scores of the predictor other [^.]+\.$/) });
  });
});
