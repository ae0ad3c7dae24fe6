"use client";

import { type ComponentProps, useId } from "react";
import type { Permission } from "@/server/contracts/studio";
import { useHindrance } from "../api/useMe";
import { Button } from "./Button";

/**
 * The button of an act that needs a permission. For a person without it, it does nothing and says who can do it: the text stands beside the
 * button and describes it, and the button stays reachable by keyboard.
 */
export function PermittedButton({ permission, ...button }: ComponentProps<typeof Button> & { readonly permission: Permission }) {
  const id = useId();
  const hindrance = useHindrance(permission);
  if (hindrance === null) return <Button {...button} />;
  return (
    <>
      <Button
        {...button}
        disabled={false}
        aria-disabled={true}
        aria-describedby={id}
        // A submit button's click would submit its form.
        onClick={(event) => event.preventDefault()}
      />
      <span id={id} className="max-w-prose min-w-0 text-xs text-ink-3 [overflow-wrap:anywhere]">
        {hindrance}
      </span>
    </>
  );
}
