"use client";

import type { ComponentProps, ReactNode } from "react";
import { Button } from "./Button";
import { ErrorLine } from "./ErrorLine";
import { Modal } from "./Modal";

/** A dialog with one action on submit: its fields, the error, a button that cancels and one that submits. */
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
  /** Whether the required values are there. */
  readonly ready?: boolean;
  readonly onSubmit: () => void;
  /** Label of the cancel button; null: only the close button. */
  readonly keep?: string | null;
  readonly go: ReactNode;
  readonly look?: ComponentProps<typeof Button>["look"];
  readonly children?: ReactNode;
  /** What the act made, shown in place of the form. */
  readonly made?: ReactNode;
}) {
  const { open, onClose, act, ready = true, keep = "Cancel", look = "primary" } = props;
  return (
    <Modal open={open} onOpenChange={(next) => !next && onClose()} title={props.title} description={props.description}>
      {props.made || (
        <form
          noValidate={props.noValidate}
          aria-label={props.label}
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            // React bubbles an event to a form around the dialog, although the dialog is not inside that form in the DOM.
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
      )}
    </Modal>
  );
}
