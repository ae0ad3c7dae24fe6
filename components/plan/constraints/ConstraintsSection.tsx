"use client";

import dynamic from "next/dynamic";
import { useState } from "react";
import { Button } from "@/components/ui/Button";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import type { ClusterSummary } from "@/server/contracts/studio";
import type { ConstraintsView } from "../address/constraintsCodec";
import { activeConstraints } from "./prepareConstraints";

// Loaded when it is opened: cards, memory arithmetic and YAML are not needed before.
const ConstraintsDialog = dynamic(() => import("./ConstraintsDialog"), { ssr: false });

/** The constraints, each with a button that drops it, and the button that opens the editor. */
export function ConstraintsSection(props: {
  readonly view: ConstraintsView;
  readonly cluster: ClusterSummary;
  readonly models: readonly string[];
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  readonly onChange: (change: Partial<ConstraintsView>, how: "push" | "replace") => void;
}) {
  const [open, setOpen] = useState(false);
  const active = activeConstraints(props.view);
  return (
    <div className="flex flex-col gap-2 border-t pt-3">
      <div className="flex items-center gap-2">
        <h3 className="text-sm font-medium text-ink-2">Constraints{active.length > 0 && ` (${active.length})`}</h3>
        <Button className="ml-auto" aria-haspopup="dialog" onClick={() => setOpen(true)}>
          Edit constraints
        </Button>
      </div>
      {active.length === 0 ? (
        <p className="text-xs text-ink-3">
          {props.cluster.topology === "given"
            ? "Engines stay as they are: a plan chooses which models get requests, and starts or stops none."
            : "None: every model, shape and node is free to use."}
        </p>
      ) : (
        <ul aria-label="Constraints" className="flex list-none flex-wrap gap-1.5">
          {active.map(({ key, says, without }) => (
            <li key={key} className="inline-flex max-w-full items-center rounded bg-sunken text-xs">
              <span className="min-w-0 truncate py-1 pl-2" title={says}>
                {says}
              </span>
              <button
                type="button"
                aria-label={`Drop: ${says}`}
                title="Drop"
                className="size-6 shrink-0 rounded text-ink-3 hover:bg-line hover:text-ink"
                onClick={() => props.onChange(without, "push")}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      {open && (
        <ConstraintsDialog
          view={props.view}
          cluster={props.cluster}
          models={props.models}
          identities={props.identities}
          onChange={(change) => props.onChange(change, "replace")}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  );
}
