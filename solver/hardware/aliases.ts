import { cardOf } from "./catalogue";
import type { GpuCard } from "./gpus";
import type { ModelCard, Precision } from "./modelCard";
import { modelCards } from "./models";

type ModelCards = Readonly<Record<string, ModelCard>>;

/** Names that no rule resolves to a card, in the form of `nameKey`. */
export const modelAliases: Readonly<Record<string, string>> = {
  "llama-3.1-405b-inst@sambanova": "llama-3.1-405b-fp8",
  "llama-3.1-405b-inst@together": "llama-3.1-405b-fp8",
  "deepseek-v3.1": "deepseek-v3",
};

/** Weight formats as checkpoints and engines name them, and the precision that each is computed with here. */
export const weightFormats: Readonly<Record<string, Precision>> = {
  bf16: "bf16",
  bfloat16: "bf16",
  fp16: "bf16",
  float16: "bf16",
  fp8: "fp8",
  fp8_block: "fp8",
  fp8_static: "fp8",
  fp8_dynamic: "fp8",
  int4: "int4",
  int4_wo: "int4",
  w4a16: "int4",
  awq: "int4",
  gptq: "int4",
  mxfp4: "int4",
};

/** Suffixes of names for tuning or release, not architecture; `dynamic` belongs to `fp8`. */
const TUNING = /^(instruct|it|chat|base|hf|dynamic|v0\.\d|\d{4}|\d{8})$/;

/** The model that a name refers to. */
export interface NamedModel {
  readonly card: ModelCard;
  /** Format of the weights: the suffix of the name, else the format published under that name. */
  readonly precision: Precision;
}

/**
 * The model that a name refers to: a card's id, a repository on Hugging Face, or one of these in other case, under another owner, or with
 * suffixes for tuning, release, format or published size (`nvidia/Llama-3.1-8B-Instruct-FP8`, `deepseek-v3-671b`).
 *
 * @returns undefined when no card has that name.
 */
export function findModel(name: string, models: ModelCards = modelCards): NamedModel | undefined {
  const exact = cardOf(models, name);
  if (exact !== undefined) return { card: exact, precision: exact.precision };
  const asked = nameKey(name);
  const names = namesOf(models);
  const alias = cardOf(modelAliases, fullKey(name)) ?? cardOf(modelAliases, asked.key) ?? "";
  const card = names.get(fullKey(name)) ?? names.get(asked.key) ?? cardOf(models, alias);
  if (card === undefined) return undefined;
  // A card of quantised weights whose name says so has a sister card without quantisation.
  const published = nameKey(card.id).format === null ? card.precision : "bf16";
  return { card, precision: asked.format ?? published };
}

/**
 * Card id of a model's name in an outcome table.
 *
 * @param extra the user's own names, which take precedence over the cards' names; values are card ids.
 * @param models the available cards, by id; the shipped ones by default.
 * @returns undefined when neither a name map nor the cards themselves know the name, or when `extra` points to no card.
 * @example resolveModel("gemma-2-2b-it") // "gemma-2-2b"
 */
export function resolveModel(
  tableName: string,
  extra: Readonly<Record<string, string>> = {},
  models: ModelCards = modelCards,
): string | undefined {
  const own = cardOf(extra, tableName);
  return own === undefined ? findModel(tableName, models)?.card.id : cardOf(models, own)?.id;
}

/** A name in lower case, with hyphens only, without its owner and the publisher's own prefix. */
function fullKey(name: string): string {
  const bare = name.trim().toLowerCase().split("/").at(-1) ?? "";
  return bare.replaceAll(/[_\s]+/g, "-").replace(/^meta-/, "");
}

/** The same without suffixes for tuning, release and format, and the format that they name. */
function nameKey(name: string): { readonly key: string; readonly format: Precision | null } {
  const parts = fullKey(name).split("-");
  let format: Precision | null = null;
  for (let last = parts.at(-1); parts.length > 1 && last !== undefined; last = parts.at(-1)) {
    const named = cardOf(weightFormats, last);
    if (named === undefined && !TUNING.test(last)) break;
    format = named ?? format;
    parts.pop();
  }
  return { key: parts.join("-"), format };
}

