import { type ReactNode, useId } from "react";
import { ErrorLine } from "../ui/ErrorLine";

/** One control of live traffic: a line while it is not running, with its figures or its form below where there are any. */
export function ControlSection(props: {
  readonly title: string;
  /** Its state, in words. */
  readonly says: ReactNode;
  readonly action?: ReactNode;
  readonly error: { readonly message: string } | null;
  readonly children?: ReactNode;
  /** Whether there is more than the line. */
  readonly wide: boolean;
  readonly testId: string;
}) {
  const id = useId();
  return (
    <section aria-labelledby={id} data-testid={props.testId} data-wide={props.wide} className="flex min-w-0 flex-col gap-3 border-t py-3">
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <h3 id={id} className="w-14 shrink-0 font-medium">
          {props.title}
        </h3>
        <div className="flex min-w-0 flex-1 basis-40 flex-wrap items-center gap-x-3 gap-y-1 text-ink-2">{props.says}</div>
        {props.action}
      </div>
      <ErrorLine error={props.error} />
      {props.children}
    </section>
  );
}
