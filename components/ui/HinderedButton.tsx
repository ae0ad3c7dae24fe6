"use client";

import { type ComponentProps, useId } from "react";
import { Button } from "./Button";

/**
 * A button that does nothing while something hinders its act, and says what: the text stands beside the button and describes it, and the
 * button stays reachable by keyboard.
 */
export function HinderedButton({
  hindrance,
  saidBeside = false,
  ...button
}: ComponentProps<typeof Button> & {
  /** null: nothing hinders it. */
  readonly hindrance: string | null;
  /** Whether the same text stands beside another button next to it: then only screen readers get it here. */
  readonly saidBeside?: boolean;
}) {
  const id = useId();
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
      <span
        id={id}
        className={
          saidBeside ? "sr-only" : "max-w-72 min-w-0 self-center text-left text-xs whitespace-normal text-ink-3 [overflow-wrap:anywhere]"
        }
      >
        {hindrance}
      </span>
    </>
  );
}
