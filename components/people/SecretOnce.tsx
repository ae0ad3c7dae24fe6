"use client";

import { useEffect, useId, useRef } from "react";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";

/** A secret that was just made: it is shown here and nowhere again. It takes the focus, selected. */
export function SecretOnce(props: {
  readonly name: string;
  readonly secret: string;
  /** A command that uses it. */
  readonly example?: string;
  readonly onDone: () => void;
}) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <p role="status" className="rounded-md bg-warn-soft px-3 py-1.5 text-sm text-warn">
        Copy it now: it is stored as a hash only and is not shown again.
      </p>
      <label htmlFor={id} className="text-xs text-ink-3">
        {props.name}
      </label>
      <input
        id={id}
        ref={field}
        readOnly
        spellCheck={false}
        autoComplete="off"
        value={props.secret}
        className="h-8 min-w-0 rounded-md border border-line-strong bg-sunken px-2 font-mono text-xs text-ink"
      />
      <div className="flex flex-wrap items-center gap-2 text-sm">
        <CopyButton text={props.secret} label={`Copy the ${props.name.toLowerCase()}`} />
      </div>
      {props.example !== undefined && (
        <p className="text-xs text-ink-3">
          For example:{" "}
          <code className="block rounded bg-sunken px-2 py-1 font-mono text-ink-2 [overflow-wrap:anywhere]">{props.example}</code>
        </p>
      )}
      <div className="flex justify-end">
        <Button look="primary" onClick={props.onDone}>
          I have copied it
        </Button>
      </div>
    </div>
  );
}
