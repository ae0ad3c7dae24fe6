import type { ReactNode } from "react";

/** A number with its name and its qualification. `estimate` pales it: the exact value follows. */
export function Figure(props: {
  readonly name: string;
  readonly value: string;
  readonly detail?: ReactNode;
  readonly estimate?: boolean;
  readonly testId?: string;
}) {
  return (
    <div className="flex min-w-28 flex-col gap-0.5">
      <dt className="text-xs text-ink-3">{props.name}</dt>
      <dd
        data-testid={props.testId}
        className={`text-xl font-semibold tracking-tight whitespace-nowrap ${props.estimate ? "text-ink-3 underline decoration-dotted decoration-1 underline-offset-4" : ""}`}
      >
        {props.value}
      </dd>
      {props.detail !== undefined && <dd className="text-xs text-ink-3">{props.detail}</dd>}
    </div>
  );
}
