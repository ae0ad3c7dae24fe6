"use client";

import { type ComponentProps, type ReactNode, useState } from "react";
import type { Outcome } from "@/server/contracts/studio";
import { useGatewayAct } from "../api/acts";
import { Button } from "./Button";
import { ErrorLine } from "./ErrorLine";
import { Modal } from "./Modal";
import { PermittedButton } from "./PermittedButton";
import { ReasonField } from "./ReasonField";

/** A button of an operator's act on a gateway that needs a confirmation with a reason for the audit. The typed reason is kept when the dialog is closed. */
export function ReasonDialog(props: {
  readonly button: string;
  /** Why it is not possible now; null: it is. */
  readonly hindered?: string | null;
  readonly title: string;
  readonly description: string;
  readonly keep: string;
  readonly go: string;
  readonly look: NonNullable<ComponentProps<typeof Button>["look"]>;
  readonly act: (reason: string) => Promise<Outcome<object>>;
  readonly children?: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const act = useGatewayAct(props.act, () => {
    setReason("");
    setOpen(false);
  });
  const hindered = props.hindered ?? null;
  return (
    <>
      <PermittedButton
        permission="operate"
        disabled={hindered !== null}
        {...(hindered === null ? {} : { title: hindered })}
        onClick={() => setOpen(true)}
      >
        {props.button}
      </PermittedButton>
      <Modal open={open} onOpenChange={setOpen} title={props.title} description={props.description}>
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (!act.isPending) act.mutate(reason);
          }}
        >
          {props.children}
          <ReasonField label="Reason (optional)" value={reason} onChange={setReason} />
          <ErrorLine error={act.error} />
          <div className="flex justify-end gap-2">
            <Button onClick={() => setOpen(false)}>{props.keep}</Button>
            <Button type="submit" look={props.look}>
              {act.isPending ? "Waiting for the gateway …" : props.go}
            </Button>
          </div>
        </form>
      </Modal>
    </>
  );
}
