"use client";

import { useState } from "react";
import { usePeopleAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { FormModal } from "../ui/FormModal";
import { KeyTermsFields } from "./KeyTermsFields";
import { draftOf, sentTerms } from "./keyDraft";
import type { KeyRow } from "./prepareKeys";

/** Changes what a key of the gateway allows. */
export function ChangeLimits(props: { readonly clusterId: string; readonly row: KeyRow; readonly classes: readonly string[] }) {
  const { clusterId, row, classes } = props;
  const client = useTRPCClient();
  const [open, setOpen] = useState(false);
  const [draft, setDraft] = useState(() => draftOf(row.terms));
  const act = usePeopleAct(
    () => client.gatewayKeys.setTerms.mutate({ clusterId, name: row.name, ...sentTerms(draft) }),
    () => setOpen(false),
  );
  return (
    <>
      <Button
        aria-label={`Change the limits of ${row.name}`}
        onClick={() => {
          setDraft(draftOf(row.terms));
          setOpen(true);
        }}
      >
        Limits
      </Button>
      <FormModal
        open={open}
        onClose={() => {
          setOpen(false);
          act.reset();
        }}
        title={`What may ${row.name} use?`}
        description="They hold from the next request on. What was used in the present hour, day or month stays counted."
        act={act}
        onSubmit={() => act.mutate()}
        go={act.isPending ? "Waiting for the gateway …" : "Set the limits"}
      >
        <KeyTermsFields draft={draft} onChange={setDraft} classes={classes} />
      </FormModal>
    </>
  );
}
