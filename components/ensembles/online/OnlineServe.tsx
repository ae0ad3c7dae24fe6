"use client";

import { useState } from "react";
import { useEnsembleAct } from "@/components/api/acts";
import { useTRPCClient } from "@/components/api/trpc";
import { SelectField } from "@/components/ui/Field";
import { FormModal } from "@/components/ui/FormModal";
import { ReasonField } from "@/components/ui/ReasonField";
import type { KeptEnsemble } from "@/server/contracts/studio";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { couldAnswer, serveDoubt } from "./prepareServe";

/** Makes the cluster's gateway serve a stored ensemble, after listing what is missing for it. */
export function OnlineServe(props: {
  readonly clusterId: string;
  readonly ensembles: readonly KeptEnsemble[];
  readonly named: string | null;
  /** Models of the plan in force; null: there is none. */
  readonly models: readonly string[] | null;
  readonly served: readonly Ensemble[];
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onServed: (name: string) => void;
}) {
  const { clusterId, ensembles, models } = props;
  const client = useTRPCClient();
  const [chosen, setChosen] = useState<string | null>(null);
  const [reason, setReason] = useState("");
  const kept =
    [chosen, props.named].map((name) => ensembles.find((each) => each.ensemble.name === name)).find((each) => each !== undefined) ??
    ensembles[0];
  const act = useEnsembleAct(
    async (name: string) => {
      const done = await client.ensembles.serve.mutate({ clusterId, name, reason });
      return done.ok ? { ok: true as const, name } : done;
    },
    ({ name }: { readonly name: string }) => {
      setReason("");
      setChosen(null);
      props.onServed(name);
    },
  );
  const doubt = kept === undefined ? null : serveDoubt(kept.ensemble, models);
  const hindered = kept === undefined || !couldAnswer(kept.ensemble, models);
  const strayed = chosen === null && props.named !== null && kept !== undefined && kept.ensemble.name !== props.named;
  const again = props.served.some(({ name }) => name === kept?.ensemble.name);
  return (
    <FormModal
      open={props.open}
      onClose={props.onClose}
      title="Serve an ensemble"
      description="Clients call it by its name from the next request on. The gateway has its own copy, which later versions do not change."
      label="Serve an ensemble"
      act={act}
      ready={!hindered}
      onSubmit={() => kept !== undefined && act.mutate(kept.ensemble.name)}
      go={act.isPending ? "Waiting for the gateway …" : doubt === null ? "Serve it" : "Serve it anyway"}
    >
      <SelectField
        label="Ensemble"
        value={kept?.ensemble.name ?? ""}
        options={ensembles.map(({ ensemble, version }) => ({
          value: ensemble.name,
          text: `${ensemble.name} v${version}: ${ensemble.experts.join(", ")}; aggregator ${ensemble.aggregator.model}`,
        }))}
        onChange={setChosen}
      />
      {strayed && (
        <p role="status" className="text-sm text-warn">
          There is no ensemble {props.named}: this is another.
        </p>
      )}
      {again && <p className="text-sm text-ink-2">It is already served: this version replaces it.</p>}
      {doubt !== null && (
        <p role="status" className="text-sm text-warn">
          {doubt} {hindered ? "Apply a plan that has its models first." : ""}
        </p>
      )}
      <ReasonField label="Reason (optional)" value={reason} onChange={setReason} />
    </FormModal>
  );
}
