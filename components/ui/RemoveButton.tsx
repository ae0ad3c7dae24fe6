"use client";

import { useState } from "react";
import { Button } from "./Button";
import { Modal } from "./Modal";

/** What a mutation without variables offers: enough to run it and to show how it went. */
interface Removal {
  readonly error: { readonly message: string } | null;
  readonly isPending: boolean;
  mutate(): void;
}

/** Removes something after asking once, with what stays and what is lost. An error stays in the question, which can be asked again. */
export function RemoveButton({
  name,
  kind,
  consequences,
  removal,
  nameInLabel = false,
}: {
  readonly name: string;
  readonly kind: string;
  readonly consequences: string;
  readonly removal: Removal;
  /** For one of many buttons on a page, which a screen reader must tell apart. */
  readonly nameInLabel?: boolean;
}) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button look="danger" {...(nameInLabel && { "aria-label": `Remove ${name}` })} onClick={() => setOpen(true)}>
        Remove
      </Button>
      <Modal open={open} onOpenChange={setOpen} title={`Remove ${name}?`} description={consequences}>
        {removal.error !== null && (
          <p role="alert" className="text-sm text-bad">
            {removal.error.message}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={() => setOpen(false)}>Keep it</Button>
          <Button look="danger" disabled={removal.isPending} onClick={() => removal.mutate()}>
            Remove {kind}
          </Button>
        </div>
      </Modal>
    </>
  );
}
