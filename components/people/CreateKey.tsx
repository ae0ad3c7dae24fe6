"use client";

import { useState } from "react";
import { usePeopleAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { NumberField, TextField } from "../ui/Field";
import { FormModal } from "../ui/FormModal";
import { ExpiryFields } from "./ExpiryFields";
import { SecretOnce } from "./SecretOnce";

interface Draft {
  readonly label: string;
  readonly days: number | null;
  readonly requestsPerMinute: number | null;
}

const FRESH: Draft = { label: "", days: 90, requestsPerMinute: null };
const FIRST_RATE = 600;

/** Makes a key of the gateway's clients and shows it once. */
export function CreateKey(props: {
  readonly clusterId: string;
  readonly clusterName: string;
  /** What it means for clients. */
  readonly says: string;
}) {
  const { clusterId } = props;
  const client = useTRPCClient();
  const [open, setOpen] = useState(false);
  const [draft, setDraft] = useState(FRESH);
  const act = usePeopleAct((order: Draft) => client.gatewayKeys.create.mutate({ clusterId, ...order }));
  const close = () => {
    setOpen(false);
    setDraft(FRESH);
    act.reset();
  };
  const made = act.data?.key;
  const { days, requestsPerMinute } = draft;
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        Create a key
      </Button>
      <FormModal
        open={open}
        onClose={close}
        title={made === undefined ? `Create a key for clients of ${props.clusterName}` : `The key ${draft.label.trim()}`}
        description={made === undefined ? props.says : madeText(props.clusterName, days)}
        act={act}
        ready={draft.label.trim() !== ""}
        onSubmit={() => act.mutate(draft)}
        go={act.isPending ? "Waiting for the gateway …" : "Create"}
        made={made !== undefined && <SecretOnce name="Key" secret={made} onDone={close} />}
      >
        <TextField
          label="Label"
          hint="It names the key in decisions, metrics and the audit."
          value={draft.label}
          maxLength={80}
          placeholder="support chat"
          onChange={(label) => setDraft({ ...draft, label })}
        />
        <ExpiryFields days={days} onChange={(next) => setDraft({ ...draft, days: next })} />
        <div className="flex flex-wrap items-end gap-4">
          <Check
            checked={requestsPerMinute !== null}
            onChange={(limited) => setDraft({ ...draft, requestsPerMinute: limited ? FIRST_RATE : null })}
          >
            Limit its rate
          </Check>
          {requestsPerMinute !== null && (
            <NumberField
              label="At most"
              unit="requests a minute"
              value={requestsPerMinute}
              min={1}
              max={1_000_000}
              whole
              onChange={(rate) => setDraft({ ...draft, requestsPerMinute: rate })}
            />
          )}
        </div>
      </FormModal>
    </>
  );
}

const madeText = (clusterName: string, days: number | null): string =>
  `Clients of ${clusterName} send it as the API key. It ${days === null ? "does not expire" : `expires in ${days} ${days === 1 ? "day" : "days"}`}.`;
