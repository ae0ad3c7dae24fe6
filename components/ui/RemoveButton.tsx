"use client";

import { useState } from "react";
import { Button } from "./Button";
import { FormModal } from "./FormModal";

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
      <FormModal
        open={open}
        onClose={() => setOpen(false)}
        title={`Remove ${name}?`}
        description={consequences}
        act={removal}
        onSubmit={() => removal.mutate()}
        keep="Keep it"
        go={`Remove ${kind}`}
        look="danger"
      />
    </>
  );
}
