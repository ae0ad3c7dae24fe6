"use client";

import { memo, useState } from "react";
import { bucketText, bucketWords } from "./bucketText";
import type { ChartSpec } from "./chartSpec";
import type { TimePicture } from "./prepareTimeChart";

/**
 * The data of a chart as a table. It is frozen while it is read: a button loads newer data.
 */
export function TimeTable({ picture, spec }: { readonly picture: TimePicture; readonly spec: ChartSpec }) {
  const [taken, setTaken] = useState<TimePicture | null>(null);
  return (
    <details className="mt-1 text-xs text-ink-3" onToggle={(event) => setTaken(event.currentTarget.open ? picture : null)}>
      <summary className="w-fit">View as table</summary>
      {taken !== null && (
        <>
          <Rows picture={taken} spec={spec} />
          {taken !== picture && (
            <button type="button" className="mt-1 text-accent hover:text-accent-hover" onClick={() => setTaken(picture)}>
              Update to the current chart
            </button>
          )}
        </>
      )}
    </details>
  );
}

const Rows = memo(function Rows({ picture, spec }: { readonly picture: TimePicture; readonly spec: ChartSpec }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section aria-label={`Table of ${spec.title}`} tabIndex={0} className="mt-1 max-h-56 overflow-auto rounded-md border">
      <table className="w-full text-right">
        <caption className="px-2 py-1 text-left">
          {spec.draws === "max" ? "Highest" : "Mean"} of each {bucketWords(picture.bucketMs)}, as drawn at{" "}
          {bucketText(picture.window.toMs, picture.window)}
        </caption>
        <thead className="sticky top-0 bg-panel">
          <tr>
            <th scope="col" className="px-2 py-1">
              From
            </th>
            {picture.series.map(({ id, name }) => (
              <th key={id} scope="col" className="px-2 py-1 text-right">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {picture.atMs.map((atMs, bucket) => (
            <tr key={atMs} className="border-t">
              <th scope="row" className="whitespace-nowrap px-2 py-0.5">
                {bucketText(atMs, picture.window)}
              </th>
              {picture.series.map(({ id, values }) => {
                const value = values[bucket] ?? null;
                return (
                  <td key={id} className="whitespace-nowrap px-2 py-0.5 text-ink-2">
                    {value === null ? "no sample" : spec.format(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
});
