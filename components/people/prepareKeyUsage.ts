import type { KeyUse } from "@/server/contracts/studio";
import { formatCount, formatUsd } from "../ui/format";

export type UsageGroup = "key" | "model" | "day" | "all";

export interface UsageRow {
  readonly name: string;
  readonly requests: string;
  readonly tokens: string;
  readonly usd: string;
}

type Sum = Pick<KeyUse, "requests" | "inputTokens" | "outputTokens" | "usd" | "unpriced">;

const zero: Sum = { requests: 0, inputTokens: 0, outputTokens: 0, usd: 0, unpriced: 0 };

/** The use of keys in groups: the dearest first, days from the newest. */
export function prepareKeyUsage(rows: readonly KeyUse[], by: UsageGroup): { readonly rows: readonly UsageRow[]; readonly total: UsageRow } {
  const groups = new Map<string, Sum>();
  for (const row of rows) {
    const name = by === "all" ? `${row.day} · ${row.key} · ${row.model}` : row[by];
    groups.set(name, added(groups.get(name) ?? zero, row));
  }
  const isByDay = by === "day" || by === "all";
  const sorted = [...groups].toSorted(([one, a], [other, b]) =>
    isByDay
      ? other.slice(0, 10).localeCompare(one.slice(0, 10)) || one.localeCompare(other)
      : b.usd - a.usd || b.requests - a.requests || one.localeCompare(other),
  );
  return { rows: sorted.map(([name, sum]) => shown(name, sum)), total: shown("Total", rows.reduce(added, zero)) };
}

const added = (sum: Sum, row: Sum): Sum => ({
  requests: sum.requests + row.requests,
  inputTokens: sum.inputTokens + row.inputTokens,
  outputTokens: sum.outputTokens + row.outputTokens,
  usd: sum.usd + row.usd,
  unpriced: sum.unpriced + row.unpriced,
});

function shown(name: string, { requests, inputTokens, outputTokens, usd, unpriced }: Sum): UsageRow {
  const rest = unpriced > 0 ? ` + ${formatCount(unpriced)} without a price` : "";
  return {
    ...{ name, requests: formatCount(requests), tokens: formatCount(inputTokens + outputTokens) },
    // Without any price there is nothing to add.
    usd: usd === 0 && unpriced > 0 ? `${formatCount(unpriced)} without a price` : `${formatUsd(usd)}${rest}`,
  };
}
