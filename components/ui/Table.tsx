import type { ReactNode } from "react";

export interface Column {
  readonly key: string;
  readonly name: string;
  readonly numeric?: boolean;
  /** For a sortable column: its current sort order, and the handler that changes it. */
  readonly order?: { readonly now: "ascending" | "descending" | "none"; readonly onAsk: () => void };
}

const arrows = { ascending: " ▲", descending: " ▼", none: "" } as const;

/** On narrow windows each row is a block, and cells show their column's name from `data-name`. */
const stackedBody =
  "max-sm:[&>tr]:flex max-sm:[&>tr]:flex-wrap max-sm:[&>tr]:gap-x-4 max-sm:[&_td]:px-0 max-sm:[&_td]:py-1 max-sm:[&_td[data-name]]:before:mr-1.5 max-sm:[&_td[data-name]]:before:text-xs max-sm:[&_td[data-name]]:before:text-ink-3 max-sm:[&_td[data-name]]:before:content-[attr(data-name)]";

/**
 * A dense table's frame: caption for screen readers, header row. On narrow windows it scrolls, with a shadow where more is hidden, or where
 * `stacked` its rows become blocks.
 */
export function Table(props: {
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly stacked?: boolean;
  readonly children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <div className="scroll-cue relative overflow-x-auto" tabIndex={0}>
      <table className="w-full border-collapse text-sm">
        <caption className="sr-only">{props.caption}</caption>
        <thead className={props.stacked ? "max-sm:sr-only" : ""}>
          <tr className="border-b text-xs text-ink-3">
            {props.columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                aria-sort={column.order?.now}
                className={`px-2 py-1.5 first:pl-0 last:pr-0 ${column.numeric ? "text-right" : ""}`}
              >
                {column.order === undefined ? (
                  column.name
                ) : (
                  <button type="button" className="font-medium whitespace-nowrap hover:text-ink" onClick={column.order.onAsk}>
                    {column.name}
                    <span aria-hidden="true">{arrows[column.order.now]}</span>
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody
          className={`[&>tr]:border-b [&>tr:last-child]:border-0 [&_td]:px-2 [&_td]:py-1.5 [&_td:first-child]:pl-0 [&_td:last-child]:pr-0 ${props.stacked ? stackedBody : ""}`}
        >
          {props.children}
        </tbody>
      </table>
    </div>
  );
}
