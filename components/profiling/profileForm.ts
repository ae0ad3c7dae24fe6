import type { PromptSet } from "@/server/contracts/studio";
import type { ConfidenceMeasure } from "@/solver/gates/gateDocument";
import type { Extraction } from "@/solver/judging/extract";
import { noReference, type ReferenceForm } from "../clusters/prepareAttach";
import { freeName } from "../prompts/prepareSample";
import type { MeasureKind } from "./measureWords";
import type { EndpointCluster } from "./profileEndpoints";

/** The fields of a model that answers. */
export interface AnswererForm {
  readonly model: string;
  /** Cluster of the engines or the judge; null: at `url`. */
  readonly clusterId: string | null;
  readonly url: string;
  /** Empty: the same as `model`. */
  readonly servedName: string;
  readonly key: ReferenceForm;
  readonly caFile: string;
  readonly usdPerMillionInputTokens: number;
  readonly usdPerMillionOutputTokens: number;
}

/** The fields of a measure: fields that its kind does not use are kept, so that another kind can be tried. */
export interface MeasureForm {
  readonly id: string;
  readonly name: string;
  readonly kind: MeasureKind;
  readonly judge: AnswererForm;
  /** null: the built-in prompt. */
  readonly rubric: string | null;
  readonly repeats: number;
  readonly swap: boolean;
  /** Model that the others are compared with in pairs; empty: the largest. */
  readonly against: string;
  readonly extract: Extraction;
  readonly command: string;
  readonly timeoutSeconds: number;
}

/** The fields of a profile. They are stored in the tab's storage: a rubric is too long and too private for an address. */
export interface ProfileForm {
  readonly name: string;
  /** Models of clusters; null: no choice yet, so that those of the current cluster are used. */
  readonly chosen: readonly AnswererForm[] | null;
  /** Models at other addresses. */
  readonly elsewhere: readonly AnswererForm[];
  /** null: no choice yet. */
  readonly measures: readonly MeasureForm[] | null;
  readonly concurrency: number;
  readonly requestsPerMinute: number | null;
  readonly capUsd: number | null;
  readonly maxOutputTokens: number;
  readonly keepAnswers: boolean;
  /** Whether log probabilities are asked for. */
  readonly confidence: boolean;
  /** What of them the column confidence holds. */
  readonly measure: ConfidenceMeasure;
  /** Further answers of each model to each prompt. */
  readonly samples: number;
}

const free = { usdPerMillionInputTokens: 0, usdPerMillionOutputTokens: 0 };

/** A model or a judge of a cluster, whose tokens cost nothing more. */
export const ofCluster = (clusterId: string, model: string): AnswererForm => ({
  ...{ model, clusterId, url: "", servedName: "", key: noReference, caFile: "" },
  ...free,
});

export const atUrl: AnswererForm = { model: "", clusterId: null, url: "", servedName: "", key: noReference, caFile: "", ...free };

/** `names`: of existing profiles. */
export const startingForm = (set: PromptSet, names: readonly string[]): ProfileForm => ({
  ...{ name: freeName(set.name, names), chosen: null, elsewhere: [], measures: null },
  // Enough to keep an engine busy, too little to crowd out its other requests.
  ...{ concurrency: 8, requestsPerMinute: null, capUsd: null, maxOutputTokens: 1024, keepAnswers: true },
  ...{ confidence: true, measure: "minimum", samples: 0 },
});

/** Default models: all that answer on the current cluster, or on the first that has any. */
export function startingModels(ground: readonly EndpointCluster[], currentId: string | null): readonly AnswererForm[] {
  const serving = ({ models }: EndpointCluster) => models.filter((each) => each.serving > 0);
  const cluster =
    ground.find((each) => each.id === currentId && serving(each).length > 0) ?? ground.find((each) => serving(each).length > 0);
  return cluster === undefined ? [] : serving(cluster).map(({ model }) => ofCluster(cluster.id, model));
}

/** The initial fields of a measure of a kind. */
export const measureOf = (kind: MeasureKind, told: Partial<MeasureForm> & Pick<MeasureForm, "id" | "name">): MeasureForm => ({
  ...{ kind, judge: atUrl, rubric: null, repeats: 1, swap: true, against: "", extract: "whole", command: "", timeoutSeconds: 10 },
  ...told,
});

/**
 * Default measures: the gate's score, from the cluster's own judge with the gateway's prompt, and a label to compare it with: for emulated
 * models the judge that may know the labels, because they write no real answers; else references or tests where every second prompt has
 * one; else a second judge.
 */
export function startingMeasures(set: PromptSet, ground: readonly EndpointCluster[], currentId: string | null): readonly MeasureForm[] {
  const cluster = ground.find((each) => each.id === currentId && each.judges.length > 0) ?? ground.find(({ judges }) => judges.length > 0);
  const [gateJudge, secondJudge] = cluster?.judges ?? [];
  const judgeAt = (model: string | undefined): AnswererForm =>
    cluster === undefined || model === undefined ? atUrl : ofCluster(cluster.id, model);
  const gate = measureOf("rubric", { id: "gate", name: "Gate's judge", judge: judgeAt(gateJudge) });
  const many = set.prompts / 2;
  if (cluster?.emulated && secondJudge !== undefined)
    return [gate, measureOf("rubric", { id: "label", name: "Trusted judge", judge: judgeAt(secondJudge) })];
  if (set.withReference >= many && set.withReference > 0)
    return [gate, measureOf("exact", { id: "label", name: "Equal to the reference" })];
  if (set.withTest >= many && set.withTest > 0) return [gate, measureOf("unit-test", { id: "label", name: "Passes its test" })];
  const largest = cluster?.models.at(-1)?.model;
  return [gate, measureOf("rubric", { id: "label", name: "Second judge", judge: judgeAt(secondJudge ?? largest) })];
}

/** The form with another measure, under an unused id. */
export function withMeasure(
  measures: readonly MeasureForm[],
  ground: readonly EndpointCluster[],
  currentId: string | null,
): readonly MeasureForm[] {
  let count = measures.length + 1;
  while (measures.some(({ id }) => id === `measure-${count}`)) count += 1;
  const cluster = ground.find((each) => each.id === currentId && each.judges.length > 0) ?? ground.find(({ judges }) => judges.length > 0);
  const judge = cluster?.judges[0] === undefined ? atUrl : ofCluster(cluster.id, cluster.judges[0]);
  return [...measures, measureOf("rubric", { id: `measure-${count}`, name: `Measure ${count}`, judge })];
}
