"use client";

import { useId, useState } from "react";
import { Button } from "@/components/ui/Button";
import type { PlanConstraints } from "@/solver/plan/constraints";
import { constraintsFromText, constraintsToText } from "./constraintsText";

/** The constraints as the YAML that the command line takes: to copy from, and to paste into. */
export function YamlEditor(props: { readonly constraints: PlanConstraints; readonly onChange: (constraints: PlanConstraints) => void }) {
  const id = useId();
  const own = constraintsToText(props.constraints);
  // null until something is typed, so that the text follows changes made elsewhere.
  const [typed, setTyped] = useState<string | null>(null);
  const [copied, setCopied] = useState<string | null>(null);
  const text = typed ?? own;
  const read = constraintsFromText(text);
  return (
    <details className="border-t pt-3">
      <summary className="text-sm font-medium text-ink-2">As YAML</summary>
      <div className="mt-2 flex flex-col gap-2">
        <label htmlFor={id} className="text-xs text-ink-3">
          The same format as `weir plan --constraints`. Judge and router are not included.
        </label>
        <textarea
          id={id}
          rows={Math.min(14, Math.max(4, text.split("\n").length))}
          spellCheck={false}
          aria-invalid={!read.ok}
          aria-describedby={`${id}-fault`}
          placeholder={"excluded: [llama-3.1-8b]\nmaxUsdPerHour: 90"}
          className="w-full rounded-md border border-line-strong bg-raised p-2 font-mono text-xs aria-invalid:border-bad"
          value={text}
          onChange={(event) => setTyped(event.target.value)}
        />
        <p id={`${id}-fault`} role="alert" className="text-sm text-bad empty:hidden">
          {read.ok ? "" : read.message}
        </p>
        <div className="flex flex-wrap gap-2">
          <Button
            disabled={typed === null || !read.ok}
            onClick={() => {
              if (!read.ok) return;
              props.onChange(read.constraints);
              setTyped(null);
            }}
          >
            Use this text
          </Button>
          <Button
            onClick={async () => {
              await navigator.clipboard.writeText(text);
              setCopied(text);
            }}
          >
            {copied === text ? "Copied" : "Copy"}
          </Button>
          {typed !== null && (
            <Button look="quiet" onClick={() => setTyped(null)}>
              Revert
            </Button>
          )}
        </div>
      </div>
    </details>
  );
}
