import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Capture } from "@/server/contracts/studio";
import { useGatewayAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { SelectField, TextField } from "../ui/Field";
import { FormModal } from "../ui/FormModal";
import { ReasonField } from "../ui/ReasonField";
import { confirmation, type ErasureDraft, erasedSentence, prepareErasure } from "./prepareErasure";

const none: ErasureDraft = { of: "key", name: "", typed: "", reason: "" };

/** Deletes what was captured of one key or one user, also in samples; a running capture goes on. */
export function EraseOf({
  clusterId,
  keyNames,
  onDone,
}: {
  readonly clusterId: string;
  readonly keyNames: Capture["keyNames"];
  readonly onDone: () => unknown;
}) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [open, setOpen] = useState(false);
  const [draft, setDraft] = useState(none);
  const [told, setTold] = useState("");
  const prepared = prepareErasure(draft);
  const erase = useGatewayAct(
    (order: NonNullable<typeof prepared>) => client.prompts.eraseCaptured.mutate({ clusterId, ...order }),
    (erased) => {
      setTold(erasedSentence(erased));
      setOpen(false);
      setDraft(none);
      void queries.invalidateQueries(trpc.prompts.pathFilter());
      onDone();
    },
  );
  return (
    <>
      <Button look="danger" onClick={() => setOpen(true)}>
        Erase one key or user
      </Button>
      <span role="status" className="basis-full text-right text-xs text-ink-2 empty:hidden">
        {told}
      </span>
      <FormModal
        open={open}
        onClose={() => setOpen(false)}
        title="Erase what was captured of one key or user?"
        description="Their prompts at the gateway are deleted, and every sample that has one of them, as a whole. A running capture goes on: end it first if nothing more of theirs may be kept. The audit gets the count, and of a user a pseudonym."
        act={erase}
        ready={prepared !== null}
        onSubmit={() => prepared !== null && erase.mutate(prepared)}
        keep="Keep it"
        go="Erase"
        look="danger"
      >
        <SelectField
          label="Prompts of"
          value={draft.of}
          options={[
            { value: "key", text: "one API key" },
            { value: "user", text: "one user" },
          ]}
          onChange={(of) => setDraft({ ...draft, of, name: "" })}
        />
        <TextField
          label={draft.of === "key" ? "Name of the key" : "The user field of the requests"}
          value={draft.name}
          maxLength={draft.of === "key" ? 200 : 1000}
          suggestions={draft.of === "key" ? (keyNames ?? []) : []}
          onChange={(name) => setDraft({ ...draft, name })}
        />
        <TextField
          label={`Type ${confirmation} to confirm`}
          value={draft.typed}
          maxLength={20}
          onChange={(typed) => setDraft({ ...draft, typed })}
        />
        <ReasonField label="Reason (optional)" value={draft.reason} onChange={(reason) => setDraft({ ...draft, reason })} />
      </FormModal>
    </>
  );
}
