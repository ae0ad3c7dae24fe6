"use client";

import { useEnsembleAct } from "@/components/api/acts";
import { useTRPCClient } from "@/components/api/trpc";
import { Badge } from "@/components/ui/Badge";
import { Button } from "@/components/ui/Button";
import { SelectField } from "@/components/ui/Field";
import { RemoveButton } from "@/components/ui/RemoveButton";
import type { KeptEnsemble } from "@/server/contracts/studio";
import type { EnsemblesView } from "../address/ensemblesCodec";
import { ensembleSays } from "./prepareEnsemble";

/** The displayed ensemble, its summary in a sentence, and the actions on it. */
export function EnsembleBar(props: {
  readonly kept: KeptEnsemble;
  readonly ensembles: readonly KeptEnsemble[];
  readonly onChange: (change: Partial<EnsemblesView>, how: "push" | "replace") => void;
}) {
  const { kept, ensembles, onChange } = props;
  const { name } = kept.ensemble;
  const client = useTRPCClient();
  const remove = useEnsembleAct(
    () => client.ensembles.remove.mutate({ name }),
    () => onChange({ ensemble: null }, "replace"),
  );
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-end gap-3">
        <SelectField
          label="Ensemble"
          className="min-w-40"
          value={name}
          options={ensembles.map(({ ensemble }) => ({ value: ensemble.name, text: ensemble.name }))}
          onChange={(ensemble) => onChange({ ensemble }, "push")}
        />
        <Button onClick={() => onChange({ open: "edit", ensemble: name }, "push")}>Change</Button>
        <Button onClick={() => onChange({ open: "new" }, "push")}>New ensemble</Button>
        <Button onClick={() => onChange({ tab: "batches", open: "start", ensemble: name }, "push")}>Start a batch of it</Button>
        <RemoveButton
          key={name}
          name={name}
          kind="ensemble"
          consequences="All of its versions are deleted. Batches and gateways keep their own copies."
          removal={remove}
        />
      </div>
      <p className="text-sm text-ink-2">
        <Badge>v{kept.version}</Badge> {ensembleSays(kept.ensemble)}
      </p>
    </div>
  );
}
