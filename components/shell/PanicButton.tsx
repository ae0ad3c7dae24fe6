"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { takeOutcome } from "../api/takeOutcome";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { useGatewayAct } from "../api/useGatewayAct";
import { Button } from "../ui/Button";
import { SelectField, TextField } from "../ui/Field";
import { formatCounted } from "../ui/format";
import { Modal } from "../ui/Modal";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { panicModel } from "./panicModel";

/** Typed to confirm: one slip of the mouse shall not move all traffic. */
const CONFIRMATION = "panic";

function PanicForm({ clusterId, onDone }: { readonly clusterId: string; readonly onDone: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const models = useQuery(trpc.gateway.models.queryOptions({ clusterId }, { staleTime: 0, select: takeOutcome }));
  const offered = (models.data?.models ?? []).filter(({ engines }) => engines > 0);
  const [chosen, setChosen] = useState<string | null>(null);
  const [reason, setReason] = useState("");
  const [typed, setTyped] = useState("");
  const model = offered.find((each) => each.model === chosen) ?? panicModel(offered);
  const act = useGatewayAct((target: string) => client.gateway.panic.mutate({ clusterId, model: target, reason }), onDone);
  const ready = reason.trim() !== "" && typed.trim().toLowerCase() === CONFIRMATION;
  const status = queryStatus(models, {
    what: "Asking the gateway for its models",
    empty: offered.length === 0 && {
      kind: "empty",
      title: "No model can take the requests",
      text: "No engine of any model takes work at this gateway: apply a plan first.",
    },
  });
  return (
    <PanelState status={status}>
      {() =>
        model !== null && (
          <form
            className="flex flex-col gap-4"
            onSubmit={(event) => {
              event.preventDefault();
              if (ready && !act.isPending) act.mutate(model.model);
            }}
          >
            <SelectField
              label="Model that is to answer everything"
              value={model.model}
              options={offered.map((each) => ({ value: each.model, text: `${each.model}, ${formatCounted(each.engines, "engine")}` }))}
              onChange={setChosen}
            />
            <ul className="flex list-disc flex-col gap-1 pl-5 text-sm text-ink-2">
              <li>
                Every request for text goes to {model.model}, whichever model it names, judged by nobody, until somebody lifts the panic.
              </li>
              <li>Requests that wait begin anew there; what an engine is answering already it finishes. A canary is withdrawn.</li>
              <li>
                {formatCounted(model.engines, "engine")} must then carry all of it: what finds no room waits, and beyond the bound of the
                queue it is refused with 429.
              </li>
              <li>
                Embeddings, keys, limits and deadlines stay as they are. The gateway keeps to it over a restart, without the studio too.
              </li>
            </ul>
            <TextField label="Reason" value={reason} maxLength={300} onChange={setReason} />
            <TextField label={`Type ${CONFIRMATION} to confirm`} value={typed} maxLength={20} onChange={setTyped} />
            {act.error !== null && (
              <p role="alert" className="text-sm text-bad">
                {act.error.message}
              </p>
            )}
            <div className="flex flex-wrap justify-end gap-2">
              <Button onClick={onDone}>Leave routing as it is</Button>
              <Button type="submit" look="danger" disabled={!ready}>
                {act.isPending ? "Asking the gateway …" : `Send everything to ${model.model}`}
              </Button>
            </div>
          </form>
        )
      }
    </PanelState>
  );
}

/** The way out when a policy does harm: all traffic to one model, after a question that must be answered in words. */
export function PanicButton({ clusterId }: { readonly clusterId: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button look="danger" onClick={() => setOpen(true)}>
        Panic
      </Button>
      <Modal
        open={open}
        onOpenChange={setOpen}
        title="Send every request to one model?"
        description="For when the policy in force does harm. It works at once, and holds until somebody lifts it."
      >
        {open && <PanicForm clusterId={clusterId} onDone={() => setOpen(false)} />}
      </Modal>
    </>
  );
}
