"use client";

import { useMemo } from "react";
import { useDeclaredAct } from "@/components/api/acts";
import { useTRPCClient } from "@/components/api/trpc";
import { trainPath } from "@/components/predictors/trainCodec";
import { ClusterLink } from "@/components/shell/ClusterLink";
import { Button, buttonClass } from "@/components/ui/Button";
import { CopyButton } from "@/components/ui/CopyButton";
import { formatDate } from "@/components/ui/format";
import { Panel } from "@/components/ui/Panel";
import { RemoveButton } from "@/components/ui/RemoveButton";
import { saveText } from "@/components/ui/saveText";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { DeclaredWorkflow } from "@/server/contracts/studio";
import { DeclaredGraph, DeclaredTable } from "./DeclaredGraph";
import { prepareDeclared } from "./prepareDeclared";

/** One declared workflow: its graph, its agents, its document, and the actions on it. */
export function DeclaredPanel(props: {
  readonly declared: DeclaredWorkflow;
  /** The plan on whose engines it is to run. */
  readonly plan: { readonly workloadId: string; readonly models: readonly string[] } | null;
  /** Opens the dialog that makes a plan of it; null: there is no plan yet on whose engines it could run. */
  readonly onPlan: (() => void) | null;
  /** Opens the dialog that edits its document. */
  readonly onEdit: () => void;
  /** `says`: which plans continue to run it. */
  readonly onRemoved: (says: string) => void;
}) {
  const { onPlan, onEdit, onRemoved } = props;
  const { document, version, actor, createdAt } = props.declared;
  const { name, title, agents } = document;
  const client = useTRPCClient();
  const picture = useMemo(() => prepareDeclared(document), [document]);
  const identities = useModelIdentities([...new Set(agents.flatMap(({ models }) => models ?? []))]);
  const json = JSON.stringify(document, null, 2);
  const remove = useDeclaredAct(
    () => client.declaredWorkflows.remove.mutate({ name }),
    ({ says }) => onRemoved(says),
  );
  return (
    <Panel title={title === "" ? name : `${name}: ${title}`} aside={`v${version}, kept by ${actor} ${formatDate(createdAt)}`}>
      <div className="flex flex-col gap-4" data-testid="declared">
        <div className="flex flex-wrap items-center gap-2">
          <Button look="primary" disabled={onPlan === null} onClick={() => onPlan?.()}>
            Run just in time…
          </Button>
          <ClusterLink to={trainPath(name, props.plan)} className={buttonClass()}>
            Train predictor
          </ClusterLink>
          <Button onClick={onEdit}>Edit</Button>
          <Button onClick={() => saveText(`${name}.workflow.json`, json)}>Download</Button>
          <RemoveButton
            name={name}
            kind="workflow"
            consequences="No new plan can use it. Plans that run it keep their own copy and stay as they are. Importing the same document again restores it as the next version."
            removal={remove}
          />
          {onPlan === null && <p className="text-sm text-ink-3">It runs on the engines of a plan: make one on the Plan page first.</p>}
        </div>
        <DeclaredGraph picture={picture} identities={identities} />
        <DeclaredTable picture={picture} />
        {picture.uninstructed !== null && <p className="text-sm text-warn">{picture.uninstructed}</p>}
        <details>
          <summary className="text-xs text-ink-3">As JSON</summary>
          <div className="mt-2 flex flex-col items-start gap-2 text-sm">
            <CopyButton text={json} label="Copy JSON" />
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
            <pre className="max-h-72 w-full overflow-auto rounded-md bg-sunken p-3 font-mono text-xs" tabIndex={0}>
              {json}
            </pre>
          </div>
        </details>
      </div>
    </Panel>
  );
}
