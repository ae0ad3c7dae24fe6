"use client";

import { useMemo } from "react";
import { Button } from "@/components/ui/Button";
import { DataTable } from "@/components/ui/DataTable";
import { SelectField } from "@/components/ui/Field";
import { formatCount, formatCounted, formatSeconds } from "@/components/ui/format";
import { Panel } from "@/components/ui/Panel";
import type { ApplicationView } from "@/solver/workflow/learning/workflowsView";
import type { AgentIdentities } from "../graph/agentIdentity";
import { CallGraph } from "./CallGraph";
import { type CallGraphPicture, prepareCallGraph, signWords } from "./prepareCallGraph";

/** Rows of the table shown by default. */
const MOST_ROWS = 12;

function EdgeTable({ picture, all }: { readonly picture: CallGraphPicture; readonly all: boolean }) {
  const rows = all ? picture.rows : picture.rows.slice(0, MOST_ROWS);
  return (
    <DataTable
      caption="Which agent's calls follow whose answers"
      stacked
      rows={rows}
      rowKey={(row) => row.key}
      columns={[
        { name: "From", labelled: true, cell: (row) => row.from },
        { name: "To", labelled: true, cell: (row) => row.to },
        { name: "Calls a program", numeric: true, cell: (row) => row.perProgram },
        { name: "In programs", numeric: true, cell: (row) => row.programs },
        { name: "How", className: "text-ink-2", cell: (row) => row.how },
      ]}
    />
  );
}

/** The call graph of one application, learnt from agents' calls; its edges as a table too. */
export function GraphPanel(props: {
  readonly applications: readonly ApplicationView[];
  readonly application: ApplicationView;
  readonly identities: AgentIdentities;
  readonly agent: string | null;
  readonly all: boolean;
  readonly onApplication: (name: string) => void;
  readonly onAgent: (key: string) => void;
  readonly onAll: (all: boolean) => void;
}) {
  const { applications, application, identities, all, onAll } = props;
  const picture = useMemo(() => prepareCallGraph(application, { all, identities }), [application, all, identities]);
  const folds = picture.folded > 0 || picture.rows.length > MOST_ROWS;
  return (
    <Panel
      title="Call graph"
      aside={
        (folds || all) && (
          <Button look="quiet" onClick={() => onAll(!all)}>
            {all ? "Hide rare agents" : "Show all"}
          </Button>
        )
      }
    >
      <div className="mb-3 flex flex-wrap items-end gap-x-4 gap-y-2">
        <SelectField
          label="Application"
          value={application.name}
          options={applications.map(({ name, programs }) => ({ value: name, text: `${name} (${formatCounted(programs, "program")})` }))}
          onChange={props.onApplication}
        />
        <p className="min-w-0 pb-1.5 text-sm text-ink-2">
          {formatSeconds(application.meanSeconds)} on average from a program's first call to its last answer, over{" "}
          {formatCounted(application.programs, "program")} that ended.
        </p>
      </div>
      <CallGraph picture={picture} chosen={props.agent} onAgent={props.onAgent} onUnfold={() => onAll(true)} />
      <p className="mt-2 text-xs text-ink-3">
        Each agent shows the mean time from dispatch to answer and the share of programs that call it. Each edge shows, also by its width,
        the calls per program.{" "}
        {Object.entries(signWords)
          .map(([sign, words]) => `${sign} ${words}`)
          .join(", ")}{" "}
        (most of its calls).
        {picture.folded > 0 && ` Of calls between rarer agents ${formatCount(picture.foldedCalls)} are not drawn.`}
      </p>
      {picture.rows.length === 0 ? (
        <p className="mt-3 text-sm text-ink-3">No call has followed another yet.</p>
      ) : (
        <div className="mt-3">
          <EdgeTable picture={picture} all={all} />
        </div>
      )}
    </Panel>
  );
}
