import type { IncomingHttpHeaders } from "node:http";
import { shownName } from "./clientNames";

/** What an application's own router says of a request, by model; empty where it says nothing. */
export type RequestScores = ReadonlyMap<string, number>;

const header = "x-weir-router-scores";
const none: RequestScores = new Map();
const number = /^\d{1,3}(\.\d+)?$/;

/**
 * Reads `x-weir-router-scores: model=score,...` with scores of 0 to 100, which a policy with a direct start starts requests by. Models of
 * no stage are of no consequence, so that a router need not know which cascade is in force.
 *
 * @returns the sentence that refuses it, where it says anything else.
 */
export function readRouterScores(headers: IncomingHttpHeaders): RequestScores | string {
  const value = headers[header];
  if (value === undefined) return none;
  const scores = new Map<string, number>();
  for (const entry of String(value).split(",")) {
    const equals = entry.lastIndexOf("=");
    const model = entry.slice(0, Math.max(0, equals)).trim();
    const score = entry.slice(equals + 1).trim();
    const shown = JSON.stringify(shownName(entry.trim()));
    if (model === "" || !number.test(score) || Number(score) > 100) {
      return `The header ${header} says ${shown}, but each entry must be model=score with a score from 0 to 100.`;
    }
    if (scores.has(model)) return `The header ${header} scores ${JSON.stringify(shownName(model))} twice.`;
    scores.set(model, Number(score));
  }
  return scores;
}
