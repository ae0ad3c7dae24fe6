"use client";

import { useState } from "react";
import { useTRPCClient } from "@/components/api/trpc";
import { Button } from "@/components/ui/Button";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { SelectField } from "@/components/ui/Field";
import { Modal } from "@/components/ui/Modal";
import { ReasonField } from "@/components/ui/ReasonField";
import type { KeptEnsemble } from "@/server/contracts/studio";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { useEnsembleAct } from "../address/useEnsembles";
import { couldAnswer, serveDoubt } from "./prepareServe";

/** Has the cluster's gateway serve a kept ensemble, after saying what is missing for it. */
export function OnlineServe(props: {
  readonly clusterId: string;
  readonly ensembles: readonly KeptEnsemble[];
  readonly named: string | null;
  /** Of the plan in force; null: there is none. */
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
    <Modal
      open={props.open}
      onOpenChange={(next) => !next && props.onClose()}
      title="Serve an ensemble"
      description="Clients call it by its name from the next request on. The gateway has its own copy, which later versions do not change."
    >
      <form
        className="flex flex-col gap-3"
        aria-label="Serve an ensemble"
        onSubmit={(event) => {
          event.preventDefault();
          if (kept !== undefined && !hindered && !act.isPending) act.mutate(kept.ensemble.name);
        }}
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
        <ErrorLine error={act.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={props.onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={hindered || act.isPending}>
            {act.isPending ? "Waiting for the gateway …" : doubt === null ? "Serve it" : "Serve it anyway"}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
