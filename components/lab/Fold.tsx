import type { ReactNode } from "react";

/** A part of a form with its name, and its summary while it is folded. */
export function Fold(props: { readonly title: string; readonly says?: string; readonly open?: boolean; readonly children: ReactNode }) {
  return (
    <details className="border-t py-3" open={props.open}>
      <summary className="text-sm">
        <span className="font-medium">{props.title}</span>
        {props.says !== undefined && <span className="ml-2 text-xs text-ink-3">{props.says}</span>}
      </summary>
      {props.children}
    </details>
  );
}