/** Names that identify cards, computed once for a set of cards: tables name a model on every line. */
const namesByCards = new WeakMap<ModelCards, ReadonlyMap<string, ModelCard>>();

function namesOf(models: ModelCards): ReadonlyMap<string, ModelCard> {
  const known = namesByCards.get(models);
  if (known !== undefined) return known;
  const cards = Object.values(models);
  const names = new Map<string, ModelCard>();
  // Whole names before shortened ones, so that a card of quantised weights does not match its sister's name.
  for (const keysOf of [wholeKeys, shortKeys]) {
    for (const card of cards) for (const key of keysOf(card)) if (!names.has(key)) names.set(key, card);
  }
  namesByCards.set(models, names);
  return names;
}

const wholeKeys = ({ id, huggingFace }: ModelCard): readonly string[] => [id, ...(huggingFace === null ? [] : [huggingFace])].map(fullKey);

/** Without suffixes, and with the published size where the id has none. */
function shortKeys(card: ModelCard): readonly string[] {
  const keys = wholeKeys(card).map((name) => nameKey(name).key);
  const sized = card.publishedParamsB === null || /\d+b(-|$)/.test(card.id) ? [] : [`${keys[0]}-${card.publishedParamsB}b`];
  return [...keys, ...sized];
}

/** Parts of a GPU's name for its form factor or its memory. */
const FORM = /^(sxm|pcie|nvl\d*|\d+g)$/;

/**
 * The GPU that a name refers to: a card's id in other case and with other separators, without a socket's number or the vendor
 * (`NVIDIA H100_SXM5`), or without form factor or memory where this leaves a single card (`h200`).
 *
 * @returns undefined when no card, or more than one, matches.
 */
export function findGpu(name: string, gpus: Readonly<Record<string, GpuCard>>): GpuCard | undefined {
  const cards = Object.values(gpus);
  const asked = gpuParts(name);
  for (let parts = asked; ; parts = parts.slice(0, -1)) {
    const same = cards.find(({ id }) => gpuParts(id).join("") === parts.join(""));
    if (same !== undefined) return same;
    if (!FORM.test(parts.at(-1) ?? "")) break;
  }
  const meant = cards.filter(({ id }) => shorter(gpuParts(id)).includes(asked.join("")));
  return meant.length === 1 ? meant[0] : undefined;
}

function gpuParts(name: string): readonly string[] {
  const parts = name
    .trim()
    .toLowerCase()
    .replace(/^nvidia/, "")
    .split(/[\s_-]+/);
  return parts.filter((part) => part !== "").map((part) => part.replace(/^sxm\d$/, "sxm").replace(/^(\d+)gb$/, "$1g"));
}

/** A name without its suffixes for form factor and memory, one by one. */
function shorter(parts: readonly string[]): readonly string[] {
  if (!FORM.test(parts.at(-1) ?? "")) return [];
  const rest = parts.slice(0, -1);
  return [rest.join(""), ...shorter(rest)];
}

/** Minimum share of common letter pairs for a name to count as similar. */
const LEAST_ALIKE = 0.4;

/** Maximum number of suggestions. */
const MOST_SUGGESTIONS = 3;

/** "; nearest: a, b, c" for a name that is none of these ids, the most similar first; empty when none is similar. */
export function nearestNames(name: string, ids: readonly string[]): string {
  const near = ids
    .map((id) => ({ id, alike: alike(fullKey(name), id.toLowerCase()) }))
    .filter((one) => one.alike >= LEAST_ALIKE)
    .sort((a, b) => b.alike - a.alike)
    .slice(0, MOST_SUGGESTIONS)
    .map(({ id }) => id);
  return near.length === 0 ? "" : `; nearest: ${near.join(", ")}`;
}

/** Share of pairs of neighbouring letters that two words have in common (Dice). */
function alike(a: string, b: string): number {
  const [left, right] = [pairsOf(a), pairsOf(b)];
  const common = left.filter((pair) => right.includes(pair)).length;
  return left.length + right.length === 0 ? 0 : (2 * common) / (left.length + right.length);
}

const pairsOf = (word: string): readonly string[] =>
  Array.from({ length: Math.max(0, word.length - 1) }, (_, at) => word.slice(at, at + 2));
