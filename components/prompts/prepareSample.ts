import type { PromptSet, SampleInterval, SamplePrompts } from "@/server/contracts/studio";
import { allocate } from "@/solver/prompts/allocate";
import { sampleInterval } from "@/solver/prompts/sampleInterval";
import { NO_CATEGORY } from "@/solver/prompts/stratumOf";
import { formatCount, formatCounted, formatDate, formatPercent, formatScoreMargin } from "../ui/format";
import type { PromptUpload } from "./uploadPrompts";

export const MIN_SAMPLE = 2;
const MAX_SAMPLE = 20_000;

/** Enough to distinguish models some 4 points apart, and few enough to run within about an hour. */
const USUAL_SAMPLE = 500;

export const USUAL_RETENTION_DAYS = 90;
const MOST_NAME = 80;

/** The fields of a sample, as far as they are filled in. */
export interface SampleForm {
  readonly name: string;
  readonly size: number;
  readonly by: readonly SamplePrompts["by"][number][];
  readonly draw: number;
  /** null: until they are deleted by hand. */
  readonly retentionDays: number | null;
}

export const mostOf = ({ survey }: PromptUpload): number => Math.min(MAX_SAMPLE, survey.prompts);

/** The name, or with the first number appended that makes it unique. */
export function freeName(name: string, taken: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const behind = number === 1 ? "" : ` ${number}`;
    const numbered = `${name.slice(0, MOST_NAME - behind.length)}${behind}`;
    if (!taken.includes(numbered)) return numbered;
  }
}

/**
 * The default sample: a unique name after its source, stratified by what is known of the prompts, and kept as long as their
 * capture promised.
 */
export function startingSample(upload: PromptUpload, names: readonly string[]): SampleForm {
  const { survey, from } = upload;
  return {
    name: freeName(from.replace(/\.[^.]*$/, "") || "prompts", names),
    size: Math.min(USUAL_SAMPLE, mostOf(upload)),
    by: [...(survey.categories.length > 1 ? (["category"] as const) : []), "length"],
    draw: 1,
    retentionDays: upload.traffic?.retentionDays ?? USUAL_RETENTION_DAYS,
  };
}

/** `±3.6 points at 90 %`; a note that all are taken where there is no sampling error, `not known` where nothing is sampled. */
export function intervalText(interval: SampleInterval | null): string {
  if (interval === null) return "not known";
  const { points, confidence } = interval;
  return points === 0 ? "all are taken" : `±${formatScoreMargin(points)} points at ${formatPercent(confidence)}`;
}

export interface SamplePicture {
  /** The precision for this size, a sentence. */
  readonly interval: string;
  /** By category, where it is stratified only by categories and by what is known before the file is read again. */
  readonly strata:
    | readonly { readonly name: string; readonly population: number; readonly sampled: number; readonly interval: string }[]
    | null;
  /** Why there is no table of strata, or other notes. */
  readonly note: string | null;
  /** A warning where texts would be kept for longer than their capture promised. */
  readonly warning: string | null;
  readonly request: SamplePrompts | null;
  readonly blocked: string | null;
}

/** A preview of the current sample. */
export function prepareSample(upload: PromptUpload, form: SampleForm, names: readonly string[]): SamplePicture {
  const { survey, uploadId, traffic } = upload;
  const ofTraffic = traffic !== undefined;
  const promised = traffic?.retentionDays ?? null;
  const { name, size, by, draw, retentionDays } = form;
  const isByCategory = by.length === 1 && by[0] === "category" && survey.categories.length > 1;
  const blocked =
    name.trim() === ""
      ? "Give the sample a name."
      : names.includes(name.trim())
        ? `There is a sample “${name.trim()}” already: give this one another name.`
        : survey.prompts < MIN_SAMPLE
          ? "There is only one prompt: a sample takes at least two."
          : size > survey.prompts
            ? `There are only ${formatCount(survey.prompts)} prompts.`
            : null;
  return {
    interval: intervalSentence(size, survey.prompts, ofTraffic),
    strata: isByCategory ? strataOf(upload, size, draw) : null,
    note: noteOf(by, survey.withTime),
    warning:
      promised === null || (retentionDays !== null && retentionDays <= promised)
        ? null
        : `The capture deletes these texts within ${formatCounted(promised, "day")}: a sample with a longer retention exceeds that.`,
    blocked,
    request: blocked === null ? { uploadId, name: name.trim(), size, by, draw, ofTraffic, retentionDays } : null,
  };
}

function intervalSentence(size: number, prompts: number, ofTraffic: boolean): string {
  if (size >= prompts && !ofTraffic) return "Every prompt of the file is taken: only a judge's errors make its mean quality uncertain.";
  const text = intervalText(sampleInterval(size, ofTraffic ? Number.POSITIVE_INFINITY : prompts));
  return ofTraffic
    ? `The mean quality of the traffic they are a part of will be known to ${text}, at worst, if the stored prompts are like the rest, plus a judge's errors.`
    : `The mean quality over all of them will be known to ${text} at worst, plus a judge's errors.`;
}

/** The studio's algorithm: the same shares of the same categories for the same draw. */
function strataOf({ survey, traffic }: PromptUpload, size: number, draw: number): SamplePicture["strata"] {
  const { categories, prompts } = survey;
  const counts = new Map(categories.map((category) => [category.name, category.prompts]));
  const without = prompts - categories.reduce((sum, category) => sum + category.prompts, 0);
  if (without > 0) counts.set(NO_CATEGORY, (counts.get(NO_CATEGORY) ?? 0) + without);
  return [...allocate(counts, size, draw)].map(([name, sampled]) => {
    const population = counts.get(name) ?? 0;
    return {
      name,
      population,
      sampled,
      interval: intervalText(sampled === 0 ? null : sampleInterval(sampled, traffic === undefined ? population : Number.POSITIVE_INFINITY)),
    };
  });
}

function noteOf(by: SampleForm["by"], withTime: number): string | null {
  if (by.includes("time") && withTime === 0) return "No prompt has a time: spreading over it changes nothing.";
  if (by.length === 0) return "Kinds are drawn at random.";
  return by.includes("length") || by.includes("time")
    ? "How many fall into each band of length or time is counted when the sample is taken; each gets its share, rounded by chance."
    : null;
}

export const stratifiers = ["category", "length", "time"] as const satisfies readonly SamplePrompts["by"][number][];
export const stratifierWords = { category: "category", length: "length", time: "hour of the day" } as const;

/** What can be measured on a sample in addition to a judge's opinion, and what is special about its prompts. */
export function holdings(set: Pick<PromptSet, "withReference" | "withTest" | "multiTurn" | "withTools">): string {
  const parts = [
    [set.withReference, "with a reference"],
    [set.withTest, "with a test"],
    [set.multiTurn, "of several turns"],
    [set.withTools, "with tools"],
  ] as const;
  const said = parts.filter(([count]) => count > 0).map(([count, what]) => `${formatCount(count)} ${what}`);
  return said.join(", ") || "prompts only";
}

/** Until when texts are kept, after "kept ": `until 2026-03-01 14:05`; `deleted` where they are gone. */
export function retentionText({ deleted, expiresAt }: Pick<PromptSet, "deleted" | "expiresAt">): string {
  if (deleted) return "deleted";
  return expiresAt === null ? "until deleted" : `until ${formatDate(expiresAt)}`;
}
