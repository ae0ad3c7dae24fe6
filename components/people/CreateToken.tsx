"use client";

import { useState } from "react";
import type { Role } from "@/server/contracts/studio";
import { usePeopleAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { NumberField, SelectField, TextField } from "../ui/Field";
import { FormModal } from "../ui/FormModal";
import { curlText } from "./prepareTokens";
import { roleOptions, roleSentence } from "./roleTexts";
import { SecretOnce } from "./SecretOnce";

interface Draft {
  readonly label: string;
  readonly role: Role;
  readonly days: number;
}

const FRESH: Draft = { label: "", role: "viewer", days: 30 };

/** Makes an API token and shows it once. */
export function CreateToken() {
  const client = useTRPCClient();
  const [open, setOpen] = useState(false);
  const [draft, setDraft] = useState(FRESH);
  const act = usePeopleAct((order: Draft) => client.people.createToken.mutate(order));
  const close = () => {
    setOpen(false);
    setDraft(FRESH);
    act.reset();
  };
  const made = act.data?.token;
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        Create a token
      </Button>
      <FormModal
        open={open}
        onClose={close}
        title={made === undefined ? "Create an API token" : `The token ${draft.label.trim()}`}
        description={
          made === undefined
            ? "For a program, such as a build: it acts in your name with the role you choose, and never with more than your own role."
            : `It allows the role ${draft.role} and expires in ${draft.days} ${draft.days === 1 ? "day" : "days"}.`
        }
        act={act}
        ready={draft.label.trim() !== ""}
        onSubmit={() => act.mutate(draft)}
        go={act.isPending ? "Working …" : "Create"}
        made={
          made !== undefined && <SecretOnce name="Token" secret={made} example={curlText(window.location.origin, made)} onDone={close} />
        }
      >
        <TextField
          label="Label"
          hint="It names the token in the audit."
          value={draft.label}
          maxLength={80}
          placeholder="nightly report"
          onChange={(label) => setDraft({ ...draft, label })}
        />
        <div className="flex flex-wrap gap-4">
          <SelectField label="Role" value={draft.role} options={roleOptions} onChange={(role) => setDraft({ ...draft, role })} />
          <NumberField
            label="Expires in"
            unit="days"
            value={draft.days}
            min={1}
            max={366}
            whole
            onChange={(days) => setDraft({ ...draft, days })}
          />
        </div>
        <p className="text-sm text-ink-2">{roleSentence(draft.role)}</p>
      </FormModal>
    </>
  );
}
