"use client";

import type { ComponentProps, ReactNode } from "react";
import { Button } from "./Button";
import { ErrorLine } from "./ErrorLine";
import { Modal } from "./Modal";

/** A dialog that does one thing when it is submitted: its fields, what went wrong, a button that leaves it and one that does it. */
export function FormModal(props: {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description: string;
  /** Accessible name of the form. */
  readonly label?: string;
  readonly noValidate?: boolean;
  /** The mutation that is run. An error stays in the dialog, which can be submitted again. */
  readonly act: { readonly error: { readonly message: string } | null; readonly isPending: boolean };
  /** Whether what it needs is there. */
  readonly ready?: boolean;
  readonly onSubmit: () => void;
  /** Words of the button that leaves it; null: none but the close button. */
  readonly keep?: string | null;
  readonly go: ReactNode;
  readonly look?: ComponentProps<typeof Button>["look"];
  readonly children?: ReactNode;
}) {
  const { open, onClose, act, ready = true, keep = "Cancel", look = "primary" } = props;
  return (
    <Modal open={open} onOpenChange={(next) => !next && onClose()} title={props.title} description={props.description}>
      <form
        noValidate={props.noValidate}
        aria-label={props.label}
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          // React hands an event on to a form around the dialog, though the page does not have it inside that form.
          event.stopPropagation();
          if (ready && !act.isPending) props.onSubmit();
        }}
      >
        {props.children}
        <ErrorLine error={act.error} />
        <div className="flex justify-end gap-2">
          {keep !== null && <Button onClick={onClose}>{keep}</Button>}
          <Button type="submit" look={look} disabled={!ready || act.isPending}>
            {props.go}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
