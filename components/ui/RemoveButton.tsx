"use client";

import { useState } from "react";
import type { Permission } from "@/server/contracts/studio";
import { FormModal } from "./FormModal";
import { PermittedButton } from "./PermittedButton";

/** The part of a mutation without variables that is needed to run it and to show its result. */
interface Removal {
  readonly error: { readonly message: string } | null;
  readonly isPending: boolean;
  mutate(): void;
}

/**
 * Removes something after a confirmation that states what is kept and what is lost. An error stays in the dialog, which can be submitted
 * again.
 */
export function RemoveButton({
  name,
  kind,
  consequences,
  removal,
  nameInLabel = false,
  permission = "prepare",
}: {
  readonly name: string;
  readonly kind: string;
  readonly consequences: string;
  readonly removal: Removal;
  /** Label of one of many buttons on a page, so that screen readers can distinguish them. */
  readonly nameInLabel?: boolean;
  readonly permission?: Permission;
}) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <PermittedButton
        permission={permission}
        look="danger"
        {...(nameInLabel && { "aria-label": `Remove ${name}` })}
        onClick={() => setOpen(true)}
      >
        Remove
      </PermittedButton>
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
