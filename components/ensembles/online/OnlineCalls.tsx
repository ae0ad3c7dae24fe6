import { StateWord } from "@/components/ui/Badge";
import { ModelMark } from "@/components/ui/ModelChip";
import { Table } from "@/components/ui/Table";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { CallRow } from "./prepareOnline";

const columns = [
  { key: "time", name: "Answered" },
  { key: "outcome", name: "How" },
  { key: "votes", name: "Votes" },
  { key: "confidence", name: "Confidence", numeric: true },
  { key: "tau", name: "Tau", numeric: true },
  { key: "decided", name: "Decided after", numeric: true },
  { key: "whole", name: "Answered after", numeric: true },
  { key: "experts", name: "Experts" },
] as const;

/** The latest calls of a served ensemble: how each expert voted, and what the gate made of it. */
export function OnlineCalls({ rows, models }: { readonly rows: readonly CallRow[]; readonly models: readonly string[] }) {
  const identities = useModelIdentities(models);
  return (
    <Table caption="Latest calls, newest first" columns={columns} stacked>
      {rows.map((row) => (
        <tr key={row.id}>
          <td className="align-top whitespace-nowrap">{row.time}</td>
          <td className="align-top">
            <StateWord tone={row.outcome.tone}>{row.outcome.word}</StateWord>
          </td>
          <td className="align-top" data-name="Votes">
            {row.votes}
          </td>
          <td className="text-right align-top" data-name="Confidence">
            {row.confidence}
          </td>
          <td className="text-right align-top" data-name="Tau">
            {row.tau}
          </td>
          <td className="text-right align-top whitespace-nowrap" data-name="Decided after">
            {row.decided}
          </td>
          <td className="text-right align-top whitespace-nowrap" data-name="Answered after">
            {row.whole}
          </td>
          <td className="align-top">
            <span className="flex flex-wrap gap-x-3 gap-y-0.5 text-xs">
              {row.experts.map(({ model, vote, text }) => {
                const identity = identities.get(model);
                return (
                  <span key={model} className="inline-flex items-center gap-1" title={model}>
                    {identity !== undefined && <ModelMark identity={identity} />}
                    <span className="sr-only">{model}: </span>
                    {vote !== null && <code className="max-w-40 truncate rounded bg-sunken px-1 font-mono text-ink">{vote}</code>}
                    {text}
                  </span>
                );
              })}
            </span>
          </td>
        </tr>
      ))}
    </Table>
  );
}
