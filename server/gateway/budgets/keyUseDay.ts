import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { KeyUse } from "@/server/contracts/gateway/gatewayKeys";
import { type Charge, chargedUsd } from "../serving/requestCost";

type Finished = Pick<Decision, "finishedAtMs" | "status" | "key" | "labels" | "stages">;

/** The UTC day of a time in Unix milliseconds, such as 2026-01-31. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/**
 * What a finished request with a key adds to the use of its day, one row for each model; nothing without a key. The money of the rows is the
 * `costUsd` of its record: where that is not known, none.
 */
export function rowsOf({ finishedAtMs, status, key, labels, stages }: Finished, charges: readonly Charge[]): readonly KeyUse[] {
  if (key === undefined) return [];
  const isPriced = chargedUsd(charges) !== null;
  const empty = { requests: 0, inputTokens: 0, outputTokens: 0, usd: 0, unpriced: 0 };
  const of = (model: string) => ({ day: dayOf(finishedAtMs), key, model, ...labels });
  const rows: KeyUse[] = charges.map(({ model, inputTokens, outputTokens, usd }) => ({
    ...of(model),
    ...empty,
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    usd: isPriced ? (usd ?? 0) : 0,
  }));
  const last = stages.at(-1);
  if (status === 200 && last !== undefined) rows.push({ ...of(last.model), ...empty, requests: 1, unpriced: isPriced ? 0 : 1 });
  return rows;
}

/** Rows of one day, key, labels and model in one, in the order of these. */
export function merged(rows: Iterable<KeyUse>): KeyUse[] {
  const sums = new Map<string, KeyUse>();
  for (const row of rows) {
    const id = [row.day, row.key, row.team ?? "", row.project ?? "", row.model].join("\0");
    const sum = sums.get(id);
    if (sum === undefined) {
      sums.set(id, { ...row });
      continue;
    }
    sum.requests += row.requests;
    sum.inputTokens += row.inputTokens;
    sum.outputTokens += row.outputTokens;
    sum.usd += row.usd;
    sum.unpriced += row.unpriced;
  }
  return [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}
