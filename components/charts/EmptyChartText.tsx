"use client";

import { createContext, useContext } from "react";

/** Whether the chart around it is visible. Invisible charts are not redrawn. */
export const Seen = createContext(true);

/** Why a chart has nothing to draw. While invisible the reason may be outdated: then it states only that. */
export function EmptyChartText({ text }: { readonly text: string }) {
  const seen = useContext(Seen);
  return (
    <p className="absolute inset-0 flex items-center justify-center px-14 pb-6 text-center text-sm text-ink-3">
      {seen ? text : "Loading…"}
    </p>
  );
}
