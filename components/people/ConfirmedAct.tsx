"use client";

import { type ComponentProps, useId, useState } from "react";
import type { Outcome } from "@/server/contracts/studio";
import { usePeopleAct } from "../api/acts";
import { Button } from "../ui/Button";
import { FormModal } from "../ui/FormModal";

/** A button whose act is confirmed in a dialog that says what happens. A refusal stays in the dialog. */
export function ConfirmedAct(props: {
  readonly button: string;
  /** Name of one of many such buttons, for screen readers. */
  readonly label?: string;
  /** Why it is not possible; null: it is. */
  readonly hindrance?: string | null;
  readonly title: string;
  readonly description: string;
  readonly keep: string;
  readonly go: string;
  readonly look?: ComponentProps<typeof Button>["look"];
  readonly act: () => Promise<Outcome<object>>;
}) {
  const { hindrance = null, look = "danger" } = props;
  const id = useId();
  const [open, setOpen] = useState(false);
  const act = usePeopleAct(props.act, () => setOpen(false));
  const close = () => {
    setOpen(false);
    act.reset();
  };
  return (
    <>
      <Button
        look={look}
        {...(props.label !== undefined && { "aria-label": props.label })}
        {...(hindrance !== null && { "aria-disabled": true, "aria-describedby": id })}
        onClick={() => hindrance === null && setOpen(true)}
      >
        {props.button}
      </Button>
      {hindrance !== null && (
        <span id={id} className="text-xs text-ink-3 max-sm:basis-full">
          {hindrance}
        </span>
      )}
      <FormModal
        open={open}
        onClose={close}
        title={props.title}
        description={props.description}
        act={act}
        onSubmit={() => act.mutate()}
        keep={props.keep}
        go={act.isPending ? "Working …" : props.go}
        look={look}
      />
    </>
  );
}
