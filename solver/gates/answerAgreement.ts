import { isRecord } from "@/solver/collections/isRecord";
import { exactMatch } from "@/solver/judging/exactMatch";
import { type Extraction, hasAnswer } from "@/solver/judging/extract";
import { normalised } from "@/solver/judging/normalised";
import type { ComparedAnswers } from "./gateDocument";
import { asStructure } from "./jsonAnswer";

/** Levels of a structure that are compared; deeper structures differ. */
const MAX_DEPTH = 64;

/**
 * Share of further answers, 0..1, that give the same answer (Agreement-Based Cascading, section 3, with the answer that is served as the
 * one that is voted on): after `extract` took the relevant part of both. JSON objects and arrays, and so tool calls, are compared by their
 * structure: the order of fields does not matter, nor do the ids of tool calls, which are new in every answer.
 *
 * @param others at least one.
 * @returns null where neither the answer nor any other has a part to compare.
 */
export function answerAgreement(answer: string, others: readonly string[], extract: Extraction): number | null {
  const own = comparedStructure(answer);
  const comparable = own !== null || [answer, ...others].some((each) => hasAnswer(each, extract) || comparedStructure(each) !== null);
  if (!comparable) return null;
  return others.filter((other) => isSameAnswer({ text: answer, structure: own }, other, extract)).length / others.length;
}

function isSameAnswer(own: { readonly text: string; readonly structure: object | null }, other: string, extract: Extraction): boolean {
  const structure = comparedStructure(other);
  if (own.structure !== null && structure !== null) return isSameValue(own.structure, structure, 0);
  if (own.structure !== null || structure !== null) return false;
  return hasAnswer(own.text, extract) && hasAnswer(other, extract) && exactMatch(own.text, other, extract) === 100;
}

/** A text's JSON as far as it is compared; null for any other text. */
function comparedStructure(text: string): object | null {
  const structure = asStructure(text);
  return Array.isArray(structure) && structure.length > 0 && structure.every(isCall) ? structure.map(calledFunction) : structure;
}

const isCall = (each: unknown): each is { readonly function: Readonly<Record<string, unknown>> } =>
  isRecord(each) && isRecord(each.function) && typeof each.function.name === "string";

/** The function of a tool call. Engines write the arguments of one that takes none as an empty object, an empty text or not at all. */
function calledFunction({ function: called }: { readonly function: Readonly<Record<string, unknown>> }): object {
  const { name, arguments: given } = called;
  return { name, arguments: typeof given !== "string" ? (given ?? "{}") : given.trim() === "" ? "{}" : given };
}

function isSameValue(one: unknown, other: unknown, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  if (typeof one === "string" && typeof other === "string") {
    // Arguments of a tool call are JSON in a string.
    const [a, b] = [asStructure(one), asStructure(other)];
    return a !== null && b !== null ? isSameValue(a, b, depth + 1) : normalised(one) === normalised(other);
  }
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [a, b] = [Object.entries(one), new Map(Object.entries(other))];
  return a.length === b.size && a.every(([name, value]) => b.has(name) && isSameValue(value, b.get(name), depth + 1));
}

/** Whether two agreement gates compare the same part of the same answers. */
export function isSameComparison(one: ComparedAnswers, other: ComparedAnswers): boolean {
  const [peers, others] = [one.peers ?? [], other.peers ?? []];
  return (
    one.answer === other.answer &&
    one.samples?.count === other.samples?.count &&
    one.samples?.temperature === other.samples?.temperature &&
    peers.length === others.length &&
    peers.every((peer) => others.includes(peer))
  );
}
