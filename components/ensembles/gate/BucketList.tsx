import { cssPercent } from "@/components/charts/cssPercent";
import { Badge, StateWord } from "@/components/ui/Badge";
import { formatCount } from "@/components/ui/format";
import { Table } from "@/components/ui/Table";
import type { BucketBar, BucketRow } from "./prepareBuckets";

const columns = [
  { key: "votes", name: "Votes" },
  { key: "share", name: "Questions" },
  { key: "leading", name: "Leading answer right" },
  { key: "aggregator", name: "Aggregator right" },
  { key: "verdict", name: "Here" },
  { key: "tokens", name: "Expert tokens", numeric: true },
] as const;

/** A share with its interval: a dot on a bar from 0 to 1, with its words. */
function Interval({ bar, hue }: { readonly bar: BucketBar | null; readonly hue: string }) {
  if (bar === null) return <span className="text-ink-3">–</span>;
  return (
    <span className="flex min-w-32 flex-col gap-0.5">
      <span className="whitespace-nowrap">
        {bar.text} <span className="text-xs text-ink-3">{bar.span}</span>
      </span>
      <span aria-hidden="true" className="relative block h-2 w-full rounded bg-sunken">
        <span
          className="absolute top-0.5 h-1 rounded-sm opacity-50"
          style={{ left: cssPercent(bar.low), width: `max(2px, ${cssPercent(bar.high - bar.low)})`, background: hue }}
        />
        <span className="absolute top-0 size-2 -translate-x-1/2 rounded-full" style={{ left: cssPercent(bar.value), background: hue }} />
      </span>
    </span>
  );
}

/** Questions by how experts voted, and who is right on them. */
export function BucketList({ rows, standIn }: { readonly rows: readonly BucketRow[]; readonly standIn: boolean }) {
  const named = columns.filter(({ key }) => standIn || (key !== "aggregator" && key !== "verdict"));
  return (
    <div data-testid="buckets">
      {standIn && (
        <p className="mb-2 text-xs text-ink-3">
          The aggregator is <Badge tone="hatched">modelled</Badge>: it weighs its own answer and those it reads by how often each is right.
        </p>
      )}
      <Table caption="Agreement of experts, and which answer is right" columns={named}>
        {rows.map((row) => (
          <tr key={row.votes}>
            <td className="align-top whitespace-nowrap">
              <strong className="font-medium">{row.votes}</strong> <span className="text-xs text-ink-3">{row.words}</span>
            </td>
            <td className="align-top">
              <span className="flex min-w-28 flex-col gap-0.5">
                <span className="whitespace-nowrap">
                  {row.shareText} <span className="text-xs text-ink-3">{formatCount(row.questions)}</span>
                </span>
                <span aria-hidden="true" className="block h-2 w-full rounded bg-sunken">
                  <span className="block h-full rounded bg-ink-3" style={{ width: cssPercent(row.share) }} />
                </span>
              </span>
            </td>
            <td className="align-top">
              <Interval bar={row.leading} hue="var(--accent)" />
            </td>
            {standIn && (
              <>
                <td className="align-top">
                  <Interval bar={row.aggregator} hue="var(--ink-3)" />
                </td>
                <td className="align-top">
                  {row.verdict === null ? "–" : <StateWord tone={row.verdict.tone}>{row.verdict.text}</StateWord>}
                </td>
              </>
            )}
            <td className="text-right align-top">{formatCount(row.expertTokens)}</td>
          </tr>
        ))}
      </Table>
    </div>
  );
}
