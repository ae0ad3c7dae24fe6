"use client";

import { useState } from "react";
import { usePeopleAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { TextField } from "../ui/Field";
import { FormModal } from "../ui/FormModal";
import { ExpiryFields } from "./ExpiryFields";
import { KeyTermsFields } from "./KeyTermsFields";
import { draftOf, type KeyDraft, sentTerms } from "./keyDraft";
import { SecretOnce } from "./SecretOnce";

interface Draft {
  readonly label: string;
  readonly days: number | null;
  readonly terms: KeyDraft;
}

const FRESH: Draft = {
  ...{ label: "", days: 90 },
  terms: { ...draftOf({ requestsPerMinute: null, limits: null, models: null, labels: null, objective: null }), warnPercent: 80 },
};

/** Makes a key of the gateway's clients and shows it once. */
export function CreateKey(props: {
  readonly clusterId: string;
  readonly clusterName: string;
  /** What it means for clients. */
  readonly says: string;
  readonly classes: readonly string[];
}) {
  const { clusterId } = props;
  const client = useTRPCClient();
  const [open, setOpen] = useState(false);
  const [draft, setDraft] = useState(FRESH);
  const act = usePeopleAct(({ label, days, terms }: Draft) =>
    client.gatewayKeys.create.mutate({ clusterId, label, days, ...sentTerms(terms) }),
  );
  const close = () => {
    setOpen(false);
    setDraft(FRESH);
    act.reset();
  };
  const made = act.data?.key;
  const { days } = draft;
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
        <KeyTermsFields draft={draft.terms} onChange={(terms) => setDraft({ ...draft, terms })} classes={props.classes} />
      </FormModal>
    </>
  );
}

const madeText = (clusterName: string, days: number | null): string =>
  `Clients of ${clusterName} send it as the API key. It ${days === null ? "does not expire" : `expires in ${days} ${days === 1 ? "day" : "days"}`}.`;
