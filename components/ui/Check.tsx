import type { ReactNode } from "react";

/** A checkbox with its label. */
export function Check(props: {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabled?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <label className={`inline-flex min-h-8 items-center gap-2 text-sm ${props.disabled ? "text-ink-3" : ""}`}>
      <input
        type="checkbox"
        className="size-4 accent-(--accent)"
        checked={props.checked}
        disabled={props.disabled}
        onChange={(event) => props.onChange(event.target.checked)}
      />
      {props.children}
    </label>
  );
}
