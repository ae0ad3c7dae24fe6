import {
  type Coefficient,
  coefficientNames,
  type EngineProfile,
  hostCoefficients,
  isMeasured,
  type KernelProfile,
  standardErrorWords,
} from "@/solver/hardware/engineProfile";
import type { MeasuredProfile } from "@/solver/hardware/measuredProfile";

/** One coefficient as displayed. */
export interface CoefficientLine {
  readonly name: Coefficient;
  readonly words: string;
  readonly value: string;
  /** The value of the profile compared with; null without one. */
  readonly before: string | null;
  readonly kind: KernelProfile["provenance"][Coefficient]["kind"];
  /** Number, from 1, of its source among those of the profile. */
  readonly source: number;
  /** How well the fit determines it; empty where that is not stated. */
  readonly known: string;
}

const WORDS: Readonly<Record<Coefficient, string>> = {
  stepSeconds: "Scheduling and launching a step",
  layerSeconds: "Each layer, each step",
  sequenceSeconds: "Each running sequence, each step",
  requestSeconds: "Each request, in the front end",
  requestSecondsPerInputToken: "Each prompt token, in the front end",
  requestSecondsPerOutputToken: "Each generated token, in the front end",
  delaySeconds: "Each request, outside front end and engine",
  weightRead: "Reading weights",
  compute: "Matrix multiplication",
  kvRead: "Reading the KV cache",
  prefillAttention: "Attention of prefill",
  allReduce: "All-reduce between GPUs",
};

export const coefficientWords = (name: Coefficient): string => WORDS[name];

/** A reason with the coefficients' descriptions in place of their names. */
export const reasonWords = (reason: string): string =>
  coefficientNames.reduce((text, name) => text.replaceAll(new RegExp(`\\b${name}\\b`, "g"), `“${WORDS[name]}”`), reason);

/** A coefficient with its unit: seconds as ms, µs or ns, others as a factor on what the kernel tables reach. */
export function coefficientText(name: Coefficient, value: number): string {
  if (!hostCoefficients.includes(name)) return `× ${value.toPrecision(3)}`;
  if (value === 0) return "0 s";
  const [unit, factor] = value >= 1e-3 ? ["ms", 1e3] : value >= 1e-6 ? ["µs", 1e6] : ["ns", 1e9];
  return `${Number((value * Number(factor)).toPrecision(3))} ${unit}`;
}

/** A profile's coefficients in their order, next to those of another. */
export function coefficientLines(profile: KernelProfile, before: KernelProfile | null): readonly CoefficientLine[] {
  const sources = coefficientSources(profile);
  return coefficientNames.map((name) => ({
    name,
    words: WORDS[name],
    value: coefficientText(name, profile.coefficients[name]),
    before: before === null ? null : coefficientText(name, before.coefficients[name]),
    kind: profile.provenance[name].kind,
    source: sources.indexOf(sourceOf(profile, name)) + 1,
    known: standardErrorWords(profile.provenance[name]),
  }));
}

/** Where a profile's coefficients come from, each source once, in the order of the coefficients. */
export const coefficientSources = (profile: KernelProfile): readonly string[] => [
  ...new Set(coefficientNames.map((name) => sourceOf(profile, name))),
];

const sourceOf = ({ provenance }: KernelProfile, name: Coefficient): string => reasonWords(provenance[name].source);

/** The hardware and models that a cluster is planned with. */
export interface Hardware {
  readonly gpu: string;
  readonly models: readonly string[];
  readonly gpusPerNode: number;
}

/** Warnings about the use of a profile on a cluster that it was not fitted on, one sentence each. */
export function extrapolations(profile: EngineProfile, hardware: Hardware): readonly string[] {
  if (isMeasured(profile)) return beyondMeasured(profile, hardware);
  const { fittedOn } = profile;
  const { gpu, models, gpusPerNode } = hardware;
  if (fittedOn === null) return ["It does not state the runs it was fitted on: whether it applies here is unknown."];
  const sentences: string[] = [];
  if (!fittedOn.gpus.includes(gpu)) sentences.push(`No run on ${gpu} was fitted: its times are extrapolated from ${list(fittedOn.gpus)}.`);
  const strangers = models.filter((model) => !fittedOn.models.includes(model));
  if (strangers.length > 0)
    sentences.push(`No run of ${list(strangers)} was fitted: their times follow from their architecture and ${list(fittedOn.models)}.`);
  if (gpusPerNode > fittedOn.tp.most) sentences.push(`No run with a tensor parallelism above ${fittedOn.tp.most} was fitted.`);
  return sentences;
}

/** Warnings about the use of measured engines on a cluster, one sentence each. */
function beyondMeasured({ engines }: MeasuredProfile, { gpu, models }: Hardware): readonly string[] {
  const here = engines.filter((engine) => engine.gpu === gpu);
  if (here.length === 0) return [`No engine on ${gpu} was measured: plans for it use kernel tables with the built-in profile.`];
  const strangers = models.filter((model) => here.every((engine) => engine.model !== model));
  return strangers.length === 0 ? [] : [`${list(strangers)} ${strangers.length === 1 ? "was" : "were"} not measured on ${gpu}: plans for it leave ${strangers.length === 1 ? "it" : "them"} out.`];
}

const list = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
