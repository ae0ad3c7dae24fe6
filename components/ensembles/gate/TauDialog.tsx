"use client";

import { useState } from "react";
import { useEnsembleAct } from "@/components/api/acts";
import { useTRPCClient } from "@/components/api/trpc";
import { unwrapOutcome } from "@/components/api/unwrapOutcome";
import { Check } from "@/components/ui/Check";
import { FormModal } from "@/components/ui/FormModal";
import { Notes } from "@/components/ui/Notes";
import { ReasonField } from "@/components/ui/ReasonField";
import type { GatewayEnsembles, KeptEnsemble, Outcome } from "@/server/contracts/studio";
import { formatTau } from "@/solver/ensemble/gate/tauText";
import { changesTauAlone, type TauUse } from "./prepareTauUse";

/** Writes a tested tau into an ensemble's next version and, where a gateway serves the ensemble, puts it into force there. */
export function TauDialog(props: {
  readonly kept: KeptEnsemble;
  /** Its next version. */
  readonly use: Extract<TauUse, { readonly ok: true }>;
  readonly clusterId: string;
  /** The ensembles that the cluster's gateway serves; undefined: unknown. */
  readonly served: GatewayEnsembles | undefined;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onKept: (says: string) => void;
}) {
  const { kept, use, clusterId } = props;
  const client = useTRPCClient();
  const [live, setLive] = useState(true);
  const [reason, setReason] = useState("");
  const { name, expertsPerQuestion } = kept.ensemble;
  const atGateway = props.served?.ensembles.find(({ ensemble }) => ensemble.name === name)?.ensemble;
  const act = useEnsembleAct(
    async (): Promise<Outcome<{ readonly says: string }>> => {
      const done = unwrapOutcome(await client.ensembles.keep.mutate({ ensemble: use.ensemble, expects: kept.version }));
      const version = done.again
        ? `${name} already has this tau, as version ${done.version}`
        : `Saved as version ${done.version} of ${name}`;
      if (atGateway === undefined || !live) return { ok: true, says: `${version}.` };
      const order = { clusterId, name, reason };
      const asked = changesTauAlone(atGateway, use.ensemble)
        ? await client.ensembles.setTau.mutate({ ...order, tau: use.ensemble.tau })
        : await client.ensembles.serve.mutate(order);
      if (asked.ok) return { ok: true, says: `${version}, and in force at the gateway from the next decision on.` };
      return { ok: false, message: `${version}, but the gateway is unchanged: ${asked.message}` };
    },
    ({ says }) => props.onKept(says),
  );
  const change = `${formatTau(kept.ensemble.tau, expertsPerQuestion)} → ${formatTau(use.ensemble.tau, expertsPerQuestion)}`;
  return (
    <FormModal
      open={props.open}
      onClose={props.onClose}
      title={`Use this tau for ${name}`}
      description={`Tau ${change}, saved as version ${kept.version + 1}. Running batches keep their tau.`}
      act={act}
      onSubmit={() => act.mutate()}
      go={act.isPending ? "Saving …" : "Use it"}
    >
      <Notes items={use.notes} className="text-sm text-warn" />
      {atGateway !== undefined && (
        <>
          <Check checked={live} onChange={setLive}>
            Use it at this cluster's gateway too, where tau is {formatTau(atGateway.tau, atGateway.expertsPerQuestion)} now
          </Check>
          {live && <ReasonField label="Reason (optional)" value={reason} onChange={setReason} />}
        </>
      )}
    </FormModal>
  );
}
