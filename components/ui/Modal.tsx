"use client";

import * as Dialog from "radix-ui/dialog";
import { type ReactNode, useRef } from "react";

/** A dialog with a title, a sentence and a close button. */
export function Modal(props: {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly description: string;
  readonly children: ReactNode;
}) {
  const opener = useRef<Element | null>(null);
  return (
    <Dialog.Root open={props.open} onOpenChange={props.onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-[rgb(0_0_0/0.4)]" />
        <Dialog.Content
          onOpenAutoFocus={() => {
            opener.current = document.activeElement;
          }}
          onCloseAutoFocus={(event) => {
            // Radix returns the focus only to its own trigger; here buttons anywhere open dialogs.
            event.preventDefault();
            if (opener.current instanceof HTMLElement) opener.current.focus();
          }}
          className="fixed top-1/2 left-1/2 z-50 flex max-h-[90vh] w-[min(640px,calc(100vw-32px))] -translate-x-1/2 -translate-y-1/2 flex-col gap-4 overflow-y-auto rounded-lg border bg-raised p-6 [--cover:var(--raised)] shadow-xl"
        >
          <div className="pr-10">
            <Dialog.Title className="text-lg font-semibold">{props.title}</Dialog.Title>
            <Dialog.Description className="mt-1 text-sm text-ink-2">{props.description}</Dialog.Description>
          </div>
          {props.children}
          {/* Last in order, so that the dialog opens with its first field in focus. */}
          <Dialog.Close
            aria-label="Close"
            className="absolute top-4 right-4 size-8 rounded-md text-lg text-ink-3 hover:bg-sunken hover:text-ink"
          >
            ×
          </Dialog.Close>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
