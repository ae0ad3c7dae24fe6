import { StateWord } from "@/components/ui/Badge";
import { DataTable } from "@/components/ui/DataTable";
import { ModelMark } from "@/components/ui/ModelChip";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { CallRow } from "./prepareOnline";

/** The latest calls of a served ensemble: each expert's vote and the gate's decision. */
export function OnlineCalls({ rows, models }: { readonly rows: readonly CallRow[]; readonly models: readonly string[] }) {
  const identities = useModelIdentities(models);
  return (
    <DataTable
      caption="Latest calls, newest first"
      stacked
      rows={rows}
      rowKey={(row) => row.id}
      rowClass="align-top"
      columns={[
        { name: "Answered", className: "whitespace-nowrap", cell: (row) => row.time },
        { name: "How", cell: (row) => <StateWord tone={row.outcome.tone}>{row.outcome.word}</StateWord> },
        { name: "Votes", labelled: true, cell: (row) => row.votes },
        { name: "Confidence", numeric: true, cell: (row) => row.confidence },
        { name: "Tau", numeric: true, cell: (row) => row.tau },
        { name: "Decided after", numeric: true, cell: (row) => row.decided },
        { name: "Answered after", numeric: true, cell: (row) => row.whole },
        {
          name: "Experts",
          cell: (row) => (
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
          ),
        },
      ]}
    />
  );
}
