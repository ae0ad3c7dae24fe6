"use client";

import { type ComponentProps, useState } from "react";
import type { Outcome } from "@/server/contracts/studio";
import { usePeopleAct } from "../api/acts";
import type { Button } from "../ui/Button";
import { FormModal } from "../ui/FormModal";
import { HinderedButton } from "../ui/HinderedButton";

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
  const [open, setOpen] = useState(false);
  const act = usePeopleAct(props.act, () => setOpen(false));
  const close = () => {
    setOpen(false);
    act.reset();
  };
  return (
    <>
      <HinderedButton
        look={look}
        hindrance={hindrance}
        {...(props.label !== undefined && { "aria-label": props.label })}
        onClick={() => setOpen(true)}
      >
        {props.button}
      </HinderedButton>
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
