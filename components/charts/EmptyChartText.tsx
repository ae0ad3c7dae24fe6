"use client";

import { createContext, useContext } from "react";

/** Whether the chart around it can be seen. What cannot is not drawn anew. */
export const Seen = createContext(true);

/** Why a chart has nothing to draw. Out of sight that may have changed since: then it says only that. */
export function EmptyChartText({ text }: { readonly text: string }) {
  const seen = useContext(Seen);
  return (
    <p className="absolute inset-0 flex items-center justify-center px-14 pb-6 text-center text-sm text-ink-3">
      {seen ? text : "Loading…"}
    </p>
  );
}
