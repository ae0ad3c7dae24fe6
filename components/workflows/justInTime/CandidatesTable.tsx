"use client";

import { useMemo, useState } from "react";
import { Button } from "@/components/ui/Button";
import { ModelChip } from "@/components/ui/ModelChip";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { Table } from "@/components/ui/Table";
import { MOST_ASSIGNED, prepareCandidates, type Round } from "./prepareRounds";

/** The assignments that a round kept until its end, side by side, the applied one first. */
export function CandidatesTable(props: {
  readonly round: Round;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  /** The round's description. */
  readonly of: string;
  readonly byWorth: boolean;
}) {
  const { round, identities, byWorth } = props;
  const [all, setAll] = useState(false);
  const { columns, rows, shown: shownText } = useMemo(() => prepareCandidates(round), [round]);
  const shown = all ? rows : rows.slice(0, MOST_ASSIGNED);
  const heading = (
    <h3 className="text-sm font-semibold">
      {byWorth ? "Assignments" : "Candidates"} of {props.of}
    </h3>
  );
  if (columns.length === 0)
    return (
      <div className="flex flex-col gap-1 border-t pt-3">
        {heading}
        <p className="text-sm text-ink-3">No assignment: every considered request needs a model without a free slot.</p>
      </div>
    );
  return (
    <div className="flex min-w-0 flex-col gap-2 border-t pt-3" data-testid="candidates">
      {heading}
      <Table
        caption="Candidates of a round: which request gets which model in each"
        columns={[
          { key: "request", name: "Request" },
          ...columns.map(({ key, name }) => ({ key, name: `${name[0]?.toUpperCase()}${name.slice(1)}` })),
        ]}
      >
        {(["gain", "flexibility"] as const).map((figure) => (
          <tr key={figure}>
            <td className="text-xs text-ink-3">{figure === "gain" ? "utilisation gained" : "flexibility kept"}</td>
            {columns.map((column, at) => (
              <td key={column.key} className={at === 0 ? "bg-accent-soft font-medium" : ""}>
                {column[figure]}
                {figure === "gain" && <span className="ml-2 text-xs font-normal text-ink-3">{column.requests}</span>}
              </td>
            ))}
          </tr>
        ))}
        {shown.map((row) => (
          <tr key={row.key}>
            <td>
              <span className="flex items-baseline gap-1">
                <span className="font-medium whitespace-nowrap">{row.agent}</span>
                <span className="max-w-36 truncate text-xs text-ink-3" title={row.programId}>
                  of {row.programId}
                </span>
              </span>
            </td>
            {row.cells.map(({ key, model, differs, terms }, at) => {
              const identity = model === null ? undefined : identities.get(model);
              return (
                <td key={key} className={at === 0 ? "bg-accent-soft" : ""}>
                  <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
                    {model === null ? (
                      <span className="text-ink-3">waits</span>
                    ) : identity === undefined ? (
                      model
                    ) : (
                      <ModelChip identity={identity} />
                    )}
                    {differs && (
                      <span className="text-xs text-warn" title="differs from the candidate that was carried out">
                        ≠
                      </span>
                    )}
                  </span>
                  {terms !== null && <span className="block text-xs text-ink-3">{terms}</span>}
                </td>
              );
            })}
          </tr>
        ))}
      </Table>
      {rows.length > shown.length && (
        <div>
          <Button look="quiet" onClick={() => setAll(true)}>
            {rows.length - shown.length} more requests
          </Button>
        </div>
      )}
      <p className="text-xs text-ink-3">
        {!byWorth &&
          "The candidate with the highest utilisation is carried out; ties go to the one that keeps the most accurate configurations of its requests possible (flexibility). ≠ differs from what was carried out. "}
        {shownText}
      </p>
    </div>
  );
}
