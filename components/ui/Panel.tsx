import { type ReactNode, type Ref, useId } from "react";

/** One question on a page: a titled surface. */
export function Panel(props: {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
  /** Heading level below the page's h1. */
  readonly level?: 2 | 3;
  /** Ref of the heading if it takes the focus when the panel appears. */
  readonly headingRef?: Ref<HTMLHeadingElement>;
}) {
  const id = useId();
  const Heading = props.level === 3 ? "h3" : "h2";
  return (
    <section aria-labelledby={id} className={`min-w-0 rounded-lg border bg-panel ${props.className ?? ""}`}>
      <header className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-1.5">
        <Heading
          id={id}
          ref={props.headingRef}
          tabIndex={props.headingRef === undefined ? undefined : -1}
          className="text-sm font-semibold"
        >
          {props.title}
        </Heading>
        {props.aside !== undefined && <div className="ml-auto flex flex-wrap items-center gap-2 text-xs text-ink-3">{props.aside}</div>}
      </header>
      <div className="p-4">{props.children}</div>
    </section>
  );
}
