import { useId } from "react";
import { Button } from "../ui/Button";

/** The button that attaches, next to what it will do or why it has to wait. */
export function AttachButton(props: { readonly ready: boolean; readonly busy: boolean; readonly says: string }) {
  const id = useId();
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <Button type="submit" look="primary" disabled={!props.ready || props.busy} aria-describedby={id}>
        {props.busy ? "Attaching …" : "Attach and watch live"}
      </Button>
      <span id={id} className="min-w-0 text-sm text-ink-2">
        {props.says}
      </span>
    </div>
  );
}
